"""The events of a session as tasks: what was asked, what was done for it, what failed, and what mended it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pieria.learning.distilling import commands
from pieria.learning.distilling.tools import deeds_of, is_outside
from pieria.models.mind import Deed, Task
from pieria.record.clip import plain
from pieria.record.event import Event

MOST_OPEN = 10
"""Failures that are waited for: of more the oldest are given up."""
MOST_DEEDS = 200
"""Deeds of a task that are looked at: beyond that the middle is left out."""


@dataclass(slots=True)
class Span:
    """A task with the events that it was read from: those of each deed, and those that said something."""

    task: Task
    sources: list[tuple[Event, ...]] = field(default_factory=list)
    prompt: Event | None = None
    reply: Event | None = None
    before: Event | None = None
    """What the agent had said before it was asked."""
    looks: int = 0
    """Events in which the agent only looked around."""
    outside: Event | None = None
    """The last that came from outside."""

    @property
    def first(self) -> Event | None:
        return self.prompt or next((event for events in self.sources for event in events), None) or self.reply


@dataclass(slots=True)
class Read:
    """`open_failures` are the events of what failed last and was not mended; `spans` the tasks in their order."""

    spans: list[Span]
    open_failures: list[Event]


def read(events: Iterable[Event], told: frozenset[str] = frozenset()) -> Read:
    """Events whose id is `told` are of an earlier reading: the prompt that is still worked on, failures still open."""
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
    """A command that failed and was not seen to go well since. `deed` is None where that was in an earlier task."""

    line: str
    error: str
    events: tuple[Event, ...]
    made: Deed
    deed: int | None


class _Reader:
    """Reads one task. What earlier ones left broken it may mend."""

    def __init__(self, told: frozenset[str], before: _Reader | None = None) -> None:
        self._told = told
        self._prompt: Event | None = None
        self._reply: Event | None = None
        self._outside: Event | None = None
        # What was said after a page was read may be the page's words: nobody is to be quoted with them.
        self._before: Event | None = None if before is None or before._outside else before._reply or before._before
        self._deeds: list[Deed] = []
        self._sources: list[tuple[Event, ...]] = []
        self._looks = 0
        self.open: list[_Failure] = [] if before is None else [replace(each, deed=None) for each in before.open]

    @property
    def is_untouched(self) -> bool:
        return self._prompt is None and not self._sources and self._reply is None and not self._looks

    def take(self, event: Event) -> None:
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

    def _do(self, event: Event) -> None:
        if is_outside(event):
            self._outside = event
        deeds = deeds_of(event)
        if not deeds:
            self._looks += 1
        for deed in deeds:
            self._add(deed, event)

    def _add(self, deed: Deed, event: Event) -> None:
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

    def _repeats(self, deed: Deed, event: Event) -> bool:
        """The same thing done again and nothing else in between, or read again at any time: it is counted."""
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

    def _run(self, deed: Deed, event: Event) -> Deed:
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
        """What failed in an earlier task and is mended in this one is a deed of it, its first."""
        self._deeds.insert(0, failure.made)
        self._sources.insert(0, failure.events)
        self._deeds[1:] = [_moved(deed, 1) for deed in self._deeds[1:]]
        self.open = [each if each.deed is None else replace(each, deed=each.deed + 1) for each in self.open]

    def _take_back(self, paths: Sequence[str]) -> None:
        """What failed only after these edits is mended with them."""
        undone = [
            place
            for place, deed in enumerate(self._deeds)
            if deed.what == "edited" and (not paths or any(_same_file(deed.target, path) for path in paths))
        ]
        for place in undone:
            self._deeds[place] = replace(self._deeds[place], undone=True)
        if undone:
            self.open = [each for each in self.open if each.deed is None or each.deed < undone[0]]

    def _leave_out(self, gone: int) -> None:
        """A deed in the middle goes; whoever pointed to it points to it no more."""
        del self._deeds[gone], self._sources[gone]
        for place, deed in enumerate(self._deeds):
            mends = tuple(each - (each > gone) for each in deed.mends if each != gone)
            self._deeds[place] = replace(deed, mends=mends) if deed.mends else deed
        for each in self.open:
            each.deed = None if each.deed in (None, gone) else each.deed - (each.deed > gone)


def _moved(deed: Deed, by: int) -> Deed:
    return replace(deed, mends=tuple(place + by for place in deed.mends)) if deed.mends else deed


def _same_file(one: str, other: str) -> bool:
    return (
        one == other
        or one.endswith(f"/{other}")
        or other.endswith(f"/{one}")
        or one.startswith(f"{other.rstrip('/')}/")
    )


def sources_of(span: Span, deeds: Sequence[int]) -> Iterator[Event]:
    """The events of these deeds; of all where none are named."""
    for place in deeds or range(len(span.sources)):
        yield from span.sources[place]
