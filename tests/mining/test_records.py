"""Records from large, broken or unfinished files."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mining import written
from tests.mining.conftest import talk

from pieria import Bank
from pieria.mining import miner
from pieria.mining.conversations import records
from pieria.mining.conversations.records import Record, json_elements, json_lines
from pieria.mining.said import Left, Wrong, excerpt, unheard

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(['"', "\\", "[{", '"]}', "é"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def elements(path: Path, content: bytes) -> list[Any]:
    path.write_bytes(content)
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
    assert {array: elements(tmp_path / "x.json", array) for array in ARRAYS} == ARRAYS
    [(number, reason)] = elements(tmp_path / "x.json", b'[{"a": "\xff"}]')
    assert number == 1
    assert reason.startswith("expected UTF-8")


def test_unfinished_last_line_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n\n{"b": \n[1, 2]\n{"c": "unfin')
    one, broken, two, last = json_lines(path, unheard)
    assert (one, two) == (Record(1, {"a": 1}), Record(4, [1, 2]))
    assert isinstance(broken, Wrong) and isinstance(last, Left)
    assert (broken.record, broken.excerpt) == (3, '{"b":')
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
    assert len(shown) < 200
    assert [part for part in ("\n", "a1B2a1B2", "salary") if part in shown] == []


def many_turns(path: Path, sessions: int, turns: int, words: int = 8) -> Path:
    for session in range(sessions):
        about = {"sessionId": f"s{session}", "cwd": f"/home/maya/p{session % 3}"}
        lines = []
        for number in range(1, turns + 1):
            said = f"Turn {number} of {session}: " + "the heron waits in the reeds " * (words // 6 + 1)
            kind, content = ("user", said) if number % 2 else ("assistant", [{"type": "text", "text": said}])
            lines.append(written.claude_code_line(1, kind, content, uuid=f"{session}-{number}", **about))
        written.lines(path / f"s{session}.jsonl", lines)
    return path


@pytest.mark.slow
def test_no_wing_is_hidden_above_ten_thousand_turns(bank: Bank, tmp_path: Path) -> None:
    assert talk(bank, many_turns(tmp_path / "logs", 12, 850)).memories == {"new": 10_200}
    assert bank.places.counts() == {f"p{number}/claude-code": 3_400 for number in range(3)}


@pytest.mark.slow
def test_long_mine_takes_no_more_memory(bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(miner, "BATCH", 25)

    def peak(folder: Path) -> int:
        tracemalloc.start()
        try:
            talk(bank, folder)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    short = peak(many_turns(tmp_path / "short", 1, 40, 150))
    long = peak(many_turns(tmp_path / "long", 1, 350, 150))
    # The second file is nine times as long.
    assert long < 2 * short
