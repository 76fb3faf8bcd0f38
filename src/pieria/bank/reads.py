"""The verbs of a bank that read, and the one that waits until all of it can be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pieria.bank.delete.quarantine import quarantines
from pieria.bank.health import doctor, stats, sync
from pieria.bank.jobs.budget import BankMeter
from pieria.bank.read.context import TOKENS, context
from pieria.bank.read.get import around, changes, count, follow, get, history, identical, list_each, list_memories, wait
from pieria.bank.read.links import links, neighbors, neighbors_each, usage
from pieria.bank.read.recall import recall
from pieria.bank.read.similar import embedded, similar
from pieria.bank.read.trace import trace

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.bank.filters import Filters, ListFilters, Names
    from pieria.bank.read.similar import Likeness
    from pieria.bank.results.general import Around, Diagnosis, Neighborhood, Page, Quarantine, Stats, Trace
    from pieria.bank.results.transfer import ExportReport
    from pieria.models.mind import Mind
    from pieria.recall.answer import Context, Recall
    from pieria.record.changeset import Change
    from pieria.record.decay import Fading
    from pieria.record.draft import Instant
    from pieria.record.filter import Viewer
    from pieria.record.link import End, Link
    from pieria.record.memory import Memory
    from pieria.record.time import Clock
    from pieria.record.usage import Habits, Usage
    from pieria.store.protocol import Progress


class BankReads:
    def __init__(self, core: Core) -> None:
        self._core = core
        core.bank = self
        self.name: str = core.name
        self.data: Path = core.data
        self.clock: Clock = core.clock
        self.who: str = core.who
        self.viewer: Viewer = core.viewer
        self.author: str | None = core.author
        self.author_type: str | None = core.author_type
        self.via: str = core.via
        """How texts come in through this bank: its writes get at most the trust of this way."""
        self.secrets: str = core.secrets
        self.fading: Fading = core.fading
        self.habits: Habits = core.habits
        self.meter: BankMeter = core.meter
        self.is_user_bank: bool = core.is_user_bank
        self.is_foreign: bool = core.is_foreign
        """Whether another user may have made the bank: it is read as hearsay and never written."""
        self.is_remote: bool = False
        """Whether the bank is behind HTTP: a server does its verbs and its jobs."""

    def __repr__(self) -> str:
        return f"<Bank {self.name}{' (closed)' if self._core.closed else ''}>"

    @property
    def core(self) -> Core:
        """The core of all verbs. Raises `ForkedError` in a forked child."""
        self._core.check_process()
        return self._core

    @property
    def zone(self) -> tzinfo:
        """The time zone of "yesterday" and "last week"; by default that of the clock."""
        return self.core.zone

    @property
    def mind(self) -> Mind:
        """The mind that judges and writes: the configured language model, metered, or rules if there is none."""
        return self.core.mind

    def expect_questions(self) -> None:
        """Load in the background what the first query needs."""
        self.core.expect_questions()

    def recall(
        self,
        query: str,
        *,
        k: int = 10,
        min_score: float | None = None,
        min_confidence: float | None = None,
        least_retention: float | None = None,
        review: bool | float = False,
        cursor: str | None = None,
        policy: str | Callable[..., float] = "hybrid",
        weights: Mapping[str, float] | None = None,
        deadline_ms: int | None = None,
        budget_tokens: int | None = None,
        time_zone: str | None = None,
        by_meaning: bool = True,
        matching: bool = False,
        counted: bool = True,
        **filters: Unpack[Filters],
    ) -> Recall:
        """Return what this bank and the user's bank hold on a query: best first, each with its reasons.

        Lists match any of their values. `valid_at` selects memories valid at a time, `known_at` those known then. Any
        text is a query; an empty one finds nothing. With `review`, a share of the `k` answers are memories about to be
        forgotten. `matching` leaves out neighbours of matches that do not match the query themselves. `time_zone` sets
        the days of "yesterday" and "last week". With `counted=False` the recall is no use of the memories. With
        `min_confidence`, return nothing if the answer is less sure, and no hit worth less than half of the best.
        Changed notes of a vault are read first; `plan["left_out"]["vault"]` says if some were not.
        """
        unread = None if cursor is not None else self._look(deadline_ms)
        found = recall(
            self.core, query, k=k, min_score=min_score, min_confidence=min_confidence,
            least_retention=least_retention, review=review, cursor=cursor, policy=policy, weights=weights,
            deadline_ms=deadline_ms, budget_tokens=budget_tokens, time_zone=time_zone, by_meaning=by_meaning,
            matching=matching, counted=counted, **filters,
        )  # fmt: skip
        return found if unread is None else found.without("vault", unread)

    def _look(self, deadline_ms: int | None) -> str | None:
        """Read changed notes of the vault, if there is one. Return why some were not read."""
        return None

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
        """Return what an agent should know before it asks: standing rules, pinned memories and open ends.

        An index of the most important memories follows, with as many full texts as fit the budget. All text is fenced
        as data. With a query or files the context is about these, as of now. Without them it is as of `known_at`, or
        the session's kept moment, or now. `keep` keeps the moment for the session unless one is kept already. `anew`
        ignores the kept moment, and with `keep` replaces it. `deadline_ms` limits recall for the query; it answers with
        the hits found by then.
        """
        return context(
            self.core, query, files=files, place=place, session=session, budget_tokens=budget_tokens,
            known_at=known_at, keep=keep, anew=anew, deadline_ms=deadline_ms,
        )  # fmt: skip

    def get(
        self,
        reference: str,
        *,
        version: int | None = None,
        known_at: Instant | None = None,
        include_removed: bool = False,
    ) -> Memory | None:
        """Return the memory or fact under an id, of any status, or None. `id@version` gives that version.

        An existing id that ends like a version takes precedence. With `version`, the whole reference is the id.
        """
        return get(self.core, reference, version=version, known_at=known_at, include_removed=include_removed)

    def list(
        self,
        *,
        order: str = "newest",
        limit: int = 50,
        offset: int = 0,
        cursor: str | None = None,
        **filters: Unpack[ListFilters],
    ) -> Page:
        """Return memories of this bank in order; with scope `user` alone, the user's own.

        `cursor` continues a page of the same order and filters, unaffected by later writes. `offset` skips a number of
        current memories.
        """
        return list_memories(self.core, order=order, limit=limit, offset=offset, cursor=cursor, **filters)

    def list_each(
        self,
        by: str,
        values: str | End | Iterable[str | End],
        *,
        order: str = "newest",
        limit: int = 50,
        **filters: Unpack[ListFilters],
    ) -> dict[str | End, Page]:
        """Return the `list` for each of these values, by the given values, from one read. `limit` applies to each.

        `list` continues from each cursor. `by` is `tags`, `entities`, `files`, or `place` with places written
        wing/room.
        """
        return list_each(self.core, by, values, order=order, limit=limit, **filters)

    def count(self, *, by: str | None = None, **filters: Unpack[ListFilters]) -> Any:
        """Return the number of memories; with `by`, the number for each kind, place, tag and so on, most first."""
        return count(self.core, by=by, **filters)

    def identical(self, text: str, *, kinds: Names | None = None, scope: Names | None = None) -> tuple[Memory, ...]:
        """Return the memories with exactly this text after screening, oldest first.

        With scope `user` alone, the user's own.
        """
        return identical(self.core, text, kinds=kinds, scope=scope)

    def history(self, id: str, *, revisions: bool = False) -> tuple[Memory, ...]:
        """Return every interval of known time of a memory, oldest first: its versions, and each change of its status.

        With `revisions`, also those of earlier and later revisions.
        """
        return history(self.core, id, revisions=revisions)

    def changes(
        self, since: int = 0, limit: int | None = None, *, last: int | None = None, of: str | None = None
    ) -> tuple[Change, ...]:
        """Return the journal after a sequence number, oldest first; with `last`, only the newest entries.

        With `of`, return only the changes of this memory or fact. Those of the user's own memory are changes of `@me`.
        """
        return changes(self.core, since, limit, last=last, of=of)

    def wait(self, since: int, seconds: float) -> bool:
        """Wait for a change after a sequence number, by any process. Return False on timeout."""
        return wait(self.core, since, seconds)

    def follow(self, since: int | None = None, *, seconds: float | None = None) -> Iterator[Change]:
        """Yield the changes after a sequence number (default: now), oldest first, then each new one.

        It ends when the bank closes or after `seconds`. After a retryable error no change is lost: follow from the last
        one received.
        """
        return follow(self.core, since, seconds=seconds)

    def trace(
        self, id: str | None = None, *, source: str | None = None, session: str | None = None, limit: int = 200
    ) -> Trace:
        """Return what was derived from a memory, a source or a session, and which sessions were shown any of it.

        Ended and quarantined memories are included. Raise `NotFoundError` if there is nothing.
        """
        return trace(self.core, id, source=source, session=session, limit=limit)

    def links(self, end: str | End | None = None, *, relation: str | None = None) -> Sequence[Link]:
        """Return all links, or those of one end, oldest first."""
        return links(self.core, end, relation=relation)

    def neighbors(
        self, id: str | End, *, relation: str | None = None, direction: str = "both", hops: int = 1, limit: int = 50
    ) -> Neighborhood:
        """Return what the links of a memory or place lead to, nearest first, each once.

        `truncated` says that `limit` cut it.
        """
        return neighbors(self.core, id, relation=relation, direction=direction, hops=hops, limit=limit)

    def neighbors_each(
        self,
        ids: str | End | Iterable[str | End],
        *,
        relation: str | None = None,
        direction: str = "both",
        hops: int = 1,
        limit: int = 50,
    ) -> dict[str | End, Neighborhood]:
        """Return the `neighbors` of each end, by the given values, from one read. `limit` applies to each."""
        return neighbors_each(self.core, ids, relation=relation, direction=direction, hops=hops, limit=limit)

    def usage(self, ids: str | Iterable[str]) -> dict[str, Usage]:
        """Return the usage of memories, with zeros for an unused one."""
        return usage(self.core, ids)

    def similar(self, text: str, *, k: int = 5, least: float = 0.0) -> Sequence[Likeness]:
        """Return the memories of this bank most similar to the whole of a text, nearest first.

        An equal text has 1. Comparing counts no use.
        """
        return similar(self.core, text, k=k, least=least)

    def embedded(self, ids: str | Iterable[str]) -> set[str]:
        """Return the ids that have a vector."""
        return embedded(self.core, ids)

    def around(
        self,
        id: str,
        *,
        before: int = 5,
        after: int = 5,
        kinds: Names | None = None,
        session: str | None = None,
        scope: Names | None = None,
    ) -> Around:
        """Return what was said just before and after a memory, up to the given numbers.

        A revised id leads to its newest.
        """
        return around(self.core, id, before=before, after=after, kinds=kinds, session=session, scope=scope)

    def quarantines(self) -> tuple[Quarantine, ...]:
        """Return every quarantine in force, oldest first, with what it holds now."""
        return quarantines(self.core)

    def stats(self) -> Stats:
        """Return counts by kind and status, and the sizes of the store."""
        return stats(self.core)

    def doctor(self, *, repair: bool = False, up_to: int | None = None, progress: Progress | None = None) -> Diagnosis:
        """Check the file, record rules, projections, disk and settings. `repair` rebuilds damaged projections.

        A full check reads the whole bank. If the bank has more than `up_to` versions, only quick checks run and the
        diagnosis is not `thorough`. `progress` gets the number of finished checks and their total.
        """
        return doctor(self.core, repair=repair, up_to=up_to, progress=progress)

    def export(self, path: str | Path, *, progress: Progress | None = None) -> ExportReport:
        """Write the whole bank with its history to a file of JSON lines: `docs/export-format.md`.

        An older export of that name is replaced when the new one is complete; other files are never replaced. A folder
        gets a file named after the bank and the time. `progress` counts versions and changes.
        """
        from pieria.bank.transfer.files import exported

        return exported(self.core, path, progress)

    def backup(self, path: str | Path, *, progress: Progress | None = None) -> Path:
        """Copy the bank's store to a file, while other processes read and write. `pieria.restore` brings it back.

        An older backup of that name is replaced when the new one is complete. A folder gets a file named after the bank
        and the time. `progress` counts pages.
        """
        from pieria.bank.transfer.files import backed_up

        return backed_up(self.core, path, progress)

    def sync(self, timeout: float | None = None, progress: Progress | None = None) -> bool:
        """Wait until every projection has caught up with the record, and return True if they have.

        The text index is written with the record, so this waits for vectors; without an embedder there are none.
        Pending usage counts are written too, and the user's bank is included. Return False on timeout, if the bank's
        vectors are of another model, or if another process holds the lock. Raise `AdapterError` if the model fails.
        `progress` gets the number of embedded texts and their total.
        """
        return sync(self.core, timeout, progress)
