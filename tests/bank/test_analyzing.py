"""The analysis of a text before the bank keeps it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank
from pieria.errors import InputError

TEXT = "Use JWT tokens for authentication in all new APIs"


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("b", data=tmp_path) as bank:
        yield bank


def test_a_message_is_judged_with_the_names_that_the_bank_reads(bank: Bank) -> None:
    found = bank.text.analyze("Remember: I prefer TypeScript over JS for all new projects")
    assert found.saving.entities == ("typescript", "javascript", "preferences")
    told = found.as_dict()
    assert {key: told["saving"][key] for key in ("band", "confidence", "strength")} == {
        "band": "save",
        "confidence": 0.9,
        "strength": 1.5,
    }
    assert told["recalling"]["band"] == "skip"
    assert bank.text.analyze("What did I say about TypeScript?").recalling.query == "TypeScript preferences"


def test_what_comes_without_names_and_strength_gets_them_from_its_text(bank: Bank) -> None:
    found = bank.text.enrich(TEXT)
    assert (found.entities, found.strength, found.is_enriched) == (("jwt", "authentication", "apis"), 1.0, True)
    assert bank.text.enrich(f"Important: {TEXT}", entities=["Auth"]).entities == ("Auth",)
    assert bank.text.enrich(f"Important: {TEXT}", entities=[]).strength == 1.4
    given = bank.text.enrich(TEXT, entities=["Auth"], strength=1.7)
    assert (given.entities, given.strength, given.is_enriched) == (("Auth",), 1.7, False)


def test_nothing_is_read_where_the_setting_says_so(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings={"enrich": False}) as bank:
        found = bank.text.enrich(f"Important: {TEXT}")
        assert (found.entities, found.strength, found.is_enriched) == ((), 1.0, False)


def test_neither_what_is_private_nor_a_secret_becomes_a_name(bank: Bank) -> None:
    said = "Remember: Kestrel moved <private>Zed earns 90k at Acme</private> with the key AKIAIOSFODNN7EXAMPLE."
    assert bank.text.enrich(said).entities == ("kestrel",)
    assert bank.text.analyze(said).saving.entities == ("kestrel",)
    for nothing in ("<private>Zed</private>", "AKIAIOSFODNN7EXAMPLE"):
        assert (bank.text.enrich(nothing).entities, bank.text.analyze(nothing).saving.entities) == ((), ())


def test_analyzing_writes_nothing(bank: Bank) -> None:
    before = bank.changes()
    bank.text.analyze("Remember that I prefer tea")
    bank.text.enrich("Remember that I prefer tea")
    assert (bank.changes(), bank.count()) == (before, 0)


@pytest.mark.parametrize("text", ["", "  ", None, 7, "a\0b"])
def test_what_is_no_text_is_refused(bank: Bank, text: Any) -> None:
    for verb in (bank.text.analyze, bank.text.names, bank.text.enrich):
        with pytest.raises(InputError):
            verb(text)
    with pytest.raises(InputError, match="strength"):
        bank.text.enrich("a word", strength=3)
