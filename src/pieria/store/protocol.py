"""What every store offers: a small set of primitives. Most take a `Filter`.

A store knows rows, transactions and search primitives. It does not rank, check input, or read any clock but the one it
gets. The layers above use only this protocol, so that a bank behaves the same in every store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from pieria.language.glance import Glance
from pieria.record.changeset import Applied, Change, Changeset, Content, Record, Stored
from pieria.record.fact import Fact
from pieria.record.filter import Filter, Shared
from pieria.record.link import End, Link
from pieria.record.memory import Memory
from pieria.record.usage import Usage
from pieria.store.facts import FactReader
from pieria.store.jobs import QueueReader, QueueWriter
from pieria.store.parts import (
    Aged,
    Holdings,
    Met,
    Outline,
    Placed,
    Run,
    SessionSpan,
    Spot,
    Tallied,
    Terms,
    Tie,
    Written,
)  # fmt: skip
from pieria.store.quarantine import QuarantineReader, QuarantineWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ORDERS = ("newest", "oldest", "changed", "important")
WHERE = ("path", "server", "database")
"""The keys of `describe` that say where a store is."""
Kind = Literal["passage", "window", "rule", "lead"]
"""What a vector represents. Passage: a part of a text. Window: a turn with its neighbours in the session. Rule: a
sentence that lays down a standing rule. Lead: the beginning of a text of several passages. Rules and leads are embedded
with the passages of their text and are never pending alone.
"""
WINDOW_REACH = 2
"""Neighbours on either side that a window may contain. A change makes windows within this distance pending again."""
Progress = Callable[[int, int], object]
"""Called with (done, total), in the caller's unit."""


@dataclass(frozen=True, slots=True)
class Head:
    """A bank's latest change and its counts. `documents` and `terms` count every indexed version, for ranking."""

    seq: int
    known: int
    documents: int
    terms: int
    analyser: int
    """The analyser version of the text index; 0 in a bank without one."""


class Candidate(NamedTuple):
    """A visible version that contains some of the asked terms."""

    row: int
    held: Terms


@dataclass(frozen=True, slots=True)
class TextMatch:
    """What the text index finds for a query. `cut` lists terms that exceeded the budget and were not looked up."""

    documents: int
    terms: int
    frequencies: Mapping[str, int]
    candidates: Sequence[Candidate]
    looked_up: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    exact: bool = True
    """True if every visible version with a looked-up term was considered."""


class Space(NamedTuple):
    """The embedding space of a bank's vectors. `complete` means that nothing is pending."""

    number: int
    name: str
    dimension: int
    complete: bool


class Pending(NamedTuple):
    """A vector that is still to be embedded."""

    row: int
    what: Kind


Nearness = Mapping[Kind, "NDArray[np.float64]"]


class Span(NamedTuple):
    """The similarity of a version's best vector, and the characters of the embedded text that it represents."""

    similarity: float
    start: int
    stop: int


class Near(NamedTuple):
    """A visible version by its best vector, whose entry is given."""

    row: int
    similarity: float
    entry: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """The versions nearest to a vector, each once, the most similar first.

    `scanned` counts the vectors compared, `probed` the versions checked for visibility.
    """

    candidates: Sequence[Near]
    exact: bool = True
    """True if no visible version is nearer than those found."""
    scanned: int = 0
    probed: int = 0


class Embedded(NamedTuple):
    """A vector to store. Passages and rules are numbered from 0 each; a window has number 0.

    For a window, `members` are its other rows, and `known_from` is when the last of its rows was known.
    """

    row: int
    what: Kind
    number: int
    start: int
    stop: int
    vector: Collection[float]
    members: Sequence[int] = ()
    known_from: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one of the store's checks. `remedy` says what to do about a problem, or what to improve."""

    check: str
    well: bool
    detail: str
    remedy: str | None = None


class Reader(QueueReader, QuarantineReader, FactReader, Protocol):
    """One read transaction: all its reads see the same snapshot."""

    def head(self) -> Head: ...

    def select(
        self, filter: Filter, order: str = "newest", limit: int = 50, after: tuple[float, int] | None = None
    ) -> list[Memory]:
        """Return visible memories in order; `after` is the (order value, row) of the last one seen."""

    def count(self, filter: Filter, by: str | None = None) -> dict[str, int]:
        """Return the number of visible memories by a column of the state; without one under the key `total`."""

    def tally(self) -> list[Tallied]:
        """Return counts of all memories, ended ones too, ordered by the fields of `Tallied`."""

    def totals(self) -> dict[str, int]:
        """Return counts of `versions`, current `links` and `facts`, `changes`, `purged`, `quarantined`."""

    def sessions(self, filter: Filter, limit: int, after: tuple[int, str] | None = None) -> list[SessionSpan]:
        """Return the sessions with current visible memories, the latest beginning first; ties by name, descending.

        Ended memories count for a session's beginning and end if the filter includes them. `after` is the (beginning,
        name) of the last session seen, with an empty name for None.
        """

    def memories(self, rows: Sequence[int], filter: Filter) -> dict[int, Memory]:
        """Return versions by row with their state at the filter's known time. The rest of the filter is ignored."""

    def contents(self, rows: Sequence[int]) -> dict[int, Content]:
        """Return the content of existing rows, visible or not; rows that do not exist are left out."""

    def readable(self, rows: Sequence[int]) -> dict[int, Content]:
        """Return `contents` without damaged rows, which are logged: one damaged row must not stop the caller's work."""

    def outlines(self, rows: Sequence[int], filter: Filter) -> dict[int, Outline]:
        """Return outlines of the rows that pass the whole filter, for ranking."""

    def candidates(self, rows: Sequence[int], filter: Filter) -> Met:
        """Return the columns that ranking uses, of the rows that pass the whole filter."""

    def glances(self, rows: Sequence[int]) -> dict[int, Glance]:
        """Return glances of the rows' texts, for as many rows as may be read at once."""

    def holdings(self, rows: Sequence[int], terms: Sequence[str], runs: Sequence[Run]) -> Holdings:
        """Return counts of terms and runs in the rows' texts, for as many rows as may be read at once."""

    def spots(self, rows: Sequence[int], filter: Filter) -> list[Spot]:
        """Return the rows that pass the whole filter, in their order."""

    def written(self, rows: Sequence[int]) -> dict[int, Written]:
        """Return when each of these rows was first known, with its version and tags, visible or not."""

    def rows(self, filter: Filter, order: str = "newest", limit: int = 50) -> list[int]:
        """Return the rows of the memories that `select` would return."""

    def rows_each(
        self, filter: Filter, by: Shared, values: Sequence[str], order: str = "newest", limit: int = 50
    ) -> dict[str, list[int]]:
        """Return the rows for each of these tags, entities, files or places, as if the filter asked for it alone.

        One statement serves all values but those that very many memories share. A place is written wing/room.
        """

    def placed(self, filter: Filter) -> list[Placed]:
        """Return every visible memory without its text, ordered by row."""

    def counts(self, rows: Sequence[int], terms: Collection[str]) -> dict[int, Terms]:
        """Return counts of the terms in the rows, visible or not, including rows without any of the terms."""

    def states(self, ids: Iterable[str], filter: Filter | None = None) -> dict[str, Stored]:
        """Return the state of each id at the filter's known time, or now. Unknown ids are left out."""

    def standing(self, filter: Filter, after: int, limit: int) -> list[Stored]:
        """Return the states of visible memories with rows after `after`, ordered by row, for paging."""

    def aged(self, filter: Filter, after: int, limit: int) -> list[Aged]:
        """Return what the decay of the same memories depends on. Reads no text."""

    def history(self, id: str) -> list[Memory]:
        """Return every interval of known time of an id, oldest first."""

    def version_rows(self, id: str) -> set[int]:
        """Return the rows of all versions of an id, readable or damaged."""

    def newest_version(self, id: str) -> int:
        """Return the highest version that an id ever had; 0 for an unknown id."""

    def version(self, id: str, version: int) -> list[Memory]:
        """Return the intervals in which this version was the content of the id."""

    def text(self, terms: Sequence[str], filter: Filter, want: int, budget: int) -> TextMatch: ...

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many versions contain each of these terms, visible or not."""

    def space(self) -> Space | None:
        """Return the current space; None in a bank that has no vectors yet."""

    def pending(self, limit: int) -> list[Pending]:
        """Return pending passages, then windows; within each the last written first."""

    def pending_count(self) -> int: ...

    def unembedded(self, rows: Sequence[int], newest: int) -> list[int]:
        """Return those of these rows whose passages are pending, then up to `newest` of all, the newest first."""

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        """Return the `want` nearest visible versions. A window counts only if all its members were known by then.

        Raise `InputError` for a vector of another dimension than the space's. Without a space the result is empty.
        """

    def similarities(self, vector: Collection[float], rows: Sequence[int], what: Kind = "passage") -> dict[int, Span]:
        """Return the exact similarity of each row. Rows without a vector are left out."""

    def nearness(self, vectors: Sequence[Collection[float]], rows: Sequence[int], kinds: Sequence[Kind]) -> Nearness:
        """Return similarities to several vectors. Each kind has a line a row and a column a vector, NaN without one."""

    def vectors(self, rows: Sequence[int], what: Kind = "passage") -> dict[int, list[tuple[int, NDArray[np.float32]]]]:
        """Return (number, vector) pairs of each row, ordered by number."""

    def stacked(self, rows: Sequence[int], what: Kind = "passage") -> tuple[list[int], NDArray[np.float32]]:
        """Return the same vectors as lines of one array, and the row of each line."""

    def around(
        self, rows: Sequence[int], filter: Filter, reach: int, *, company: bool = False
    ) -> dict[int, list[tuple[int, int]]]:
        """Return (distance, row) of the nearest visible neighbours in session, channel and scope, ordered by time.

        Distances to earlier turns are negative. If much of a session is not visible, the search stops after a limit.
        With `company`, only neighbours count that are visible to the same readers for the same time: windows hold
        these.
        """

    def twins(self, text: str, terms: Sequence[str], filter: Filter) -> list[Memory]:
        """Return visible memories with exactly this text."""

    def namesakes(self, terms: Sequence[str], most: int, filter: Filter) -> list[Memory]:
        """Return visible memories of at most `most` characters that contain the rarest of these terms, at least one."""

    def links(
        self, ends: Sequence[End] | None = None, relation: str | None = None, known_at: int | None = None,
        ids: Sequence[str] | None = None, every_version: bool = False, between: tuple[End, End] | None = None,
    ) -> list[Link]: ...  # fmt: skip

    def ties(self) -> Iterator[tuple[str, str, str]]:
        """Yield (source, relation, target) of every current link between memories, in no order."""

    def tied(self, ids: Sequence[str], filter: Filter, newest: int) -> dict[str, list[int]]:
        """Return the visible versions linked to each memory: first the targets of its links, then the sources.

        Of each, at most `newest`, the latest links first.
        """

    def ties_of(self, ids: Iterable[str], filter: Filter) -> list[Tie]:
        """Return current links between these memories and versions that pass the whole filter. Links are seen from
        either end and come in the order of writing.
        """

    def labelled(
        self, what: Literal["entities", "standing"], labels: Sequence[str], filter: Filter, limit: int
    ) -> list[int]:
        """Return visible versions with any of these labels, the last written first."""

    def usage(self, ids: Sequence[str]) -> dict[str, Usage]: ...

    def records(self, collection: str, prefix: str = "", keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the records whose keys start with the prefix, or those with the given keys."""

    def purged(self, ids: Sequence[str]) -> set[str]: ...

    def changes(self, since: int = 0, limit: int | None = None, seqs: Sequence[int] | None = None) -> list[Change]: ...

    def changes_at(self, times: Sequence[int]) -> list[Change]:
        """Return the changes made at these different known times, oldest first. Late ones are found fastest."""

    def opened(self, seq: int) -> tuple[list[Stored], list[Link], list[Fact]]:
        """Return the states, links and facts that a change opened."""

    def dump(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield every row of a table by column name, in the order of writing, for a lossless copy."""

    def tables(self) -> dict[str, int]:
        """Return the row count of every table of a bank: the tables that `Writer.fill` copies."""

    def lines(self, table: str) -> Iterator[Sequence[Any]]:
        """Yield the rows of such a table, ordered by key and alike in every store, with vectors packed."""

    def counters(self) -> dict[str, int]:
        """Return all the bank's counters."""


class Writer(Reader, QueueWriter, QuarantineWriter, Protocol):
    """One write transaction. It sees its own writes; the end of the `with` block commits it, an error rolls it back."""

    def apply(self, changeset: Changeset) -> Applied:
        """Apply a changeset. The first one in a bank sets the analyser of the text index.

        Raise `NewerVersionError` if a newer analyser made the index, `BusyError` if an older one did, until the
        index is rebuilt. Raise `ConflictError` if the changeset's vectors are of another space than the bank's.
        """

    def note(self, records: Iterable[Record]) -> None:
        """Write records without a journal entry, such as which process is at work."""

    def mend_vectors(self) -> None:
        """Queue everything without a vector for embedding, and rebuild what derives from vectors."""

    def put_vectors(self, space: int, vectors: Sequence[Embedded], seen: int, empty: Sequence[Pending] = ()) -> int:
        """Replace the vectors of each row and kind, which is then no longer pending. Return how many were stored.

        New passages also replace the row's rules and leads. `empty` had nothing to embed and is no longer pending
        either. `seen` is the latest change (`Head.seq`) when the texts were read: items that a later change made
        pending stay pending. Vectors of rows that no longer exist are skipped. Windows with a member that is no longer
        `company` (see `around`) are skipped and stay pending.

        Raise `ConflictError` if the space is no longer the bank's, `InputError` for a vector that does not fit it.
        """

    def set_space(self, name: str, dimension: int) -> Space:
        """Make the space current and return it. A change of space makes everything pending again."""

    def drop_old_vectors(self, limit: int) -> int:
        """Delete up to `limit` vectors of former spaces. Return how many; fewer than the limit when none is left."""

    def fill(self, source: Reader, progress: Progress | None = None) -> dict[str, int]:
        """Copy the source row by row, with all versions, numbers and times, and rebuild the projections.

        Return the row count of each table. Raise `ConflictError` if the bank is not empty.
        """


class Store(Protocol):
    analyser: int
    """The analyser version whose terms this store writes."""

    @property
    def is_over(self) -> bool:
        """True if the store is closed, or has found that its bank was removed."""

    def reading(self, seconds: float | None = None) -> AbstractContextManager[Reader]:
        """Open a read transaction. Raise `BusyError` after waiting for locks, at most for `seconds` if given."""

    def writing(self, seconds: float | None = None) -> AbstractContextManager[Writer]:
        """Open a write transaction. Raise `BusyError` after waiting for writers, at most for `seconds` if given."""

    def wait(self, seq: int, seconds: float) -> bool:
        """Wait until the bank has a change past `seq`, at most for `seconds`. Return whether it has.

        Closing the store ends the wait. Raise the errors of reading.
        """

    def scrub(self) -> list[str]:
        """Remove erased bytes from all files of the store. Return what could not be reached."""

    def backup(self, path: Path, progress: Progress | None = None) -> None:
        """Write a consistent copy while others read and write. The file appears only when it is complete."""

    def copies(self) -> list[str]:
        """Return known earlier copies of the bank, each with what it is: no erasure reaches them."""

    def check(self, progress: Progress | None = None, *, thorough: bool = True) -> list[Finding]:
        """Check integrity and every projection against its source; of a file also permissions and unfinished copies.

        A `thorough` check reads the whole bank. Without it, only checks that need no such reading are done.
        """

    def repair(self, found: Sequence[Finding], terms_of: Callable[[Content], Sequence[str]]) -> list[str]:
        """Repair problems that a check found, as far as the record allows. Return the names of the repaired parts."""

    def reindex(
        self,
        terms_of: Callable[[Content], Sequence[str]],
        analyser: int,
        progress: Progress | None = None,
        *,
        if_older: bool = False,
    ) -> int:
        """Rebuild the text index from the record in one transaction. Return how many versions it holds.

        `if_older` rebuilds it only if another analyser made it, so that one of several processes does. Raise
        `NewerVersionError` if a newer analyser made it.
        """

    def describe(self) -> dict[str, Any]:
        """Return facts about the store: engine, version, sizes, and `WHERE` it is."""

    def remove(self, last: Callable[[Reader], object]) -> list[str]:
        """Remove the bank completely or not at all, and close the store. Return what could not be reached.

        `last` reads the bank once more while no other process can change it; an error in `last` keeps the bank. Raise
        `BusyError` if others use it. On a server, stores that still have it open raise `NotFoundError` from then on.
        """

    def close(self) -> None: ...
