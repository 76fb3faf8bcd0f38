"""Pipelines of spaCy: which one the setting means, and what it finds beside the rules. The pipeline is made here."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.small_pipeline import small_pipeline

import pieria
from pieria import Bank
from pieria.errors import AdapterError, InputError
from pieria.language.grammar import Named
from pieria.models import pipeline, pipelines

TEXT = "yesterday maya okafor flew from umeå to Oslo and wrote to ops@acme.com about Postgres"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return small_pipeline(tmp_path_factory.mktemp("pipelines") / "small")


def named(pipeline_name: str, text: str) -> tuple[Named, ...]:
    namer = pipeline(pipeline_name)
    assert namer is not None
    return tuple(namer(text))


def test_pipeline_adds_names_to_those_of_the_rules(small: str) -> None:
    assert [(one.name, one.kind) for one in named(small, TEXT)] == [
        ("yesterday", "date"), ("maya okafor", "person"), ("umeå", "place"), ("ops@acme.com", "email"),
        ("PostgreSQL", "technology"),
    ]  # fmt: skip
    assert Named("maya okafor", "person") in named(small, "and so on " * 11_000 + "maya okafor")


def test_names_of_a_pipeline_are_kept_with_memories(small: str, opened: Callable[..., Bank]) -> None:
    bank = opened("b", nlp=small)
    assert bank.text.enrich("maya okafor moved").entities == ("maya okafor",)
    assert bank.text.analyze("what did maya okafor say?").saving.entities == ("maya okafor",)
    assert bank.extract(bank.remember("maya okafor moved").id).entities == ("maya okafor",)
    assert opened("other").text.enrich("maya okafor moved").entities == ()


def test_forked_process_loads_the_pipeline_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if it is forked off while the pipeline is being loaded."""
    name = small_pipeline(tmp_path / "forked")
    real = pipelines._load
    children: list[int] = []

    def load(name: str) -> Any:
        if not children:
            children.append(os.fork())
            if not children[0]:
                # End the test if it waits for ever.
                signal.alarm(90)
                spotted: tuple[Named, ...] = ()
                try:
                    spotted = named(name, TEXT)
                finally:
                    os._exit(0 if Named("maya okafor", "person") in spotted else 1)
        return real(name)

    monkeypatch.setattr(pipelines, "_load", load)
    assert Named("maya okafor", "person") in named(name, TEXT)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0


def test_damaged_pipeline_fails_when_it_is_needed(tmp_path: Path, opened: Callable[..., Bank]) -> None:
    bank = opened("b", nlp=str(tmp_path))
    bank.remember("a word")
    with pytest.raises(AdapterError, match="cannot be loaded"):
        bank.text.names("a word")


def test_unknown_pipeline_is_refused_by_open() -> None:
    for name in ("en_core_web_none", "/no/such/folder", "not a name"):
        with pytest.raises(InputError, match="nlp"):
            pieria.open("b", settings={"nlp": name})


def test_auto_is_an_installed_pipeline_or_none(small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pipeline("none") is None
    assert pipeline("auto") is None
    (tmp_path / "en_core_web_sm.py").write_text(
        f"import spacy\n\n\ndef load(**options):\n    return spacy.load({small!r})\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert pipeline("auto") is not None
    monkeypatch.setattr(pipelines, "PACKAGE", "spacy_that_is_not_there")
    assert pipeline("auto") is None
    with pytest.raises(InputError, match="not installed") as caught:
        pipeline(small)
    assert caught.value.hint == "pip install 'pieria[nlp]'"
