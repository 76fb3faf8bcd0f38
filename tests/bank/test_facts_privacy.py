"""Every text of a fact, an alias or a declaration passes the bank's privacy screening."""

from collections.abc import Callable
from pathlib import Path

import pytest

import pieria
from pieria.errors import InputError, PrivacyError

KEY = "AKIA" + "QWERTYUIOPASDFGH"
SECRET = f"the key {KEY}"
MARKED = "tea <private>with rum</private>"


def invalidated(bank: pieria.Bank, reason: str) -> object:
    bank.facts.add("Maya", "likes", "milk")
    return bank.facts.invalidate("Maya", "likes", "milk", reason=reason)


def removed(bank: pieria.Bank, reason: str) -> object:
    return bank.facts.remove(bank.facts.add("Maya", "likes", "milk").id, reason=reason)


WRITES: dict[str, Callable[[pieria.Bank, str], object]] = {
    "subject": lambda bank, text: bank.facts.add(text, "likes", "tea"),
    "predicate": lambda bank, text: bank.facts.add("Maya", text, "tea"),
    "object": lambda bank, text: bank.facts.add("Maya", "likes", text),
    "source": lambda bank, text: bank.facts.add("Maya", "likes", "tea", source=text),
    "superseding": lambda bank, text: bank.facts.supersede("Maya", "likes", text, source=text),
    "alias": lambda bank, text: bank.facts.alias(text, of="Maya"),
    "entity": lambda bank, text: bank.facts.alias("Em", of=text),
    "declared": lambda bank, text: bank.facts.declare(text),
    "reason of an end": invalidated,
    "reason of a removal": removed,
}


def everything(bank: pieria.Bank) -> str:
    facts = bank.facts
    versions = [version for fact in facts.timeline() for version in facts.history(fact.id)]
    with bank.core.reading() as reader:
        dumped = [list(reader.dump(table)) for table in ("fact", "record", "journal")]
    return repr((versions, facts.aliases(), facts.entities(), facts.predicates(), dumped))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_secrets_are_kept_blotted_out_or_refused(tmp_path: Path, write: Callable[[pieria.Bank, str], object]) -> None:
    for secrets in ("flag", "redact", "refuse"):
        with pieria.open(secrets, data=tmp_path, settings={"secrets": secrets, "durability": "off"}) as bank:
            if secrets == "refuse":
                with pytest.raises(PrivacyError) as caught:
                    write(bank, SECRET)
                assert KEY not in str(caught.value)
            else:
                write(bank, SECRET)
                assert "the key" in everything(bank)
            assert (KEY in everything(bank)) == (secrets == "flag")


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_private_parts_are_cut(tmp_path: Path, write: Callable[[pieria.Bank, str], object]) -> None:
    with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
        write(bank, MARKED)
        assert "tea" in everything(bank)
        assert "rum" not in everything(bank)
        with pytest.raises(InputError):
            write(bank, "<private>all of it</private>")
        assert "all of it" not in everything(bank)


def test_what_was_blotted_out_is_found_by_what_was_given(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"secrets": "redact", "durability": "off"}) as bank:
        bank.facts.alias(SECRET, of="Maya")
        assert KEY not in bank.facts.unalias(SECRET).name
        assert bank.facts.aliases() == {}
        bank.facts.alias("Em", of=SECRET)
        bank.facts.unalias("Em")
