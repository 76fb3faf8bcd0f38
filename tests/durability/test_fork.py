"""A bank carried across a fork works in parent and child, and neither breaks the other."""

import threading
from pathlib import Path

import pytest
from tests.durability import forking
from tests.durability.processes import PATIENCE, done

from pieria.store.sqlite import SQLiteStore, connection

STORIES = [
    forking.both_write,
    forking.child_outlives_parent_s_bank,
    forking.parent_outlives_child,
    pytest.param(forking.parent_s_locks_hold, marks=pytest.mark.slow),
    forking.fork_while_another_thread_writes,
    forking.fork_while_another_thread_reads,
    forking.many_threads_and_many_forks,
    forking.fork_while_threads_read_two_banks_at_once,
    forking.fork_inside_one_s_own_reading,
    pytest.param(forking.fork_while_a_read_stays_open, marks=pytest.mark.slow),
    forking.a_bank_that_was_closed_before_the_fork_stays_closed,
    forking.a_workspace_outlives_a_fork,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_fork(tmp_path: Path, story: forking.Story) -> None:
    assert done(story, str(tmp_path)) == []


def test_a_bank_that_is_opened_while_another_thread_forks_is_opened_afterwards(tmp_path: Path) -> None:
    """Meanwhile the fork handler goes through the open connections."""
    before, opened = len(connection._every), threading.Event()

    def open_one() -> None:
        SQLiteStore(tmp_path / "b.db").close()
        opened.set()

    thread = threading.Thread(target=open_one)
    connection._before_fork()
    try:
        thread.start()
        while not (tmp_path / "b.db").exists():
            assert thread.is_alive()
        assert not opened.wait(0.1)
        assert len(connection._every) <= before
    finally:
        connection._after_fork_in_parent()
        thread.join(PATIENCE)
    assert opened.is_set()


@pytest.mark.slow
def test_pools_of_processes_share_a_bank(tmp_path: Path) -> None:
    assert done(forking.pools_of_both_kinds, str(tmp_path)) == []
