"""Pipelines of spaCy: which one the setting means, and what it finds beside the rules. The pipeline is made here."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.models.small_pipeline import small_pipeline

import pieria
from pieria.errors import AdapterError, InputError
from pieria.language.grammar import Named
from pieria.models import pipeline, pipelines

TEXT = "yesterday maya okafor flew from umeå to Oslo and wrote to ops@acme.com about Postgres"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return small_pipeline(tmp_path_factory.mktemp("pipelines") / "small")


def test_a_pipeline_spots_names_and_the_rules_what_has_a_shape(small: str) -> None:
    namer = pipeline(small)
    assert namer is not None
    assert namer(TEXT) == [
        Named("yesterday", "date"),
        Named("maya okafor", "person"),
        Named("umeå", "place"),
        Named("ops@acme.com", "email"),
        Named("PostgreSQL", "technology"),
    ]


def test_what_it_spots_is_drawn_from_memories_and_kept_with_them(small: str, tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings={"nlp": small}) as bank:
        assert bank.text.enrich("maya okafor moved").entities == ("maya okafor",)
        assert bank.text.analyze("what did maya okafor say?").saving.entities == ("maya okafor",)
        assert bank.extract(bank.remember("maya okafor moved").id).entities == ("maya okafor",)
    with pieria.open("b", data=tmp_path) as bank:
        assert bank.text.enrich("maya okafor moved").entities == ()


def test_a_process_that_is_forked_off_while_a_pipeline_is_loaded_loads_it_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = small_pipeline(tmp_path / "forked")
    real = pipelines._load
    children: list[int] = []

    def load(name: str) -> Any:
        if not children:
            children.append(os.fork())
            if not children[0]:
                # End the test if it waits for ever.
                signal.alarm(90)
                spotted: list[Named] = []
                try:
                    namer = pipeline(name)
                    spotted = [] if namer is None else namer(TEXT)
                finally:
                    os._exit(0 if Named("maya okafor", "person") in spotted else 1)
        return real(name)

    monkeypatch.setattr(pipelines, "_load", load)
    namer = pipeline(name)
    assert namer is not None
    assert Named("maya okafor", "person") in namer(TEXT)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0


def test_a_long_text_is_read_in_parts(small: str) -> None:
    namer = pipeline(small)
    assert namer is not None
    assert Named("maya okafor", "person") in namer("and so on " * 15_000 + "maya okafor")


def test_nothing_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    with pieria.open("b", data=tmp_path / "data", settings={"nlp": str(damaged)}) as bank:
        bank.remember("a word")
        with pytest.raises(AdapterError, match="cannot be loaded"):
            bank.text.names("a word")


@pytest.mark.parametrize("name", ["en_core_web_none", "/no/such/folder", "not a name"])
def test_a_pipeline_that_is_not_there_is_refused_when_a_bank_is_opened(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nlp"):
        pieria.open("b", data=tmp_path, settings={"nlp": name})


def test_auto_is_what_is_installed_and_rules_otherwise(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pipeline("none") is None
    assert pipeline("auto") is None
    (tmp_path / "en_core_web_sm.py").write_text(
        f"import spacy\n\n\ndef load(**options):\n    return spacy.load({small!r})\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert pipeline("auto") is not None


def test_without_spacy_a_pipeline_is_refused_with_what_to_install(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipelines, "PACKAGE", "spacy_that_is_not_there")
    assert pipeline("auto") is None
    with pytest.raises(InputError, match="not installed") as caught:
        pipeline(small)
    assert caught.value.hint == "pip install 'pieria[nlp]'"
