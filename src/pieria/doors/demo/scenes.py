"""The scenes of the demo, in order: each calls the story's bank and shows the result.

A scene may say what it asks and why that matters. Results come from the bank's answers only: never write a name, date,
number or text of the story here as a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from pieria import Recall
from pieria.bank import Bank
from pieria.doors.cli.console import size
from pieria.doors.cli.memories import lacking, reasons
from pieria.doors.demo.stage import Stage, day
from pieria.doors.demo.story import BANK, Story, tell
from pieria.record.fact import Fact
from pieria.record.memory import Memory

TODAY = "2025-07-01T09:00:00Z"
MARCH = "2025-03-15"

QUESTIONS = (
    "How do our APIs authenticate?",
    "next departure",
    "mapa com uma so mao",
    "時刻表のデータ",
    "مزامنة الجداول",
)
"""Queries in plain words, by part of a code name, without accents, and in other scripts."""

UNWORDED = ("Which bird was a thief?", "What became of the houseplant?")
"""Queries that share no word with their answers."""
SURE = 0.4
"""Lowest confidence of an answer, for queries where the nearest memory need not answer."""

LIVED = (
    ("Zoë: the ferry to Vega needs a booking for bicycles, and I travel with mine.", "Asked how many travel."),
    (
        "$ make timetable -> error: stops.csv has no column 'pier'",
        "Added the column pier to stops.csv from the harbour list.",
    ),
    ("$ make timetable -> 214 departures written, 0 errors", "Told Zoë that the timetable is there again."),
)
"""Observations of an agent, with its actions."""

NEWS = "The ferry to Vega takes bicycles only with a booking."
"""A memory that the story lacks."""

Scene = Callable[[Stage, Story], None]


def half_a_year(stage: Stage, story: Story) -> None:
    stage.open(
        "Half a year of a small team",
        "Every write is on disk and can be recalled before the call returns. It needs no key and no network.",
    )
    called, took = _told(stage, story)
    bank = story.bank
    stage.call("bank.sync", bank.sync)
    total = stage.call("bank.count", bank.count)
    kinds = stage.call("bank.count", bank.count, by="kind")
    authors = stage.call("bank.count", bank.count, by="author")
    stats = stage.call("bank.stats", bank.stats)
    first, last = bank.list(order="oldest", limit=1)[0], bank.list(limit=1)[0]
    stage.gap()
    stage.row("✓", f"{sum(called.values())} calls in {took:.2f} s, each on disk before the next: {_counted(called)}")
    stage.row("✓", f"{total} memories and {stats.facts['facts']} facts, {day(first.at)} to {day(last.at)}")
    stage.row("", f"by author: {_counted(authors)}", f"by kind: {_counted(kinds)}")
    stage.row("first", first.text, _origin(first), style="dim")
    stage.row("last", last.text, _origin(last), style="dim")


def ask(stage: Stage, story: Story) -> None:
    stage.open(
        "Ask, and see why",
        "Every answer can be checked: each hit shows its score, the reasons for it, its author and its date.",
    )
    for question in QUESTIONS:
        _asked(stage, story.bank, question, k=1)
    stage.gap()
    stage.say("A question that the bank cannot answer: no hit is certain enough to be shown:")
    recall = _asked(stage, story.bank, "What does the parrot eat?", k=1, min_confidence=SURE)
    looked = ", ".join(f"{name} {arm['ms']:.1f} ms" for name, arm in recall.plan["arms"].items())
    stage.gap()
    stage.row("", f"searched: {looked}", lacking(recall) or "from recall.plan", style="dim")


def meaning(stage: Stage, story: Story) -> None:
    stage.open(
        "Search by meaning",
        "A question may share no word with its answer. A model on this machine also finds similar meanings.",
    )
    [model] = [found for found in story.bank.doctor().findings if found.check == "embedder"]
    stage.row("", f"model: {model.detail}", model.remedy or "from bank.doctor", style="dim")
    stage.finding("model", model.detail)
    stage.gap()
    for question in UNWORDED:
        _asked(stage, story.bank, question, k=1, min_confidence=SURE)


def change_of_mind(stage: Stage, story: Story) -> None:
    stage.open(
        "A new decision keeps the old one",
        "`revise` replaces a memory by a new one. The old decision and its reason stay in the history.",
    )
    bank = story.bank
    memory = stage.call("bank.get", bank.get, "auth")
    while memory is not None:
        since = f"from {day(bank.history(memory.id)[0].known_from)}"
        if memory.superseded_by is None:
            stage.row("✓", memory.text, f"{since} on")
            break
        stage.row("→", memory.text, f"{since}, then revised: {memory.standing.reason}", style="yellow")
        memory = stage.call("bank.get", bank.get, memory.superseded_by)
    stage.gap()
    stage.say("Recall no longer returns the old memory, except for the time when it was valid:")
    _asked(stage, bank, "session cookies", k=1, min_confidence=SURE)
    _asked(stage, bank, "session cookies", k=1, min_confidence=SURE, known_at="2025-01-20")


def mistake(stage: Stage, story: Story) -> None:
    stage.open(
        "A correction keeps the history",
        "`update` writes the next version under the same id. The wrong version stays in the history, with the reason.",
    )
    _versions(stage, story.bank)
    stage.gap()
    stage.say("The memories that followed from it are linked to it:")
    for neighbor in stage.call("bank.neighbors", story.bank.neighbors, "winter-end", direction="in"):
        if neighbor.memory:
            stage.row("←", neighbor.memory.text, f"{neighbor.link.relation} · {_origin(neighbor.memory)}")


def _versions(stage: Stage, bank: Bank) -> None:
    for memory in stage.call("bank.history", bank.history, "winter-end"):
        until = day(memory.known_until, "today")
        stage.row(
            f"@{memory.version}",
            memory.text,
            f"{day(memory.known_from)} – {until}" + (f" · {memory.standing.reason}" if memory.standing.reason else ""),
            style="green" if memory.known_until is None else "yellow",
        )


def travel(stage: Stage, story: Story) -> None:
    stage.open(
        "What did we believe in March?",
        "Two different questions: `known_at` asks what the bank knew then, `valid_at` asks what was true then.",
    )
    _then_and_now(stage, story.bank)
    stage.gap()
    _asked(stage, story.bank, "Which bell do I ring at the office?", k=1, valid_at="2025-04-01")
    _asked(stage, story.bank, "Which bell do I ring at the office?", k=1)


def _then_and_now(stage: Stage, bank: Bank) -> None:
    question = "When does the winter timetable end?"
    _asked(stage, bank, question, k=1, known_at=MARCH)
    _asked(stage, bank, question, k=1)


def facts(stage: Stage, story: Story) -> None:
    stage.open(
        "Facts with dates",
        "A fact has the time when it is valid and the time when it was learned. A late correction rewrites no history.",
    )
    known = story.bank.facts
    name = "bank.facts.query"
    _facts(stage, stage.call("bank.facts.timeline", known.timeline, "Maya"))
    _facts(stage, stage.call(name, known.query, "Maya", "lives_in", valid_at="2025-03-05", known_at="2025-03-08"))
    _facts(stage, stage.call(name, known.query, "Maya", "lives_in", valid_at="2025-03-05"))
    _facts(stage, stage.call(name, known.query, "Tidewater", "hosted_on", history=True))
    stage.gap()
    stage.say("One entity may have two names:")
    for alias, entity in stage.call("bank.facts.aliases", known.aliases).items():
        stage.row("=", f"{alias} = {entity}")
    _facts(stage, stage.call(name, known.query, entity="zoë"))
    stage.gap()
    stage.say("If two sources contradict each other, the bank reports the conflict and decides nothing in silence:")
    for conflict in stage.call("bank.facts.conflicts", known.conflicts):
        _facts(stage, conflict.facts, "?", "yellow")
        wrong = conflict.facts[0]
        stage.call("bank.facts.remove", known.remove, wrong.id, reason="it was measured again")
        _facts(stage, stage.call(name, known.query, wrong.subject, wrong.predicate))
        versions = stage.call("bank.facts.history", known.history, wrong.id)
        stage.row(
            "✓", f"the removed fact stays in the history, with {len(versions)} versions", versions[-1].reason or ""
        )


def privacy(stage: Stage, story: Story) -> None:
    stage.open(
        "Private text stays out",
        "Every write passes one filter before anything reaches the disk, from every tool and interface.",
    )
    bank = story.bank
    leave = stage.call("bank.get", bank.get, "leave")
    staging = stage.call("bank.get", bank.get, "staging")
    assert leave is not None and staging is not None
    stage.row("✓", leave.text, f"flags: {', '.join(leave.flags)}")
    stage.row("!", "(the text holds a secret, and is flagged)", f"flags: {', '.join(staging.flags)}", style="yellow")
    stage.gap()
    stage.say("A bank can redact secrets, or refuse them:")
    leak = "The production password is plover-8Kd!quay until Friday."
    redacting = story.open("redacting", data=story.aside, secrets="redact")
    kept = stage.call("redacting.remember", redacting.remember, leak)
    stage.row("✓", kept.text)
    refusing = story.open("refusing", data=story.aside, secrets="refuse")
    stage.refused("refusing.remember", refusing.remember, leak)


def sight(stage: Stage, story: Story) -> None:
    stage.open(
        "Who may see it",
        "One rule for every reader: private memories stay in their session, your own follow you into every bank.",
    )
    question = "Would Omar like to write to the operator himself?"
    _asked(stage, story.bank, question, scope="session")
    standup = story.open(session="standup-0519")
    _asked(stage, standup, question, scope="session", spelt="standup.recall")
    stage.gap()
    stage.say("Stored in one bank with scope user, and recalled in another:")
    work, garden = story.open("work", data=story.aside), story.open("garden", data=story.aside)
    stage.call("work.remember", work.remember, "Answer me in Portuguese, please.", scope="user")
    _asked(stage, garden, "Shall I answer in Portuguese?", k=1, spelt="garden.recall")


def learn(stage: Stage, story: Story) -> None:
    stage.open(
        "Learning from experience",
        "A session records an agent's steps, and learns facts and procedures, each linked to the steps it comes from.",
    )
    bank = story.open("harbour-desk", data=story.aside)
    with bank.session(goal="Answer the travellers at the desk") as session:
        for observation, action in LIVED:
            stage.call("session.append", session.append, observation, action)
    stage.gap()
    for memory in stage.call("bank.list", bank.list, kinds=["semantic", "procedural"]):
        steps = bank.neighbors(memory.id, relation="provenance")
        drawn = ", ".join(step.memory.text for step in steps if step.memory)
        stage.row("✓", memory.text, f"{memory.kind}, learned from: {drawn}")
    stage.gap()
    _asked(stage, bank, "Is there a booking for bicycles?", k=1)


def forget(stage: Stage, story: Story) -> None:
    stage.open(
        "Forget, undo, erase",
        "You can undo the removal of a memory. A purge erases it for good, everywhere.",
    )
    _undone(stage, story.bank)
    stage.gap()
    _erased(stage, story)


def _undone(stage: Stage, bank: Bank) -> None:
    question = "Within how many working days do we answer a customer?"
    stage.call("bank.remove", bank.remove, "rule", reason="a slip of the finger")
    stage.say("Recall skips removed memories; the best of the others is:")
    _asked(stage, bank, question, k=1)
    slip = [change for change in stage.call("bank.changes", bank.changes, last=3) if change.what == "remove"][-1]
    stage.row(str(slip.seq), f"{slip.what} {', '.join(slip.ids)}", f"by {slip.who}, {day(slip.at)}")
    stage.call("bank.undo", bank.undo, slip.seq)
    _asked(stage, bank, question, k=1)
    stage.refused("bank.undo", bank.undo, slip.seq)


def _erased(stage: Stage, story: Story) -> None:
    bank = story.bank
    stage.say("A traveller asks to be erased: every version, the index, the facts, and everything derived from them:")
    name, word = "Jonas Halvorsen", "Halvorsen"
    about = stage.call("bank.list", bank.list, entities=name)
    before = places(story.data, word)
    receipt = stage.call("bank.purge", bank.purge, [memory.id for memory in about])
    after = places(story.data, word)
    stage.row("✓", "erased: " + _counted(receipt.erased), f"not reached: {', '.join(receipt.unreached) or 'nothing'}")
    found = f"{word!r} in the bytes of the data folder: {before} × before, {after} × now"
    stage.row("✗" if after else "✓", found)
    stage.finding("occurrences", {"word": word, "before": before, "after": after})


def moving(stage: Stage, story: Story) -> None:
    stage.open(
        "Take it with you",
        "One file in a documented format holds everything: versions, removals, links, facts and known times.",
    )
    bank, file = story.bank, story.aside / f"{BANK}.jsonl"
    stage.call("bank.export", bank.export, file)
    copy = story.open("copy", data=story.aside)
    stage.call("copy.import_", copy.import_, file, trusted=True)
    ours, theirs = whole(bank), whole(copy)
    same = sum(theirs.get(name) == value for name, value in ours.items())
    stage.row(
        "✓" if ours == theirs else "✗",
        f"{same} of {len(ours)} records equal: histories, facts, links, journal",
        _size(file),
    )
    _asked(stage, copy, "When does the winter timetable end?", k=1, known_at=MARCH, spelt="copy.recall")
    backup = stage.call("bank.backup", bank.backup, story.aside / f"{BANK}.backup")
    stage.row("✓", f"backup written while the bank is open: {backup.name}", _size(backup))
    stage.finding("equal", ours == theirs)
    stage.finding("records", len(ours))


def health(stage: Stage, story: Story) -> None:
    stage.open(
        "Check the bank's health",
        "`doctor` checks the file, the record, the index and the settings. It never prints text of memories.",
    )
    diagnosis = stage.call("bank.doctor", story.bank.doctor)
    for finding in diagnosis.findings:
        remedy = finding.remedy or ""
        stage.row(
            "✓" if finding.well else "✗",
            f"{finding.check}: {finding.detail}",
            remedy,
            style="green" if finding.well else "red",
        )


def remember(stage: Stage, story: Story) -> None:
    stage.open(
        "Remember, and recall with reasons",
        "A memory is on disk before the call returns. Each hit shows its score, the reasons for it, and its origin.",
    )
    _told(stage, story)
    bank = story.bank
    stage.row(
        "", f"a bank with half a year of a small team: {stage.call('bank.count', bank.count)} memories", style="dim"
    )
    stage.call("bank.remember", bank.remember, NEWS, author="Zoë")
    _asked(stage, bank, "Can my bicycle come to Vega?", k=1)
    _asked(stage, bank, QUESTIONS[0], k=1)


def correct(stage: Stage, story: Story) -> None:
    stage.open(
        "Correct, look back, and undo",
        "A correction keeps the wrong version and the reason. You can ask what the bank knew then, and undo a change.",
    )
    _versions(stage, story.bank)
    stage.gap()
    _then_and_now(stage, story.bank)
    stage.gap()
    _undone(stage, story.bank)


def erase(stage: Stage, story: Story) -> None:
    stage.open("Erase", "A purge erases a memory for good, everywhere, and lists what it erased.")
    _erased(stage, story)


SHORT, ALL = "short", "all"
SCENES: Mapping[str, tuple[Scene, ...]] = {
    SHORT: (remember, correct, erase),
    ALL: (
        *(half_a_year, ask, meaning, change_of_mind, mistake, travel, facts),
        *(privacy, sight, learn, forget, moving, health),
    ),
}


def places(folder: Path, word: str) -> int:
    """Count a word in the files of a folder, byte by byte, without the bank."""
    wanted = word.lower().encode()
    return sum(path.read_bytes().lower().count(wanted) for path in folder.iterdir() if path.is_file())


def whole(bank: Bank) -> dict[str, Any]:
    """Return everything readable in a bank, except the store's row numbers."""
    page = bank.list(include=("removed", "revised", "invalid", "archived"), limit=10_000)
    found: dict[str, Any] = {
        f"memory {memory.id}": [version.as_dict() | {"row": 0} for version in bank.history(memory.id)]
        for memory in page
    }
    found |= {f"usage {id}": usage.as_dict() for id, usage in bank.usage([memory.id for memory in page]).items()}
    for fact in bank.facts.timeline():
        found[f"fact {fact.id}"] = [version.as_dict() for version in bank.facts.history(fact.id)]
    for memory in page:
        if not memory.removed and not memory.superseded_by:
            for neighbor in bank.neighbors(memory.id):
                found[f"link {neighbor.link.id}"] = neighbor.link.as_dict()
    return found | {f"change {change.seq}": change.as_dict() for change in bank.changes()}


def _told(stage: Stage, story: Story) -> tuple[Mapping[str, int], float]:
    """Tell the story up to today. Return how often each verb was called, and the seconds that took."""
    begun = perf_counter()
    called = tell(story)
    took = perf_counter() - begun
    story.calendar.set(TODAY)
    stage.finding("told", called)
    return called, took


def _asked(stage: Stage, bank: Bank, question: str, *, spelt: str = "bank.recall", **values: Any) -> Recall:
    recall: Recall = stage.call(spelt, bank.recall, question, **values)
    for hit in recall:
        why = "  ".join(reasons(recall, hit))
        stage.row(f"{hit.score:.2f}", hit.snippet, f"{why} · {_origin(hit.memory)}")
    if not recall:
        stage.row("–", "nothing", style="dim")
    return recall


def _facts(stage: Stage, found: Any, mark: str = "✓", style: str = "green") -> None:
    for fact in found:
        stage.row(mark, f"{fact.subject} {fact.predicate} {fact.object}", _held(fact), style=style)
    if not found:
        stage.row("–", "nothing", style="dim")


def _held(fact: Fact) -> str:
    held = f"held {day(fact.valid_from, 'always')} – {day(fact.valid_until)}"
    return f"{held} · known from {day(fact.known_from)}" + (f" · {fact.source}" if fact.source else "")


def _origin(memory: Memory) -> str:
    """Return the author and date and, for a memory changed later, the date of its version."""
    said = f"{memory.author}, {day(memory.at)}" if memory.author else day(memory.at)
    later = "" if memory.known_from.date() == memory.at.date() else f"; this version since {day(memory.known_from)}"
    return f"{said}{later} · {memory.reference}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items() if number)


def _size(file: Path) -> str:
    return f"{file.name}, {size(file.stat().st_size)}"
