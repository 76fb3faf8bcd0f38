"""Many threads on one bank."""

from pathlib import Path

import pytest
from tests.durability import threads
from tests.durability.processes import done


def test_sixteen_threads_share_a_bank(tmp_path: Path) -> None:
    assert done(threads.mix_on_one_bank, str(tmp_path), 6) == []


def test_sixteen_threads_open_a_bank_each(tmp_path: Path) -> None:
    assert done(threads.mix_on_a_bank_each, str(tmp_path), 2) == []


@pytest.mark.slow
def test_sixteen_threads_share_a_bank_for_long(tmp_path: Path) -> None:
    assert done(threads.mix_on_one_bank, str(tmp_path), 60) == []


def test_a_bank_closed_under_its_threads_tells_them(tmp_path: Path) -> None:
    assert done(threads.close_under_others, str(tmp_path), 12) == []


def test_threads_that_end_leave_nothing_open(tmp_path: Path) -> None:
    assert done(threads.come_and_go, str(tmp_path), 20) == []
