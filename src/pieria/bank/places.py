"""`bank.places`: counts of memories by place, and the links between places.

Counting reads the whole bank, so it happens once, at the first call. From then on the journal names the memories to
count again, for changes by any process.
"""

from __future__ import annotations

import heapq
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pieria.bank.core import EVERYTHING, Core
from pieria.bank.read.links import same_tie
from pieria.bank.spans import reported
from pieria.errors import InputError
from pieria.language.index_terms import compared
from pieria.record import check
from pieria.record.changeset import Changeset, Write
from pieria.record.filter import ANY_TIME
from pieria.record.link import End, LinkRow, row_of
from pieria.record.memory import ENDINGS, LISTED_KINDS, Frozen
from pieria.record.time import is_over, is_to_come, moment

if TYPE_CHECKING:
    from pieria.store.parts import Placed
    from pieria.store.protocol import Reader, Writer

AT_ONCE = 1_000
"""Changed memories that are read together."""


@dataclass(frozen=True, slots=True)
class PlaceSummary:
    """The content of a place: the number of memories, their number by type, and the time of the latest.

    A memory without a type counts by its kind.
    """

    memories: int
    types: Mapping[str, int]
    newest: datetime


@reported("places")
class Places:
    """The places of one bank as its viewer sees them. Thread-safe."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._survey: _Survey | None = None

    def all(self) -> dict[str, PlaceSummary]:
        """Return every place with memories that recall may return, by its name `wing/room`."""
        with self._surveyed() as survey:
            return {name: one.told() for name, one in sorted(survey.held.items())}

    def counts(self) -> dict[str, int]:
        """Return the number of memories in each place."""
        with self._surveyed() as survey:
            return {name: len(one.times) for name, one in sorted(survey.held.items())}

    def entities(self, places: str | Iterable[str]) -> dict[str, int]:
        """Return the `entities` of the memories in these places, with the number of memories for each, most first."""
        wanted = check.identifiers(places, "places")
        with self._surveyed() as survey:
            survey.count_names()
            found: Counter[str] = Counter()
            for name in wanted:
                if name in survey.held:
                    found.update(survey.held[name].entities)
            spelt = survey.spelt
            return {spelt[key]: number for key, number in sorted(found.items(), key=lambda each: (-each[1], each[0]))}

    def naming(self, entity: str) -> dict[str, int]:
        """Return the places with memories that name this entity, and the number of these memories."""
        wanted = compared(check.name(entity, "entity"))
        with self._surveyed() as survey:
            survey.count_names()
            return dict(sorted(survey.naming.get(wanted, {}).items()))

    def shared(self, places: str | Iterable[str] | None = None, *, most: int = 20) -> dict[str, dict[str, int]]:
        """Return the entities named in several places: by name, the places and their number of memories.

        With `places`, only entities named in one of these. Entities named in more than `most` places are left out,
        because they say little about any two.
        """
        wanted = None if places is None else check.identifiers(places, "places")
        check.whole(most, "most", 2)
        with self._surveyed() as survey:
            survey.count_names()
            keys: Iterable[str] = survey.naming
            if wanted is not None:
                keys = sorted({key for place in wanted if place in survey.held for key in survey.held[place].entities})
            return {survey.spelt[key]: dict(found) for key in keys if 1 < len(found := survey.naming[key]) <= most}

    def rename(self, place: str | End, to: str | End) -> int:
        """Rename a place: its memories and every link to it. Return the number of memories.

        If a place of the new name exists, the two are merged.
        """
        old, new = _two_places(place, to)
        core, moved = self._core, list[str]()

        def plan(writer: Writer) -> Changeset:
            every = core.filter(place=old).having(viewer=EVERYTHING, valid_at=ANY_TIME, status=None, endings=ENDINGS)
            moved.extend(one.id for one in writer.placed(every))
            states = [held.state for held in writer.states(moved).values()]
            return Changeset(
                "rename",
                writes=[Write(state._replace(place=new, reason=None)) for state in states],
                links=list(_led_elsewhere(writer, old, new)),
            )

        core.apply(plan)
        return len(moved)

    def relink(self, place: str | End, to: str | End) -> int:
        """Move the links of a place to another place; its memories stay. Return the number of links."""
        old, new = _two_places(place, to)
        led = list[LinkRow]()

        def plan(writer: Writer) -> Changeset:
            led.extend(_led_elsewhere(writer, old, new))
            return Changeset("relink", links=led)

        self._core.apply(plan)
        return len(led)

    @contextmanager
    def _surveyed(self) -> Iterator[_Survey]:
        """Yield the survey, updated to one moment of the bank, to one thread at a time."""
        self._core.check_process()
        with self._lock:
            yield self._updated()

    def _updated(self) -> _Survey:
        core = self._core
        filter = core.filter(kinds=LISTED_KINDS).having(valid_at=ANY_TIME)
        with core.reading() as reader:
            survey = self._survey
            seq = reader.head().seq
            if survey is None or survey.seq > seq:
                survey = _Survey(reader.placed(filter))
            else:
                for ids in _parts(_changed(reader, survey.seq)):
                    survey.look_again(ids, reader.placed(filter.having(ids=ids)))
            survey.seq = seq
        survey.pass_to(filter.now)
        self._survey = survey
        return survey


@dataclass(slots=True)
class _Place:
    times: dict[str, int] = field(default_factory=dict)
    """The time of each memory, by id."""
    types: Counter[str] = field(default_factory=Counter)
    entities: Counter[str] = field(default_factory=Counter)
    """By the key used for comparing names."""
    newest: int | None = None
    """None after the newest was removed, until the next read."""
    kept: PlaceSummary | None = None
    """The last answer; None after a change."""

    def told(self) -> PlaceSummary:
        if self.newest is None:
            self.newest = max(self.times.values())
        if self.kept is None:
            self.kept = PlaceSummary(len(self.times), Frozen(self.types), moment(self.newest))
        return self.kept


class _Survey:
    """Every visible memory, and the counts of those that are valid now."""

    def __init__(self, placed: Iterable[Placed]) -> None:
        self.seq = 0
        self.held: defaultdict[str, _Place] = defaultdict(_Place)
        self.naming: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """The number of memories per place that name an entity, by the entity's key. Counted at the first use."""
        self.spelt: dict[str, str] = {}
        self._counted: dict[str, Placed] = {}
        self._bounded: dict[str, Placed] = {}
        self._turning: list[tuple[int, str]] = []
        """The times at which memories become or cease to be valid, as a heap."""
        self._now = ANY_TIME
        self._knows_names = False
        self.look_again((), placed)

    def look_again(self, ids: Iterable[str], placed: Iterable[Placed]) -> None:
        for id in ids:
            self._bounded.pop(id, None)
            self._count(id, None)
        for one in placed:
            for turn in (one.valid_from, one.valid_until):
                if turn is not None:
                    self._bounded[one.id] = one
                    heapq.heappush(self._turning, (turn, one.id))
            self._settle(one)

    def pass_to(self, now: int) -> None:
        self._now = max(now, self._now)
        while self._turning and self._turning[0][0] <= self._now:
            _, id = heapq.heappop(self._turning)
            if id in self._bounded:
                self._settle(self._bounded[id])

    def _settle(self, one: Placed) -> None:
        holds = not is_to_come(one.valid_from, self._now) and not is_over(one.valid_until, self._now)
        self._count(one.id, one if holds else None)

    def _count(self, id: str, now: Placed | None) -> None:
        before = self._counted.pop(id, None)
        if before is not None:
            self._take_away(before)
        if now is not None:
            self._counted[id] = now
            self._add(now)

    def _add(self, one: Placed) -> None:
        place = self.held[one.place]
        is_newest = not place.times or (place.newest is not None and place.newest < one.at)
        place.newest = one.at if is_newest else place.newest
        place.kept = None
        place.times[one.id] = one.at
        place.types[one.type] += 1
        if self._knows_names:
            self._add_names(one)

    def count_names(self) -> None:
        """Count entities, once. Callers that need only numbers skip this cost."""
        if not self._knows_names:
            self._knows_names = True
            for one in self._counted.values():
                self._add_names(one)

    def _add_names(self, one: Placed) -> None:
        place = self.held[one.place]
        for key in self._named(one):
            place.entities[key] += 1
            self.naming[key][one.place] += 1

    def _take_away(self, one: Placed) -> None:
        place = self.held[one.place]
        place.kept = None
        if place.times.pop(one.id) == place.newest:
            place.newest = None
        _less(place.types, one.type)
        for key in self._named(one) if self._knows_names else ():
            _less(place.entities, key)
            _less(self.naming[key], one.place)
        if not place.times:
            del self.held[one.place]

    def _named(self, one: Placed) -> Iterator[str]:
        names = {compared(name): name for name in one.entities}
        for key, name in names.items():
            self.spelt.setdefault(key, name)
            yield key


def _two_places(place: str | End, to: str | End) -> tuple[str, str]:
    old, new = check.place(place, "place"), check.place(to, "to")
    if old == new:
        raise InputError("to", "another place", new)
    return old, new


def _led_elsewhere(reader: Reader, old: str, new: str) -> Iterator[LinkRow]:
    """Yield the links of a place, moved to another place. A link from the new place to itself is removed.

    If the new place has the same link already, that link stays and takes over a missing label.
    """
    for link in reader.links([End("place", old)]):
        row = row_of(link)
        if (row.source_is, row.source) == ("place", old):
            row = row._replace(source=new)
        if (row.target_is, row.target) == ("place", old):
            row = row._replace(target=new)
        is_loop = (row.source_is, row.source) == (row.target_is, row.target)
        twin = None if is_loop else same_tie(reader, row)
        yield row_of(link)._replace(ended="removed") if is_loop or twin is not None else row
        if twin is not None and twin.label is None and link.label is not None:
            yield row_of(twin)._replace(label=link.label)


def _less(counter: Counter[str], name: str) -> None:
    counter[name] -= 1
    if not counter[name]:
        del counter[name]


def _changed(reader: Reader, since: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for change in reader.changes(since) for id in change.ids))


def _parts(ids: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]
