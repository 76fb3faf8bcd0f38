"""The page of memories: browsing, opening, correcting, ending, and past states."""

import html
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import facing, fill, form_of, seal_in

import pieria
from pieria.doors.web import diffs
from pieria.doors.web.pages.memories import STEPS, TIED
from pieria.record.memory import Memory
from pieria.record.time import iso

HERE = "/banks/notes"
BOTH_WAYS = pytest.mark.parametrize("how", ["revise", "update"])


def do(served: Served, path: str, **fields: Any) -> Any:
    seal = seal_in(served.client.get(f"{HERE}/memories"))
    return served.client.post(f"{HERE}/{path}", data={"seal": seal, **fields})


def seen(served: Served, path: str) -> str:
    return served.page(f"{HERE}/{path}")


def edit(served: Served, id: str, **changed: Any) -> Any:
    fields = form_of(seen(served, f"memory/edit?id={id}"), "memory/edit")
    return served.client.post(f"{HERE}/memory/edit", data={**fields, **changed})


def purge(served: Served, page: str) -> Any:
    return served.client.post(f"{HERE}/memory/purge", data=form_of(page, "memory/purge"))


def stored(id: str) -> Memory:
    with pieria.open("notes") as bank:
        return bank.history(id)[-1]


def pages(served: Served, path: str) -> Iterator[str]:
    while path:
        yield (text := seen(served, path))
        following = re.search(rf'rel="next" href="{HERE}/([^"]*)"', text)
        path = html.unescape(following.group(1)) if following else ""


def test_lists_and_histories_continue_on_further_pages(served: Served) -> None:
    served.bank.remember_many([{"text": f"thing number {number}"} for number in range(65)])
    whole = served.bank.count()
    for number in range(STEPS + 1):
        served.bank.update("jwt", importance=number / 100)
    listed = "".join(pages(served, "memories"))
    assert len(set(re.findall(r'href="/banks/notes/memory\?id=([^"]*)"', listed))) == whole
    steps = list(pages(served, "memory/history?id=jwt"))
    assert max(page.count("<li data-item>") for page in steps) <= STEPS
    assert sum(page.count("<li data-item>") for page in steps) == STEPS + 3
    assert "We chose JWT for all new APIs.</p>" in steps[-1]


def test_active_filters_are_named_where_they_are_folded(served: Served) -> None:
    def line(text: str) -> str:
        """Return the text of the line that hides the filters on a phone."""
        [found] = re.findall(r'<span id="set"[^>]*>(.*?)</span>', text, re.DOTALL)
        return html.unescape(re.sub(r"<[^>]*>", "", found))

    lines = {
        "memories?order=newest&tags=": "", "recall": "", "memories?routing=true": ": with routing nodes",
        "memories?order=changed&kinds=note&kinds=diary": ": order changed; of kind note, diary",
        "memories?tags=a,b&author=%3Cb%3E&place=w/r": ": tagged a, b; said by <b>; kept in w/r",
        "memories?session=s&include=removed": ": of session s; also removed",
        "recall?q=jwt&since=2026-01-01&known_at=2026-12-31": ": said from 2026-01-01; as of 2026-12-31",
    }  # fmt: skip
    assert {path: line(seen(served, path)) for path in lines} == lines
    part = served.page(f"{HERE}/recall", headers={"HX-Request": "true"})
    assert "hx-swap-oob" in part and "hx-swap-oob" not in seen(served, "recall")
    assert '<details class="fold">' in seen(served, "recall") and '<details class="fold"' not in part


def test_routing_nodes_are_shown_on_request(served: Served) -> None:
    assert "show them" not in seen(served, "memories")
    served.bank.remember("toolchains", id="route", kind="tag")
    shown = {"recall": False, "memories": False, "memories?routing=true": True, "memories?kinds=tag": True}
    assert {path: "toolchains" in seen(served, path) for path in shown} == shown
    assert "show them" in seen(served, "memories")


def test_facts_are_found_and_listed_on_request(served: Served) -> None:
    served.bank.facts.add("Caroline", "lives_in", "Madrid", valid_from="2024-05-01")
    served.bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01")
    found = seen(served, "recall?q=where+does+Caroline+live")
    assert found.index("in Porto.") < found.index("in Madrid (from 2024-05-01 until 2026-01-31).")
    assert "overturned by" in found and "Caroline" not in seen(served, "memories")
    assert "lives in Porto." in seen(served, "memories?kinds=fact")


def test_an_edit_is_a_revision_or_the_next_version(served: Served) -> None:
    moved = edit(served, "jwt", text="Passkeys now.", tags="auth, web", reason="new")
    revised = stored("jwt")
    assert revised.ended == "revised" and moved.headers["location"].endswith(f"id={revised.superseded_by}")
    newest = stored(str(revised.superseded_by))
    assert (newest.text, newest.tags, newest.reason) == ("Passkeys now.", ("auth", "web"), "new")
    history = seen(served, f"memory/history?id={newest.id}")
    assert "<ins>revised</ins>" in history and "<del>revised</del>" not in history
    assert f"<ins>{newest.id}</ins>" in history and f"<del>{newest.id}</del>" not in history
    old_form = served.client.get(f"{HERE}/memory/edit?id=jwt")
    assert old_form.headers["location"] == f"{HERE}/memory/edit?id={newest.id}"
    edit(served, "maya", text="Maya likes trains.", how="update", title="")
    maya = stored("maya")
    assert (maya.version, maya.text, maya.title) == (2, "Maya likes trains.", None)


@BOTH_WAYS
def test_every_field_is_edited_and_cleared(served: Served, how: str) -> None:
    since = "2026-01-01T09:30:00.000001Z"
    served.bank.update("jwt", files=["old.py"], valid_from=since, valid_until="2096-03-31")
    served.bank.update("jwt", context="The\raudit.", meta={"team": "api", "ö": [1, None]})
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    days = {"valid_from": since.replace("Z", "+00:00"), "valid_until": "2096-03-31"}
    assert fields.items() >= {"files": "old.py", "context": "The\r\naudit.", **days}.items()
    assert json.loads(fields["meta"]) == {"team": "api", "ö": [1, None]}
    changed = {"place": "apis/doors", "files": "a.py, b.py", "entities": "JWT", "valid_from": "2026-03-01", "how": how}
    changed |= {"tags": "edited", "meta": '{"ticket": {"number": 42.0}, "team": "api"}'}
    assert served.client.post(f"{HERE}/memory/edit", data={**fields, **changed}).status_code == 303
    [memory] = served.bank.list(tags="edited")
    told = memory.as_dict()
    assert (told["valid_from"], told["valid_until"]) == ("2026-03-01T00:00:00Z", "2096-04-01T00:00:00Z")
    assert (memory.place, memory.files, memory.entities) == ("apis/doors", ("a.py", "b.py"), ("JWT",))
    assert (memory.context, memory.meta) == ("The\raudit.", {"team": "api", "ticket": {"number": 42.0}})
    assert "&#34;ticket&#34;: {&#34;number&#34;: 42.0}}</ins>" in seen(served, f"memory/history?id={memory.id}")
    refused = edit(served, memory.id, place="", valid_until="2020-01-01", how=how)
    assert refused.status_code == 422 and '<details class="unfolds" open>' in refused.text
    assert form_of(refused.text, "memory/edit").items() >= {"place": "", "valid_until": "2020-01-01"}.items()
    edit(served, memory.id, valid_until="", files="", context=" ", meta=" ", how="update")
    cleared = stored(memory.id)
    assert (cleared.files, cleared.valid_until, cleared.context, cleared.meta) == ((), None, None, {})


@BOTH_WAYS
def test_an_edit_of_a_procedure_keeps_the_rest_of_its_body(served: Served, how: str) -> None:
    body = {"condition": "The gate is <b>shut</b>", "return_score": 0.5}
    served.bank.remember("Ring the bell twice.", id="bell", kind="procedural", body=body)
    for path in ("memories", "recall?q=ring+the+bell", "memory?id=bell"):
        assert "The gate is &lt;b&gt;shut&lt;/b&gt; → </span>" in seen(served, path), path
    assert 'name="condition"' not in seen(served, "memory/edit?id=jwt")
    edit(served, "bell", condition="The gate\r\nis locked.", tags="edited", how=how)
    [bell] = served.bank.list(tags="edited")
    assert bell.body == {"condition": "The gate\nis locked.", "return_score": 0.5}
    assert "<ins>The gate is locked.</ins>" in seen(served, f"memory/history?id={bell.id}")
    edit(served, bell.id, text="Ring thrice.", how="update")
    edit(served, bell.id, condition="", how="update")
    cleared = stored(bell.id)
    assert (cleared.text, cleared.body) == ("Ring thrice.", {"return_score": 0.5})
    assert " → </span>" not in seen(served, f"memory?id={bell.id}")


def test_untouched_fields_stay_as_they_are(served: Served) -> None:
    text = "one\r\ntwo\rthree\n\n four "
    served.bank.remember(text, id="odd", title="two\nlines", tags=["a, b", '"q"', "c"], importance=0.1)
    served.bank.update("jwt", meta={"a": 1, "b": [True]})
    answer = edit(served, "odd")
    assert answer.status_code == 422 and "at least one changed field" in answer.text
    edit(served, "odd", tags='"a, b", d', how="update")
    odd = stored("odd")
    assert (odd.text, odd.title, odd.tags) == (text, "two\nlines", ("a, b", "d"))
    page = seen(served, "memory?id=odd")
    tagged = next(part.split('"')[0] for part in page.split('href="') if part.startswith(f"{HERE}/memories?tags="))
    assert "/memory?id=odd" in served.page(html.unescape(tagged))
    # Values spelt in another way are the same.
    assert edit(served, "jwt", meta='{"b":[ true ],"a":1}').status_code == 422
    assert edit(served, "maya", meta=" {} ").status_code == 422
    assert edit(served, "jwt", meta='{"b":[1],"a":1}', how="update").status_code == 303
    assert json.dumps(dict(stored("jwt").meta)) == '{"a": 1, "b": [1]}'


def test_refused_forms_come_back_as_they_were_filled_in(served: Served) -> None:
    before = served.head()
    wrong = {"text": "Long to type.", "title": "<T>", "tags": "a, b", "importance": "1.5", "place": "no room"}
    answer = do(served, "memories/new", **wrong, kind="diary")
    assert answer.status_code == 422 and "from 0 to 1" in answer.text
    assert form_of(answer.text, "memories/new").items() >= wrong.items()
    assert '<option value="diary" selected>' in answer.text
    no_objects = ("ticket 42", "[1]", '"a"', "{'a': 1}", '{"a": NaN}', '{"a": 1e999}', "[" * 300 + "]" * 300)
    for name, value in (("importance", "much"), *(("meta", text) for text in no_objects)):
        typed = {"text": "Long to type.", "title": "", name: value}
        answer = edit(served, "jwt", **typed)
        assert answer.status_code == 422 and form_of(answer.text, "memory/edit").items() >= typed.items()
        assert name != "meta" or "a JSON object" in answer.text or "finite" in answer.text
    assert '<details class="unfolds" >' in seen(served, "memories/new")
    folded = {"meta": ("[7]", "a JSON object"), "valid_until": ("soon", "valid_until"), "place": ("no room", "place")}
    for name, (value, told) in folded.items():
        answer = do(served, "memories/new", text="Long to type.", **{name: value})
        assert answer.status_code == 422 and told in answer.text and '<details class="unfolds" open>' in answer.text
        assert form_of(answer.text, "memories/new").items() >= {"text": "Long to type.", name: value}.items()
    assert do(served, "memory/edit", text="x", seen=1, id="nowhere").status_code == 404
    assert served.head() == before


def test_a_form_that_outlived_its_server_can_be_sent_again(served: Served) -> None:
    stale = {"seal": "0" * 64, "text": "Long to type."}
    before = served.head()
    answer = served.client.post(f"{HERE}/memories/new", data=stale, headers={"Origin": "http://localhost:7411"})
    assert (answer.status_code, served.head()) == (403, before)
    assert served.client.post(f"{HERE}/memories/new", data=form_of(answer.text, "memories/new")).status_code == 303
    unsaid = served.client.post(f"{HERE}/memories/new", data=stale)
    assert unsaid.status_code == 403 and "Long to type." not in unsaid.text


def test_an_edit_does_not_take_back_other_changes(served: Served) -> None:
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    served.bank.update("jwt", tags=["auth", "keys"], place="apis/doors", context="An audit.", meta={"ticket": 42})
    answer = served.client.post(f"{HERE}/memory/edit", data={**fields, "text": "Mine.", "how": "update"})
    again = form_of(answer.text, "memory/edit")
    assert (again["text"], again["tags"], again["place"]) == ("Mine.", "auth, keys", "apis/doors")
    assert (again["context"], json.loads(again["meta"])) == ("An audit.", {"ticket": 42})
    assert "<ins>An audit.</ins>" in answer.text and "<ins>{&#34;ticket&#34;: 42}</ins>" in answer.text
    assert served.client.post(f"{HERE}/memory/edit", data=again).status_code == 303
    jwt = stored("jwt")
    kept = ("Mine.", ("auth", "keys"), "apis/doors", "An audit.", {"ticket": 42})
    assert (jwt.text, jwt.tags, jwt.place, jwt.context, jwt.meta) == kept


PASSKEYS = "We chose passkeys for all new APIs, rotated daily."
CHANGES: dict[str, tuple[Callable[[pieria.Bank], Any], str]] = {
    "revise": (lambda bank: bank.revise("jwt", text=PASSKEYS), "<ins>passkeys</ins>"),
    "update": (lambda bank: bank.update("jwt", text=PASSKEYS), "<ins>passkeys</ins>"),
    "remove": (lambda bank: bank.remove("jwt"), "<ins>removed</ins>"),
    "rate": (lambda bank: bank.update("jwt", importance=0.1), "<ins>0.1</ins>"),
}


@pytest.mark.parametrize("other", CHANGES)
def test_an_edit_shows_what_others_changed_meanwhile(served: Served, other: str) -> None:
    change, told = CHANGES[other]
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    change(served.bank)
    before = served.head()
    for how in ("update", "revise"):
        mine = {"text": "Mine & <mine>.", "tags": "mine", "reason": "why not", "how": how}
        answer = served.client.post(f"{HERE}/memory/edit", data={**fields, **mine})
        assert answer.status_code == 409 and served.head() == before
        assert "the memory was changed while you edited it" in answer.text and "Changes in the meantime" in answer.text
        again = form_of(answer.text, "memory/edit")
        assert again.items() >= mine.items() and told in answer.text
    if other != "remove":
        assert served.client.post(f"{HERE}/memory/edit", data=again).status_code == 303
        assert [memory.text for memory in served.bank.list(tags="mine")] == ["Mine & <mine>."]


def test_a_memory_is_pinned_ended_and_brought_back(served: Served) -> None:
    for pinned in ("true", "false"):
        do(served, "memory/pin", id="maya", pinned=pinned)
        assert ("Let fade" in seen(served, "memory?id=maya")) is (pinned == "true")
    do(served, "memory/remove", id="maya", reason="moved away")
    assert "moved away" in seen(served, "memory?id=maya") and "aisle seat" not in seen(served, "memories")
    assert "aisle seat" in seen(served, "memories?include=removed")
    do(served, "memory/restore", id="maya")
    assert "aisle seat" in seen(served, "memories")
    do(served, "memory/invalidate", id="gateway", replacement="jwt", reason="rebuilt")
    text = seen(served, "memory?id=gateway")
    assert "It has not been valid since" in text and "rebuilt" in text and 'href="/banks/notes/memory?id=jwt"' in text
    assert "no longer holds" in seen(served, "memories?include=invalid")
    do(served, "memory/hold", id="gateway")
    assert "It has not been valid since" not in seen(served, "memory?id=gateway")
    served.bank.update("gateway", valid_until=served.bank.clock() + timedelta(minutes=1))
    assert "It has not been valid since" not in seen(served, "memory?id=gateway"), "it ends later today"
    do(served, "memory/invalidate", id="maya", at="2026-01-31")
    assert stored("maya").as_dict()["valid_until"].startswith("2026-01-31")


def draw(bank: pieria.Bank, id: str) -> None:
    bank.remember("Something worth keeping.", id=id, kind="summary")
    bank.link(id, "jwt", "provenance")


MEANWHILE: dict[str, tuple[Callable[[pieria.Bank], Any], str]] = {
    "corrected": (lambda bank: bank.update("jwt", text=PASSKEYS), "<del>JWT</del><ins>passkeys</ins>"),
    "more drawn": (lambda bank: draw(bank, "later"), '<ins>new</ins> <a href="/banks/notes/memory?id=later">'),
    "drawn is gone": (lambda bank: bank.purge("drawn"), "<dt>memories</dt><dd>1 <ins>before: 2</ins></dd>"),
    "linked": (lambda bank: bank.link("maya", "jwt", "asked"), "<dt>links</dt><dd>3 <ins>before: 2</ins></dd>"),
    "fact drawn": (
        lambda bank: bank.facts.add("APIs", "use", "JWT", memory="jwt"),
        "<dt>facts</dt><dd>1 <ins>before: 0</ins></dd>",
    ),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_a_purge_erases_only_what_was_shown_before(served: Served, what: str) -> None:
    happens, marked = MEANWHILE[what]
    page = seen(served, "memory/purge?id=jwt")
    assert "All doors ask for a token." in page and "versions" in page and "<ins>" not in page
    happens(served.bank)
    told = served.bank.purge("jwt", dry_run=True)
    before = served.head()
    refused = purge(served, page)
    assert refused.status_code == 409 and "Nothing was erased" in refused.text and served.head() == before
    assert marked in refused.text
    answer = purge(served, refused.text)
    assert answer.status_code == 200
    for kind, count in told.erased.items():
        assert (f"<dt>{kind}</dt><dd>{count}</dd>" in answer.text) == (count > 0)
    assert served.client.get(f"{HERE}/memory?id=jwt").status_code == 404


def test_what_a_purge_would_newly_erase_stands_first(served: Served) -> None:
    for number in range(60):
        draw(served.bank, f"drawn, {number}")
    page = seen(served, "memory/purge?id=jwt")
    draw(served.bank, 'later, or "last"')
    served.bank.touch("jwt")
    answer = purge(served, page)
    assert answer.status_code == 409 and answer.text.count("<ins>new</ins>") == 1
    listed = answer.text.partition("These memories contain")[2]
    assert listed.index("later%2C+or+%22last%22") < listed.index("drawn")
    served.bank.touch("jwt")
    assert purge(served, answer.text).status_code == 200


def test_links_are_shown_from_both_ends_tied_and_untied(served: Served) -> None:
    text = seen(served, "memory?id=jwt")
    assert "Source of" in text and "All doors ask for a token." in text and "related →" in text
    text = seen(served, "memory?id=drawn")
    assert "Drawn from" in text and "rotated daily" in text
    do(served, "memory/link", id="maya", target="gateway", relation="asked about")
    assert "asked about →" in seen(served, "memory?id=maya")
    [link] = served.bank.links("maya")
    assert f'value="{link.id}"' in seen(served, "memory?id=gateway")
    do(served, "memory/unlink", id="gateway", link=link.id)
    assert "asked about" not in seen(served, "memory?id=maya")


def test_a_memory_is_shown_with_its_facts_and_all_toolsets(served: Served) -> None:
    text = seen(served, "memory?id=maya")
    assert "Its facts" in text and "small hotels\n" not in text and "billing" not in text
    assert "Its facts" not in seen(served, "memory?id=jwt")
    voices = seen(served, "memory/voices?id=jwt")
    for toolset in ("mempalace", "mnemex", "mnemosyne", "open-mem", "sessions"):
        assert "rotated daily" in voices.partition(f"<h2>{toolset} ")[2].partition("</section>")[0]
    served.bank.remember("much", id="much", tags=[f"tag{number}" for number in range(20)])
    for number in range(TIED + 1):
        served.bank.link("much", served.bank.remember(f"thing {number}").id, "related")
        served.bank.facts.add("Maya", "knows", f"person {number}", memory="much")
    text = seen(served, "memory?id=much")
    assert ">tag19<" in text and text.count("There are more than these.") == 2
    assert f'href="{HERE}/graph?node=memory%3Amuch"' in text


def test_id_of_a_drawn_fact_opens_its_memory(served: Served) -> None:
    fact = served.bank.facts.add("Maya", "uses", "JWT", memory="jwt")
    moved = served.client.get(f"{HERE}/memory?id={fact.id}", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (303, f"{HERE}/memory?id=jwt")


def test_looking_at_pages_counts_as_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_COUNT_USES", "true")
    fill()
    with facing() as served, pieria.open("notes") as bank:

        def uses() -> int:
            bank.sync()
            return sum(bank.usage(each.id)[each.id].accesses for each in bank.list())

        for path in ("recall?q=JWT", "memories", "memory?id=jwt", "memory/voices?id=jwt", "graph?q=JWT"):
            seen(served, path)
            assert (path, uses()) == (path, 0)
        asked = {"query": "JWT for all new APIs", "top_k": 3}
        assert served.client.post("/v1/banks/notes/tools/mnemosyne_recall", json=asked).status_code == 200
        assert uses() > 0


def test_past_versions_and_the_history_are_shown(served: Served) -> None:
    text = seen(served, "memory?id=jwt&version=1")
    assert "rotated" not in text.partition("<h2")[0] and "memory/edit" not in text
    for path in ("memory?id=jwt&version=1", "memory?id=jwt@1"):
        assert "Show the present one" in seen(served, path)
    then = iso(served.bank.history("jwt")[0].known_from)
    found = seen(served, f"recall?q=jwt&known_at={quote(then)}")
    [there] = re.findall(r'<h3[^>]*><a href="/banks/notes/([^"]*jwt[^"]*)"', found)
    opened = seen(served, html.unescape(there))
    assert "We chose JWT for all new APIs.<" in opened and "This is the old version 1" in opened
    do(served, "memory/remove", id="jwt", reason="<b>gone</b>")
    text = seen(served, "memory/history?id=jwt")
    assert "<ins>, rotated daily</ins>" in text and "security review" in text
    assert "&lt;b&gt;gone&lt;/b&gt;" in text and "<del>–</del> <ins>removed</ins>" in text


def test_a_new_memory_has_the_values_of_its_form(served: Served) -> None:
    seal = seal_in(served.client.get("/banks/fresh/memories/new"))
    first = {"seal": seal, "text": "First\r\nthing", "tags": "a,b"}
    assert served.client.post("/banks/fresh/memories/new", data=first).status_code == 303
    with pieria.open("fresh") as bank:
        [memory] = bank.list()
    assert (memory.text, memory.tags) == ("First\nthing", ("a", "b"))
    same = {"text": "The pump is serviced each May.", "title": "Pump", "kind": "observation", "place": "plant/hall two"}
    same["context"] = "Asked about upkeep."
    said = {
        "tags": "care", "importance": "0.7", "entities": 'the pump, "Meyer, Ltd."', "files": "manual.pdf",
        "valid_from": "2026-01-01", "valid_until": "2026-12-31", "zone": "Europe/Berlin", "meta": '{"order": 7}',
    }  # fmt: skip
    answer = do(served, "memories/new", **same, **said)
    told = stored(answer.headers["location"].partition("id=")[2]).as_dict()
    expected = {
        "tags": ["care"], "importance": 0.7, "entities": ["the pump", "Meyer, Ltd."], "files": ["manual.pdf"],
        "valid_from": "2025-12-31T23:00:00Z", "valid_until": "2026-12-31T23:00:00Z", "meta": {"order": 7}, **same,
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected


def test_differences_are_of_words_or_lines() -> None:
    parts = [("kept", "one "), ("gone", "two"), ("came", "2"), ("kept", " three")]
    assert list(diffs.parts("one two three", "one 2 three")) == parts
    far = "x " * 500
    assert next(iter(diffs.parts(f"{far}end", f"{far}END"))) == ("kept", " … " + far[-200:])
    many = "".join(f"{number}\n" for number in range(5_000))
    other, turned = " ".join(f"w{n}" for n in range(1_900)), ("a b c d " * 400 + "end", "d c b a " * 400 + "END")
    for before, after in ((other, other.replace("w", "v")), turned, (f"a\n{many}b", f"b\n{many}a")):
        assert list(diffs.parts(before, after)) == [("gone", before), ("came", after)]
    line = "word " * 50 + "\n"
    found = diffs.parts(line * 200, line * 100 + "new\n" + line * 100)
    assert [part for part in found if part[0] != "kept"] == [("came", "new\n")]
