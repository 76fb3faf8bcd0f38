"""Removing a whole bank: completely or not at all, and no open store may continue to use it."""

import pytest
from tests.contract.conftest import Opens
from tests.contract.making import apply, everything, memory
from tests.contract.test_copying import lived_in

from pieria.errors import BusyError, ClosedError, ConflictError, NotFoundError
from pieria.store.protocol import Reader, Store

GONE = (ClosedError, NotFoundError)


def tables(store: Store) -> dict[str, int]:
    with store.reading() as reader:
        return reader.tables()


def test_removal_leaves_nothing_and_frees_the_name(opens: Opens) -> None:
    store, other = opens(), opens(name="other")
    empty = tables(opens(name="empty"))
    lived_in(store)
    apply(other, memory("theirs"))
    theirs = everything(other)
    before, seen = tables(store), list[int]()

    def refuse(reader: Reader) -> None:
        raise ConflictError("not now")

    with pytest.raises(ConflictError):
        store.remove(refuse)
    store = opens()
    assert tables(store) == before
    assert store.remove(lambda reader: seen.append(reader.head().documents)) == []
    assert seen[0] > 1_000
    assert store.is_over
    with pytest.raises(GONE), store.reading() as reader:
        reader.head()
    with pytest.raises(GONE):
        apply(store, memory())
    again = opens()
    assert tables(again) == empty
    apply(again, memory("anew"))
    assert not again.is_over
    assert everything(other) == theirs


def test_open_store_blocks_a_removal_or_learns_of_it(opens: Opens) -> None:
    """With a file, an open store blocks the removal. On a server, open stores get `NotFoundError`."""
    held, store = opens(), opens()
    apply(held, memory("theirs"))
    try:
        store.remove(lambda reader: None)
    except BusyError:
        assert not held.is_over
        apply(held, memory("and more", "n"))
        held.close()
        opens().remove(lambda reader: None)
    else:
        apply(opens(), memory("anew"))
        for _ in range(2):
            with pytest.raises(NotFoundError), held.reading() as reader:
                reader.head()
            with pytest.raises(NotFoundError):
                apply(held, memory("lost?", "n"))
            with pytest.raises(NotFoundError):
                held.wait(0, 5)
        assert held.is_over
