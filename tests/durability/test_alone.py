"""Exclusive use and removal of a bank's file: another user of the file blocks both, also if it opens in between."""

import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.contract.making import apply, memory

from pieria.errors import BusyError, NotFoundError, ReadOnlyError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.alone import nobody_using


@pytest.mark.parametrize("step", [1, 2])
def test_whoever_opens_it_between_two_steps_is_in_the_way_and_loses_nothing(tmp_path: Path, step: int) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()
    opened: list[SQLiteStore] = []
    left = step

    def open_before(frame: FrameType, event: str, called: Any) -> None:
        nonlocal left
        if (event, frame.f_code.co_name) == ("c_call", nobody_using.__name__) and called.__name__ == "execute":
            left -= 1
            if not left:
                sys.setprofile(None)
                opened.append(SQLiteStore(path))

    sys.setprofile(open_before)
    try:
        with pytest.raises(BusyError, match="open"), nobody_using(path, "remove"):
            pass
    finally:
        sys.setprofile(None)
    [held] = opened
    apply(held, memory("theirs"))
    held.close()
    with nobody_using(path, "remove") as connection:
        assert connection.execute("SELECT count(*) FROM state").fetchone() == (1,)


@pytest.mark.parametrize("step", ["_check_file", "_prepare"])
@pytest.mark.parametrize("create", [True, False])
def test_a_bank_that_is_removed_while_it_is_opened_is_made_anew_or_not_there(
    tmp_path: Path, create: bool, step: str
) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()

    def take_away_before(frame: FrameType, event: str, _: Any) -> None:
        if (event, frame.f_code.co_name) == ("call", step):
            sys.setprofile(None)
            path.unlink()

    sys.setprofile(take_away_before)
    try:
        if create:
            store = SQLiteStore(path)
            apply(store, memory("mine"))
            store.close()
        else:
            with pytest.raises(NotFoundError):
                SQLiteStore(path, create=False)
    finally:
        sys.setprofile(None)
    assert path.exists() == create


def test_a_bank_that_is_removed_and_made_anew_by_another_while_it_is_opened_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()
    real = os.access

    def access(file: Path, mode: int) -> bool:
        monkeypatch.setattr(os, "access", real)
        path.unlink()
        found = real(file, mode)
        SQLiteStore(path).close()
        return found

    monkeypatch.setattr(os, "access", access)
    store = SQLiteStore(path)
    apply(store, memory("mine"))
    store.close()


def test_a_link_that_leads_nowhere_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "notes.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(ReadOnlyError):
        SQLiteStore(tmp_path / "notes.db")


def test_of_a_bank_whose_file_is_a_link_what_it_leads_to_goes_as_well(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    kept, link = elsewhere / "kept.db", folder / "notes.db"
    folder.mkdir()
    SQLiteStore(kept).close()
    link.symlink_to(kept)
    store = SQLiteStore(link)
    apply(store, memory("a secret"))
    store.remove(lambda reader: None)
    assert os.listdir(folder) == []
    assert not [path for path in elsewhere.iterdir() if path.stat().st_size]
