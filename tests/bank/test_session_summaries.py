"""The summary of a session: its content, when it is rebuilt, and that it keeps nothing hidden or erased."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.store_helpers import HandClock

import pieria
from pieria import Bank, Memory
from pieria.errors import InputError
from pieria.record.link import DRAWN_FROM

STORK = "The stork has left."


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return opened(session="s")


def summary_of(bank: Bank) -> Memory:
    summary = bank.upkeep.summarize("s")
    assert summary is not None
    return summary


def test_title_of_an_observation_stands_beside_what_was_said(bank: Bank) -> None:
    said, title = "Why does the heron fly off? Please keep it by the mill tomorrow.", "Moved the nest to the mill"
    for turn in (said, "Fixed."):
        bank.remember(turn, kind="turn")
    bank.remember(f"Asked: “{said}” Changed nest.py.", kind="observation", title=title)
    summary = summary_of(bank)
    assert f"{title}." in summary.text
    assert f"Asked: ({summary.at:%Y-%m-%d}) {said}" in summary.text
    assert summary.body["found"] == [title]
    assert not any(left_out in summary.text for left_out in ("“", "Fixed."))


def test_session_has_one_summary_that_links_to_its_sources(bank: Bank, clock: HandClock) -> None:
    ids = {bank.remember(f"The heron nests by mill {n}.", tags=["birds"], files=["mill.py"]).id for n in range(3)}
    clock.move(minutes=1)
    summary = summary_of(bank)
    assert (summary.kind, summary.session, summary.source) == ("summary", "s", "session")
    assert (summary.tags, summary.files, summary.body["of"]) == (("birds",), ("mill.py",), 3)
    assert "mill 1" in summary.text
    assert {link.target.name for link in bank.links(summary.id, relation=DRAWN_FROM)} == ids
    seq = bank.changes()[-1].seq
    assert summary_of(bank) == summary and bank.changes()[-1].seq == seq
    bank.remember(STORK)
    again = summary_of(bank)
    assert (again.id, again.version, "stork" in again.text) == (summary.id, 2, True)
    assert bank.count(kinds="summary") == 1
    # A summary that was removed does not come back.
    bank.remove(summary.id)
    bank.remember("The crane has come.")
    assert bank.upkeep.summarize("s") is None


def test_summary_holds_what_stands_now(bank: Bank, clock: HandClock) -> None:
    bank.remember("A secret of the session.", scope="session")
    assert bank.upkeep.summarize("s") is None
    nest, stork = bank.remember("The heron nests."), bank.remember(STORK)
    summary_of(bank)
    revised = bank.revise(nest.id, text="The heron flies.")
    bank.remove(stork.id)
    assert summary_of(bank).text == "The heron flies."
    bank.remove(revised.id)
    assert bank.upkeep.summarize("s") is None and bank.count(kinds="summary") == 0
    crane = bank.remember("The crane has come.")
    assert summary_of(bank).text == "The crane has come."
    bank.remember(STORK)
    clock.move(minutes=1)
    bank.invalidate(crane.id)
    clock.move(minutes=1)
    assert summary_of(bank).text == STORK and bank.count(kinds="summary") == 1


def test_purge_of_a_source_takes_the_summary_along(bank: Bank) -> None:
    """Even where it was made anew without the purged memory."""
    nest = bank.remember("The heron nests.")
    bank.remember(STORK)
    summary_of(bank)
    bank.remove(nest.id)
    assert "heron" not in summary_of(bank).text
    assert len(bank.purge(nest.id).also) == 1
    assert bank.count(kinds="summary", include=["removed"]) == 0
    assert summary_of(bank).text == STORK


def test_later_summary_is_one_job_for_a_session(bank: Bank, clock: HandClock) -> None:
    bank.remember("The heron nests.")
    job = bank.upkeep.summarize_later("s")
    assert (bank.upkeep.summarize_later("s").id, job.state) == (job.id, "later")
    clock.move(minutes=1)
    assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
    assert bank.count(kinds="summary") == 1
    bad: list[dict[str, object]] = [{}, {"session": ""}, {"session": "s", "more": 1}]
    for payload in bad:
        with pytest.raises(InputError):
            bank.jobs.add("session_summary", payload)


def test_model_is_asked_once_in_ten_minutes(tmp_path: Path, clock: HandClock) -> None:
    asked: list[object] = []

    def model(*messages: object, **options: object) -> str:
        asked.append(messages)
        return "Birds came and went."

    with pieria.Workspace(tmp_path, llm=model, clock=clock) as workspace:
        bank = workspace.open("b", session="s")
        bank.remember("The heron nests.")
        bank.upkeep.summarize_later("s")
        for minutes, calls in ((0, 0), (11, 1)):
            clock.move(minutes=minutes)
            bank.jobs.worker().run(once=True)
            assert len(asked) == calls
        assert [summary.text for summary in bank.list(kinds="summary")] == ["Birds came and went."]


def test_outdated_summary_is_noticed(bank: Bank, opened: Callable[..., Bank], clock: HandClock) -> None:
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
    # A summary from elsewhere is judged by its time.
    other = opened("other", session="s")
    other.remember("The heron nests.")
    other.remember("A day by the mill.", kind="summary", body={"type": "session"})
    assert other.upkeep.is_summed_up("s")
    clock.move(minutes=1)
    other.remember("The stork came.")
    assert not other.upkeep.is_summed_up("s")
