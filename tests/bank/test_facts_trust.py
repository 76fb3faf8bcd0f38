"""Trust in statements, and the privacy screening of every text of a fact, an alias or a declaration."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.bank.kept import Kept, held

from pieria.bank import Bank
from pieria.bank.write.update import next_version
from pieria.errors import InputError, PrivacyError
from pieria.record.changeset import Changeset
from pieria.record.trust import TRUST
from pieria.store.protocol import Writer


@pytest.fixture
def bank(folder: Kept) -> Iterator[Bank]:
    with folder.opened("notes", settings={"embedder": "hashing"}, via="person") as bank:
        yield bank


@pytest.fixture
def stranger(folder: Kept, bank: Bank) -> Iterator[Bank]:
    with folder.opened("notes", settings={"embedder": "hashing"}, via="outside") as bank:
        yield bank


def test_strangers_fact_pushes_no_note_back(bank: Bank, stranger: Bank) -> None:
    note = bank.remember("The billing service runs on the host delta.")
    bank.facts.add("billing", "runs_on", "delta", memory=note.id, valid_from="2026-01-01")
    stranger.facts.add("billing", "runs_on", "evil.example")
    hits = {hit.memory.id: hit for hit in bank.recall("where does the billing service run?")}
    assert hits[note.id].overturned is None
    assert "host delta" in bank.context("the billing service").text


def test_stranger_ends_no_fact_that_is_believed_more(bank: Bank, stranger: Bank) -> None:
    kept = bank.facts.add("Caroline", "lives_in", "Madrid")
    stranger.facts.supersede("Caroline", "lives_in", "Porto")
    assert bank.facts.query("Caroline")[0].id == kept.id
    assert {fact.object for fact in bank.facts.query("Caroline")} == {"Madrid", "Porto"}
    bank.facts.declare("lives_in")
    note = stranger.remember("Caroline lives in Oslo.")
    stranger.facts.add("Caroline", "lives_in", "Oslo", memory=note.id)
    assert "Madrid" in {fact.object for fact in bank.facts.query("Caroline")}
    assert [conflict.subject for conflict in bank.facts.conflicts()] == ["Caroline"]
    # A trusted person can.
    bank.facts.add("Caroline", "lives_in", "Lisbon")
    assert [fact.object for fact in bank.facts.query("Caroline")] == ["Lisbon"]


def test_statement_that_a_stranger_changes_loses_trust(bank: Bank, stranger: Bank) -> None:
    fact = bank.facts.add("Maya", "may_deploy", "production", valid_from="2024-01-01", valid_until="2024-12-31")
    before = held(bank, fact.id)
    stranger.facts.add("Maya", "may_deploy", "production", valid_from="2024-01-01", valid_until="2030-12-31")
    after = held(bank, fact.id)
    assert "2030" in after.text
    assert (before.trust, after.trust) == (TRUST["person"], TRUST["outside"])


def test_overturned_note_says_so_under_any_filter(bank: Bank) -> None:
    note = bank.remember("Caroline lives in Madrid.", author="Ann")
    bank.facts.add("Caroline", "lives_in", "Madrid", memory=note.id, valid_from="2026-01-01")
    later = bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01")
    filters: tuple[dict[str, Any], ...] = ({}, {"kinds": "note"}, {"author": "Ann"})
    for narrow in filters:
        [hit] = [hit for hit in bank.recall("where does Caroline live?", **narrow) if hit.memory.id == note.id]
        assert hit.overturned is not None and hit.overturned.by == later.id


def reword_before(bank: Bank, id: str, text: str) -> None:
    """Reword a statement into another text, which made a note of it in earlier versions."""

    def plan(writer: Writer) -> Changeset:
        held = bank.core.standing(writer, id)
        write = next_version(bank.core, writer, held, held.state, {"text": text}, "person")
        assert write is not None
        return Changeset("update", writes=[write])

    bank.core.apply(plan)


def test_purge_of_a_fact_names_notes_that_state_it(bank: Bank) -> None:
    other = bank.facts.add("Maya", "pin_is", "4711")
    reword_before(bank, other.id, "Something entirely different.")
    assert (held(bank, other.id).kind, bank.facts.query("Maya")) == ("note", [])
    receipt = bank.facts.purge(other.id)
    assert any(other.id in where for where in receipt.unreached)
    assert held(bank, other.id).text == "Something entirely different."
    bank.purge(other.id)
    assert bank.get(other.id) is None


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


@pytest.mark.parametrize("write", WRITES)
def test_secrets_and_private_parts_are_kept_out(opened: Callable[..., Bank], write: str) -> None:
    for secrets in ("flag", "redact", "refuse"):
        bank = opened(secrets, secrets=secrets)
        for drink in ("milk", "ale"):
            bank.facts.add("Ola", "likes", drink)
        with pytest.raises(InputError):
            WRITES[write](bank, "<private>all of it</private>")
        assert "all of it" not in everything(bank)
        if secrets == "refuse":
            with pytest.raises(PrivacyError) as caught:
                WRITES[write](bank, SECRET)
            assert KEY not in str(caught.value)
            WRITES[write](bank, MARKED)
            assert ("tea" in everything(bank), "rum" in everything(bank)) == (True, False)
        else:
            WRITES[write](bank, SECRET)
            assert "the key" in everything(bank)
        assert (KEY in everything(bank)) == (secrets == "flag")


def test_redacted_alias_is_found_by_what_was_given(opened: Callable[..., Bank]) -> None:
    bank = opened(secrets="redact")
    bank.facts.alias(SECRET, of="Maya")
    assert KEY not in bank.facts.unalias(SECRET).name
    assert bank.facts.aliases() == {}
    bank.facts.alias("Em", of=SECRET)
    bank.facts.unalias("Em")
