"""One sleep of a bank: it reads in parts, plans by `pieria.upkeep`, and writes some groups per transaction.

An interrupted sleep keeps its finished groups, and the next one continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pieria.bank.results.upkeep import Failure, Slept
from pieria.bank.upkeep.summaries import ties
from pieria.bank.write.said_again import SAID_AGAIN
from pieria.bank.write.update import next_version
from pieria.errors import JobError, PieriaError
from pieria.language.packs import pack
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Stored, Write
from pieria.record.draft import Draft, checked
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.trust import AGENT
from pieria.runtime.garbage import without_collection
from pieria.store.protocol import Progress, Reader, Writer
from pieria.upkeep import groups as grouping
from pieria.upkeep import promotion, sleep
from pieria.upkeep.groups import Group, Summarized, in_time
from pieria.upkeep.sleep import Shortened, Summary
from pieria.upkeep.subjects import Spread, spread_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.bank import Bank
    from pieria.models.embedder import Embedder

    Vectors = dict[int, NDArray[np.float32]]

MOST = 100_000
"""Memories that one sleep examines by default."""
PART = 10_000
"""Memories that are compared with one another. More go over in several parts, so that memory stays bounded."""
GROWING = 500
"""The latest summaries that a new note may join."""
AT_ONCE = 500
WRITTEN_AT_ONCE = 100
PLACES = "upkeep"
"""The collection of records that says how far each verb has come."""
PLACE, RESTED = "sleep", "rested"
EMBEDDING = 30.0
"""Seconds to wait for the vectors of what is due."""
NOTHING_LEFT = "none of its sources is left"
RENEWED = "its sources have changed"
PAUSES = ("stopped", "time_is_up", "called")
"""Reasons for which a job ends its sleep early, and puts the rest off."""


class Sleep:
    """The state of one sleep: results so far, and why it stopped."""

    def __init__(self, bank: Bank, dry_run: bool, force: bool, limit: int, progress: Progress | None) -> None:
        self._bank, self._dry_run, self._force, self._limit = bank, dry_run, force, limit
        self._progress, self._whole, self._done = progress, 0, 0
        self._settled: frozenset[str] = frozenset()
        self._unsummarized: set[str] = set()
        """Members of groups that got no summary."""
        self._tally: Counter[str] = Counter()
        """How many memories were left out, by reason."""
        self._refused: str | None = None
        """The code of the error for which there are no vectors: its message may quote a text."""
        self._waiting: list[tuple[Summary, Draft]] = []
        self.slept = Slept(dry_run, bank.mind.name, 0, 0)
        self.stopped: PieriaError | None = None
        self.problem: PieriaError | None = None
        """The first error that cost a group its summary."""

    def run(self) -> Slept:
        core = self._bank.core
        self._embed()
        with core.reading() as reader:
            state = _state(reader, core.now(), self._force)
            rested = reader.records(PLACES).get(RESTED, {})
            is_rested = rested.get("state") == state
            place = _place(reader)
            renewals = [] if is_rested else list(self._outgrown(reader))
            aged = sleep.due_levels(reader, core.now(), self._limit)
        if is_rested and not aged:
            self._add(reasons=("nothing has changed since the last sleep", *rested["reasons"]))
            return self.slept
        self._whole = len(renewals) + len(aged)
        self._renew(renewals)
        self._go_over(place)
        self._shorten(aged)
        # A summary may be worded again and then grow.
        latest = {summary.id: summary for summary in self.slept.summaries}
        self._add(summaries=tuple(latest.values()))
        self._add(reasons=tuple(self._reasons()))
        if not self._dry_run and self._is_complete:
            self._remember_rest()
        return self.slept

    def _embed(self) -> None:
        """Embed what waits. Without its vector a note is compared by its words."""
        try:
            self._bank.core.embedding.sync(EMBEDDING)
        except PieriaError as problem:
            self._refused = problem.code

    @property
    def _is_complete(self) -> bool:
        return self.stopped is None and not self.slept.left and not self.slept.failed and not self._tally["vectors"]

    def _go_over(self, place: sleep.Place | None) -> None:
        """Go over what is due, a part at a time."""
        core, now = self._bank.core, self._bank.core.now()
        with core.reading() as reader:
            due = sleep.due(reader, now, force=self._force, limit=self._limit, after=place)
        self._tally["young"] = due.young
        after, ahead, left = due.after, due.ahead, self._limit
        while min(ahead, left) > 0 and self.stopped is None:
            with core.reading() as reader, without_collection():
                memories = sleep.due_part(reader, now, after, min(PART, ahead, left))
                before = sleep.said_before(reader, now) if memories else []
                growing = list(self._growing(reader)) if memories else []
                sources = [source for one in growing for source in one.sources]
                vectors = _vectors(reader, [*before, *memories, *sources])
                again = reader.records(SAID_AGAIN)
            if not memories:
                break
            self._go_over_part(memories, before, growing, vectors, again)
            after, ahead, left = sleep.place_of(memories[-1]), ahead - len(memories), left - len(memories)
            self._add(examined=self.slept.examined + len(memories))
        self._add(left=self.slept.left + due.number - self.slept.examined)
        after = after if ahead > 0 else None
        if not self._dry_run and after != place:
            core.apply(lambda _: Changeset("sleep", records=[Record(PLACES, PLACE, after)]))

    def _go_over_part(
        self,
        memories: Sequence[Memory],
        before: Sequence[Memory],
        growing: Sequence[Summarized],
        vectors: Vectors,
        again: dict[str, Any],
    ) -> None:
        prior = _prior(self._bank.core.embedding.embedder)
        with without_collection():
            groups = grouping.grouped(memories, vectors, growing, prior)
            settled = promotion.settled(memories, before, vectors, again)
        self._settled = frozenset(one.memory.id for one in settled)
        self._whole += len(groups)
        self._act_on_each(groups, self._sum_up)
        together = {member.row for group in groups for member in group.members}
        alone = [memory for memory in memories if memory.row not in together]
        unseen = sum(memory.row not in vectors for memory in alone) if vectors else 0
        self._tally["vectors"] += unseen
        self._tally["alone"] += len(alone) - unseen
        # Sources without a summary are examined again, and settled then.
        settled = [one for one in settled if one.memory.id not in self._unsummarized]
        if settled and not self._dry_run:
            self._bank.core.apply(lambda writer: promotion.changes(writer, settled, "sleep", tier="settled"))
        self._add(settled=(*self.slept.settled, *settled))

    def _act_on_each(self, groups: Sequence[Group], act: Callable[[Group, str | None], None]) -> None:
        """Act on each group, with the id for its summary. An interrupted sleep keeps what is finished."""
        # The rules take less time for a summary than its write; a model's words are written at once.
        by_rules = self._bank.core.llm is None
        at_once = WRITTEN_AT_ONCE if by_rules else 1
        try:
            for start in range(0, len(groups), at_once):
                with without_collection() if by_rules else nullcontext():
                    self._act_on_batch(groups[start : start + at_once], act)
        finally:
            self._write()

    def _act_on_batch(self, groups: Sequence[Group], act: Callable[[Group, str | None], None]) -> None:
        with self._bank.core.reading() as reader:
            ids = sleep.summary_ids(reader, groups)
        for group, id in zip(groups, ids, strict=True):
            self._attempt(group, partial(act, group, id))
        self._write()

    def _attempt(self, group: Group, act: Callable[[], None]) -> None:
        """Act on a group. A temporary error (a budget, an unreachable server) ends the sleep; any other, the group."""
        try:
            if self.stopped is None:
                act()
            else:
                self._leave_for_later(group)
        except PieriaError as problem:
            self._fail(group, problem)
        self._report_progress()

    def _fail(self, group: Group, problem: PieriaError) -> None:
        if problem.retryable:
            self.stopped = problem
            self._leave_for_later(group)
        else:
            self.problem = self.problem or problem
            ids = tuple(memory.id for memory in group.members)
            self._add(failed=(*self.slept.failed, Failure(ids, problem.message)))
            self._unsummarized.update(ids)

    def _sum_up(self, group: Group, id: str | None) -> None:
        if not self._is_worded(group, id):
            self._tally["short"] += len(group.members)

    def _is_worded(self, group: Group, id: str | None) -> bool:
        """Word the summary of a group, and return False if it would only repeat its sources."""
        if id is None:
            self._leave_for_later(group)
            return True
        summary = sleep.summary_of(id, group, self._bank.mind, self._bank.zone)
        if summary is None:
            return False
        draft = self._drafted(summary)
        if draft.text != summary.text:
            summary = replace(summary, text=draft.text)
            draft = self._drafted(summary)
        self._waiting.append((summary, draft))
        return True

    def _drafted(self, summary: Summary) -> Draft:
        return self._bank.core.screening.draft(checked(sleep.new_memory(summary)))

    def _write(self) -> None:
        """Write the summaries that wait. Those with a source that has changed meanwhile are left."""
        core, waiting = self._bank.core, self._waiting
        self._waiting = []

        def plan(writer: Writer) -> tuple[Changeset, list[Summary]]:
            whole, kept = Changeset("sleep"), []
            place = f"{self._bank.name}/{sleep.SUMMARY}"
            ids = [id for summary, _ in waiting for id in (summary.id, *(source.id for source in summary.sources))]
            states = writer.states(ids)
            for summary, draft in waiting:
                if summary.held is not None:
                    change = self._renewed(writer, states, summary, summary.held)
                else:
                    change = sleep.changes(states, summary, draft, self._settled, core.now(), place)
                if change is not None:
                    whole.writes += change.writes
                    whole.links += change.links
                    kept.append(summary)
            return whole, kept

        try:
            kept = [one for one, _ in waiting] if self._dry_run or not waiting else core.apply_with(plan)[0]
        except PieriaError as problem:
            for summary, _ in waiting:
                self._fail(Group(summary.sources), problem)
            return
        self._add(summaries=(*self.slept.summaries, *kept))
        self._tally["invented"] += sum(bool(summary.invented) for summary in kept)
        ids = {summary.id for summary in kept}
        for summary in (summary for summary, _ in waiting if summary.id not in ids):
            self._tally["changed"] += len(summary.sources)
            self._leave_for_later(Group(summary.sources))

    def _renewed(
        self, writer: Writer, states: Mapping[str, Stored], summary: Summary, before: Memory
    ) -> Changeset | None:
        """Return the change that puts another text into a summary, with links to its present sources."""
        held = states.get(before.id)
        if held is None or held.state.ended or held.state.row != before.row:
            return None
        if any(sleep.is_changed(source, states.get(source.id)) for source in summary.sources):
            return None
        last = summary.last
        # The old bounds may come from memories that are no longer sources.
        state = held.state._replace(at=micros(last.at), valid_from=None, valid_until=None, reason=RENEWED)
        write = next_version(self._bank.core, writer, held, state, sleep.content_of(summary), AGENT) or Write(state)
        changeset = Changeset("sleep", writes=[write, *sleep.rested(summary.sources, states, self._settled)])
        changeset.links = ties(writer, before.id, summary.sources, "")
        return changeset

    def _outgrown(self, reader: Reader) -> Iterator[Group]:
        """Yield the summaries whose sources have changed, with those that are left."""
        for one in self._summarized(reader, None):
            if one.summary.body.get("digest") != sleep.digest_of(one.sources):
                yield Group(one.sources, one.summary)

    def _growing(self, reader: Reader) -> Iterator[Summarized]:
        return (one for one in self._summarized(reader, GROWING) if one.sources)

    def _summarized(self, reader: Reader, most: int | None) -> Iterator[Summarized]:
        """Yield the summaries of sleeps that were not reworded by anybody, latest first, with their sources."""
        asked = Filter(
            now=self._bank.core.now(), viewer=Viewer(everything=True), kinds=(sleep.SUMMARY,), source=sleep.BY,
            status=("active",), valid_at=ANY_TIME,
        )  # fmt: skip
        left = most
        for part in sleep.selected(reader, asked, order="newest"):
            ours = [memory for memory in part[:left] if sleep.is_own(memory)]
            yield from self._with_sources(reader, ours, asked)
            if left is not None and (left := left - len(part)) <= 0:
                return

    def _with_sources(self, reader: Reader, summaries: Sequence[Memory], asked: Filter) -> Iterator[Summarized]:
        drawn: dict[str, list[str]] = {memory.id: [] for memory in summaries}
        for link in reader.links([End("memory", id) for id in drawn], DRAWN_FROM) if drawn else ():
            if link.source.name in drawn:
                drawn[link.source.name].append(link.target.name)
        # What has been removed or has ended is no source any more.
        rest = asked.having(kinds=None, source=None, status=None, valid_at=None)
        states = reader.states({id for ids in drawn.values() for id in ids}, rest)
        rows = {id: held.state.row for id, held in states.items() if not held.state.ended}
        held = reader.memories(list(rows.values()), rest)
        for memory in summaries:
            found = [held[rows[id]] for id in drawn[memory.id] if id in rows and rows[id] in held]
            yield Summarized(memory, in_time(found))

    def _renew(self, groups: Sequence[Group]) -> None:
        self._act_on_each(groups, self._renew_one)

    def _renew_one(self, group: Group, id: str | None) -> None:
        """Word a summary again from the sources that are left; remove it if they are too few or too short for one."""
        assert group.held is not None
        enough = len(group.members) >= grouping.LEAST - 1
        if not (enough and self._is_worded(group, id)) and not group.held.pinned:
            self._tally["baseless"] += 1
            if not self._dry_run:
                self._let_go(group.held, group.members)

    def _let_go(self, summary: Memory, sources: Sequence[Memory]) -> None:
        """Remove a summary; its last sources are due again."""

        def plan(writer: Writer) -> Changeset:
            states = writer.states([summary.id, *(source.id for source in sources)])
            ended = [
                Write(held.state._replace(ended="removed", reason=NOTHING_LEFT))
                for id, held in states.items()
                if id == summary.id and not held.state.ended
            ]
            due = [
                Write(held.state._replace(tier="working"))
                for id, held in states.items()
                if id != summary.id and held.state.tier == "kept"
            ]
            return Changeset("sleep", writes=[*ended, *due])

        self._bank.core.apply(plan)

    def _shorten(self, aged: Sequence[tuple[Memory, int]]) -> None:
        for memory, level in aged:
            self._attempt(Group([memory]), partial(self._shorten_one, memory, level))

    def _shorten_one(self, memory: Memory, level: int) -> None:
        made = sleep.shortened(memory, level, self._bank.mind, self._bank.zone)
        made = made._replace(text=self._bank.core.screen(check.text(made.text, "text"), "text").text)
        if self._dry_run or self._is_rewritten(made):
            self._add(shortened=(*self.slept.shortened, made))

    def _is_rewritten(self, made: Shortened) -> bool:
        """Write a shortened summary, and return False if it has changed meanwhile."""
        core, memory = self._bank.core, made.memory
        wording = {"wording": sleep.wording_of(made.text)} if sleep.is_own(memory) else {}
        contents = {"text": made.text, "body": {**memory.body, "level": made.level, **wording}}

        def plan(writer: Writer) -> Changeset:
            held = writer.states([memory.id]).get(memory.id)
            if held is None or held.state.ended or held.state.row != memory.row:
                return Changeset("sleep")
            write = next_version(core, writer, held, held.state._replace(reason="it has aged"), contents, AGENT)
            return Changeset("sleep", writes=[] if write is None else [write])

        return core.apply(plan) is not None

    def _leave_for_later(self, group: Group) -> None:
        self._add(left=self.slept.left + len(group.members))
        self._unsummarized.update(memory.id for memory in group.members)

    def _report_progress(self) -> None:
        self._done += 1
        if self._progress is None:
            return
        try:
            self._progress(self._done, self._whole)
        except JobError as problem:
            if problem.reason not in PAUSES:
                raise
            self.stopped = self.stopped or problem

    def _add(self, **values: Any) -> None:
        self.slept = replace(self.slept, **values)

    def _reasons(self) -> Iterator[str]:
        for key, (one, several) in REASONS.items():
            if number := self._tally[key]:
                yield one if number == 1 else several.format(number)
        if not self.slept.examined and not self._tally.total():
            yield "nothing is due: there are no notes, observations or turns that no sleep has processed"
        if self._refused:
            yield f"the embedder failed ({self._refused}): `pieria doctor` says more"

    def _remember_rest(self) -> None:
        core = self._bank.core
        with core.writing() as writer:
            state = _state(writer, core.now(), self._force)
            writer.note([Record(PLACES, RESTED, {"state": state, "reasons": list(self.slept.reasons)})])


REASONS = {
    "alone": ("1 note has no like", "{} notes have no like"),
    "young": ("1 is younger than a day", "{} are younger than a day"),
    "vectors": ("1 waits for its vector", "{} wait for their vectors"),
    "changed": ("1 was changed or summed up meanwhile", "{} were changed or summed up meanwhile"),
    "baseless": ("1 summary has too few sources left", "{} summaries have too few sources left"),
    "invented": (
        "1 summary is by the rules: the model named what no source says",
        "{} summaries are by the rules: the model named what no source says",
    ),
    "short": ("1 is too short to sum up", "{} are too short to sum up: a summary would only repeat them"),
}
"""Why memories were left out, for one and for several."""


def _state(reader: Reader, now: int, force: bool) -> list[int]:
    """Return numbers that differ once a sleep would find anything else."""
    number, _ = sleep.number_due(reader, now, force=force)
    return [reader.head().seq, number, int(force)]


def _place(reader: Reader) -> sleep.Place | None:
    """Return where the last incomplete sleep ended."""
    at, row = reader.records(PLACES, PLACE).get(PLACE, (None, None))
    return None if at is None else (at, row)


@lru_cache(maxsize=8)
def _spread_of(embedder: Embedder) -> Spread | None:
    return spread_of(embedder.passages(pack("unrelated")["texts"]).vectors)


def _prior(embedder: Embedder | None) -> Spread | None:
    """Return how alike unrelated sentences are to the embedder; None for one that would have to be paid."""
    return _spread_of(embedder) if embedder is not None and embedder.is_at_hand else None


def _vectors(reader: Reader, memories: Sequence[Memory]) -> Vectors:
    """Return the vector of each memory's first passage, if there is one."""
    found: Vectors = {}
    for start in range(0, len(memories), AT_ONCE):
        held = reader.vectors([memory.row for memory in memories[start : start + AT_ONCE]], "passage")
        found.update({row: vectors[0][1] for row, vectors in held.items()})
    return found
