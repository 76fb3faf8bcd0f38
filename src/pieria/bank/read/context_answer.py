"""Build one context: open the banks in one read transaction each, and let `recall/` choose the text.

Kept apart from `read.context`, so that only processes that build contexts load this code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from pieria.bank.capture.hooks import CHECKPOINTS
from pieria.bank.core import Core
from pieria.bank.read.answer import answer, question_of, sources_of
from pieria.bank.read.recall import ANSWERING_KINDS
from pieria.recall.answer import Context, Recall
from pieria.recall.context.block import Frame, block, told_in
from pieria.recall.context.candidates import Wanted, found, waiting
from pieria.recall.context.lines import checkpoint_line, rules_waiting_line, waiting_line
from pieria.recall.context.rules import claiming
from pieria.recall.part import Source
from pieria.record.filter import Filter
from pieria.record.time import instant, moment
from pieria.store.protocol import Reader

HITS = 40


@dataclass(frozen=True, slots=True)
class Moment:
    """The start of a session: the clock, the known time of each bank, what was shown, and the last checkpoint."""

    now: int
    known: dict[str, int]
    told: tuple[str, ...] = ()
    checkpoint: dict[str, Any] | None = None
    with_own: bool = False
    """Whether the session's own turns are shown."""

    def as_record(self) -> dict[str, Any]:
        return {
            "now": self.now,
            "known": self.known,
            "told": list(self.told),
            "checkpoint": self.checkpoint,
            "with_own": self.with_own,
        }


class Telling:
    """Builds one context. `filter` has the viewer, time and place."""

    def __init__(self, core: Core, filter: Filter, files: tuple[str, ...], budget: int, seconds: float) -> None:
        self._core = core
        self._filter = filter
        self._files = files
        self._budget = budget
        self._seconds = seconds

    def begun(self, *, anew: bool) -> tuple[Context, Moment]:
        """Return the context as of now, and the moment to keep. One made `anew` has the session's own turns."""
        with ExitStack() as stack:
            sources = sources_of(self._core, stack, self._shown(self._filter, with_own=anew).having(place=None))
            known = {source.name: source.reader.head().known for source in sources}
            checkpoint = _last_checkpoint(sources[0].reader)
            now = Moment(self._filter.now, known, checkpoint=checkpoint, with_own=anew)
            wanted = Wanted(moment(now.now), self._filter.place, session=self._session)
            made = self._made(sources, now, wanted)
        return made, replace(now, told=tuple(told_in(made.items)))

    def told(self, query: str, then: Moment | None, before: Sequence[str] = ()) -> Context:
        """Return the context as of a moment, or of now. With a query, skip what was shown before."""
        at = then or Moment(self._filter.now, {})
        filter = self._shown(self._filter if then is None else self._filter.having(now=at.now), with_own=at.with_own)
        answer = self._answer(query, filter) if query else None
        told = frozenset(before)
        wanted = Wanted(moment(at.now), filter.place, self._files, self._session, told, answer)
        with ExitStack() as stack:
            sources = sources_of(self._core, stack, filter.having(place=None))
            if at.known:
                sources = [
                    replace(source, filter=source.filter.having(known_at=at.known[source.name]))
                    for source in sources
                    if source.name in at.known
                ]
            return self._made(sources, at, wanted)

    def _shown(self, filter: Filter, *, with_own: bool) -> Filter:
        """Leave out the session's own turns, which its agent still sees, the present prompt among them."""
        return filter if with_own else filter.having(without_turns_of=self._session)

    @property
    def _session(self) -> str | None:
        return self._filter.viewer.session

    def _answer(self, query: str, filter: Filter) -> Recall:
        filter = filter.having(kinds=ANSWERING_KINDS)
        question = question_of(self._core, query, filter, perf_counter() + self._seconds)
        return answer(self._core, question, filter, HITS)

    def _made(self, sources: Sequence[Source], at: Moment, wanted: Wanted) -> Context:
        closing = [] if wanted.place is not None else list(self._closing(sources, at, wanted))
        sure = None if wanted.found is None else wanted.found.confidence
        made = block(found(sources, wanted), Frame(self._core.name, wanted.now, sure), self._budget, closing)
        then = moment(max((at.now, *at.known.values())))
        return Context(made.text, made.tokens, made.items, made.left_out, then, sure)

    def _closing(self, sources: Sequence[Source], at: Moment, wanted: Wanted) -> Iterator[str]:
        """Yield the closing lines: the last checkpoint and, without a query, what waits for a decision."""
        last = at.checkpoint
        if last is not None:
            yield checkpoint_line(last["session"], last["messages"], instant(last["at"], "at"), wanted.now)
        undecided = sum(map(waiting, sources)) if wanted.found is None and not wanted.files else 0
        if undecided:
            yield waiting_line(undecided)
        unasked = wanted.found is None and not wanted.files
        claimed = (
            sum(len(claiming(source.reader, source.filter)) for source in sources if not source.is_foreign)
            if unasked
            else 0
        )
        if claimed:
            yield rules_waiting_line(claimed)


def moment_of(held: dict[str, Any]) -> Moment:
    return Moment(held["now"], held["known"], tuple(held["told"]), held["checkpoint"], held.get("with_own", True))


def _last_checkpoint(reader: Reader) -> dict[str, Any] | None:
    held = reader.records(CHECKPOINTS)
    last = max(held.items(), key=lambda one: (one[1]["at"], one[0]), default=None)
    return None if last is None else {"session": last[0] or None, **last[1]}
