"""The text index belongs to one analyser version: never to two at once, and never to an older one again."""

from collections.abc import Callable, Sequence

import pytest
from tests.contract.conftest import Opens
from tests.contract.single_calls import read
from tests.contract.store_helpers import ALL, apply, everything, memory

from pieria.errors import BusyError, NewerVersionError
from pieria.record.changeset import Content
from pieria.store.protocol import Store
from pieria.store.rows import terms_of


def found(store: Store, term: str) -> int:
    return len(read(store).text([term], ALL, 10, 10).candidates)


def test_older_pieria_refuses_to_touch_a_newer_index(opens: Opens) -> None:
    older, newer = opens(), opens()
    assert read(older).head().analyser == 0
    apply(older, memory("heron", "m"))
    assert read(older).head().analyser == older.analyser > 0
    newer.analyser += 1
    newer.reindex(terms_of, newer.analyser, if_older=True)
    before = everything(older)
    attempts: list[Callable[[], object]] = [
        lambda: apply(older, memory("stork", "n")),
        lambda: older.reindex(terms_of, older.analyser),
        lambda: older.reindex(terms_of, older.analyser, if_older=True),
    ]
    for attempt in attempts:
        with pytest.raises(NewerVersionError) as refused:
            attempt()
        assert "Upgrade" in str(refused.value.hint)
    assert everything(older) == before
    assert read(older).head().analyser == newer.analyser
    assert older.repair(older.check(), terms_of) == []
    assert found(newer, "heron") == 1
    apply(newer, memory("stork", "n"))


def test_newer_pieria_rebuilds_the_index_before_it_writes(opens: Opens) -> None:
    older, newer = opens(), opens()
    apply(older, memory("heron", "m"))
    newer.analyser += 1
    with pytest.raises(BusyError) as refused:
        apply(newer, memory("stork", "n"))
    assert refused.value.retryable
    assert [finding.check for finding in newer.check() if not finding.well] == ["analyser"]
    assert newer.repair(newer.check(), terms_of) == ["text index"]
    apply(newer, memory("stork", "n"))
    assert (found(newer, "heron"), found(newer, "stork")) == (1, 1)
    assert all(finding.well for finding in newer.check())


def test_only_one_of_two_processes_rebuilds_an_old_index(opens: Opens) -> None:
    first, second = opens(), opens()
    apply(first, memory("heron", "m"))
    built: list[str] = []

    def noted(content: Content) -> Sequence[str]:
        built.append(content.id)
        return terms_of(content)

    newer = first.analyser + 1
    assert [store.reindex(noted, newer, if_older=True) for store in (first, second)] == [1, 1]
    assert built == ["m"]
    assert second.reindex(noted, newer) == 1
    assert built == ["m", "m"]
