"""Single reads and writes of a store, each in a transaction of its own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, cast

from tests.contract.store_helpers import ALL

from pieria.record.changeset import State
from pieria.record.filter import Filter
from pieria.store.protocol import Reader, Store, Writer


class Each:
    def __init__(self, begin: Callable[[], AbstractContextManager[object]]) -> None:
        self._begin = begin

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            with self._begin() as transaction:
                answer = getattr(transaction, name)(*args, **named)
                return list(answer) if isinstance(answer, Iterator) else answer

        return call


def read(store: Store) -> Reader:
    """Return a reader that sees the store as it is at each call."""
    return cast(Reader, Each(store.reading))


def write(store: Store) -> Writer:
    """Return a writer that commits after each call."""
    return cast(Writer, Each(store.writing))


def noted(reader: Reader) -> list[tuple[str, object]]:
    """Return the list that takes each statement of this reader from now on, with its values."""
    asked: list[tuple[str, object]] = []
    session = reader._session  # type: ignore[attr-defined]
    execute = session.execute

    def note(sql: str, values: object = ()) -> object:
        asked.append((sql, values))
        return execute(sql, values)

    session.execute = note
    return asked


def ids_of(found: Iterable[Any]) -> list[str]:
    return [memory.id for memory in found]


def select(store: Store, filter: Filter = ALL, order: str = "oldest", limit: int = 1_000) -> list[str]:
    return ids_of(read(store).select(filter, order, limit))


def open_state(store: Store, id: str) -> State:
    return read(store).states([id])[id].state
