"""What the shared code asks of a store on SQL: one transaction, its statements, and how it takes lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

Values = Mapping[str, Any] | Sequence[Any]


class UnreadableRow(Exception):
    """A row that no code of ours could have written."""

    hint = "Copy the file away, then bring back a backup with `pieria restore`."


class DamagedMemory(UnreadableRow):
    """A version of a memory that is not what was written."""

    hint = "Run `pieria doctor`. Then bring back a backup with `pieria restore`, or purge that memory."

    def __init__(self, row: object, id: object) -> None:
        super().__init__(f"the memory {id} differs from its checksum, row {row}")


class Cursor(Protocol):
    """What a statement found. `Any` where the drivers differ in what they declare, not in what they do."""

    @property
    def description(self) -> Any: ...

    @property
    def rowcount(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Session(Protocol):
    """One transaction on one bank. Statements have names in files, and a file the same names in every store."""

    hides: bool | None
    """Whether anything is in quarantine; None until it was asked. See `visibility.hides`."""

    @property
    def unlimited(self) -> int | None:
        """As a limit: none."""

    @property
    def picks_indexes(self) -> bool:
        """It knows by itself which of several conditions lets the fewest rows through."""

    @property
    def reads(self) -> bool:
        """It sees one snapshot, and changes nothing."""

    def statements(self, file: str) -> Mapping[str, str]: ...

    def execute(self, sql: str, values: Values = ..., /) -> Cursor: ...

    def remembered(self, sql: str, /) -> Sequence[Any]:
        """What a statement without values finds. A transaction that only reads may have to ask but once."""

    def executemany(self, sql: str, lines: Iterable[Values], /) -> object: ...

    def stream(self, name: str, sql: str, /) -> Iterator[tuple[list[str], Sequence[Any]]]:
        """The names of the columns with each line of an answer that may be longer than memory."""

    def packed(self, stored: Any, /) -> bytes:
        """A vector that a statement found, as `pieria.store.vectors` packs it."""

    def listed(self, values: Iterable[Any]) -> Any:
        """Many values of a kind as one."""

    def paired(self, pairs: Iterable[Sequence[Any]]) -> Any:
        """Many lines of the same few values as one."""


class There(NamedTuple):
    """Whether a bank holds any of these at all."""

    links: bool
    facts: bool
    standing: bool
    entities: bool


def there(session: Session) -> There:
    """Exists because most banks have none of them, and a look-up in vain costs as much as another."""
    return There(*map(bool, session.remembered(session.statements("queries.sql")["there"])[0]))


def parsed(written: str) -> dict[str, str]:
    """Every block of a file by its name; the lines of comment under the header are its reason, not its text."""
    blocks: dict[str, str] = {}
    for part in written.split("-- name: ")[1:]:
        name, _, block = part.partition("\n")
        lines = [line for line in block.splitlines() if not line.lstrip().startswith("--")]
        blocks[name.strip()] = "\n".join(lines).strip().rstrip(";")
    return blocks
