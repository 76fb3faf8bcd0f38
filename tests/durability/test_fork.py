"""A bank carried across a fork works in parent and child, and neither takes anything from the other."""

from pathlib import Path

import pytest
from tests.durability import forking
from tests.durability.processes import done

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


@pytest.mark.slow
def test_pools_of_processes_share_a_bank(tmp_path: Path) -> None:
    assert done(forking.pools_of_both_kinds, str(tmp_path)) == []
