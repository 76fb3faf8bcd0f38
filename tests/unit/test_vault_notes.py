"""Front matter, Markdown, names and links of notes: parsing any text, and writing it back."""

from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.record.memory import Labels, Memory, Origin, Times
from pieria.record.usage import UNUSED
from pieria.vault import front, markdown
from pieria.vault import note_import as taking
from pieria.vault.file_names import free_name, note_name, same_name
from pieria.vault.front import BadFrontError
from pieria.vault.note import Tie, heading, page_of, said_in

SAMPLES = samples("vault_notes")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(str.strip)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200).filter(str.strip)
PIECES = [
    *"abc:-#&*!|>'\"%@`{}[],? \t\n",
    *("---\n", "...\n", "- ", ": ", "<<: ", "!!binary ", "é", "\x85", "a: ", "\ntags: "),
]
LINES = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
"""Texts that look like front matter and mostly are not."""


def memory(text: str, title: str | None = None, context: str | None = None, **labels: Any) -> Memory:
    times, origin = Times(NOW, NOW), Origin(context=context)
    return Memory(1, "m1", 1, "note", title, text, "a/note", "bank", times, labels=Labels(**labels), origin=origin)


def written(held: Memory) -> str:
    return page_of(held, UNUSED, (), bank="b", path="Pieria/x.md", target="obsidian").written(None)


def test_front_matter_is_read_as_it_is_spelt_or_refused() -> None:
    for text, (*matter, body) in SAMPLES["front"].items():
        assert front.split(text) == (*(matter or [None]), body, None), text
    endless = front.split("---\ntitle: x\nand so on\n")
    assert endless.front is None
    assert "does not end" in str(endless.problem)
    found = front.read("date: 2024-01-01\ntags: [no, 2024, 1_000, ~]\non: off\nn: {a: b}\nlist:\n- 0x1F\n- [x]\n")
    assert found == {
        "date": "2024-01-01", "tags": ["no", "2024", "1_000", "~"], "on": "off", "n": None, "list": ["0x1F"],
    }  # fmt: skip
    for bad, reason in {
        **SAMPLES["wrong_front"],
        "a: " + "[" * 20_000: "too deeply",
        "a: " + "{x: " * 10_000: "too deeply",
        "a: &a " + "x" * 50_000 + "\nb: [" + "*a, " * 100 + "]": "unfolds to more",
    }.items():
        with pytest.raises(BadFrontError, match=reason):
            front.read(bad)
    bomb = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert front.read(bomb)["i"] == []
    assert front.read("a: &a [*a, y]") == {"a": ["y"]}


VALUES = st.dictionaries(
    st.sampled_from(["id", "title", "tags", "source"]), st.none() | TEXTS | st.lists(WORDS), max_size=4
)


@given(VALUES, LINES)
def test_setting_values_keeps_all_else_to_the_letter(values: dict[str, Any], before: str) -> None:
    try:
        front.read(front.split(f"---\n{before}\n---\nbody").front or "")
        foreign = front.read(before)
        after = front.written(values, before)
    except BadFrontError:
        return
    found = front.read(after)
    assert {name: found.get(name) for name in values} == values
    kept = foreign.keys() - values.keys()
    assert {name: found[name] for name in found if name not in values} == {name: foreign[name] for name in kept}
    assert front.written(values, after) == after


def test_comments_order_and_quotes_of_others_stay() -> None:
    before = (
        "# mine\naliases: ['a', \"b\"] # two\ntitle: old # was\n\ntags:\n  - x\n  # not y\n  - z\nlast: |\n  a\n  b\n"
    )
    assert front.written({"title": "new: title", "tags": ["t"], "id": "7"}, before) == (
        "# mine\naliases: ['a', \"b\"] # two\ntitle: 'new: title' # was\n\ntags:\n- t\nlast: |\n  a\n  b\nid: '7'\n"
    )
    assert front.written({"title": None, "tags": None}, before).count("\n") == 6


@given(TEXTS, st.none() | WORDS, st.none() | TEXTS, st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_a_note_says_what_its_memory_says(
    text: str, title: str | None, context: str | None, tags: list[str], entities: list[str]
) -> None:
    held = memory(text, title, context, tags=tuple(tags), entities=tuple(entities))
    tie = Tie("related", "Other", "Pieria/Other.md")
    for target in ("obsidian", "markdown"):
        page = page_of(held, UNUSED, [tie], bank="b", path="Pieria/x.md", target=target)
        decoded, problem = taking.decoded(page.written().encode())
        assert decoded is not None
        assert problem is None
        said = said_in(decoded, page.tail)
        plain = "\n".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")).strip("\n").rstrip()
        assert said.text == plain
        assert (said.id, said.bank, said.marked) == ("m1", "b", True)
        assert set(tag.strip().removeprefix("#").strip() for tag in tags) - {""} <= set(said.tags)
        again = page.written(front.split(decoded).front)
        assert said_in(taking.decoded(again.encode())[0] or "", page.tail) == said


def test_text_below_the_mark_and_line_ends_are_read() -> None:
    held = memory("JWT.", tags=("auth",))
    tail = page_of(held, UNUSED, (), bank="b", path="x.md", target="obsidian").tail
    said = said_in(written(held) + "\nRotated daily.\n#new #auth\n", tail)
    assert (said.text, said.tags) == ("JWT.\n\nRotated daily.", ("auth", "new"))
    assert said_in(written(held).replace("<!-- pieria", "<!-- x"), tail).text.startswith("JWT.\n\n<!-- x")
    assert said_in(written(held).partition("<!--")[0] + "#auth", tail).text == "JWT."
    plain = written(memory("One.\nTwo.", "T"))
    for edited in (plain.replace("\n", "\r\n"), plain.replace("One.", "\n\nOne."), plain.rstrip(), "\ufeff" + plain):
        text, _ = taking.decoded(edited.encode())
        assert text is not None
        assert said_in(text).kept() == said_in(plain).kept()


def test_hashtags_and_links_of_a_text_lead_to_notes() -> None:
    assert {text: [*markdown.hashtags(text)] for text in SAMPLES["hashtags"]} == SAMPLES["hashtags"]
    text = "[[A]] ![[B c#H|shown]] [[D^1]] `[[no]]` [x](e%20f.md#g) [y](https://x.eu/z.md) [[ ]] [[A]]"
    assert markdown.links(text) == ("A", "B c", "D", "./e f.md")
    names = markdown.Names(
        {"a/Maya.md": "1", "b/Maya.md": "2", "Rates.md": "3", "b/c/Deep.md": "4", "Caf\u00e9.md": "5"}
    )
    assert [[*asked, names.found(*asked) or ""] for *asked, _ in SAMPLES["found"]] == SAMPLES["found"]


@given(LINES | TEXTS)
def test_any_text_has_tags_and_links_that_can_be_kept(text: str) -> None:
    for tag in markdown.hashtags(text):
        assert tag and tag.split() == [tag]
    markdown.links(text)


def test_a_title_gives_the_name_of_a_file_and_its_heading() -> None:
    assert {title: note_name(title, "m/1") for title in SAMPLES["file_names"]} == SAMPLES["file_names"]
    assert note_name("long " * 40, "m/1") == ("long " * 16).strip()
    assert heading(memory("x", "A title")) == "A title"
    assert heading(memory("\n\n# Head of it\nmore")) == "Head of it"
    assert heading(memory("---")) == "---"
    assert heading(memory("word " * 60)).endswith("word…")


@given(TEXTS, WORDS)
def test_any_title_gives_a_name_that_every_system_takes(title: str, id: str) -> None:
    name = free_name(note_name(title, id), set())
    assert PurePosixPath(name).name == name
    assert not set(name) & set('<>:"/\\|?*\0\n')
    assert 3 < len(name.encode()) <= 190
    assert name[0] not in ". " and name == name.strip()
    assert name.removesuffix(".md") == name.removesuffix(".md").rstrip(" .")
    assert name.partition(".")[0].upper() not in ("CON", "PRN", "AUX", "NUL", "COM1", "LPT9")
    assert free_name(note_name(title, id), {same_name(name)}) == f"{name[:-3]} 2.md"


def test_bytes_are_read_as_text_and_imported_in_parts() -> None:
    for raw, text, reason in (
        ("Grüße".encode("utf-16"), "Grüße", ""),
        (b"\xef\xbb\xbfplain\r\nlines\rend", "plain\nlines\nend", ""),
        ("Grüße".encode("latin-1"), "Grüße", "not UTF-8"),
        (b"\x89PNG\0\0", None, "not text"),
        (bytes(range(1, 256)) * 4, None, "not text"),
        (b"\xff\xfe\x00", None, "not text"),
    ):
        found, problem = taking.decoded(raw)
        assert (found, reason in (problem or "")) == (text, True)
    text = "\n\n".join(f"Paragraph {number} {'é' * 500}" for number in range(5_000))
    long = taking.taken("long.md", text, "d", 0.0, "mined")
    assert len(long.items) > 4
    assert "\n\n".join(item.text for item in long.items) == text
    assert len({item.id for item in long.items}) == len(long.items)
    assert all(len(item.text.encode()) <= 1 << 20 for item in long.items)
    assert str(long.items[1].title) == f"long (2 of {len(long.items)})"
    alone = taking.taken("a.md", "---\nrole: lead\n---\n\n", "d", 0.0, "m")
    assert [item.text for item in alone.items] == ["role: lead"]
    assert taking.taken("a.md", " \n\n", "d", 0.0, "m") == taking.Taken()
