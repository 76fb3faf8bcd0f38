"""Cursors: a written cursor is read back, and any other text is refused with one error."""

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError
from pieria.record.cursor import LIMIT, is_share, is_whole, parts_of, written

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(plain, max_size=8))
def test_what_is_written_is_read_again(parts: list[Any]) -> None:
    cursor = written(parts)
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert parts_of(cursor, "a cursor", len(parts)) == parts


def refused(cursor: object) -> InputError:
    with pytest.raises(InputError) as raised:
        parts_of(cursor, "the cursor of a page", 2)
    return raised.value


@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")))
def test_any_other_text_is_refused(text: str) -> None:
    error = refused(text)
    assert error.parameter == "cursor"
    assert error.expected == "the cursor of a page"


def packed(plain: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(plain)).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        None, 5, b"abc", [], True, "", "é", "\ud800", "\0", "a", "a" * (LIMIT + 1),
        packed(b"[1]"), packed(b"[1,2,3]"), packed(b"5"), packed(b'{"a":1,"b":2}'), packed(b""), packed(b"\xff"),
        packed(b"[" * 50_000), packed(b"[1,2" + b" " * 300_000 + b"]"), packed(b"[1," + b"9" * 5_000 + b"]"),
        packed(json.dumps([1, 2]).encode())[:-3], written([1, 2])[2:],
        base64.urlsafe_b64encode(zlib.compress(b"[1,2]") + b"more").decode(),
    ],
)  # fmt: skip
def test_what_nearly_is_a_cursor_is_refused(cursor: object) -> None:
    refused(cursor)


def test_checks_of_what_a_cursor_says() -> None:
    assert [is_whole(value, 1, 3) for value in (1, 3, 0, 4, 1.0, True, "1", None)] == [True, True] + [False] * 6
    assert [is_share(value) for value in (0, 1, 0.5, -0.1, 1.1, float("nan"), True, "0", None)] == [True] * 3 + [
        False
    ] * 6
