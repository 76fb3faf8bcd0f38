"""The id of a fact in the verbs of memories: the same for a fact stated alone and for one drawn from a memory."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.bank.kept import Kept, held
from tests.bank.test_facts_stated import without_statements
from tests.contract.store_helpers import HandClock

from pieria import Bank, Memory
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, QuarantinedError

Opened = Callable[..., Bank]
Do = Callable[[Bank, str], Any]


def made(bank: Bank, subject: str, *, is_drawn: bool, **more: Any) -> str:
    memory = bank.remember(f"{subject} lives by the river in Madrid.").id if is_drawn else None
    return bank.facts.add(subject, "lives_in", "Madrid", valid_from="2024-01-01", memory=memory, **more).id


def removed(do: Do) -> Do:
    def then(bank: Bank, id: str) -> Any:
        bank.facts.remove(id)
        return do(bank, id)

    return then


def undone(bank: Bank, id: str) -> Memory:
    bank.update(id, text="Maya lives in Lisbon.")
    bank.undo(bank.changes(of=id)[-1].seq)
    return held(bank, id)


IN_LISBON = ("Maya lives in Lisbon.", "", 2, ["Lisbon"])
DONE: dict[str, tuple[Do, tuple[str, str, int, list[str]]]] = {
    "get": (held, ("Maya lives in Madrid.", "", 1, ["Madrid"])),
    "update": (lambda bank, id: bank.update(id, text="Maya lives in Lisbon."), IN_LISBON),
    "as the triple is spelt": (lambda bank, id: bank.update(id, text="maya lives_in Lisbon"), IN_LISBON),
    "revise": (lambda bank, id: bank.revise(id, text="Maya lives in Lisbon"), IN_LISBON),
    "the same": (
        lambda bank, id: bank.update(id, text="Maya lives in Madrid."),
        ("Maya lives in Madrid.", "", 1, ["Madrid"]),
    ),
    "confidence": (
        lambda bank, id: bank.update(id, confidence=0.5),
        ("Maya lives in Madrid.", "", 1, ["Madrid"]),
    ),
    "times": (
        lambda bank, id: bank.update(id, valid_from="2020-01-01", valid_until="2025-12-31"),
        ("Maya lives in Madrid (from 2020-01-01 until 2025-12-31).", "", 2, []),
    ),
    "invalidate": (
        lambda bank, id: bank.invalidate(id, at="2025-01-01"),
        ("Maya lives in Madrid (from 2024-01-01 until 2025-01-01).", "", 2, []),
    ),
    "when it began": (
        lambda bank, id: bank.invalidate(id, at="2024-01-01"),
        ("Maya lives in Madrid (from 2024-01-01 until 2024-01-01).", "", 2, []),
    ),
    "remove": (
        lambda bank, id: bank.remove(id, reason="a joke"),
        ("Maya lives in Madrid.", "removed", 1, []),
    ),
    "restore": (
        removed(lambda bank, id: bank.restore(id)),
        ("Maya lives in Madrid.", "", 1, ["Madrid"]),
    ),
    "undo": (undone, ("Maya lives in Madrid.", "", 1, ["Madrid"])),
}


@pytest.mark.parametrize("is_drawn", [False, True])
def test_days_for_an_id_are_days_of_the_zone(opened: Opened, is_drawn: bool) -> None:
    bank = opened("angels", time_zone="America/Los_Angeles")
    id = made(bank, "Maya", is_drawn=is_drawn)
    day, following = datetime(2026, 5, 5, 7, tzinfo=UTC), datetime(2026, 5, 6, 7, tzinfo=UTC)
    assert bank.update(id, valid_from="2026-05-05").valid_from == day
    assert bank.revise(id, valid_until="2026-05-05").valid_until == following
    assert bank.update(id, valid_until=None).valid_until is None
    assert bank.invalidate(id, at="2026-05-05").valid_until == following
    with pytest.raises(InputError, match="valid_from"):
        bank.update(id, valid_from="soon")
    note = bank.remember("The offer is open.").id
    assert bank.invalidate(note, at="2096-05-05").valid_until == datetime(2096, 5, 5, tzinfo=UTC)


@pytest.mark.parametrize("is_drawn", [False, True])
def test_verbs_of_memories_take_the_id_of_a_fact(opened: Opened, is_drawn: bool) -> None:
    def done(number: int, do: Do) -> tuple[str, str, int, list[str]]:
        bank = opened(f"bank-{number}")
        id = made(bank, "Maya", is_drawn=is_drawn)
        memory = do(bank, id)
        assert (memory.id, memory.kind, memory.drawn_from is not None) == (id, "fact", is_drawn)
        version = 1 if do is undone else memory.version
        return memory.text, memory.ended, version, [fact.object for fact in bank.facts.query("Maya")]

    assert {name: done(number, do) for number, (name, (do, _)) in enumerate(DONE.items())} == {
        name: outcome for name, (_, outcome) in DONE.items()
    }


REFUSED: dict[str, tuple[Do, type[PieriaError], str]] = {
    "other words": (lambda bank, id: bank.update(id, text="Maya moved."), InputError, 'Write "Maya lives in …"'),
    "no object": (lambda bank, id: bank.revise(id, text="Maya lives in ."), InputError, 'Write "Maya lives in …"'),
    "other dates": (
        lambda bank, id: bank.update(id, text="Maya lives in Madrid (until 2025-01-01)."), InputError, "valid_until",
    ),
    "another start": (
        lambda bank, id: bank.update(id, text="Maya lives in Rome (from 2026-01-01)."), InputError, "valid_from",
    ),
    "wrong times": (lambda bank, id: bank.update(id, valid_until="2023-01-01"), InputError, ""),
    "before it began": (lambda bank, id: bank.invalidate(id, at="2023-01-01"), InputError, "remove"),
    "author": (lambda bank, id: bank.revise(id, text="Maya lives in Rome.", author="Ann"), InputError, ""),
    "removed": (removed(lambda bank, id: bank.update(id, text="Maya lives in Rome.")), ConflictError, "restore"),
    "there": (lambda bank, id: bank.restore(id), ConflictError, "nothing to restore"),
    "ended": (
        lambda bank, id: [bank.invalidate(id, at=at) for at in ("2025-01-01", "2025-02-01")], ConflictError, "",
    ),
    "taken": (lambda bank, id: bank.remember("Another.", id=id), ConflictError, ""),
}  # fmt: skip
ONLY_DRAWN: dict[str, tuple[Do, type[PieriaError]]] = {
    "tags": (lambda bank, id: bank.update(id, tags=["home"]), InputError),
    "importance": (lambda bank, id: bank.update(id, importance=0.9, text="Maya lives in Rome."), InputError),
    "replacement": (lambda bank, id: bank.invalidate(id, replacement=bank.remember("Rome.").id), InputError),
    "widen": (lambda bank, id: bank.widen(id, importance=0.9), ConflictError),
    "pin": (lambda bank, id: bank.pin(id), ConflictError),
    "touch": (lambda bank, id: bank.touch(id), ConflictError),
    "link": (lambda bank, id: bank.link(id, bank.remember("Rome.").id), ConflictError),
    "around": (lambda bank, id: bank.around(id), ConflictError),
    "quarantine": (lambda bank, id: bank.quarantine(ids=id), ConflictError),
}


def hint_of(bank: Bank, id: str, do: Do, error: type[PieriaError]) -> str:
    with pytest.raises(error) as refused:
        do(bank, id)
    return refused.value.hint or ""


@pytest.mark.parametrize("is_drawn", [False, True])
def test_what_is_no_longer_the_fact_is_refused(opened: Opened, is_drawn: bool) -> None:
    for number, (do, error, hint) in enumerate(REFUSED.values()):
        bank = opened(f"bank-{number}")
        assert hint in hint_of(bank, made(bank, "Maya", is_drawn=is_drawn), do, error)
        assert "Madrid" in str(bank.facts.timeline("Maya")) or hint == "restore"


def test_what_only_a_memory_has_is_refused_for_a_drawn_fact(bank: Bank) -> None:
    id = made(bank, "Maya", is_drawn=True)
    source = held(bank, id).drawn_from
    hints = {name: hint_of(bank, id, do, error) for name, (do, error) in ONLY_DRAWN.items()}
    assert hints.pop("replacement").endswith("state the new value as a fact.")
    assert {name for name, hint in hints.items() if str(source) not in hint} == set()
    assert len(bank.facts.history(id)) == 1


def test_purge_by_id_names_what_else_states_the_fact(bank: Bank, clock: HandClock) -> None:
    drawn, alone = made(bank, "Maya", is_drawn=True), made(bank, "Maya", is_drawn=False)
    source = held(bank, drawn).drawn_from
    clock.move(hours=1)
    told = bank.purge(drawn, dry_run=True)
    bank.update(drawn, text="Maya lives in Lisbon.")
    with pytest.raises(ConflictError):
        bank.purge(drawn, as_told=told.digest)
    receipt = bank.purge([drawn, alone], dry_run=True)
    assert (receipt.ids, receipt.erased["facts"], receipt.erased["versions"]) == ((drawn, alone), 2, 3)
    assert receipt.unreached == (f"the memory {source}, its source: `pieria forget --purge` erases it",)
    assert f"the fact {alone}, which says the same" in bank.purge(drawn).unreached
    assert bank.get(drawn, include_removed=True) is None and bank.get(str(source)) is not None
    with pytest.raises(NotFoundError) as purged:
        bank.history(drawn)
    assert "erased for good" in str(purged.value.hint)


def test_versions_of_a_drawn_fact_open_as_those_of_a_memory(bank: Bank, clock: HandClock) -> None:
    id = made(bank, "Maya", is_drawn=True, confidence=0.6)
    first = held(bank, id)
    clock.move(days=1)
    bank.update(id, text="Maya lives in Lisbon.", reason="she moved", unless_changed_since=first.known_from)
    for do in (bank.update, bank.revise):
        with pytest.raises(ConflictError, match=f"{id}@1 of"):
            do(id, text="Maya lives in Rome.", unless_changed_since=first.known_from)
    bank.remove(id)
    assert [(one.version, one.text, one.reason, one.ended) for one in bank.history(id)] == [
        (1, "Maya lives in Madrid.", None, ""),
        (2, "Maya lives in Lisbon.", "she moved", ""),
        (2, "Maya lives in Lisbon.", None, "removed"),
    ]
    told = [bank.get(id), bank.get(f"{id}@1"), bank.get(id, version=2), bank.get(id, known_at=first.known_from)]
    assert [one and one.text for one in told] == [None, first.text, "Maya lives in Lisbon.", first.text]
    assert (first.confidence, first.body["object"], [one.id for one in bank.trace(id).items]) == (0.6, "Madrid", [id])
    assert [change.what for change in bank.changes(of=id)] == ["facts add", "update", "remove"]


def test_only_readers_of_its_memory_may_use_the_id_of_a_fact(opened: Opened) -> None:
    bank, mine = opened(), opened(session="mine")
    memory = mine.remember("Maya is leaving.", scope="session").id
    id = mine.facts.add("Maya", "plans", "to leave", memory=memory).id
    assert (bank.get(id), held(mine, id).text, held(mine, id).session) == (None, "Maya plans to leave.", "mine")
    for verb in (bank.history, bank.invalidate, bank.remove, bank.restore, bank.purge, bank.pin):
        with pytest.raises(NotFoundError) as unseen:
            verb(id)
        assert unseen.value.hint == "`list` and `recall` return ids."
    mine.remove(memory)
    assert mine.get(id) is None


def test_spelling_of_a_fact_out_of_sight_is_not_shown(opened: Opened) -> None:
    bank, mine = opened("private"), opened("private", session="mine")
    memory = mine.remember("Maya plans to move.", scope="session").id
    mine.facts.add("Maya", "moves_to", "secretVILLE", memory=memory)
    assert bank.facts.add("Zoe", "likes", "Secretville").object == "Secretville"


def test_quarantined_fact_says_so_by_its_id(bank: Bank) -> None:
    id = made(bank, "Maya", is_drawn=True)
    bank.quarantine(ids=str(held(bank, id).drawn_from))
    for verb in (bank.get, bank.history, bank.remove):
        with pytest.raises(QuarantinedError):
            verb(id)


TRUSTED_ONLY: dict[str, Callable[[Bank, str, str], object]] = {
    "end by name": lambda bank, id, name: bank.facts.invalidate(name, "lives_in", "Madrid"),
    "remove the fact": lambda bank, id, name: bank.facts.remove(id),
    "end": lambda bank, id, name: bank.invalidate(id),
    "remove": lambda bank, id, name: bank.remove(id),
    "date": lambda bank, id, name: bank.update(id, valid_until="2025-12-31"),
    "reword": lambda bank, id, name: bank.update(id, text=f"{name} lives in Rome."),
}


def test_outside_text_corrects_only_facts_of_its_own_trust(folder: Kept) -> None:
    with folder.opened("notes", via="person") as bank, folder.opened("notes", via="outside") as stranger:
        id, alone = made(bank, "Maya", is_drawn=True), made(bank, "Ann", is_drawn=False)
        for each, name in ((id, "Maya"), (alone, "Ann")):
            for do in TRUSTED_ONLY.values():
                with pytest.raises(ConflictError, match="more trust"):
                    do(stranger, each, name)
        own = made(stranger, "Omar", is_drawn=True)
        assert stranger.update(own, text="Omar lives in Rome.").trust == 0.2
        assert (bank.update(id, text="Maya lives in Rome.").trust, bank.facts.query("Maya")[0].object) == (0.6, "Rome")


def test_fact_of_the_users_memory_is_reached_by_id_from_any_bank(opened: Opened) -> None:
    bank, user = opened(), opened("@me")
    own = user.remember("I like herons.").id
    id = user.facts.add("I", "like", "herons", memory=own).id
    assert (held(bank, id).scope, bank.update(id, text="I like storks.").text) == ("user", "I like storks.")
    assert [change.what for change in bank.changes(of=id)] == ["facts add", "update"]
    assert bank.purge(id).erased["facts"] == 1 and user.facts.timeline() == []


def test_fact_of_an_older_version_is_changed_by_its_id(bank: Bank) -> None:
    without_statements(bank, 1)
    [fact] = bank.facts.timeline()
    assert (held(bank, fact.id).text, held(bank, fact.id).is_stored) == ("Maya 0 works on part 0.", False)
    corrected = bank.update(fact.id, text="Maya 0 works on part 9.")
    assert (corrected.text, corrected.is_stored, bank.facts.timeline()[0].object) == (
        "Maya 0 works on part 9.", True, "part 9",
    )  # fmt: skip


def test_time_of_a_drawn_fact_stays_within_its_memory(bank: Bank) -> None:
    id = made(bank, "Maya", is_drawn=True)
    bank.update(str(held(bank, id).drawn_from), valid_until="2025-12-31")
    assert held(bank, id).text == "Maya lives in Madrid (from 2024-01-01 until 2025-12-31)."
    with pytest.raises(InputError, match="valid_from"):
        bank.update(id, valid_from="2026-02-01")
    corrected = bank.update(id, text="Maya lives in Rome (from 2024-01-01 until 2025-12-31).")
    assert (corrected.text, bank.facts.history(id)[-1].valid_until) == (
        "Maya lives in Rome (from 2024-01-01 until 2025-12-31).", None,
    )  # fmt: skip
