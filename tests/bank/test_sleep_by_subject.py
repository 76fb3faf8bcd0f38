"""Sleep by subject: months of notes, one by one, become summaries that live with their sources."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import held
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.bank.results.upkeep import Slept

NOTES = [
    line.split("\t") for line in Path(__file__).with_name("month_of_notes.tsv").read_text("utf-8").splitlines() if line
]
"""Three subjects of six notes each, and eight notes that stand alone: day, subject, text."""
WORDY = Path(__file__).with_name("wordy_session.txt").read_text("utf-8").splitlines()
"""A session of fourteen notes with a decision, a date, an open question and much chatter."""
POND = "The pond by the mill was measured at 40 cm on {} and the heron was there with Omar."


def remember_month(bank: Bank, clock: HandClock) -> dict[str, str]:
    """Remember the month, each note in a session of its own; return the subject of each memory."""
    start = clock.now - timedelta(days=40)
    subjects = {}
    for number, (day, subject, text) in enumerate(NOTES):
        at = start + timedelta(days=int(day), minutes=number)
        subjects[bank.remember(text, at=at, session=f"run-{number}").id] = subject
    return subjects


def words_of(slept: Slept) -> list[tuple[int, int]]:
    return [(len(one.text.split()), sum(len(source.text.split()) for source in one.sources)) for one in slept.summaries]


def test_month_of_single_notes_is_summed_up_by_subject(bank: Bank, clock: HandClock) -> None:
    subjects = remember_month(bank, clock)
    slept = bank.upkeep.sleep()
    found = [{subjects[source.id] for source in one.sources} for one in slept.summaries]
    assert sorted(found, key=sorted) == [{"kiln"}, {"roof"}, {"talk"}]
    assert slept.consolidated == 18 and slept.reasons == ("8 notes have no like",)
    assert all(2 * told <= said for told, said in words_of(slept))
    again = bank.upkeep.sleep()
    assert (again.examined, again.summaries) == (0, ())
    assert again.reasons == ("nothing has changed since the last sleep", "8 notes have no like")


def test_summary_keeps_decisions_dates_amounts_and_open_ends(bank: Bank, clock: HandClock) -> None:
    subjects = remember_month(bank, clock)
    texts = {subjects[one.sources[0].id]: one.text for one in bank.upkeep.sleep().summaries}
    wanted = {"kiln": ["890", "1,220"], "roof": ["9,400", "14 May", "Still open"], "talk": ["Vienna", "180"]}
    missing = {subject: [one for one in each if one not in texts[subject]] for subject, each in wanted.items()}
    assert missing == {"kiln": [], "roof": [], "talk": []}


def test_wordy_session_keeps_what_a_person_would_look_for(bank: Bank, clock: HandClock) -> None:
    for number, text in enumerate(WORDY):
        bank.remember(text, session="importer", at=clock.now - timedelta(days=3, minutes=-number))
    slept = bank.upkeep.sleep()
    text = " ".join(one.text for one in slept.summaries)
    assert [word for word in ("Rust instead of Go", "18 September", "ask Jonas") if word not in text] == []
    assert all(2 * told <= said for told, said in words_of(slept))


def test_new_note_joins_the_summary_of_its_subject(bank: Bank, clock: HandClock) -> None:
    remember_month(bank, clock)
    [roof] = [one for one in bank.upkeep.sleep().summaries if "roof" in one.text.lower()]
    clock.move(days=3)
    bank.remember("The roofer Pell sent the final invoice for the roof: 9,850 euros, due on 30 June.", id="invoice")
    clock.move(days=3)
    [grown] = bank.upkeep.sleep().summaries
    assert (grown.id, grown.held and grown.held.id, grown.sources[-1].id) == (roof.id, roof.id, "invoice")
    assert "9,850" in held(bank, roof.id).text
    assert {link.target.name for link in bank.links(roof.id)} == {source.id for source in grown.sources}
    assert [memory.text for memory in bank.history(roof.id)] == [roof.text, grown.text]


@pytest.mark.parametrize("erase", [False, True])
def test_forgotten_source_leaves_the_summary_of_the_rest(bank: Bank, clock: HandClock, erase: bool) -> None:
    remember_month(bank, clock)
    [roof] = [one for one in bank.upkeep.sleep().summaries if "9,400" in one.text]
    [offer] = [source for source in roof.sources if "9,400" in source.text]
    if erase:
        assert roof.id in bank.purge(offer.id).also
    else:
        bank.remove(offer.id, reason="wrong roof")
    [renewed] = bank.upkeep.sleep().summaries
    assert {source.id for source in renewed.sources} == {source.id for source in roof.sources} - {offer.id}
    assert "9,400" not in held(bank, renewed.id).text
    for source in renewed.sources[1:]:
        bank.invalidate(source.id)
    clock.move(minutes=1)
    shown, slept = bank.upkeep.sleep(dry_run=True), bank.upkeep.sleep()
    assert shown.reasons[1:] == slept.reasons[1:] == ("1 summary has too few sources left",)
    assert bank.get(renewed.id) is None and held(bank, renewed.sources[0].id).tier == "working"


def test_summary_goes_with_the_last_long_source(bank: Bank, clock: HandClock) -> None:
    """Two short sources are read at a glance, so nothing repeats the words of the one that was removed."""
    at = clock.now - timedelta(days=5)
    texts = ("Kiln Brandt costs 890 euros.", "Kiln Brandt fits the elements.")
    long = (
        "Kiln Brandt came again, and the kiln of Brandt needs new elements, a lid, a thermocouple and a week of time."
    )
    ids = [bank.remember(text, at=at + timedelta(hours=n), tags=["kiln"]).id for n, text in enumerate((*texts, long))]
    [summary] = bank.upkeep.sleep().summaries
    bank.remove(ids[2])
    assert "1 summary has too few sources left" in bank.upkeep.sleep().reasons
    assert bank.get(summary.id) is None


def test_reworded_summary_stays_as_it_is(bank: Bank, clock: HandClock) -> None:
    remember_month(bank, clock)
    [roof] = [one for one in bank.upkeep.sleep().summaries if "9,400" in one.text]
    bank.update(roof.id, text="The roof is Pell's matter.")
    bank.remove(roof.sources[0].id)
    bank.upkeep.sleep()
    assert held(bank, roof.id).text == "The roof is Pell's matter."


def test_nothing_is_summed_up_that_a_summary_would_repeat(bank: Bank, clock: HandClock) -> None:
    at = clock.now - timedelta(days=3)
    for n in range(3):
        bank.remember(f"Ask Jonas{n}.", at=at + timedelta(minutes=n), tags=["jonas"])
    slept = bank.upkeep.sleep()
    assert slept.summaries == () and len(slept.reasons) == 1


@pytest.mark.parametrize("apart", [{"scope": "session"}, {"via": "outside"}])
def test_no_group_mixes_scopes_or_trust(opened: Callable[..., Bank], clock: HandClock, apart: dict[str, Any]) -> None:
    bank = opened(session="x")
    for n in range(6):
        at = clock.now - timedelta(days=9 - n)
        bank.remember(POND.format(f"day {n}"), at=at, **(apart if n % 2 else {}))
    slept = bank.upkeep.sleep()
    seen = [{(source.scope, source.trust) for source in one.sources} for one in slept.summaries]
    assert len(seen) == 2 and all(len(each) == 1 for each in seen)


def test_same_thing_said_on_three_days_is_settled(bank: Bank, clock: HandClock) -> None:
    first = bank.remember("The mill pond freezes in January.", unless_exists="text")
    for _ in range(2):
        clock.move(days=2)
        assert bank.remember("The mill pond freezes in January.", unless_exists="text").id == first.id
    clock.move(days=2)
    slept = bank.upkeep.sleep()
    assert [(one.memory.id, one.why) for one in slept.settled] == [(first.id, "said 3 times")]
    assert held(bank, first.id).tier == "settled"


@pytest.mark.parametrize("way", [{}, {"unless_exists": "text"}])
def test_only_equally_trusted_texts_settle_a_note(bank: Bank, clock: HandClock, way: dict[str, Any]) -> None:
    first = bank.remember("The mill pond freezes in January.", **way)
    settled = []
    for via in ("outside", "outside", "agent", "agent"):
        clock.move(days=2)
        bank.remember("The mill pond freezes in January.", via=via, **way)
        clock.move(days=2)
        settled.append([one.memory.id for one in bank.upkeep.sleep().settled])
    assert settled == [[], [], [], [first.id]]


def test_reasons_say_why_a_note_was_left_out(bank: Bank, clock: HandClock) -> None:
    bank.remember("The heron nests by the mill.", at=clock.now - timedelta(days=2))
    bank.remember("Maya plays the cello.", at=clock.now - timedelta(hours=2))
    assert bank.upkeep.sleep().reasons == ("1 note has no like", "1 is younger than a day")


def test_invented_words_of_a_model_are_not_kept(tmp_path: Path, clock: HandClock) -> None:
    said = "On 14 May Pell and Tom decided on zinc for 9,999 euros."
    with pieria.Workspace(tmp_path, clock=clock, llm=lambda messages, schema: said) as workspace:
        bank = workspace.open("notes")
        remember_month(bank, clock)
        slept = bank.upkeep.sleep()
        assert all("Pell and Tom" not in one.text and "9,999" not in one.text for one in slept.summaries)
        assert (
            len(slept.summaries) == 3
            and slept.reasons[-1] == "3 summaries are by the rules: the model named what no source says"
        )
