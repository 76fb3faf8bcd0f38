"""Where rows are secured by bank, a bank is copied in and out line by line, and its vectors are indexed as ever."""

from pathlib import Path

import pytest
from tests.contract.making import HandClock
from tests.contract.test_copying import held, lived_in
from tests.contract.test_vectors import drawn, near, well
from tests.postgres.conftest import Opened
from tests.postgres.test_sharing import owner  # noqa: F401

from pieria.store.copy import copy
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.protocol import Store
from pieria.store.sqlite import SQLiteStore


def test_a_bank_goes_in_and_out_past_row_security(
    opened: Opened,
    owner: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stores: list[Store] = [SQLiteStore(tmp_path / "bank.db", clock=HandClock())]
    try:
        lived_in(stores[0])
        server = opened("bank", url=owner, row_security=True)
        copy(stores[0], server)
        stores.append(SQLiteStore(tmp_path / "again.db", clock=HandClock()))
        copy(server, stores[1])
        moments = []
        for store in (*stores, server):
            with store.reading() as reader:
                moments.append(held(reader))
        assert moments[0] == moments[1] == moments[2]
    finally:
        for store in stores:
            store.close()
    monkeypatch.setattr(indexing, "OUTGROWN", 100)
    assert server.repair(server.check(), lambda _: ()) == [indexing.CHECK]
    assert len(near(server, drawn(1)[0], want=30).candidates) == 30
    well(server)
