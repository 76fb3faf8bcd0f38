"""The verb `context`: what an agent is told at the start of a session, or with a prompt.

It is made of the bank as it stood at one moment, so that the same moment gives the same text, whatever was written
since. Which moment is a session's, a caller may have kept: a record of the bank (collection `contexts`, a key for each
session). To make a context writes nothing otherwise, and counts nothing as used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from pieria.bank.asking import Asked, Names
from pieria.bank.hooks import CHECKPOINTS
from pieria.bank.recalling import ANSWERING_KINDS, MOST_TOKENS, Recalling, deadline_seconds, question_text
from pieria.errors import InputError
from pieria.recall.answer import Recall
from pieria.recall.context.answer import Context
from pieria.recall.context.block import Frame, block, told_in
from pieria.recall.context.lessons import waiting
from pieria.recall.context.lines import checkpoint_line, waiting_line
from pieria.recall.context.looking import Wanted, found
from pieria.recall.page import Question
from pieria.recall.part import Source
from pieria.recall.policies import POLICIES
from pieria.recall.reading import reading
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.draft import Instant, Problems
from pieria.record.end import End
from pieria.record.fading import DAY
from pieria.record.filter import Filter, Viewer
from pieria.record.time import instant, moment
from pieria.store.protocol import Reader, Writer

KEPT = "contexts"
KEPT_DAYS = 30
"""After so long a session is over, and its moment is let go of when another one is kept."""
TOKENS = 2_000
MOST_FILES = 100
HITS = 40


@dataclass(frozen=True, slots=True)
class Moment:
    """When a session began, by the clock and by each bank's own count; what it was told; what was saved last then."""

    now: int
    known: dict[str, int]
    told: tuple[str, ...] = ()
    checkpoint: dict[str, Any] | None = None

    def as_record(self) -> dict[str, Any]:
        return {"now": self.now, "known": self.known, "told": list(self.told), "checkpoint": self.checkpoint}


class Contexts(Recalling):
    def context(
        self,
        query: str | None = None,
        *,
        files: Names = (),
        place: str | End | None = None,
        session: str | None = None,
        budget_tokens: int = TOKENS,
        known_at: Instant | None = None,
        keep: bool = False,
        anew: bool = False,
        deadline_ms: int | None = None,
    ) -> Context:
        """What to tell an agent before it asks: standing rules, what is pinned and what was left open, then an index
        of what matters most, and as much of it in full as there is room for. All of it is fenced as data.

        With a query or files it is about these, and as of now. Without them it is as of `known_at`, or of the moment
        that is kept for the session, or of now. `keep` keeps the moment for the session, unless one is kept already;
        `anew` does not look at what is kept, and with `keep` puts the present moment in its place. `deadline_ms` is
        what recall may take for the query; it then answers from what it has.
        """
        problems = Problems()
        filter = problems.of(self._filter, Asked(place=place, known_at=known_at))
        speaking = self.viewer.session if session is None else problems.of(check.name, session, "session")
        named = problems.of(_files, files)
        problems.of(check.whole, budget_tokens, "budget_tokens", 1, MOST_TOKENS)
        asked = None if query is None else problems.of(question_text, query)
        problems.of(check.flag, anew, "anew")
        if problems.of(check.flag, keep, "keep"):
            problems.of(_check_keeping, speaking, query is None and not named and known_at is None)
        seconds = math.inf if deadline_ms is None else problems.of(deadline_seconds, deadline_ms)
        if deadline_ms is not None and query is None:
            problems.of(_check_hurry)
        problems.settle()
        viewer = Viewer(speaking, self.viewer.channel, self.viewer.everything)
        telling = _Telling(self, filter.having(viewer=viewer), named, budget_tokens, seconds)
        about = (asked or "").strip()
        if known_at is not None:
            return telling.told(about, Moment(filter.known_at, {}))
        kept = None if speaking is None else self._kept_moment(speaking)
        if about or named:
            return telling.told(about, None, () if kept is None or anew else kept.told)
        while kept is None or anew:
            made, now = telling.begun()
            if not keep or speaking is None or self._keep_moment(speaking, now, anew):
                return made
            # Somebody else was first.
            kept = self._kept_moment(speaking)
        return telling.told("", kept)

    def _kept_moment(self, session: str) -> Moment | None:
        with self._reading() as reader:
            held = reader.records(KEPT, session).get(session)
        return None if held is None else _moment(held)

    def _keep_moment(self, session: str, now: Moment, anew: bool) -> bool:
        """False where a moment is kept already."""
        done: list[bool] = []

        def plan(writer: Writer) -> Changeset:
            held = writer.records(KEPT)
            done.append(anew or session not in held)
            if not done[0]:
                return Changeset("context")
            old = [key for key, value in held.items() if value["now"] < now.now - KEPT_DAYS * DAY and key != session]
            records = [*(Record(KEPT, key, None) for key in old), Record(KEPT, session, now.as_record())]
            # Whose session it is, is its own business.
            return Changeset("context", records=records, ids=(KEPT,))

        self._apply(plan)
        return done[0]


class _Telling:
    """One context to be made; `filter` says who reads, when, and of which place."""

    def __init__(self, bank: Contexts, filter: Filter, files: tuple[str, ...], budget: int, seconds: float) -> None:
        self._bank = bank
        self._filter = filter
        self._files = files
        self._budget = budget
        self._seconds = seconds

    def begun(self) -> tuple[Context, Moment]:
        """As of now, and what to keep of it."""
        with ExitStack() as stack:
            sources = self._bank._sources(stack, self._filter.having(place=None))
            known = {source.name: source.reader.head().known for source in sources}
            checkpoint = _last_checkpoint(sources[0].reader)
            now = Moment(self._filter.now, known, checkpoint=checkpoint)
            made = self._made(sources, now, Wanted(moment(now.now), self._filter.place, session=self._session))
        return made, replace(now, told=tuple(told_in(made.items)))

    def told(self, query: str, then: Moment | None, before: Sequence[str] = ()) -> Context:
        """As of a moment, or of now; with a query what bears on it, and nothing of what was told before."""
        at = then or Moment(self._filter.now, {})
        filter = self._filter if then is None else self._filter.having(now=at.now)
        answer = self._answer(query, filter) if query else None
        wanted = Wanted(moment(at.now), filter.place, self._files, self._session, frozenset(before), answer)
        with ExitStack() as stack:
            sources = self._bank._sources(stack, filter.having(place=None))
            if at.known:
                sources = [
                    replace(source, filter=source.filter.having(known_at=at.known[source.name]))
                    for source in sources
                    if source.name in at.known
                ]
            return self._made(sources, at, wanted)

    @property
    def _session(self) -> str | None:
        return self._filter.viewer.session

    def _answer(self, query: str, filter: Filter) -> Recall:
        ranking = POLICIES["hybrid"]
        filter = filter.having(kinds=ANSWERING_KINDS)
        question = Question(
            text=query,
            reading=reading(query, moment(filter.now)),
            policy=ranking,
            min_score=0.0,
            budget=self._bank._text_budget,
            mark=self._bank._mark(query, filter, 0.0, ranking),
            fading=self._bank.fading,
            deadline=perf_counter() + self._seconds,
            tokens=None,
        )
        return self._bank._answer(question, filter, HITS)

    def _made(self, sources: Sequence[Source], at: Moment, wanted: Wanted) -> Context:
        closing = [] if wanted.place is not None else list(self._closing(sources, at, wanted))
        sure = None if wanted.found is None else wanted.found.confidence
        made = block(found(sources, wanted), Frame(self._bank.name, wanted.now, sure), self._budget, closing)
        then = moment(max((at.now, *at.known.values())))
        return Context(made.text, made.tokens, made.items, made.left_out, then, sure)

    def _closing(self, sources: Sequence[Source], at: Moment, wanted: Wanted) -> Iterator[str]:
        """What is told behind the open threads: what was saved last and, unasked, what waits for a decision."""
        last = at.checkpoint
        if last is not None:
            yield checkpoint_line(last["session"], last["messages"], instant(last["at"], "at"), wanted.now)
        undecided = sum(map(waiting, sources)) if wanted.found is None and not wanted.files else 0
        if undecided:
            yield waiting_line(undecided)


def _moment(held: dict[str, Any]) -> Moment:
    return Moment(held["now"], held["known"], tuple(held["told"]), held["checkpoint"])


def _last_checkpoint(reader: Reader) -> dict[str, Any] | None:
    held = reader.records(CHECKPOINTS)
    last = max(held.items(), key=lambda one: (one[1]["at"], one[0]), default=None)
    return None if last is None else {"session": last[0] or None, **last[1]}


def _files(files: object) -> tuple[str, ...]:
    named = check.names([files] if isinstance(files, str) else files, "files")
    if len(named) > MOST_FILES:
        raise InputError("files", f"at most {MOST_FILES}", len(named))
    return named


def _check_keeping(session: str | None, unasked: bool) -> None:
    if session is None:
        raise InputError("keep", "a session to keep the moment for", True, hint="Name it as `session`.")
    if not unasked:
        raise InputError(
            "keep", "neither query nor files nor known_at", True, hint="Only what is told unasked is kept."
        )


def _check_hurry() -> None:
    raise InputError("deadline_ms", "a query to answer in that time", None, hint="Without one there is no recall.")
