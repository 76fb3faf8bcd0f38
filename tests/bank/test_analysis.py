"""The analysis of a text before the bank keeps it, and its comparison with the bank's memories."""

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
    said, names = f"Important: {TEXT}", ("jwt", "authentication", "apis")
    cases: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
        (TEXT, {}, (names, 1.0, True)), (said, {"entities": ["Auth"]}, (("Auth",), 1.4, True)),
        (said, {"entities": []}, ((), 1.4, True)),
        (said, {"entities": ["Auth"], "strength": 1.7}, (("Auth",), 1.7, False)),
    ]  # fmt: skip
    for text, given, expected in cases:
        found = opened().text.enrich(text, **given)
        assert (found.entities, found.strength, found.is_enriched) == expected
    plain = opened(enrich=False).text.enrich(said)
    assert (plain.entities, plain.strength, plain.is_enriched) == ((), 1.0, False)


def test_private_parts_and_secrets_become_no_names(bank: Bank) -> None:
    said = "Remember: Kestrel moved <private>Zed earns 90k at Acme</private> with the key AKIAIOSFODNN7EXAMPLE."
    assert bank.text.enrich(said).entities == ("kestrel",)
    assert bank.text.analyze(said).saving.entities == ("kestrel",)
    for nothing in ("<private>Zed</private>", "AKIAIOSFODNN7EXAMPLE"):
        assert (bank.text.enrich(nothing).entities, bank.text.analyze(nothing).saving.entities) == ((), ())


def test_what_is_no_text_is_refused(bank: Bank) -> None:
    wrong: list[Any] = ["", "  ", None, 7, "a\0b"]
    for verb in (bank.text.analyze, bank.text.names, bank.text.enrich):
        for text in wrong:
            with pytest.raises(InputError):
                verb(text)
    with pytest.raises(InputError, match="strength"):
        bank.text.enrich("a word", strength=3)


LONG = " ".join(f"Sentence {n} speaks of harbours, ferries and {n * 7} crates of tea." for n in range(60))
FERRY = "The ferry leaves at nine from the old pier."
LATER = "The ferry leaves at ten from the old pier."


@pytest.mark.parametrize(("embedder", "by"), [("none", "words"), ("hashing", "vectors")])
def test_whole_texts_are_compared_and_nothing_is_counted(opened: Callable[..., Bank], embedder: str, by: str) -> None:
    bank = opened(embedder=embedder)
    same, whole = bank.remember(FERRY), bank.remember(f"{LONG} The end is as it was.")
    part = bank.remember(LONG[:800])
    bank.remember("Maya prefers tea.")
    bank.sync()
    before = bank.changes()
    [first, *_] = bank.similar(FERRY)
    assert (first.memory.id, first.similarity) == (same.id, 1.0)
    [near] = bank.similar(LATER, least=0.6)
    assert (near.memory.id, near.by, near.similarity < 1) == (same.id, by, True)
    assert bank.similar("Quarterly numbers are due.", least=0.6) == []
    found = {one.memory.id: one.similarity for one in bank.similar(LONG)}
    assert found[whole.id] > max(0.9, found.get(part.id, 0.0))
    bank.sync()
    assert bank.changes() == before
    assert bank.usage(same.id)[same.id].accesses == 0
    for text, k in ((" ", 1), ("x", 0)):
        with pytest.raises(InputError):
            bank.similar(text, k=k)


def test_memory_without_a_vector_yet_is_compared_by_words(opened: Callable[..., Bank]) -> None:
    bank = opened(embedder="hashing")
    bank.remember_many(["Maya prefers tea."])
    with bank.core.embedding.aside():
        bank.remember(FERRY)
        for number in range(300):
            bank.remember(f"Crate {number} holds {number * 7} kestrels and a map of town {number % 7}.")
        [near] = bank.similar(LATER, least=0.6)
        assert (near.memory.text, near.by) == (FERRY, "words")
    bank.sync()
    assert [near.by for near in bank.similar(LATER, least=0.6)] == ["vectors"]
