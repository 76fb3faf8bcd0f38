"""Every text of a fact, an alias or a declaration passes the bank's privacy screening."""

from collections.abc import Callable

import pytest

from pieria import Bank
from pieria.errors import InputError, PrivacyError

KEY = "AKIA" + "QWERTYUIOPASDFGH"
SECRET = f"the key {KEY}"
MARKED = "tea <private>with rum</private>"
WRITES: dict[str, Callable[[Bank, str], object]] = {
    "subject": lambda bank, text: bank.facts.add(text, "likes", "tea"),
    "predicate": lambda bank, text: bank.facts.add("Maya", text, "tea"),
    "object": lambda bank, text: bank.facts.add("Maya", "likes", text),
    "source": lambda bank, text: bank.facts.add("Maya", "likes", "tea", source=text),
    "superseding": lambda bank, text: bank.facts.supersede("Maya", "likes", text, source=text),
    "alias": lambda bank, text: bank.facts.alias(text, of="Maya"),
    "entity": lambda bank, text: bank.facts.alias("Em", of=text),
    "declared": lambda bank, text: bank.facts.declare(text),
    "end": lambda bank, text: bank.facts.invalidate("Ola", "likes", "milk", reason=text),
    "removal": lambda bank, text: bank.facts.remove(bank.facts.query("Ola", "likes", "ale")[0].id, reason=text),
}


def everything(bank: Bank) -> str:
    facts = bank.facts
    versions = [version for fact in facts.timeline() for version in facts.history(fact.id)]
    with bank.core.reading() as reader:
        dumped = [list(reader.dump(table)) for table in ("fact", "record", "journal")]
    return repr((versions, facts.aliases(), facts.entities(), facts.predicates(), dumped))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_secrets_and_private_parts_are_kept_out(
    opened: Callable[..., Bank], write: Callable[[Bank, str], object]
) -> None:
    for secrets in ("flag", "redact", "refuse"):
        bank = opened(secrets, secrets=secrets)
        for drink in ("milk", "ale"):
            bank.facts.add("Ola", "likes", drink)
        with pytest.raises(InputError):
            write(bank, "<private>all of it</private>")
        assert "all of it" not in everything(bank)
        if secrets == "refuse":
            with pytest.raises(PrivacyError) as caught:
                write(bank, SECRET)
            assert KEY not in str(caught.value)
            write(bank, MARKED)
            assert ("tea" in everything(bank), "rum" in everything(bank)) == (True, False)
        else:
            write(bank, SECRET)
            assert "the key" in everything(bank)
        assert (KEY in everything(bank)) == (secrets == "flag")


def test_redacted_alias_is_found_by_what_was_given(opened: Callable[..., Bank]) -> None:
    bank = opened(secrets="redact")
    bank.facts.alias(SECRET, of="Maya")
    assert KEY not in bank.facts.unalias(SECRET).name
    assert bank.facts.aliases() == {}
    bank.facts.alias("Em", of=SECRET)
    bank.facts.unalias("Em")
