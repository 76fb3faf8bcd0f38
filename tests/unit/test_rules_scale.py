"""Readers by rules take time that grows with the length of a text.

A quadratic pattern needs an hour for a quarter of a megabyte: it would outlast the time limit of a test.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from pieria.language.asks import asks
from pieria.language.entities import entities
from pieria.language.grammar.persons import third
from pieria.language.names import Names, named_in
from pieria.language.passages import LIMIT, passages
from pieria.language.sentences import sentences
from pieria.language.standing_rules import standing
from pieria.language.timewords import timewords
from pieria.language.windows import Turn, window
from pieria.models.minds.rules.lasting_facts import spoken

QUARTER = 250_000
"""A quarter of a megabyte, in characters."""
NOW = datetime(2026, 1, 10, tzinfo=UTC)
KNOWN = Names(["a", "a a a a", "Maya Lee", "東京", "A'A", "a.a"] + [f"a {'b ' * length}c" for length in range(14)])

READERS: dict[str, Callable[[str], object]] = {
    "asks": asks,
    "entities": entities,
    "names": KNOWN.found_in,
    "passages": passages,
    "sentences": lambda text: list(sentences(text)),
    "spoken": lambda text: list(spoken(text)),
    "standing": standing,
    "third": lambda text: third(text, "the user"),
    "timewords": lambda text: timewords(text, now=NOW),
    "window": lambda text: window([Turn(text, "Maya"), Turn(text, text), Turn(text)], 1),
}
ENDLESS = [
    "I say: x ",
    "// x\na\na\na\na\na\na\na\na\n",
    "translate this ",
    "'a b' ",
    *("a", "A", "1", "é", "漢", "か", "กิ", "👍", "İ", "\u0301", "\u200d", "\ud800", "\x00", " ", "\n", "\t"),
    *(
        ".",
        "!",
        "…",
        "。",
        ". ",
        ".\n",
        ".)",
        "'",
        '"',
        "“",
        "«",
        "「",
        "『",
        "`",
        "```",
        "~~~\n",
        "```\n",
        ">",
        "-",
        "_",
        "*",
    ),
    *(
        "a ",
        "A ",
        "A.",
        "A. ",
        "The ",
        "Of of ",
        "A of ",
        "a.",
        "a_",
        "a/",
        "/a",
        "a@",
        "@a",
        "#a ",
        "http://",
        "http://a ",
        "aA",
    ),
    *(
        "1 ",
        "1-",
        "1/",
        "2023-",
        "2023-05-07 ",
        "may ",
        "may 7 ",
        "in 2022 and ",
        "last ",
        "the ",
        "before ",
        "two days before ",
    ),
    *(
        "between May and ",
        "early of ",
        "first ",
        "how has ",
        "which ",
        "please ",
        "and, ",
        "always ",
        "don't use ",
        "from now on ",
    ),
    *(
        "when i ask ",
        "never use, ",
        "i prefer ",
        "remember that ",
        "call me ",
        "User: a\n",
        "[a] ",
        "(a",
        "“a",
        '"A',
        '"A" ',
    ),
    *("\n\n", "\n- ", "a\n", "A: b\n", "\r\n", "Dr. ", "i really ", "no a ", "my favorite "),
]
SCRAPS = [scrap for scrap in ENDLESS if len(scrap) < 40]


def repeated(of: str) -> str:
    return of * (QUARTER // len(of.encode(errors="surrogatepass")))


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("reader", READERS)
def test_endless_repetition_is_read(reader: str) -> None:
    for of in ENDLESS:
        READERS[reader](repeated(of))


@pytest.mark.parametrize("reader", READERS)
def test_a_quarter_of_a_megabyte_of_everything_is_read(reader: str) -> None:
    READERS[reader]("".join(random.Random(7).choices(SCRAPS, k=QUARTER // 5)))


@pytest.mark.parametrize("of", ["a", "漢", "a ", "A: b\n", "```\n", ". ", "\u0301", "🇩🇪", "a\u0301"])
def test_a_quarter_of_a_megabyte_falls_into_passages_that_hold_all_of_it(of: str) -> None:
    text = repeated(of)
    found = passages(text)

    assert len(found) >= len(text.rstrip()) / LIMIT
    assert all(0 < end - start <= LIMIT for start, end in found)


def test_thousands_of_names_are_known_at_once() -> None:
    names = [f"Maya {number} Lee" for number in range(5_000)]
    text = " ".join(names).lower()

    assert [found.name for found in named_in(text, names)] == names
