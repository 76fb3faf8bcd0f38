"""Group a session's events into tasks: the request, the deeds, the failures and their fixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pieria.learning.distilling import commands
from pieria.learning.distilling.tools import deeds_of, is_outside
from pieria.models.mind import Deed, Task
from pieria.record.clip import plain
from pieria.record.event import AgentEvent

MOST_OPEN = 10
"""Open failures kept at a time; the oldest are dropped first."""
MOST_DEEDS = 200
"""Deeds kept per task; beyond that the middle ones are dropped."""


@dataclass(slots=True)
class Span:
    """A task with its source events: those of each deed, the prompt and the replies."""

    task: Task
    sources: list[tuple[AgentEvent, ...]] = field(default_factory=list)
    prompt: AgentEvent | None = None
    reply: AgentEvent | None = None
    before: AgentEvent | None = None
    """The agent's last reply before the prompt."""
    looks: int = 0
    """Count of events in which the agent only looked around."""
    outside: AgentEvent | None = None
    """The last event that came from outside."""

    @property
    def first(self) -> AgentEvent | None:
        return self.prompt or next((event for events in self.sources for event in events), None) or self.reply


@dataclass(slots=True)
class Read:
    """`open_failures` holds the events of recent failures that are not fixed; `spans` the tasks in order."""

    spans: list[Span]
    open_failures: list[AgentEvent]


def read(events: Iterable[AgentEvent], told: frozenset[str] = frozenset()) -> Read:
    """Return the tasks. Events whose id is in `told` were read before: the running prompt and open failures."""
    ordered = sorted(events, key=lambda event: (event.at, event.id not in told, event.what != "prompt"))
    readers = [_Reader(told)]
    for event in ordered:
        if event.what == "prompt" and not readers[-1].is_untouched:
            readers.append(_Reader(told, readers[-1]))
        readers[-1].take(event)
    spans = [reader.span() for reader in readers]
    waited = [event for failure in readers[-1].open for event in failure.events[-1:]]
    return Read([span for span in spans if span.prompt or span.sources or span.reply], waited)


@dataclass(slots=True)
class _Failure:
    """A failed command without a later success. `deed` is None if it failed in an earlier task."""

    line: str
    error: str
    events: tuple[AgentEvent, ...]
    made: Deed
    deed: int | None


class _Reader:
    """Reads one task, which may fix failures of earlier tasks."""

    def __init__(self, told: frozenset[str], before: _Reader | None = None) -> None:
        self._told = told
        self._prompt: AgentEvent | None = None
        self._reply: AgentEvent | None = None
        self._outside: AgentEvent | None = None
        # A reply after a fetched page may repeat the page, so it is not quoted.
        self._before: AgentEvent | None = None if before is None or before._outside else before._reply or before._before
        self._deeds: list[Deed] = []
        self._sources: list[tuple[AgentEvent, ...]] = []
        self._looks = 0
        self.open: list[_Failure] = [] if before is None else [replace(each, deed=None) for each in before.open]

    @property
    def is_untouched(self) -> bool:
        return self._prompt is None and not self._sources and self._reply is None and not self._looks

    def take(self, event: AgentEvent) -> None:
        event = replace(event, text=plain(event.text))
        if event.what == "prompt":
            self._prompt = event
        elif event.what == "reply":
            self._reply = event
        elif event.what == "tool":
            self._do(event)

    def span(self) -> Span:
        asked = self._prompt
        goes_on = asked is not None and asked.id in self._told
        task = Task(
            asked="" if asked is None else asked.text,
            deeds=tuple(self._deeds),
            replied="" if self._reply is None else self._reply.text,
            before="" if self._before is None else self._before.text,
            goes_on=goes_on,
            is_outside=self._outside is not None,
        )
        return Span(task, self._sources, asked, self._reply, self._before, self._looks, self._outside)

    def _do(self, event: AgentEvent) -> None:
        if is_outside(event):
            self._outside = event
        deeds = deeds_of(event)
        if not deeds:
            self._looks += 1
        for deed in deeds:
            self._add(deed, event)

    def _add(self, deed: Deed, event: AgentEvent) -> None:
        if event.id in self._told:
            if deed.what == "ran":
                self.open.append(_Failure(deed.target, deed.detail, (event,), deed, None))
            return
        if self._repeats(deed, event):
            return
        if deed.what == "ran":
            deed = self._run(deed, event)
        self._deeds.append(deed)
        self._sources.append((event,))
        if len(self._deeds) > MOST_DEEDS:
            self._leave_out(MOST_DEEDS // 2)

    def _repeats(self, deed: Deed, event: AgentEvent) -> bool:
        """Count a repeated deed instead of adding it. Reads count as repeats anywhere in the task, others only in a
        row."""
        anywhere = deed.what in ("read", "searched", "fetched")
        for place in range(len(self._deeds) - 1, -1, -1):
            held = self._deeds[place]
            if (held.what, held.target, held.failed) == (deed.what, deed.target, deed.failed) and (
                anywhere or held.detail == deed.detail
            ):
                self._deeds[place] = replace(held, times=held.times + 1)
                self._sources[place] = (*self._sources[place], event)
                return True
            if not anywhere:
                return False
        return False

    def _run(self, deed: Deed, event: AgentEvent) -> Deed:
        place = len(self._deeds)
        undone = commands.undone_files(deed.target)
        if undone is not None and not deed.failed:
            self._take_back(undone)
        if deed.failed:
            self.open = [each for each in self.open if each.line != deed.target or each.deed is not None]
            self.open.append(_Failure(deed.target, f"{deed.detail}\n{event.text}", (event,), deed, place))
            self.open = self.open[-MOST_OPEN:]
            return deed
        mended = [each for each in self.open if commands.is_mended(each.line, deed.target, each.error)]
        if not mended:
            return deed
        self.open = [each for each in self.open if each not in mended]
        carried = [each for each in mended if each.deed is None]
        for failure in carried[-1:]:
            self._bring_in(failure)
        own = [each.deed + len(carried[-1:]) for each in mended if each.deed is not None]
        return replace(deed, mends=tuple(sorted([*([0] if carried else []), *own])))

    def _bring_in(self, failure: _Failure) -> None:
        """Insert a failure of an earlier task, fixed in this one, as the first deed."""
        self._deeds.insert(0, failure.made)
        self._sources.insert(0, failure.events)
        self._deeds[1:] = [_moved(deed, 1) for deed in self._deeds[1:]]
        self.open = [each if each.deed is None else replace(each, deed=each.deed + 1) for each in self.open]

    def _take_back(self, paths: Sequence[str]) -> None:
        """Drop failures that began after these edits, since the edits were undone."""
        undone = [
            place
            for place, deed in enumerate(self._deeds)
            if deed.what == "edited" and (not paths or any(commands.is_same_file(deed.target, path) for path in paths))
        ]
        for place in undone:
            self._deeds[place] = replace(self._deeds[place], undone=True)
        if undone:
            self.open = [each for each in self.open if each.deed is None or each.deed < undone[0]]

    def _leave_out(self, gone: int) -> None:
        """Remove a deed from the middle and correct the indexes that point at later deeds."""
        del self._deeds[gone], self._sources[gone]
        for place, deed in enumerate(self._deeds):
            mends = tuple(each - (each > gone) for each in deed.mends if each != gone)
            self._deeds[place] = replace(deed, mends=mends) if deed.mends else deed
        for each in self.open:
            each.deed = None if each.deed in (None, gone) else each.deed - (each.deed > gone)


def _moved(deed: Deed, by: int) -> Deed:
    return replace(deed, mends=tuple(place + by for place in deed.mends)) if deed.mends else deed


def sources_of(span: Span, deeds: Sequence[int]) -> Iterator[AgentEvent]:
    """Yield the events of these deeds, or of all deeds if none are named."""
    for place in deeds or range(len(span.sources)):
        yield from span.sources[place]
