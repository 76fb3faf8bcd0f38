"""Import: no payload gives an observation two heads or brings back a removed one."""

from typing import Any

from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask
from tests.toolsets.open_mem.conftest import Made
from tests.toolsets.open_mem.test_moving import payload, row
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host

GONE = {"supersededBy": "new", "supersededAt": "2026-02-01T00:00:00Z"}


def said(id: str, of: str | None = None, at: str = "2026-01-10T00:00:00Z", **more: Any) -> dict[str, Any]:
    return row(id=id, narrative=f"The heron of {id}.", revisionOf=of, createdAt=at, **more)


def states(ask: Ask, id: str, **more: Any) -> list[tuple[str, str]]:
    nodes = ask("mem-get", ids=[id], includeHistory=True, **more)["data"]["history"][id]
    return [(node["id"], node["state"]) for node in nodes]


@requirement("import.heads")
def test_late_import_gives_way_to_a_later_revision(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    first = made("The heron nests.")
    early = ask("mem-export")["data"]["payload"]
    clock.move(minutes=10)
    second = ask("mem-revise", id=first, narrative="The heron left.")["data"]["newId"]
    late = ask("mem-export")["data"]["payload"]
    clock.move(minutes=10)
    for mode in ("merge", "replace"):
        other = host.having(bank_name=mode)
        other.bank.remember("Something else.")
        ask("mem-import", at=other, payload=early)
        ask("mem-import", at=other, payload=late, mode=mode)
        assert [id for id in made.found("heron", at=other) if id in (first, second)] == [second]
        assert states(ask, first, at=other) == [(first, "superseded"), (second, "current")]
        again = ask("mem-import", at=other, payload=late, mode=mode)["data"]
        assert (again["imported"], again["revisions"]) == (0, 0)


@requirement("import.heads")
def test_revised_record_of_a_payload_is_history(ask: Ask, made: Made, host: Host) -> None:
    for bank, more in (("plain", {}), ("superseded", GONE)):
        at = host.having(bank_name=bank)
        ask("mem-import", at=at, payload=payload(said("old", **more), said("new", "old")))
        assert made.found("heron", at=at) == ["new"]
        assert states(ask, "old", at=at) == [("old", "superseded"), ("new", "current")]


@requirement("import.heads")
def test_later_of_two_revisions_stands(ask: Ask, made: Made, host: Host) -> None:
    revisions = [said("root", supersededBy="one", supersededAt="2026-02-01T00:00:00Z")]
    for year, last, first in (("2026", "two", "one"), ("2025", "one", "two")):
        at = host.having(bank_name=f"of-{year}")
        two = said("two", "root", at=f"{year}-05-01T00:00:00Z")
        reply = ask("mem-import", at=at, payload=payload(said("one", "root"), two, revisions=revisions))
        assert made.found("heron", at=at) == [last]
        wanted = [("root", "superseded"), (first, "superseded"), (last, "current")]
        assert states(ask, "root", at=at) == wanted
        assert first in reply["meta"]["warnings"][0]


@requirement("import.heads", "remove.no_resurrection")
def test_revision_replaces_what_is_here_and_revives_nothing(ask: Ask, made: Made, host: Host, clock: HandClock) -> None:
    """As the original exports it: only the newest, with the id of the revised one."""
    for mode in ("skip", "merge", "replace"):
        kept, removed, purged = (host.having(bank_name=f"{mode}-{what}") for what in ("kept", "removed", "purged"))
        for at in (kept, removed, purged):
            ask("mem-import", at=at, payload=payload(said("old")))
        ask("mem-remove", at=removed, id="old")
        purged.bank.purge("old")
        clock.move(days=1)
        ask("mem-import", at=kept, payload=payload(said("new", "old")), mode=mode)
        if mode == "skip":
            assert made.found("heron", at=kept) == ["old"]
        else:
            ask("mem-import", at=kept, payload=payload(said("newest", "new")), mode=mode)
            assert made.found("heron", at=kept) == ["newest"]
            history = [("old", "superseded"), ("new", "superseded"), ("newest", "current")]
            assert states(ask, "old", at=kept) == history
        for at, revisions in ((removed, []), (purged, []), (purged, [said("old", **GONE)])):
            reply = ask("mem-import", at=at, payload=payload(said("new", "old"), revisions=revisions), mode=mode)
            assert (reply["data"]["imported"], reply["data"]["skipped"]) == (0, 1)
            assert at is removed or reply["meta"]["left"]["histories"] == {"purged here": 1}
            assert made.found("heron", at=at) == []


@requirement("import.heads")
def test_circle_of_revisions_has_one_head(ask: Ask, made: Made) -> None:
    round_ = payload(said("one", "two"), said("two", "one"), said("self", "self"))
    ask("mem-import", payload=round_)
    assert len(made.found("heron")) == 2
    reply = ask("mem-import", payload=payload(revisions=[said("a", "b"), said("b", "a"), said("c")]))
    assert reply["meta"]["left"] == {"revisions": {"lead to nothing in the payload": 3}}
    assert ask("mem-get", ids=["a", "b", "c"])["data"]["missing"] == ["a", "b", "c"]


@requirement("import.heads")
def test_history_of_many_revisions_is_imported_whole(ask: Ask, made: Made) -> None:
    many = 200
    chain = [said(f"r{n}", f"r{n - 1}" if n else None) for n in range(many)]
    data = ask("mem-import", payload=payload(chain[-1], revisions=chain[:-1]))["data"]
    assert (data["imported"], data["revisions"]) == (1, many - 1)
    assert made.found("heron", limit=50) == [f"r{many - 1}"]
    assert len(states(ask, "r0")) == many


@requirement("import.ignored")
def test_users_observations_are_said_to_become_the_projects(ask: Ask) -> None:
    reply = ask("mem-import", payload=payload(said("mine", scope="user")))
    assert reply["meta"]["warnings"] == ["scope: 1 of the user's observations now belong to the project."]
