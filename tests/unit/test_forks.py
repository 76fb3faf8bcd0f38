"""What a forked child finds: the error, values of its own, and objects that must not be destroyed there."""

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from pieria.errors import ForkedError
from pieria.runtime import forks

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


class Thing:
    """Something that can be referenced weakly."""


def true_in_a_child(asked: Callable[[], bool]) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if asked() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_only_the_process_that_opened_it_may_use_it() -> None:
    forks.check(os.getpid(), "bank", "notes")
    with pytest.raises(ForkedError) as refused:
        forks.check(1, "bank", "notes")
    assert str(refused.value) == f"bank notes was opened in process 1, and this is its child {os.getpid()}"
    assert refused.value.hint == "Open it again in this process: pieria.open(...)."


def test_a_value_is_made_once_in_each_process() -> None:
    own, made = forks.Own[Thing](), list[Thing]()

    def make() -> Thing:
        made.append(Thing())
        return made[-1]

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: own.get(make), range(64)))
    assert found == {*made}
    assert len(made) == 1
    assert own.is_made
    assert true_in_a_child(lambda: not own.is_made and own.get(make) is not made[0] and own.is_made)
    assert own.take() is made[0]
    assert own.take() is None
    lock = forks.Own[threading.Lock]()
    with lock.get(threading.Lock):
        assert true_in_a_child(lambda: lock.get(threading.Lock).acquire(blocking=False))


def test_kept_objects_are_never_destroyed_in_a_child() -> None:
    kept, dropped = [Thing()], [Thing()]
    forks.keep(kept[0])
    ends = weakref.ref(kept[0]), weakref.ref(dropped[0])

    def are_left() -> list[bool]:
        kept.clear()
        dropped.clear()
        return [end() is not None for end in ends]

    assert true_in_a_child(lambda: are_left() == [True, False])
    assert are_left() == [False, False]
