"""The page of memories: browsing, opening, correcting, ending, and looking back."""

import html
import re
from typing import Any
from urllib.parse import quote

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import seal_in

import pieria
from pieria.doors.web import diffs
from pieria.record.time import iso

HERE = "/banks/notes"


def do(served: Served, path: str, **fields: Any) -> Any:
    seal = seal_in(served.client.get(f"{HERE}/memories"))
    return served.client.post(f"{HERE}/{path}", data={"seal": seal, **fields})


def seen(served: Served, path: str) -> str:
    answer = served.client.get(f"{HERE}/{path}")
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def test_pages_follow_one_another_to_the_end(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember_many([{"text": f"thing number {number}"} for number in range(65)])
        whole = bank.count()
    path, titles = "memories", set[str]()
    while path:
        text = seen(served, path)
        titles |= set(re.findall(r'href="/banks/notes/memory\?id=([^"]*)"', text))
        following = re.search(r'rel="next" href="/banks/notes/([^"]*)"', text)
        path = following.group(1).replace("&amp;", "&") if following else ""
    assert len(titles) == whole


def test_what_only_leads_to_memories_is_shown_where_it_is_asked_for(served: Served) -> None:
    assert "show it, too" not in seen(served, "memories")
    with pieria.open("notes") as bank:
        bank.remember("toolchains", id="route", kind="tag")
    for path, shows in {
        "recall": False,
        "memories": False,
        "memories?routing=true": True,
        "memories?kinds=tag": True,
    }.items():
        assert ("toolchains" in seen(served, path)) is shows, path
    assert "show it, too" in seen(served, "memories")


def test_an_edit_is_a_revision_or_the_next_version(served: Served) -> None:
    moved = do(served, "memory/edit", id="jwt", text="Passkeys now.", seen=2, tags="auth, web", reason="new")
    assert moved.status_code == 303
    with pieria.open("notes") as bank:
        revised = bank.get("jwt")
        assert revised is not None and revised.ended == "revised" and revised.superseded_by
        assert moved.headers["location"].endswith(f"id={revised.superseded_by}")
        newest = bank.get(revised.superseded_by)
        assert newest is not None and (newest.text, newest.tags, newest.reason) == (
            "Passkeys now.",
            ("auth", "web"),
            "new",
        )
    do(served, "memory/edit", id="maya", text="Maya likes trains.", seen=1, how="update", title="")
    with pieria.open("notes") as bank:
        maya = bank.get("maya")
        assert maya is not None and (maya.version, maya.text, maya.title) == (2, "Maya likes trains.", None)


def test_what_a_past_day_answers_is_opened_as_it_was_then(served: Served) -> None:
    with pieria.open("notes") as bank:
        then = iso(bank.history("jwt")[0].known_from)
    answer = seen(served, f"recall?q=jwt&known_at={quote(then)}")
    [there] = re.findall(r'<h3[^>]*><a href="/banks/notes/([^"]*jwt[^"]*)"', answer)
    opened = seen(served, html.unescape(there))
    assert "We chose JWT for all new APIs.<" in opened and "This is version 1" in opened


def test_what_was_changed_meanwhile_is_not_overwritten(served: Served) -> None:
    answer = do(served, "memory/edit", id="jwt", text="Mine.", seen=1)
    assert answer.status_code == 409
    assert "it was changed while you edited it" in answer.text


def test_what_ends_can_be_brought_back(served: Served) -> None:
    do(served, "memory/remove", id="maya", reason="moved away")
    assert "moved away" in seen(served, "memory?id=maya")
    assert "aisle seat" not in seen(served, "memories")
    assert "aisle seat" in seen(served, "memories?include=removed")
    do(served, "memory/restore", id="maya")
    assert "aisle seat" in seen(served, "memories")
    do(served, "memory/invalidate", id="gateway", replacement="jwt", reason="rebuilt")
    text = seen(served, "memory?id=gateway")
    assert "It no longer holds" in text and "rebuilt" in text and 'href="/banks/notes/memory?id=jwt"' in text


def test_pinned_and_let_go(served: Served) -> None:
    do(served, "memory/pin", id="maya", pinned="true")
    assert "Let fade" in seen(served, "memory?id=maya")
    do(served, "memory/pin", id="maya", pinned="false")
    assert "Let fade" not in seen(served, "memory?id=maya")


def test_a_purge_is_told_before_and_after(served: Served) -> None:
    before = seen(served, "memory/purge?id=jwt")
    assert "All doors ask for a token." in before and "versions" in before
    with pieria.open("notes") as bank:
        told = bank.purge("jwt", dry_run=True)
    answer = do(served, "memory/purge", id="jwt")
    assert answer.status_code == 200
    for what, count in told.erased.items():
        assert (f"<dt>{what}</dt><dd>{count}</dd>" in answer.text) == (count > 0)
    assert served.client.get(f"{HERE}/memory?id=jwt").status_code == 404


def test_links_are_shown_from_both_ends(served: Served) -> None:
    text = seen(served, "memory?id=jwt")
    assert "What was drawn from it" in text and "All doors ask for a token." in text and "related →" in text
    text = seen(served, "memory?id=drawn")
    assert "Drawn from" in text and "rotated daily" in text


def test_links_are_tied_and_untied(served: Served) -> None:
    do(served, "memory/link", id="maya", target="gateway", relation="asked about")
    assert "asked about →" in seen(served, "memory?id=maya")
    with pieria.open("notes") as bank:
        [link] = bank.links("maya")
    assert f'value="{link.id}"' in seen(served, "memory?id=gateway")
    do(served, "memory/unlink", id="gateway", link=link.id)
    assert "asked about" not in seen(served, "memory?id=maya")


def test_facts_are_shown_with_the_memory_that_states_them(served: Served) -> None:
    text = seen(served, "memory?id=maya")
    assert "Facts it states" in text and "small hotels\n" not in text and "billing" not in text
    assert "Facts it states" not in seen(served, "memory?id=jwt")


def test_every_toolset_shows_the_same_memory(served: Served) -> None:
    text = seen(served, "memory/voices?id=jwt")
    for toolset in ("mempalace", "mnemex", "mnemosyne", "open-mem", "sessions"):
        part = text.partition(f"<h2>{toolset} ")[2].partition("</section>")[0]
        assert "rotated daily" in part


def test_history_tells_what_changed_and_why(served: Served) -> None:
    do(served, "memory/remove", id="jwt", reason="<b>gone</b>")
    text = seen(served, "memory/history?id=jwt")
    assert "<ins>, rotated daily</ins>" in text and "security review" in text
    assert "&lt;b&gt;gone&lt;/b&gt;" in text and "<del>–</del> <ins>removed</ins>" in text


def test_a_past_version_is_shown_as_one(served: Served) -> None:
    text = seen(served, "memory?id=jwt&version=1")
    assert "rotated" not in text.partition("<h2")[0] and "Show what it says now" in text
    assert "memory/edit" not in text


def test_something_is_remembered_in_a_bank_that_begins_with_it(served: Served) -> None:
    seal = seal_in(served.client.get("/banks/fresh/memories/new"))
    answer = served.client.post(
        "/banks/fresh/memories/new", data={"seal": seal, "text": "First\r\nthing", "tags": "a,b"}
    )
    assert answer.status_code == 303
    with pieria.open("fresh") as bank:
        [memory] = bank.list()
        assert (memory.text, memory.tags) == ("First\nthing", ("a", "b"))


@pytest.mark.parametrize("id", ["a/b", "..", "a b&c=d", "?", "<i>", "ü\u202e"])
def test_any_id_can_be_opened(served: Served, id: str) -> None:
    with pieria.open("notes") as bank:
        bank.remember("under an odd name", id=id)
    text = seen(served, "memories")
    path = next(part.split('"')[0] for part in text.split('href="') if part.startswith("/banks/notes/memory?"))
    assert "under an odd name" in served.client.get(path.replace("&amp;", "&")).text


def test_a_difference_is_of_words() -> None:
    assert list(diffs.parts("one two three", "one 2 three")) == [
        ("kept", "one "),
        ("gone", "two"),
        ("came", "2"),
        ("kept", " three"),
    ]
    far = "x " * 500
    [kept, *_] = diffs.parts(f"{far}end", f"{far}END")
    assert kept == ("kept", " … " + ("x " * 500)[-200:])


def test_very_long_texts_are_compared_by_their_lines() -> None:
    line = "word " * 50 + "\n"
    before, after = line * 200, line * 100 + "new\n" + line * 100
    assert [part for part in diffs.parts(before, after) if part[0] != "kept"] == [("came", "new\n")]
    many = "a\n" * 5_000
    assert list(diffs.parts(many, many + "b")) == [("gone", many), ("came", many + "b")]


def test_days_in_forms_are_those_of_the_record(served: Served) -> None:
    do(served, "memory/invalidate", id="maya", at="2026-01-31")
    with pieria.open("notes") as bank:
        maya = bank.get("maya")
        assert maya is not None and maya.valid_until is not None
        assert iso(maya.valid_until).startswith("2026-01-31")
