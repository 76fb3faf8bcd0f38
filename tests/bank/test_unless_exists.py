"""`unless_exists`: which memory `remember` returns in place of a new one."""

from collections.abc import Callable
from typing import Any

from pieria import Bank
from pieria.errors import ConflictError

HERE = ("note", "mine", "theirs", "removed", "purged")
CASES: list[tuple[dict[str, Any], str]] = [
    ({"text": "A heron.", "unless_exists": "text"}, "note"),
    ({"text": "A heron", "unless_exists": "text"}, "new"),
    ({"text": "A heron.", "unless_exists": "text", "kind": "observation"}, "new"),
    ({"text": "A heron.", "unless_exists": "text", "scope": "session"}, "new"),
    ({"text": "A stork.", "unless_exists": "text", "scope": "session"}, "mine"),
    ({"text": "A stork.", "unless_exists": "text"}, "new"),
    ({"text": "A crane.", "unless_exists": "text"}, "new"),
    ({"text": "A heron."}, "new"),
    ({"text": "A gull.", "unless_exists": "id", "id": "note"}, "note"),
    ({"text": "A gull.", "unless_exists": "id", "id": "another"}, "new"),
    ({"text": "A gull.", "unless_exists": "text", "id": "note"}, "the id is taken"),
    ({"text": "A gull.", "id": "note"}, "the id is taken"),
    ({"text": "A gull.", "unless_exists": "id", "id": "theirs"}, "the id is taken"),
    ({"text": "A gull.", "unless_exists": "id", "id": "removed"}, "the id was removed"),
    ({"text": "A gull.", "unless_exists": "id", "id": "purged"}, "this id was purged"),
]


def outcome(bank: Bank, values: dict[str, Any]) -> str:
    """Return the id of the existing memory, `new`, or the reason of the refusal. Only a new memory is a change."""
    before = bank.changes()
    try:
        id = bank.remember(**values).id
    except ConflictError as refused:
        return refused.message.partition(" (")[0]
    assert (bank.changes() == before) == (id in HERE)
    return id if id in HERE else "new"


def test_existing_memory_is_returned_unless_it_differs(opened: Callable[..., Bank]) -> None:
    bank, other = opened(session="one"), opened(session="two")
    bank.remember("A heron.", id="note")
    for session, id in ((bank, "mine"), (other, "theirs")):
        session.remember("A stork.", id=id, scope="session")
    for id, end in (("removed", bank.remove), ("purged", bank.purge)):
        bank.remember("A crane.", id=id)
        end(id)
    assert [outcome(bank, values) for values, _ in CASES] == [told for _, told in CASES]
    once = [{"text": "An owl.", "unless_exists": "text"}] * 2
    assert len({memory.id for memory in bank.remember_many(once)}) == 1


def test_a_less_trusted_twin_is_no_twin(bank: Bank) -> None:
    text = "Zed hates rock."

    def said(*ways: str) -> list[str]:
        items = [{"text": text, "unless_exists": "text", "via": via} for via in ways]
        return [memory.id for memory in bank.remember_many(items)]

    [outside] = said("outside")
    agent, again, person = said("agent", "outside", "person")
    assert len({outside, agent, person}) == 3 and again == outside
    assert said("outside", "hearsay", "agent", "person") == [outside, agent, agent, person]
    text = "Zed asked:\n```\nTraceback (most recent call last):\n  boom\n```"
    # A person's text with a pasted part is hearsay, each time.
    assert said("person", "hearsay") == said("person", "person") and len(set(said("person", "hearsay"))) == 1
