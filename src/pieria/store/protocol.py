"""What every store offers: a small set of primitives, each taking the one `Filter`.

A store knows rows, transactions and search primitives. It ranks nothing for users, checks no input and reads no clock
but the one it is given. All above is written against this file, so that a bank behaves the same wherever it lives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from pieria.record.change import Change
from pieria.record.changeset import Applied, Changeset, Content, Record, Stored
from pieria.record.fact import Fact
from pieria.record.filter import Filter, Shared
from pieria.record.glance import Glance
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
"""What of a store's description says where it is."""
Kind = Literal["passage", "window", "rule", "lead"]
"""What a vector stands for: part of a text, a turn with its neighbours in the session, a sentence of a text that lays
down a standing rule, or the beginning of a text of several passages. Rules and leads come with the passages of their
text, and are never pending by themselves."""
WINDOW_REACH = 2
"""How many neighbours on either side a window may take in: so far a change makes windows pending again."""
Progress = Callable[[int, int], object]
"""Called with what is done and the whole, in the unit the caller knows."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a bank stands. `documents` and `terms` count every indexed version, for ranking."""

    seq: int
    known: int
    documents: int
    terms: int
    analyser: int
    """The version of the analyser that made the text index; 0 in a bank that has none yet."""


class Candidate(NamedTuple):
    """A visible version that holds some of the asked terms."""

    row: int
    held: Terms


@dataclass(frozen=True, slots=True)
class TextMatch:
    """What the text index holds of a question. `cut` says that terms were left out of the look-up for their number."""

    documents: int
    terms: int
    frequencies: Mapping[str, int]
    candidates: Sequence[Candidate]
    looked_up: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    exact: bool = True
    """Every visible version that holds a looked-up term was considered."""


class Space(NamedTuple):
    """Whose vectors a bank holds. `complete` says that nothing is still to be embedded."""

    number: int
    name: str
    dimension: int
    complete: bool


class Pending(NamedTuple):
    """What is still to be embedded."""

    row: int
    what: Kind


Nearness = Mapping[Kind, "NDArray[np.float64]"]


class Span(NamedTuple):
    """How similar the best vector of a version is, and which characters of the embedded text that one stands for."""

    similarity: float
    start: int
    stop: int


class Near(NamedTuple):
    """A visible version by the best of its vectors, which is the one of this entry."""

    row: int
    similarity: float
    entry: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """What is near a vector: a version once, the most similar first.

    `scanned` vectors were looked at, and of `probed` versions it was asked whether they may be seen.
    """

    candidates: Sequence[Near]
    exact: bool = True
    """No visible version is nearer than those found."""
    scanned: int = 0
    probed: int = 0


class Embedded(NamedTuple):
    """A vector to be put: passages and rules are numbered from 0 each, and a window has one of number 0.

    For a window, `members` are the other rows that it took in, and `known_from` is when the last of all was known.
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
    """One check of the store by itself. `remedy` says what to do where it is not well, or well but worth tidying up."""

    check: str
    well: bool
    detail: str
    remedy: str | None = None


class Reader(QueueReader, QuarantineReader, FactReader, Protocol):
    """One read transaction: everything read through it belongs to the same moment."""

    def head(self) -> Head: ...

    def select(
        self, filter: Filter, order: str = "newest", limit: int = 50, after: tuple[float, int] | None = None
    ) -> list[Memory]:
        """Visible memories in order; `after` is the (order value, row) of the last one seen."""

    def count(self, filter: Filter, by: str | None = None) -> dict[str, int]:
        """How many are visible, by a column of the state; without one under the key `total`."""

    def tally(self) -> list[Tallied]:
        """Return how many memories there are, whatever became of them, in the order of the fields."""

    def totals(self) -> dict[str, int]:
        """How many there are of all but memories: `versions`, `links` and `facts` that stand, `changes`, `purged`."""

    def sessions(self, filter: Filter, limit: int, after: tuple[int, str] | None = None) -> list[SessionSpan]:
        """The sessions of the visible memories that stand, that which began last first; equal ones by their names,
        backwards. What ended counts for when a session began and ended, where the filter lets it through.
        `after` is the beginning and the name of the last one seen, without a name an empty text.
        """

    def memories(self, rows: Sequence[int], filter: Filter) -> dict[int, Memory]:
        """Versions by row, as they stand at the filter's known time; nothing else of the filter is looked at."""

    def contents(self, rows: Sequence[int]) -> dict[int, Content]:
        """What stands in rows at hand, visible or not, whatever became of it; of a row that is gone, nothing."""

    def readable(self, rows: Sequence[int]) -> dict[int, Content]:
        """Return `contents` without damaged rows, which are logged: for work that must not stop at one of them."""

    def outlines(self, rows: Sequence[int], filter: Filter) -> dict[int, Outline]:
        """Of rows at hand those that the whole filter lets through, with what ranking looks at."""

    def candidates(self, rows: Sequence[int], filter: Filter) -> Met:
        """Of rows at hand those that the whole filter lets through, with what ranking looks at."""

    def glances(self, rows: Sequence[int]) -> dict[int, Glance]:
        """What their texts show at a glance; of as many as may be read at once."""

    def holdings(self, rows: Sequence[int], terms: Sequence[str], runs: Sequence[Run]) -> Holdings:
        """What the texts of rows at hand hold of these terms and runs; of as many as may be read at once."""

    def spots(self, rows: Sequence[int], filter: Filter) -> list[Spot]:
        """Of rows at hand those that the whole filter lets through, in their order."""

    def written(self, rows: Sequence[int]) -> dict[int, Written]:
        """When each of these rows was first known, whatever became of its standing since."""

    def rows(self, filter: Filter, order: str = "newest", limit: int = 50) -> list[int]:
        """The rows of the memories that `select` would give."""

    def rows_each(
        self, filter: Filter, by: Shared, values: Sequence[str], order: str = "newest", limit: int = 50
    ) -> dict[str, list[int]]:
        """The rows of each of these tags, entities, files or places, as if the filter asked for it alone: in one look,
        but for what very many have in common. A place is spelt wing/room.
        """

    def placed(self, filter: Filter) -> list[Placed]:
        """Every visible memory, without its text, in the order of their rows."""

    def counts(self, rows: Sequence[int], terms: Collection[str]) -> dict[int, Terms]:
        """What rows at hand hold of the terms; visible or not, and with nothing of them in it as well."""

    def states(self, ids: Iterable[str], filter: Filter | None = None) -> dict[str, Stored]:
        """The state of each id at the filter's known time, or now; of an unknown id, nothing."""

    def standing(self, filter: Filter, after: int, limit: int) -> list[Stored]:
        """The states of visible memories behind that row, in the order of their rows: for whoever goes over all."""

    def aged(self, filter: Filter, after: int, limit: int) -> list[Aged]:
        """The same memories by what their fading follows from; a text is not read for it."""

    def history(self, id: str) -> list[Memory]:
        """Every stretch of known time of an id, oldest first."""

    def version_rows(self, id: str) -> set[int]:
        """Return the rows of all versions of an id, readable or damaged."""

    def newest_version(self, id: str) -> int:
        """The highest version that an id ever had; 0 of one that is unknown."""

    def version(self, id: str, version: int) -> list[Memory]:
        """The stretches during which this version was the content of the id."""

    def text(self, terms: Sequence[str], filter: Filter, want: int, budget: int) -> TextMatch: ...

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many versions hold each of these terms, visible or not."""

    def space(self) -> Space | None:
        """The current one; None in a bank that nothing was embedded for yet."""

    def pending(self, limit: int) -> list[Pending]:
        """Passages before windows; of either those of what was written last first."""

    def pending_count(self) -> int: ...

    def unembedded(self, rows: Sequence[int], newest: int) -> list[int]:
        """Of these rows those whose passages are pending, in their order; then so many of all, the newest first."""

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        """The `want` nearest visible versions. A window counts only where all its members were known by then.

        Raises `InputError` for a vector of another dimension than the space's; without a space nothing is near.
        """

    def similarities(self, vector: Collection[float], rows: Sequence[int], what: Kind = "passage") -> dict[int, Span]:
        """Of rows at hand, exactly; one that has no vector is left out."""

    def nearness(self, vectors: Sequence[Collection[float]], rows: Sequence[int], kinds: Sequence[Kind]) -> Nearness:
        """The same of several vectors at once: of each kind a line a row and a column a vector, NaN where none is."""

    def vectors(self, rows: Sequence[int], what: Kind = "passage") -> dict[int, list[tuple[int, NDArray[np.float32]]]]:
        """The vectors of rows at hand, each with its number, in that order."""

    def stacked(self, rows: Sequence[int], what: Kind = "passage") -> tuple[list[int], NDArray[np.float32]]:
        """The same vectors as lines of one array, and the row that each belongs to."""

    def around(
        self, rows: Sequence[int], filter: Filter, reach: int, *, company: bool = False
    ) -> dict[int, list[tuple[int, int]]]:
        """(distance, row) of the nearest visible neighbours in the same session, channel and scope, in the order of
        time; before the row distances are below 0. Where much of a session may not be seen it looks only so far. As
        `company` only those count that whoever sees the row sees too, and as long: of such a window is made.
        """

    def twins(self, text: str, terms: Sequence[str], filter: Filter) -> list[Memory]:
        """Visible memories whose text is exactly this."""

    def namesakes(self, terms: Sequence[str], most: int, filter: Filter) -> list[Memory]:
        """Visible memories of at most so many characters that hold the rarest of these terms, of which there is one."""

    def links(
        self, ends: Sequence[End] | None = None, relation: str | None = None, known_at: int | None = None,
        ids: Sequence[str] | None = None, every_version: bool = False, between: tuple[End, End] | None = None,
    ) -> list[Link]: ...  # fmt: skip

    def ties(self) -> Iterator[tuple[str, str, str]]:
        """Source, relation and target of every standing link between memories, in any order and however many."""

    def tied(self, ids: Sequence[str], filter: Filter, newest: int) -> dict[str, list[int]]:
        """The visible versions that links tie to each of these memories: by those that lead from it, then by those that
        lead to it. Of either no more than so many, the links that were written last first.
        """

    def ties_of(self, ids: Iterable[str], filter: Filter) -> list[Tie]:
        """Each standing link between one of these memories and a version that the whole filter lets through, from
        either end, in the order in which they were written.
        """

    def labelled(
        self, what: Literal["entities", "standing"], labels: Sequence[str], filter: Filter, limit: int
    ) -> list[int]:
        """Visible versions that bear any of these labels, those that were written last first."""

    def usage(self, ids: Sequence[str]) -> dict[str, Usage]: ...

    def records(self, collection: str, prefix: str = "", keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Those whose keys begin so, or those of these keys."""

    def purged(self, ids: Sequence[str]) -> set[str]: ...

    def changes(self, since: int = 0, limit: int | None = None, seqs: Sequence[int] | None = None) -> list[Change]: ...

    def opened(self, seq: int) -> tuple[list[Stored], list[Link], list[Fact]]:
        """The states, links and facts that a change opened."""

    def dump(self, table: str) -> Iterator[dict[str, Any]]:
        """Every row of a table by column name, in the order in which it was written, for a lossless copy."""

    def tables(self) -> dict[str, int]:
        """Every table that a bank is made of, and how many lines it has: what `Writer.fill` takes over."""

    def lines(self, table: str) -> Iterator[Sequence[Any]]:
        """Of one of these tables, in the order of their keys, alike in every store: vectors as they are packed."""

    def counters(self) -> dict[str, int]:
        """How far everything in the bank is counted."""


class Writer(Reader, QueueWriter, QuarantineWriter, Protocol):
    """One write transaction; it reads its own writes and ends with the `with` block: commit, or nothing at all."""

    def apply(self, changeset: Changeset) -> Applied:
        """The first that is applied settles the analyser of the text index.

        Raises `NewerVersionError` where the index is of a newer analyser than the store's, `BusyError` where it is of
        an older one and was not built again yet; `ConflictError` where vectors come with it that are of another space
        than the bank's.
        """

    def note(self, records: Iterable[Record]) -> None:
        """Writes records of which nobody has to hear, such as who is at work: no journal entry tells of them."""

    def mend_vectors(self) -> None:
        """Has embedded again what has no vector, and makes anew what is made from them."""

    def put_vectors(self, space: int, vectors: Sequence[Embedded], seen: int, empty: Sequence[Pending] = ()) -> int:
        """Takes the place of all that stands for each row and kind among them, which are then no longer pending.
        With the passages of a row its rules go as well. Nor are those of `empty`, in which there was nothing to embed.

        `seen` is the number of the latest change (`Head.seq`) when their texts were read: what a later one made pending
        stays so. Returns how many were stored: those of rows that are gone by now are not, nor windows with a member
        that is no `company` of theirs (see `around`), which stay pending. Raises `ConflictError` where
        the space is not the bank's any more, `InputError` for what is no vector of it.
        """

    def set_space(self, name: str, dimension: int) -> Space:
        """Makes it the current one. Where it was not, everything is pending again."""

    def drop_old_vectors(self, limit: int) -> int:
        """Takes away vectors of former spaces. Returns how many; fewer than the limit when none is left."""

    def fill(self, source: Reader, progress: Progress | None = None) -> dict[str, int]:
        """Becomes what the source is, line by line, every version, number and time kept, what is derived made anew.

        Returns how many lines each table has. Raises `ConflictError` where there is anything in the bank yet.
        """


class Store(Protocol):
    analyser: int
    """The version of the analyser whose terms are written through this store."""

    @property
    def is_over(self) -> bool:
        """Closed, or of a bank of which this store has found that somebody removed it: nothing goes through it."""

    def reading(self, seconds: float | None = None) -> AbstractContextManager[Reader]:
        """Waits for locks of others, no longer than so many seconds where they are given. Raises `BusyError`."""

    def writing(self, seconds: float | None = None) -> AbstractContextManager[Writer]:
        """Waits for other writers, no longer than so many seconds where they are given. Raises `BusyError`."""

    def wait(self, seq: int, seconds: float) -> bool:
        """Until the bank has a change past `seq`, or so many seconds are over. Whether it has.

        Closing the store ends the wait as well. Raises what reading raises.
        """

    def scrub(self) -> list[str]:
        """After an erasure: make sure no file of the store still holds the bytes. Returns what could not be reached."""

    def backup(self, path: Path, progress: Progress | None = None) -> None:
        """A consistent copy while others read and write; appears under its name only when complete."""

    def copies(self) -> list[str]:
        """Copies made earlier, as far as the store can tell where they are, each with what it is: no erasure reaches
        them.
        """

    def check(self, progress: Progress | None = None, *, thorough: bool = True) -> list[Finding]:
        """Integrity, every projection against what it is made from, and who else could read it or holds a copy.

        All of the bank is read for it; what is told without that is all there is where it need not be `thorough`.
        """

    def repair(self, found: Sequence[Finding], terms_of: Callable[[Content], Sequence[str]]) -> list[str]:
        """Mends what a check found and what can be made again from the record. Returns what was mended, by name."""

    def reindex(
        self,
        terms_of: Callable[[Content], Sequence[str]],
        analyser: int,
        progress: Progress | None = None,
        *,
        if_older: bool = False,
    ) -> int:
        """Builds the text index again from the record, in one transaction. Returns how many versions it holds.

        With `if_older` only where another analyser made it, so that of several who find it old one builds it. Never
        from a newer analyser back: that is a `NewerVersionError`.
        """

    def describe(self) -> dict[str, Any]:
        """Facts about the store itself: engine, version, sizes, and `WHERE` it is."""

    def remove(self, last: Callable[[Reader], object]) -> list[str]:
        """Takes the bank away, wholly or not at all, and closes the store. Returns what could not be reached.

        `last` reads it once more, when nobody else can change it: what it raises keeps the bank. `BusyError` where
        others are in the way; who still has it open then, as on a server, is answered by `NotFoundError` from now on.
        """

    def close(self) -> None: ...
