"""A forked child is refused the bank of its parent and opens its own, and neither breaks the other."""

import sys
from pathlib import Path

import pytest
from tests.durability import forking
from tests.durability.processes import done

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"

STORIES = [
    forking.inherited_is_refused,
    forking.either_may_close_first,
    forking.fork_inside_one_s_own_reading,
    pytest.param(forking.parent_s_locks_hold, marks=pytest.mark.slow),
    pytest.param(forking.fork_while_a_read_stays_open, marks=pytest.mark.slow),
    pytest.param(forking.pools_of_both_kinds, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_fork(tmp_path: Path, story: forking.Story) -> None:
    assert done(story, str(tmp_path)) == []


def test_a_child_recalls_with_the_model_while_the_parent_works(tmp_path: Path) -> None:
    assert done(forking.child_opens_its_own, str(tmp_path), str(INSTALLED)) == []
