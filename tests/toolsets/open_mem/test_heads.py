"""Import: no payload gives an observation two heads or brings back a removed one."""

from typing import Any

import pytest
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
@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_what_came_here_late_still_gives_way_to_its_later_revision(
    ask: Ask, made: Made, host: Host, clock: HandClock, mode: str
) -> None:
    first = made("The heron nests.")
    early = ask("mem-export")["data"]["payload"]
    clock.move(minutes=10)
    second = ask("mem-revise", id=first, narrative="The heron left.")["data"]["newId"]
    late = ask("mem-export")["data"]["payload"]
    other = host.having(bank_name="other")
    other.bank.remember("Something else.")
    clock.move(minutes=10)
    ask("mem-import", at=other, payload=early)
    ask("mem-import", at=other, payload=late, mode=mode)
    assert [id for id in made.found("heron", at=other) if id in (first, second)] == [second]
    assert states(ask, first, at=other) == [(first, "superseded"), (second, "current")]
    again = ask("mem-import", at=other, payload=late, mode=mode)["data"]
    assert (again["imported"], again["revisions"]) == (0, 0)


@requirement("import.heads")
@pytest.mark.parametrize("more", [{}, GONE])
def test_one_that_another_of_the_payload_revises_is_its_history(ask: Ask, made: Made, more: dict[str, Any]) -> None:
    ask("mem-import", payload=payload(said("old", **more), said("new", "old")))
    assert made.found("heron") == ["new"]
    assert states(ask, "old") == [("old", "superseded"), ("new", "current")]


@requirement("import.heads")
@pytest.mark.parametrize("later", ["2026-05-01T00:00:00Z", "2025-05-01T00:00:00Z"])
def test_of_two_that_went_on_from_one_revision_the_later_stands(ask: Ask, made: Made, later: str) -> None:
    revisions = [said("root", supersededBy="one", supersededAt="2026-02-01T00:00:00Z")]
    told = payload(said("one", "root"), said("two", "root", at=later), revisions=revisions)
    reply = ask("mem-import", payload=told)
    last, first = ("two", "one") if later > "2026" else ("one", "two")
    assert made.found("heron") == [last]
    assert states(ask, "root") == [("root", "superseded"), (first, "superseded"), (last, "current")]
    assert first in reply["meta"]["warnings"][0]


@requirement("import.heads")
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
def test_a_revision_of_what_is_here_comes_in_its_place_or_not_at_all(
    ask: Ask, made: Made, clock: HandClock, mode: str
) -> None:
    ask("mem-import", payload=payload(said("old")))
    clock.move(days=1)
    # As the original exports it: only the newest, with the id of the revised one.
    ask("mem-import", payload=payload(said("new", "old")), mode=mode)
    if mode == "skip":
        assert made.found("heron") == ["old"]
    else:
        ask("mem-import", payload=payload(said("newest", "new")), mode=mode)
        assert made.found("heron") == ["newest"]
        assert states(ask, "old") == [("old", "superseded"), ("new", "superseded"), ("newest", "current")]


@requirement("import.heads", "remove.no_resurrection")
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
def test_a_revision_of_what_was_removed_here_does_not_come_in(ask: Ask, made: Made, mode: str) -> None:
    ask("mem-import", payload=payload(said("old")))
    ask("mem-remove", id="old")
    data = ask("mem-import", payload=payload(said("new", "old")), mode=mode)["data"]
    assert (data["imported"], data["skipped"]) == (0, 1)
    assert made.found("heron") == []


@requirement("import.heads", "remove.no_resurrection")
@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_revision_of_what_was_purged_here_does_not_come_in(
    ask: Ask, made: Made, host: Host, mode: str, is_whole: bool
) -> None:
    ask("mem-import", payload=payload(said("old")))
    host.bank.purge("old")
    older = [said("old", supersededBy="new", supersededAt="2026-02-01T00:00:00Z")] if is_whole else []
    reply = ask("mem-import", payload=payload(said("new", "old"), revisions=older), mode=mode)
    assert (reply["data"]["imported"], reply["data"]["skipped"]) == (0, 1)
    assert reply["meta"]["left"]["histories"] == {"purged here": 1}
    assert made.found("heron") == []


@requirement("import.heads")
def test_revisions_that_go_round_in_a_circle_have_one_head_and_those_of_nothing_are_told(ask: Ask, made: Made) -> None:
    round_ = payload(said("one", "two"), said("two", "one"), said("self", "self"))
    ask("mem-import", payload=round_)
    assert len(made.found("heron")) == 2
    reply = ask("mem-import", payload=payload(revisions=[said("a", "b"), said("b", "a"), said("c")]))
    assert reply["meta"]["left"] == {"revisions": {"lead to nothing in the payload": 3}}
    assert ask("mem-get", ids=["a", "b", "c"])["data"]["missing"] == ["a", "b", "c"]


@requirement("import.heads")
def test_a_history_of_very_many_revisions_comes_in_whole(ask: Ask, made: Made) -> None:
    many = 200
    chain = [said(f"r{n}", f"r{n - 1}" if n else None) for n in range(many)]
    data = ask("mem-import", payload=payload(chain[-1], revisions=chain[:-1]))["data"]
    assert (data["imported"], data["revisions"]) == (1, many - 1)
    assert made.found("heron", limit=50) == [f"r{many - 1}"]
    assert len(states(ask, "r0")) == many


@requirement("import.ignored")
def test_what_belonged_to_the_user_is_said_to_be_the_project_s_here(ask: Ask) -> None:
    reply = ask("mem-import", payload=payload(said("mine", scope="user")))
    assert reply["meta"]["warnings"] == ["scope: 1 of the user's observations now belong to the project."]
