"""Filters and changes are keywords like any others: an unknown one is a `TypeError`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("notes", data=tmp_path) as bank:
        yield bank


@pytest.mark.parametrize(
    ("verb", "given", "wrong"),
    [
        ("recall", ("heron",), {"pinned": True}), ("list", (), {"colour": "grey"}), ("count", (), {"colour": "grey"}),
        ("list_each", ("tags", "heron"), {"colour": "grey"}), ("update", ("id",), {"colour": "grey"}),
        ("revise", ("id",), {"strength": 2.0}),
    ],
)  # fmt: skip
def test_a_keyword_that_a_verb_does_not_take_is_a_type_error(
    bank: Bank, verb: str, given: tuple[str, ...], wrong: dict[str, Any]
) -> None:
    [name] = wrong
    with pytest.raises(TypeError, match=f"{verb}.* unexpected keyword argument '{name}'"):
        getattr(bank, verb)(*given, **wrong)
