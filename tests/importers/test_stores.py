"""Every system whose store the benchmark can write: counts of a dry run, of a first run and of a second one."""

from pathlib import Path

import pytest

from benchmarks.import_stores import STORES, written
from pieria.bank import Bank
from pieria.importers import IMPORTERS, import_from


def test_benchmark_knows_only_systems_that_can_be_imported() -> None:
    assert STORES.keys() <= set(IMPORTERS)


@pytest.mark.parametrize("system", STORES)
def test_second_run_of_a_store_changes_nothing(bank: Bank, tmp_path: Path, system: str) -> None:
    source = written(system, tmp_path, 40)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    tried = import_from(bank, system, source, dry_run=True)
    assert not bank.changes()
    done = import_from(bank, system, source)
    assert (tried.memories, tried.facts, tried.links) == (done.memories, done.facts, done.links)
    assert done.well and set(done.memories) == {"new"} and done.memories["new"] >= 40
    seq = bank.changes()[-1].seq
    again = import_from(bank, system, source)
    kinds = [kind for kind in (again.memories, again.facts, again.links) if kind]
    assert kinds and all(set(kind) == {"unchanged"} for kind in kinds) and again.well
    assert bank.changes()[-1].seq == seq
    assert {memory.trust for memory in bank.list(limit=100)} <= {0.5}
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
