"""Remembered text is shown and never interpreted; numbers, ages and times are readable."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cli.conftest import Answer, Ask

import pieria
from pieria.doors.cli.console import age, counted, inert, inert_json, interval, size

HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil\x07link\x1b]8;;\x07 \x1b[2J \x9b31m \x07 \r over \x08 \x7f "
    "\u202egnp.exe\u202c \u2066iso\u2069 \u200bzero \ufeff \U000e0041 [red]markup[/red] "
    "[link=http://evil]x[/link] :smile:"
)
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)


@pytest.fixture
def hostile() -> None:
    with pieria.open() as bank:
        name = HOSTILE.replace("\n", " ")
        spelt = "".join(c for c in name if c >= " " and c != "\x7f")
        bank.remember(
            HOSTILE, id=f"id {spelt}", title=HOSTILE, tags=[spelt], entities=[spelt], files=[spelt], source=spelt,
            author=spelt, session=spelt, channel=spelt, context=HOSTILE, place=f"{spelt.replace('/', '')}/x",
            meta={HOSTILE: HOSTILE}, body={"a": HOSTILE},
        )  # fmt: skip
        bank.update(f"id {spelt}", text=HOSTILE + "2", reason=HOSTILE)
        bank.link(f"id {spelt}", pieria.Place(f"{spelt.replace('/', '')}/x"), spelt, label=HOSTILE)
        bank.facts.add(spelt, spelt, spelt)
        bank.scratchpad.write(HOSTILE)


COMMANDS = (
    "list", "recall markup", "recall markup --plan", "get ID", "history ID", "neighbors ID", "changes",
    "count --by tags", "count --by place", "facts query", "facts entities", "facts predicates", "scratchpad read",
    "stats", "pin ID", "forget ID --reason x",
)  # fmt: skip


def test_remembered_text_is_never_a_command(hostile: None, ask: Ask, terminal: Callable[..., Answer]) -> None:
    for command in (("list",), ("recall", "markup"), ("list", "-q"), ("get", "nowhere\x1b[31m")):
        own = terminal(*command, env={"NO_COLOR": "1"}, width=200).out
        # Colours are our own.
        own = re.sub(r"\x1b\[[\d;]*m", "", own).replace("\n", "")
        assert "evil" in own or "nowhere" in own
        assert OBEYED.findall(own) == [], command
    id = ask("list").json["memories"][0]["id"]
    for line in COMMANDS:
        answer = ask(*(id if word == "ID" else word for word in line.split()), "--no-json")
        assert answer.code == 0, line
        assert OBEYED.findall(answer.out.replace("\n", "")) == [], line
        if line == "recall markup":
            assert "[red]markup[/red]" in answer.out and ":smile:" in answer.out


def test_json_and_errors_are_inert(hostile: None, ask: Ask) -> None:
    answer = ask("list")
    assert answer.json["memories"][0]["text"] == HOSTILE + "2"
    assert OBEYED.findall(answer.out.replace("\n", "")) == []
    for arguments in (("get", "\x1b[31mx"), ("\x1b[31m",), ("recall", "--\x1b[31m"), ("import", "\x1b[31m\u202e")):
        refused = ask(*arguments)
        assert refused.code in (1, 2, 3)
        assert OBEYED.findall(refused.err.replace("\n", "")) == []


@given(st.text())
@example("日本語 naïve café 👩‍👩‍👧 🏳️‍🌈 שלום مرحبا")
def test_any_text_becomes_inert_and_printable_text_is_left(text: str) -> None:
    assert OBEYED.search(inert(text)) is None
    assert "\n" not in inert(text, one_line=True)
    assert inert(text) == text or not text.isprintable()


def test_joiners_tabs_and_line_ends_are_left_alone() -> None:
    for text in ("👩‍👩‍👧 🏳️‍🌈", "می‌خواهم", "a\tb\nc"):
        assert inert(text) == text


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_inert_json_holds_the_same(value: object) -> None:
    for indent in (None, 2):
        for plain in (True, False):
            written = inert_json(json.dumps(value, ensure_ascii=plain, indent=indent))
            assert json.loads(written) == json.loads(json.dumps(value))
            assert OBEYED.search(written) is None


NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def test_ages_sizes_and_intervals_read_well() -> None:
    ages = {
        timedelta(): "just now", timedelta(seconds=59): "just now", timedelta(minutes=5): "5 min ago",
        timedelta(hours=23, minutes=59): "23 h ago", timedelta(days=1): "1 d ago", timedelta(days=45): "1 mo ago",
        timedelta(days=800): "2 y ago", timedelta(days=-3): "in 3 d",
    }  # fmt: skip
    assert {passed: age(NOW - passed, NOW) for passed in ages} == ages
    sizes = {0: "0 B", 999: "999 B", 131_072: "131.1 kB", 5_000_000: "5.0 MB", 3 * 10**12: "3.0 TB"}
    assert {count: size(count) for count in sizes} == sizes
    assert (counted(1, "memory", "memories"), counted(2, "fact")) == ("1 memory", "2 facts")
    ends = {(None, None): None, (NOW, None): "from 2026-03-10 12:00Z", (None, NOW): "until 2026-03-10 12:00Z"}
    assert {between: interval(*between) for between in ends} == ends
