"""Group a session's events into tasks: the request, the deeds, the failures and their fixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from pieria.learning.distilling import commands
from pieria.learning.distilling.stated import to_dos
from pieria.learning.distilling.tools import deeds_of, is_outside, kind_of
from pieria.learning.lessons import steps
from pieria.models.mind import Deed, Reply, Task
from pieria.record.clip import plain
from pieria.record.event import AgentEvent

MOST_OPEN = 10
"""Open failures kept at a time; the oldest are dropped first."""
FRESH = 2
"""The last prompts of a session: a to-do list that was last changed before them is no longer kept up."""
MOST_DEEDS = 200
"""Deeds kept per task; beyond that the middle ones are dropped."""


@dataclass(slots=True)
class Span:
    """A task with its source events: those of each deed, the prompt and the replies."""

    task: Task
    sources: list[tuple[AgentEvent, ...]] = field(default_factory=list)
    prompt: AgentEvent | None = None
    replies: list[AgentEvent] = field(default_factory=list)
    before: AgentEvent | None = None
    """The agent's last reply before the prompt."""
    looks: int = 0
    """Count of events in which the agent only looked around."""
    outside: AgentEvent | None = None
    """The last event that came from outside."""


@dataclass(slots=True)
class Read:
    """`spans` has the tasks in order; `open` the events of failures that are not fixed, and of the last to-do list.

    `done` are the items of that list that are done, with the time.
    """

    spans: list[Span]
    open: list[AgentEvent]
    done: list[tuple[str, datetime]]


def read(events: Iterable[AgentEvent], told: frozenset[str] = frozenset()) -> Read:
    """Return the tasks. Events whose id is in `told` were read before: the running prompt and what is still open."""
    ordered = sorted(events, key=lambda event: (event.at, event.id not in told, event.what != "prompt"))
    readers = [_Reader(told)]
    for event in ordered:
        if event.what == "prompt" and not readers[-1].is_untouched:
            readers.append(_Reader(told, readers[-1]))
        readers[-1].take(event)
    open_ = [event for failure in readers[-1].open for event in failure.events[-1:]]
    ids = {event.id for event in open_}
    spans = [span for reader in readers if (span := reader.span(ids)).prompt or span.sources or span.replies]
    lists = [event for event in ordered if event.what == "tool" and kind_of(event) == "list"][-1:]
    prompts = [event.at for event in ordered if event.what == "prompt"][-FRESH:]
    if spans and lists and ordered[-1].what == "end" and (not prompts or lists[0].at >= prompts[0]):
        left = tuple(item for item, is_done in to_dos(lists[0]) if not is_done)
        spans[-1].task = replace(spans[-1].task, left=left)
    done = [(item, event.at) for event in lists for item, is_done in to_dos(event) if is_done]
    return Read(spans, [*open_, *lists], done)


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
        self._earlier = before
        self._prompt: AgentEvent | None = None
        self._replies: list[tuple[AgentEvent, Reply]] = []
        self._outside: AgentEvent | None = None
        # A reply after a fetched page may repeat the page, so it is not quoted.
        self._before: AgentEvent | None = None
        if before is not None and not before._outside:
            self._before = before._replies[-1][0] if before._replies else before._before
        self._deeds: list[Deed] = []
        self._sources: list[tuple[AgentEvent, ...]] = []
        self._looks = 0
        self.open: list[_Failure] = [] if before is None else [replace(each, deed=None) for each in before.open]

    @property
    def is_untouched(self) -> bool:
        return self._prompt is None and not self._sources and not self._replies and not self._looks

    def take(self, event: AgentEvent) -> None:
        event = replace(event, text=plain(event.text))
        if event.what == "prompt":
            self._prompt = event
        elif event.what == "reply":
            if event.text.strip():
                self._replies.append((event, Reply(event.text, len(self._deeds), self._outside is not None)))
        elif event.what == "tool":
            self._do(event)

    def span(self, open_: Set[str]) -> Span:
        """Return the task. `open_` are ids of events with failures that were not fixed later either."""
        asked = self._prompt
        goes_on = asked is not None and asked.id in self._told
        task = Task(
            asked="" if asked is None else asked.text,
            deeds=tuple(self._deeds),
            replies=tuple(reply for _, reply in self._replies),
            before="" if self._before is None else self._before.text,
            goes_on=goes_on,
            is_outside=self._outside is not None,
            open=tuple(
                place
                for place, events in enumerate(self._sources)
                if events[-1].id in open_ and _matters(self._deeds[place])
            ),
        )
        replies = [event for event, _ in self._replies]
        return Span(task, self._sources, asked, replies, self._before, self._looks, self._outside)

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
        deed = replace(deed, acts=steps.of_command(deed.target) is not None)
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
        self._move_replies(0, 1)
        self.open = [each if each.deed is None else replace(each, deed=each.deed + 1) for each in self.open]

    def _take_back(self, paths: Sequence[str]) -> None:
        """Mark these edits as undone, and drop failures that began after them. No path means all of this task."""
        undone = self._undo(paths)
        if undone:
            self.open = [each for each in self.open if each.deed is None or each.deed < undone[0]]
            return
        reader = self._earlier
        while paths and reader is not None and not undone:
            undone = reader._undo(paths)
            if undone:
                since = reader._sources[undone[0]][0].at
                self.open = [each for each in self.open if each.deed is not None or each.events[-1].at < since]
            reader = reader._earlier

    def _undo(self, paths: Sequence[str]) -> list[int]:
        undone = [
            place
            for place, deed in enumerate(self._deeds)
            if deed.what == "edited" and (not paths or any(commands.is_same_file(deed.target, path) for path in paths))
        ]
        for place in undone:
            self._deeds[place] = replace(self._deeds[place], undone=True)
        return undone

    def _leave_out(self, gone: int) -> None:
        """Remove a deed from the middle and correct the indexes that point at later deeds."""
        del self._deeds[gone], self._sources[gone]
        self._move_replies(gone, -1)
        for place, deed in enumerate(self._deeds):
            mends = tuple(each - (each > gone) for each in deed.mends if each != gone)
            self._deeds[place] = replace(deed, mends=mends) if deed.mends else deed
        for each in self.open:
            each.deed = None if each.deed in (None, gone) else each.deed - (each.deed > gone)

    def _move_replies(self, place: int, by: int) -> None:
        """Correct the places of replies after a deed was added to or removed from the deeds at `place`."""
        self._replies = [
            (event, replace(reply, after=reply.after + by) if reply.after > place or by > 0 else reply)
            for event, reply in self._replies
        ]


def _matters(failed: Deed) -> bool:
    """Return whether a failure matters at the end of the work: of a check or a change, not of a look."""
    return failed.acts or steps.is_checking(commands.main_command(failed.target), failed.target)


def _moved(deed: Deed, by: int) -> Deed:
    return replace(deed, mends=tuple(place + by for place in deed.mends)) if deed.mends else deed


def sources_of(span: Span, deeds: Sequence[int]) -> Iterator[AgentEvent]:
    """Yield the events of these deeds, or of all deeds if none are named."""
    for place in deeds or range(len(span.sources)):
        yield from span.sources[place]
