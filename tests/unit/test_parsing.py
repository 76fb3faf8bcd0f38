"""Foreign JSON: read as `json` reads it, and refused where it is deep, before anything goes down into it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.json_text import DEEPEST, TooDeepError, parsed

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)
BUSY = [["a", {"b": '"]}\\'}]] * DEEPEST
"""Has brackets enough for its depth to be measured."""


def read_by(read: Callable[[Any], Any], text: str | bytes) -> str:
    try:
        return repr(read(text))
    except ValueError as problem:
        return f"{type(problem).__name__} {problem}"


@given(values, st.booleans(), st.sampled_from([None, "\t"]))
def test_a_text_is_read_as_json_reads_it(value: object, ascii: bool, indent: str | None) -> None:
    text = json.dumps([value, BUSY], ensure_ascii=ascii, indent=indent)
    assert parsed(text) == json.loads(text)


@given(
    st.text('[]{}"\\:,1 e', max_size=400).map("[".__add__)
    | st.binary()
    | st.sampled_from(
        ["NaN", "[-Infinity, 1e999]", "\ufeff1", b"\xef\xbb\xbf1", '"\ud800"', "[1]".encode("utf-16"), "9" * 5_000]
    )
)
def test_any_other_text_fails_or_passes_as_with_json(text: str | bytes) -> None:
    """Of 400 characters at most: too few to take the parser to its limits."""
    found = read_by(parsed, text)
    assert found == read_by(json.loads, text) or found.startswith("TooDeepError")


@pytest.mark.parametrize("text", ["NaN", "[1, -Infinity]", '{"a": Infinity}'])
def test_what_is_no_number_is_refused_where_it_is_strict(text: str) -> None:
    assert "is no number of JSON" in read_by(lambda text: parsed(text, strict=True), text)
    assert parsed("[1e3, null]", strict=True) == [1000, None]


SHALLOW = [
    json.dumps("[" * 1_000_000),
    json.dumps(['"' + "[{" * 1_000, "\\" + "[" * 1_000, '\\"' + "[" * 1_000, "]" * 1_000]),
    json.dumps({'"' * 3 + "{" * 1_000 + "\\" * 3: "[" * 1_000}),
    json.dumps([[], {}] * 10_000),
    "[" * DEEPEST + "]" * DEEPEST,
    '[{"a":' * (DEEPEST // 2) + '"[["' + "}]" * (DEEPEST // 2),
    json.dumps("é\ud800水" + "[" * 1_000),
]


@pytest.mark.parametrize("number", range(len(SHALLOW)))
def test_brackets_in_strings_and_beside_one_another_are_no_depth(number: int) -> None:
    assert parsed(SHALLOW[number]) == json.loads(SHALLOW[number])


DEEP = [
    "[" * 100_000,
    "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
    '{"a":' * 100_000,
    '[{"a":\n' * 50_000 + "1" + "}]" * 50_000,
    '["]",' * 1_000,
    '{"}": "\\"]", "a": ' * 1_000,
    '["\\\\", ' * 1_000,
    json.dumps(BUSY)[:-1] + "," + "[" * 1_000,
]


@pytest.mark.parametrize("deep", [*DEEP, b"\xef\xbb\xbf" + b"[" * 1_000, ("[" * 1_000).encode("utf-32")])
@pytest.mark.parametrize("strict", [False, True])
def test_a_deep_text_is_refused_before_anything_goes_down_into_it(deep: str | bytes, strict: bool) -> None:
    with pytest.raises(TooDeepError, match=f"deeper than {DEEPEST} levels"):
        parsed(deep, strict=strict)
