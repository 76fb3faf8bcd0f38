"""What the shared code needs of an SQL store: one transaction, its statements, and how it passes lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

Values = Mapping[str, Any] | Sequence[Any]


class UnreadableRow(Exception):
    """A row that Pieria cannot have written."""

    hint = "Copy the file to another place, then restore a backup with `pieria restore`."


class DamagedMemory(UnreadableRow):
    """A version of a memory that differs from its checksum."""

    hint = "Run `pieria doctor`. Then restore a backup with `pieria restore`, or purge that memory."

    def __init__(self, row: object, id: object) -> None:
        super().__init__(f"the memory {id} differs from its checksum, row {row}")


class Cursor(Protocol):
    """A statement's result. `Any` because the drivers declare different types for the same behaviour."""

    @property
    def description(self) -> Any: ...

    @property
    def rowcount(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Session(Protocol):
    """One transaction on one bank. Statements are named in files, with the same names in every store."""

    hides: bool | None
    """Whether anything is in quarantine; None until it is read. See `visibility.hides`."""

    @property
    def unlimited(self) -> int | None:
        """The value of a limit that means no limit."""

    @property
    def picks_indexes(self) -> bool:
        """Whether the database's planner finds the most selective of several conditions."""

    @property
    def reads(self) -> bool:
        """Whether the transaction only reads, from one snapshot."""

    def statements(self, file: str) -> Mapping[str, str]: ...

    def execute(self, sql: str, values: Values = ..., /) -> Cursor: ...

    def remembered(self, sql: str, /) -> Sequence[Any]:
        """Return the result of a statement without values. A read transaction may cache it."""

    def executemany(self, sql: str, lines: Iterable[Values], /) -> object: ...

    def stream(self, name: str, sql: str, /) -> Iterator[tuple[list[str], Sequence[Any]]]:
        """Yield column names and each row of an answer that may not fit into memory."""

    def packed(self, stored: Any, /) -> bytes:
        """Return a vector from a row in the packed form of `pieria.store.vectors`."""

    def listed(self, values: Iterable[Any]) -> Any:
        """Return many values of one type as one parameter."""

    def paired(self, pairs: Iterable[Sequence[Any]]) -> Any:
        """Return many rows of values as one parameter."""


class There(NamedTuple):
    """Whether a bank holds any of these."""

    links: bool
    facts: bool
    standing: bool
    entities: bool


def there(session: Session) -> There:
    """Return which of these a bank holds. Most banks have none, and a vain look-up costs as much as any other."""
    return There(*map(bool, session.remembered(session.statements("queries.sql")["there"])[0]))


def parsed(written: str) -> dict[str, str]:
    """Return every block of a file by its name, without comments."""
    blocks: dict[str, str] = {}
    for part in written.split("-- name: ")[1:]:
        name, _, block = part.partition("\n")
        lines = [line for line in block.splitlines() if not line.lstrip().startswith("--")]
        blocks[name.strip()] = "\n".join(lines).strip().rstrip(";")
    return blocks
