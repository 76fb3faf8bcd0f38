import sys

import numpy as np
import pytest

from pieria.store.sql.rows import sum_of
from pieria.store.sqlite.sums import SUMMED, row_sum


class Word(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((), 932418520),
        ((1, "m1", 1, None, "heron"), 3888571526),
        ((2**62, -(2**31) - 1, -1, 0.1, b"\x00\xff"), 1577546039),
        (("Straße 道", "\ud800", "a\0b"), 2122515989),
    ],
)
def test_a_sum_is_the_same_in_every_python(values: tuple[object, ...], expected: int) -> None:
    """Files store these sums: with another sum, a Python would call every bank damaged."""
    assert sum_of(values) == expected


def test_an_interned_text_has_the_sum_of_any_other() -> None:
    assert sum_of([sys.intern("heron")]) == sum_of(["".join(["he", "ron"])])


def test_a_value_of_a_subclass_has_the_sum_of_its_value() -> None:
    assert sum_of([Word("heron"), 1]) == sum_of(["heron", 1])
    assert sum_of([np.str_("heron"), np.float64(0.5), True]) == sum_of(["heron", 0.5, 1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((None,), ("None",)),
        ((1,), ("1",)),
        (("ab", "c"), ("a", "bc")),
        ((1,), (1.0,)),
        (("",), (None,)),
        ((b"a",), ("a",)),
    ],
)
def test_values_of_another_kind_have_another_sum(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert sum_of(one) != sum_of(other)


def test_a_state_has_the_sum_that_the_file_gives_back() -> None:
    given = dict.fromkeys(SUMMED["state"], "x") | {"importance": 1, "strength": -0.0, "trust": 0, "confidence": None}
    read = given | {"importance": 1.0, "strength": 0.0, "trust": 0.0}
    sums = {row_sum("state", tuple(state.values())) for state in (given | {"pinned": True}, read | {"pinned": 1})}
    assert len(sums) == 1
