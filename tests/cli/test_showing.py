"""Remembered text is shown and never interpreted; numbers, ages and times are readable."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
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
    ("list",), ("recall", "markup"), ("recall", "markup", "--plan"), ("get", "ID"), ("history", "ID"),
    ("neighbors", "ID"), ("changes",), ("count", "--by", "tags"), ("count", "--by", "place"),
    ("facts", "query"), ("facts", "entities"),
    ("facts", "predicates"), ("scratchpad", "read"), ("stats",), ("pin", "ID"),
    ("forget", "ID", "--reason", "x"),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_that_is_remembered_is_shown_as_a_command(hostile: None, ask: Ask, command: tuple[str, ...]) -> None:
    id = ask("list").json["memories"][0]["id"]
    answer = ask(*(id if word == "ID" else word for word in command), "--no-json")
    assert answer.code == 0
    assert "\x1b" not in answer.out
    assert OBEYED.findall(answer.out.replace("\n", "")) == []


@pytest.mark.parametrize("command", [("list",), ("recall", "markup"), ("list", "-q"), ("get", "nowhere\x1b[31m")])
def test_nothing_that_is_remembered_reaches_the_terminal_as_a_command(
    hostile: None, terminal: Callable[..., Answer], command: tuple[str, ...]
) -> None:
    shown = terminal(*command, env={"NO_COLOR": "1"}, width=200).out
    own = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "evil" in own or "nowhere" in own
    assert "\x1b" not in own
    assert OBEYED.findall(own.replace("\n", "")) == []


def test_markup_and_names_of_emoji_are_shown_as_they_are(hostile: None, ask: Ask) -> None:
    shown = ask("list", "--no-json").out + ask("recall", "markup", "--no-json").out
    assert "[red]markup[/red]" in shown
    assert ":smile:" in shown


def test_json_holds_the_text_itself_in_escapes(hostile: None, ask: Ask) -> None:
    answer = ask("list")
    assert answer.json["memories"][0]["text"] == HOSTILE + "2"
    assert OBEYED.findall(answer.out.replace("\n", "")) == []


def test_errors_are_inert_too(ask: Ask) -> None:
    for arguments in (("get", "\x1b[31mx"), ("\x1b[31m",), ("recall", "--\x1b[31m"), ("import", "\x1b[31m\u202e")):
        refused = ask(*arguments)
        assert refused.code in (1, 2, 3)
        assert "\x1b" not in refused.err
        assert "\u202e" not in refused.err


@given(st.text())
def test_any_text_becomes_one_that_is_only_seen(text: str) -> None:
    assert OBEYED.search(inert(text)) is None
    assert "\x1b" not in inert(text)
    assert "\n" not in inert(text, one_line=True)


@given(st.text(st.characters(codec="utf-8")))
def test_what_people_write_is_left_alone(text: str) -> None:
    if text.isprintable():
        assert inert(text) == text


@pytest.mark.parametrize("text", ["日本語", "naïve café", "👩‍👩‍👧 🏳️‍🌈", "שלום", "مرحبا", "می‌خواهم", "a\tb\nc"])
def test_every_script_is_shown_as_it_is(text: str) -> None:
    assert inert(text) == text


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_made_inert_says_the_same(value: object) -> None:
    for indent in (None, 2):
        for plain in (True, False):
            written = inert_json(json.dumps(value, ensure_ascii=plain, indent=indent))
            assert json.loads(written) == json.loads(json.dumps(value))
            assert OBEYED.search(written) is None


NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (timedelta(), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=45), "1 mo ago"),
        (timedelta(days=800), "2 y ago"),
        (timedelta(days=-3), "in 3 d"),
    ],
)
def test_ages_are_told_in_the_largest_unit(passed: timedelta, said: str) -> None:
    assert age(NOW - passed, NOW) == said


def test_numbers_sizes_and_intervals_read_well() -> None:
    assert [size(count) for count in (0, 999, 131_072, 5_000_000, 3 * 10**12)] == [
        "0 B",
        "999 B",
        "131.1 kB",
        "5.0 MB",
        "3.0 TB",
    ]
    assert (counted(1, "memory", "memories"), counted(2, "fact")) == ("1 memory", "2 facts")
    assert interval(None, None) is None
    assert interval(NOW, None) == "from 2026-03-10 12:00Z"
    assert interval(None, NOW) == "until 2026-03-10 12:00Z"
