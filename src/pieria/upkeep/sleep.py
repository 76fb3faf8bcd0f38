"""Which memories a sleep goes over, and what it writes for a group: one summary, and the tier of its sources.

Nothing else of the sources changes. Dates, audience, importance and lineage are computed here; a mind only words the
summary. Summaries get shorter with age; the longer text stays as an earlier version.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import chain, count, islice
from statistics import median
from typing import Any, NamedTuple

from pieria.language.inventions import invented
from pieria.models.mind import Mind, Said
from pieria.models.minds.rules.mind import RuleMind
from pieria.record.changeset import Changeset, Stored, Write
from pieria.record.decay import DAY, HOUR
from pieria.record.draft import Draft, NewMemory
from pieria.record.filter import Filter, Viewer
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, LinkRow
from pieria.record.memory import Memory
from pieria.record.time import iso, micros
from pieria.store.protocol import Reader
from pieria.store.rows import first_write
from pieria.upkeep.groups import Group

SUMMARY = "summary"
RULES = "rules"
BY = "sleep"
SHARES = (0.49, 0.3, 0.2)
"""Length of a new summary, after a month, and after half a year, as a share of its sources' words."""
SHORT = 20
"""A summary of this many words gets no shorter."""
OLDER_WORDS = (80, 40, 20)
"""The words of each level of a summary that was made before lengths were shares."""
GLANCE = 24
"""The least words worth a summary: fewer are read at a glance."""
REPEATS = 0.6
"""A summary longer than this share of its sources only repeats them."""
LABELS = 8
SAID = ("note", "observation", "turn")
"""Kinds that a sleep goes over: what was said or noticed. Drawers and diaries stay as filed."""
RESTS_HOURS = 24
"""Memories younger than this are still in use."""
PRESSURE = 500
"""Above this number the oldest are due regardless of age."""
REMEMBERED_DAYS, REMEMBERED = 60, 5_000
"""Days and number of earlier memories to search for repeated statements."""
AT_ONCE = 500
Place = tuple[int, int]
"""A position in time order: (time, row)."""
AGES_DAYS = (0, 30, 180)
"""The age, in days, at which a summary gets the length of each level."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The planned summary of a group. `held` is the summary that it replaces, if the group had one."""

    id: str
    text: str
    sources: tuple[Memory, ...]
    held: Memory | None = None
    invented: tuple[str, ...] = ()
    """What a language model named and no source says. If anything, the text is by the rules."""

    @property
    def last(self) -> Memory:
        return self.sources[-1]

    def as_dict(self) -> dict[str, Any]:
        first, last = self.sources[0], self.last
        return {
            "id": self.id,
            "text": self.text,
            "sources": [memory.id for memory in self.sources],
            "from": iso(first.at),
            "until": iso(last.at),
            "scope": last.scope,
            "renewed": self.held is not None,
        }


def summary_ids(reader: Reader, groups: Sequence[Group]) -> list[str | None]:
    """Return the id for the summary of each group; None if a group that came without its summary has one already.

    A removed summary leaves its id in use.
    """
    found: dict[int, str | None] = {
        place: group.held.id for place, group in enumerate(groups) if group.held is not None
    }
    for number in count():
        ids = {place: _id_of(group.members, number) for place, group in enumerate(groups) if place not in found}
        if not ids:
            return [found[place] for place in range(len(groups))]
        held = reader.states(ids.values())
        found |= {place: id for place, id in ids.items() if id not in held}
        found |= {place: None for place, id in ids.items() if id in held and not held[id].state.ended}
    raise AssertionError("numbers end")


def summary_of(id: str, group: Group, mind: Mind, zone: tzinfo) -> Summary | None:
    """Return the summary of a group, or None if it would only repeat its sources.

    A language model's words are checked: what names a person, a number or a date that no source names is not used.
    """
    texts = [said(memory, zone) for memory in group.members]
    length = sum(len(entry.text.split()) for entry in texts)
    if length < GLANCE:
        return None
    words = _room(0, length)
    text, made_up = _worded(texts, words, mind)
    if len(text.split()) > REPEATS * length:
        return None
    return Summary(id, text, tuple(group.members), group.held, made_up)


def _worded(texts: Sequence[Said], words: int, mind: Mind) -> tuple[str, tuple[str, ...]]:
    """Return a summary, and what a language model made up; then its words are by the rules, which only quote."""
    text = mind.summarize(texts, words).strip()
    if mind.name == RULES:
        return text, ()
    made_up = invented(text, [f"{entry.text} {entry.at} {entry.author or ''}" for entry in texts])
    return (RuleMind().summarize(texts, words).strip() if made_up else text), made_up


def _room(level: int, words: int) -> int:
    """Return how many words a summary of that many words may have."""
    return max(int(SHARES[level] * words), min(SHORT, words // 2))


def said(memory: Memory, zone: tzinfo = UTC) -> Said:
    return Said(memory.text, memory.author, f"{memory.at.astimezone(zone):%Y-%m-%d}")


def digest_of(sources: Sequence[Memory]) -> str:
    """Return a key that changes whenever a source of a summary changes, comes or goes."""
    told = "\n".join(sorted(memory.reference for memory in sources))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def wording_of(text: str) -> str:
    """Return a key of a summary's own words: it differs once somebody has reworded it."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_own(summary: Memory) -> bool:
    """Return whether a sleep worded this summary, and nobody has changed it since."""
    return summary.body.get("wording") == wording_of(summary.text)


def content_of(summary: Summary) -> dict[str, Any]:
    """Return the content of the summary, by field name."""
    labels = Counter(entity for memory in summary.sources for entity in memory.entities)
    tags = Counter(tag for memory in summary.sources for tag in memory.tags)
    body = {
        "type": SUMMARY,
        "level": 0,
        "sources": len(summary.sources),
        "words": sum(len(memory.text.split()) for memory in summary.sources),
        "digest": digest_of(summary.sources),
        "wording": wording_of(summary.text),
    }
    return {
        "text": summary.text,
        "body": body,
        "tags": [tag for tag, _ in tags.most_common(LABELS)],
        "entities": [entity for entity, _ in labels.most_common(LABELS)],
    }


def changes(
    held: Mapping[str, Stored], summary: Summary, draft: Draft, settled: Collection[str], now: int, place: str
) -> Changeset | None:
    """Return the changeset; None if a source was changed, so that a later sleep retries. `held` are the present states
    of the summary and its sources, `settled` are ids of sources."""
    if any(is_changed(memory, held.get(memory.id)) for memory in summary.sources) or summary.id in held:
        return None
    write = first_write(draft, summary.id, now, place)
    changeset = Changeset("sleep", writes=[write._replace(state=write.state._replace(tier="kept"))])
    changeset.writes += rested(summary.sources, held, settled)
    changeset.links = [link_to(summary.id, memory.id) for memory in summary.sources]
    return changeset


def link_to(summary: str, source: str) -> LinkRow:
    return LinkRow(new_id(), "memory", summary, DRAWN_FROM, "memory", source, 1.0, None, None, "")


def rested(sources: Sequence[Memory], held: Mapping[str, Stored], settled: Collection[str]) -> Iterator[Write]:
    """Yield the sources in the tier that they get. Those gone over before keep theirs."""
    for memory in sources:
        state = held[memory.id].state
        if state.tier == "working":
            yield Write(state._replace(tier="settled" if memory.id in settled else "kept"))


def new_memory(summary: Summary) -> NewMemory:
    last = summary.last
    private = last.scope == "session"
    sessions = {memory.session for memory in summary.sources}
    return NewMemory(
        kind=SUMMARY,
        importance=median(memory.importance for memory in summary.sources),
        scope=last.scope,
        session=last.session if private or len(sessions) == 1 else None,
        channel=last.channel if private else None,
        source=BY,
        author_type="agent",
        at=last.at,
        **content_of(summary),
    )


def is_changed(memory: Memory, held: Stored | None) -> bool:
    if held is None:
        return True
    state = held.state
    return (state.row, state.ended, state.status, state.tier) != (memory.row, "", memory.status, memory.tier)


def _id_of(group: Sequence[Memory], number: int) -> str:
    """Return an id derived from the source versions, so that all processes agree and a group is summarized once."""
    versions = "\n".join([*sorted(memory.reference for memory in group), *([str(number)] if number else [])])
    return f"sum-{hashlib.sha256(versions.encode()).hexdigest()[:20]}"


class Due(NamedTuple):
    """How many memories are due, how many are not yet, and where to begin: `ahead` of them come after that place."""

    number: int
    young: int
    after: Place | None
    ahead: int


def fresh(now: int) -> Filter:
    """Return the filter for memories that no sleep has gone over, for any reader."""
    return Filter(now=now, viewer=Viewer(everything=True), kinds=SAID, tiers=("working",), status=("active",))


def said_before(reader: Reader, now: int) -> list[Memory]:
    """Return memories that sleeps of recent weeks went over."""
    asked = fresh(now).having(tiers=("kept", "settled"), since=now - REMEMBERED_DAYS * DAY)
    return list(islice(chain.from_iterable(selected(reader, asked)), REMEMBERED))


def number_due(reader: Reader, now: int, *, force: bool) -> tuple[int, int]:
    """Return how many memories are due, and how many are not yet.

    Due are those old enough, and the oldest of too many; with `force` all.
    """
    asked = fresh(now)
    whole = sum(reader.count(asked).values())
    if force:
        return whole, 0
    number = max(sum(reader.count(asked.having(until=now - RESTS_HOURS * HOUR)).values()), whole - PRESSURE)
    return number, whole - number


def due(reader: Reader, now: int, *, force: bool, limit: int, after: Place | None) -> Due:
    """Return what is due: what holds now and is old enough; with `force` all that holds now.

    A memory without a group stays due. It must not block the rest, so each sleep continues where the last one stopped,
    and starts over at the end.
    """
    asked = fresh(now)
    number, young = number_due(reader, now, force=force)
    ahead = number
    if after is not None and number > limit:
        ahead -= sum(reader.count(asked.having(until=after[0])).values())
    else:
        after = None
    return Due(number, young, after, ahead) if ahead > 0 else Due(number, young, None, number)


def due_part(reader: Reader, now: int, after: Place | None, most: int) -> list[Memory]:
    """Return the next memories that are due, oldest first."""
    return list(islice(chain.from_iterable(selected(reader, fresh(now), after)), most))


def place_of(memory: Memory) -> Place:
    return micros(memory.at), memory.row


def selected(
    reader: Reader, asked: Filter, after: Place | None = None, order: str = "oldest"
) -> Iterator[list[Memory]]:
    """Yield all memories of the filter after that place, in parts and in the given order."""
    while part := reader.select(asked, order, AT_ONCE, after):
        yield part
        after = place_of(part[-1])


class Shortened(NamedTuple):
    memory: Memory
    level: int
    text: str


def due_levels(reader: Reader, now: int, limit: int) -> list[tuple[Memory, int]]:
    """Return summaries of sleeps that are too long for their age, with the next level."""
    asked = Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=(SUMMARY,),
        source=BY,
        status=("active", "archived"),
        pinned=False,
        until=now - AGES_DAYS[1] * DAY,
    )
    summaries = chain.from_iterable(selected(reader, asked))
    return list(islice(((memory, level) for memory in summaries if (level := _due_level(memory, now))), limit))


def _due_level(memory: Memory, now: int) -> int:
    """Return the next level, or 0 if it is not due. A late summary of old memories keeps its length for a while."""
    level = int(memory.body.get("level", 0)) + 1
    if level >= len(SHARES) or len(memory.text.split()) <= room(memory, level):
        return 0
    waited = (now - max(micros(memory.at), micros(memory.known_from))) / DAY
    return level if waited >= AGES_DAYS[level] - AGES_DAYS[level - 1] else 0


def room(memory: Memory, level: int) -> int:
    """Return how many words a summary may have at that level. Older summaries do not record their sources' words."""
    words = memory.body.get("words")
    return max(SHORT, _room(level, words)) if isinstance(words, int) else OLDER_WORDS[level]


def shortened(memory: Memory, level: int, mind: Mind, zone: tzinfo) -> Shortened:
    text, _ = _worded([said(memory, zone)], room(memory, level), mind)
    return Shortened(memory, level, text)
