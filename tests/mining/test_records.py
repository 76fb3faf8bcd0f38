"""Records from large, broken or unfinished files."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.mining.conversations import records
from pieria.mining.conversations.records import Record, json_elements, json_lines
from pieria.mining.said import Left, Wrong, excerpt, unheard

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(['"', "\\", "[{", '"]}', "é"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def elements(path: Path, written: bytes) -> list[Any]:
    path.write_bytes(written)
    return [one.value if isinstance(one, Record) else (one.record, one.reason) for one in json_elements(path, unheard)]


@given(values=st.lists(JSON, max_size=8), indent=st.sampled_from([None, 0, 2]), part=st.integers(1, 40))
def test_the_elements_of_any_array_are_read_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], indent: int | None, part: int
) -> None:
    path = tmp_path_factory.mktemp("records") / "x.json"
    path.write_text(json.dumps(values, indent=indent, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "PART", part)
        read = list(json_elements(path, unheard))
    assert read == [Record(number, value) for number, value in enumerate(values, 1)]


BROKEN = "expected JSON (Expecting value: line 1 column 7 (char 6))"
ENDLESS = "expected an element that ends; what follows it cannot be read either"
UNCLOSED = "expected a bracket that closes the array; the file ends before it"


ARRAYS: dict[bytes, list[Any]] = {
    b'[{"a": 1}, {"b": oops}, {"c": 2}]': [{"a": 1}, (2, BROKEN), {"c": 2}],
    b'[{"a": 1}, {"b": "never': [{"a": 1}, (2, ENDLESS)],
    b'[{"a": 1}, {"b": 2}': [{"a": 1}, {"b": 2}, (3, UNCLOSED)],
    b'[{"a": 1}] and more': [{"a": 1}, (2, "expected nothing behind the array")],
    b'[{"a": 1}}, {"b": 2}]': [{"a": 1}, (2, ENDLESS)],
    b'\xef\xbb\xbf[{"a": 1}]\n': [{"a": 1}],
    b'{"a": 1}\n{"b": 2}\n': [{"a": 1}, {"b": 2}],
    b'  {"a": [1, "]"]}  ': [{"a": [1, "]"]}],
    b"": [],
    b" \n": [],
    b"[]": [],
}


def test_broken_element_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    assert {written: elements(tmp_path / "x.json", written) for written in ARRAYS} == ARRAYS
    [(number, reason)] = elements(tmp_path / "x.json", b'[{"a": "\xff"}]')
    assert number == 1
    assert reason.startswith("expected UTF-8")


def test_unfinished_last_line_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n\n{"b": \n[1, 2]\n{"c": "unfin')
    one, broken, two, last = json_lines(path, unheard)
    assert (one, two) == (Record(1, {"a": 1}), Record(4, [1, 2]))
    assert isinstance(broken, Wrong)
    assert (broken.record, broken.excerpt) == (3, '{"b":')
    assert isinstance(last, Left)
    path.write_bytes(b'{"a": 1}')
    assert list(json_lines(path, unheard)) == [Record(1, {"a": 1})]


def test_record_that_is_too_long_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LONGEST", 1 << 20)
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "' + "x" * (3 << 20) + '"}\n{"b": 2}\n')
    long, after = json_lines(path, unheard)
    assert isinstance(long, Wrong)
    assert (long.record, long.reason) == (1, "expected a line of at most 1 MiB")
    assert after == Record(2, {"b": 2})
    path.write_text('[{"a": "' + "x" * (3 << 20) + '"}, {"b": 2}]')
    [wrong] = json_elements(path, unheard)
    assert isinstance(wrong, Wrong)
    assert wrong.reason.startswith("expected an element of at most 1 MiB")


def test_a_large_array_is_never_held_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    element = json.dumps({"text": "heron " * 10_000})
    with path.open("w") as file:
        file.write("[" + ",".join([element] * 200) + "]")
    assert path.stat().st_size > 10 << 20
    tracemalloc.start()
    try:
        assert sum(1 for _ in json_elements(path, unheard)) == 200
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


def test_excerpt_is_one_short_line_without_secrets() -> None:
    shown = excerpt({"text": "a\nb ghp_" + "a1B2" * 9 + " <private>Maya's salary</private> " + "x" * 5_000})
    assert "\n" not in shown
    assert len(shown) < 200
    assert "a1B2a1B2" not in shown
    assert "salary" not in shown
