"""The summary of a session: its content, when it is rebuilt, and that it keeps nothing hidden or erased."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.making import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import InputError
from pieria.record.link import DRAWN_FROM


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def workspace(tmp_path: Path, clock: HandClock) -> Iterator[pieria.Workspace]:
    with pieria.Workspace(tmp_path, {"durability": "off"}, clock=clock) as workspace:
        yield workspace


@pytest.fixture
def bank(workspace: pieria.Workspace) -> Bank:
    return workspace.open("b", session="s")


def summed(bank: Bank, session: str = "s") -> str:
    summary = bank.upkeep.summarize(session)
    assert summary is not None
    return summary.text


def test_of_an_observation_its_title_is_told_beside_what_was_said(bank: Bank) -> None:
    bank.remember("Why does the heron fly off? Please keep it by the mill tomorrow.", session="s", kind="turn")
    bank.remember("Fixed.", session="s", kind="turn")
    bank.remember(
        "Asked: “Why does the heron fly off? Please keep it by the mill tomorrow.” Changed nest.py.", session="s",
        kind="observation", title="Moved the nest to the mill",
    )  # fmt: skip
    summary = bank.upkeep.summarize("s")
    assert summary is not None
    assert "Moved the nest to the mill." in summary.text
    assert "Asked:" not in summary.text
    assert "”" not in summary.text
    assert "Fixed." not in summary.text
    assert f"({summary.at:%Y-%m-%d}) Please keep it by the mill tomorrow." in summary.text


def test_a_session_has_one_summary_that_leads_to_what_was_said(bank: Bank, clock: HandClock) -> None:
    ids = {bank.remember(f"The heron nests by mill {n}.", tags=["birds"], files=["mill.py"]).id for n in range(3)}
    clock.move(minutes=1)
    summary = bank.upkeep.summarize("s")
    assert summary is not None
    assert (summary.kind, summary.session, summary.source) == ("summary", "s", "session")
    assert (summary.tags, summary.files, summary.body["of"]) == (("birds",), ("mill.py",), 3)
    assert "mill 1" in summary.text
    drawn = bank.neighbors(summary.id, relation=DRAWN_FROM, direction="out")
    assert {each.memory.id for each in drawn if each.memory} == ids


def test_it_is_made_anew_only_where_something_is_another(bank: Bank) -> None:
    bank.remember("The heron nests.")
    first = bank.upkeep.summarize("s")
    seq = bank.changes()[-1].seq
    assert bank.upkeep.summarize("s") == first
    assert bank.changes()[-1].seq == seq
    bank.remember("The stork has left.")
    again = bank.upkeep.summarize("s")
    assert first and again and (again.id, again.version) == (first.id, 2)
    assert "stork" in again.text
    assert bank.count(kinds="summary") == 1


def test_what_is_revised_or_removed_leaves_it(bank: Bank) -> None:
    nest, stork = bank.remember("The heron nests."), bank.remember("The stork has left.")
    summed(bank)
    bank.revise(nest.id, text="The heron flies.")
    bank.remove(stork.id)
    assert summed(bank) == "The heron flies."
    bank.remove(bank.list(kinds="note")[0].id)
    assert bank.upkeep.summarize("s") is None
    assert bank.count(kinds="summary") == 0
    bank.remember("The crane has come.")
    assert summed(bank) == "The crane has come."


def test_what_no_longer_holds_leaves_it_and_does_not_end_it(bank: Bank, clock: HandClock) -> None:
    nest = bank.remember("The heron nests.")
    bank.remember("The stork has left.")
    summed(bank)
    clock.move(minutes=1)
    bank.invalidate(nest.id)
    clock.move(minutes=1)
    assert summed(bank) == "The stork has left."
    assert bank.count(kinds="summary") == 1


def test_a_purge_takes_it_along_even_where_it_was_made_anew_without_the_purged(bank: Bank) -> None:
    nest = bank.remember("The heron nests.")
    bank.remember("The stork has left.")
    summed(bank)
    bank.remove(nest.id)
    assert "heron" not in summed(bank)
    receipt = bank.purge(nest.id)
    assert len(receipt.also) == 1
    assert bank.count(kinds="summary", include=["removed"]) == 0
    assert summed(bank) == "The stork has left."


def test_what_a_session_keeps_to_itself_does_not_go_into_it(bank: Bank) -> None:
    bank.remember("A secret of the session.", scope="session")
    assert bank.upkeep.summarize("s") is None
    bank.remember("The stork has left.")
    assert summed(bank) == "The stork has left."


def test_one_that_was_taken_away_does_not_come_back(bank: Bank) -> None:
    bank.remember("The heron nests.")
    summary = bank.upkeep.summarize("s")
    assert summary is not None
    bank.remove(summary.id)
    bank.remember("The stork has left.")
    assert bank.upkeep.summarize("s") is None


def test_later_it_is_a_job_once_for_a_session(bank: Bank, clock: HandClock) -> None:
    bank.remember("The heron nests.")
    job = bank.upkeep.summarize_later("s")
    assert bank.upkeep.summarize_later("s").id == job.id
    assert job.state == "later"
    clock.move(minutes=1)
    assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
    assert bank.count(kinds="summary") == 1


def test_a_model_is_asked_once_for_what_was_said_in_ten_minutes(tmp_path: Path, clock: HandClock) -> None:
    asked: list[object] = []

    def model(*messages: object, **options: object) -> str:
        asked.append(messages)
        return "Birds came and went."

    with pieria.Workspace(tmp_path, {"durability": "off"}, llm=model, clock=clock) as workspace:
        bank = workspace.open("b", session="s")
        bank.remember("The heron nests.")
        assert bank.upkeep.summarize_later("s").state == "later"
        bank.jobs.worker().run(once=True)
        assert asked == []
        clock.move(minutes=11)
        bank.jobs.worker().run(once=True)
        assert len(asked) == 1
        [summary] = bank.list(kinds="summary")
        assert summary.text == "Birds came and went."


@pytest.mark.parametrize("payload", [{}, {"session": ""}, {"session": "s", "more": 1}])
def test_a_job_without_a_session_is_refused(bank: Bank, payload: dict[str, object]) -> None:
    with pytest.raises(InputError):
        bank.jobs.add("session_summary", payload)


def test_whether_it_tells_of_the_session_as_it_is(bank: Bank, clock: HandClock) -> None:
    id = bank.remember("The heron nests.").id
    assert not bank.upkeep.is_summed_up("s")
    bank.upkeep.summarize("s")
    bank.remember("Filed.", kind="drawer")
    assert bank.upkeep.is_summed_up("s")
    bank.update(id, text="The stork nests.")
    assert not bank.upkeep.is_summed_up("s")
    bank.upkeep.summarize("s")
    bank.remove(id)
    assert not bank.upkeep.is_summed_up("s")


def test_one_that_came_from_elsewhere_is_told_by_its_time(bank: Bank, clock: HandClock) -> None:
    bank.remember("The heron nests.")
    bank.remember("A day by the mill.", kind="summary", body={"type": "session"})
    assert bank.upkeep.is_summed_up("s")
    clock.move(minutes=1)
    bank.remember("The stork came.")
    assert not bank.upkeep.is_summed_up("s")
