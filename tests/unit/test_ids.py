"""Ids are unique and ascending for any clock, and over the threads and forks of a process."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_forks import true_in_a_child

from pieria.record import ids as module
from pieria.record.ids import derived_id, new_id, new_ids, parse_reference

ALPHABET = set("0123456789abcdefghjkmnpqrstvwxyz")
PARTS = st.lists(st.text(), max_size=4)
forking = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture
def new_source() -> Iterator[None]:
    """Use a source without ids, and another after the test, whose clock may have run ahead."""
    module._source.draw()
    yield
    module._source.draw()


def test_ids_ascend_one_by_one_and_in_bulk_on_any_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [new_id() for _ in range(2000)] + new_ids(2000) + [new_id() for _ in range(2000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(len(id) == 16 and set(id) <= ALPHABET for id in made)
    assert new_ids(0) == []
    assert len(new_ids(1)) == 1
    before = new_id()
    an_hour_ago = time.time_ns() - 3_600_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: an_hour_ago)
    later = [before, *(new_id() for _ in range(100))]
    assert later == sorted(set(later))


@pytest.mark.usefixtures("new_source")
def test_ids_sort_by_the_time_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time_ns()
    made = []
    for passed in (1, 2, 1_000, 86_400_000, 365 * 86_400_000, 900 * 365 * 86_400_000):
        monkeypatch.setattr(time, "time_ns", lambda passed=passed: now + passed * 1_000_000)
        made.append(new_id())
    monkeypatch.undo()
    assert made == sorted(made)
    assert len({id[:9] for id in made}) == len(made)


def test_threads_never_share_an_id() -> None:
    start = threading.Barrier(8)

    def work(_: int) -> list[str]:
        start.wait()
        return [new_id() for _ in range(500)] + new_ids(500)

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(work, range(8)))
    assert all(ids == sorted(ids) for ids in made)
    assert len({id for ids in made for id in ids}) == 8 * 1000


@forking
def test_a_forked_child_makes_ids_of_its_own_and_is_not_locked() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, " ".join(new_ids(3)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading) as pipe:
        theirs = pipe.read().split()
    assert len(theirs) == 3
    assert new_id()[-5:] not in {id[-5:] for id in theirs}
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            new_ids(100)

    with ThreadPoolExecutor() as threads:
        threads.submit(work)
        try:
            for _ in range(10):
                assert true_in_a_child(lambda: bool(new_id()))
        finally:
            done.set()


@given(st.text(), PARTS, PARTS)
def test_a_derived_id_follows_from_its_parts_alone(prefix: str, parts: list[str], others: list[str]) -> None:
    id = derived_id(prefix, *parts)
    assert id == derived_id(prefix, *parts)
    assert id.startswith(prefix)
    assert len(id) == len(prefix) + 26
    assert set(id[len(prefix) :]) <= ALPHABET
    assert (id == derived_id(prefix, *others)) == (parts == others)
    assert derived_id("drawer_", "wing", "room", "text") == "drawer_mbxdxmb7g29g4y5sq2p9493nt7"
    assert derived_id("", "ab", "c") != derived_id("", "a", "bc")
    assert derived_id("", "\ud800") != derived_id("", "?")


def test_a_version_is_the_digits_after_the_last_at() -> None:
    versions = {"abc@3": ("abc", 3), "abc@0": ("abc", 0), "a@b.com@12": ("a@b.com", 12)}
    none = ("abc", "a@b.com", "abc@", "@3", "abc@-1", "abc@1.5", "abc@ 3", "abc@٣", "abc@²", "", "abc@" + "9" * 5000)
    expected = versions | {reference: (reference, None) for reference in none}
    assert {reference: parse_reference(reference) for reference in expected} == expected


@given(st.text(min_size=1), st.integers(0, 10**17))
def test_a_spelt_version_is_read_again(id: str, version: int) -> None:
    assert parse_reference(f"{id}@{version}") == (id, version)
