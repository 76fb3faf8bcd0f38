"""The analysis of a text before the bank keeps it."""

from collections.abc import Callable
from typing import Any

import pytest

from pieria import Bank
from pieria.errors import InputError

TEXT = "Use JWT tokens for authentication in all new APIs"


def test_message_is_judged_with_the_names_the_bank_reads(bank: Bank) -> None:
    found = bank.text.analyze("Remember: I prefer TypeScript over JS for all new projects")
    assert found.saving.entities == ("typescript", "javascript", "preferences")
    shown = found.as_dict()
    assert {**shown["saving"], "band": "save", "confidence": 0.9, "strength": 1.5} == shown["saving"]
    assert shown["recalling"]["band"] == "skip"
    assert bank.text.analyze("What did I say about TypeScript?").recalling.query == "TypeScript preferences"
    assert (bank.changes(), bank.count()) == ((), 0)


def test_missing_names_and_strength_come_from_the_text(opened: Callable[..., Bank]) -> None:
    bank = opened()
    found = bank.text.enrich(TEXT)
    assert (found.entities, found.strength, found.is_enriched) == (("jwt", "authentication", "apis"), 1.0, True)
    assert bank.text.enrich(f"Important: {TEXT}", entities=["Auth"]).entities == ("Auth",)
    assert bank.text.enrich(f"Important: {TEXT}", entities=[]).strength == 1.4
    given = bank.text.enrich(TEXT, entities=["Auth"], strength=1.7)
    assert (given.entities, given.strength, given.is_enriched) == (("Auth",), 1.7, False)
    plain = opened(enrich=False).text.enrich(f"Important: {TEXT}")
    assert (plain.entities, plain.strength, plain.is_enriched) == ((), 1.0, False)


def test_private_parts_and_secrets_become_no_names(bank: Bank) -> None:
    said = "Remember: Kestrel moved <private>Zed earns 90k at Acme</private> with the key AKIAIOSFODNN7EXAMPLE."
    assert bank.text.enrich(said).entities == ("kestrel",)
    assert bank.text.analyze(said).saving.entities == ("kestrel",)
    for nothing in ("<private>Zed</private>", "AKIAIOSFODNN7EXAMPLE"):
        assert (bank.text.enrich(nothing).entities, bank.text.analyze(nothing).saving.entities) == ((), ())


def test_what_is_no_text_is_refused(bank: Bank) -> None:
    wrong: list[Any] = ["", "  ", None, 7, "a\0b"]
    for text in wrong:
        for verb in (bank.text.analyze, bank.text.names, bank.text.enrich):
            with pytest.raises(InputError):
                verb(text)
    with pytest.raises(InputError, match="strength"):
        bank.text.enrich("a word", strength=3)
