"""The page of memories: browsing, opening, correcting, ending, and past states."""

import html
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest
from tests.doors.http.conftest import Served, serving
from tests.doors.web.conftest import fill, form_of, seal_in

import pieria
from pieria.doors.web import diffs
from pieria.doors.web.pages.memories import STEPS, TIED
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


def told_on_the_line(text: str) -> str:
    """Return the text of the line that hides the filters on a phone."""
    [line] = re.findall(r'<span id="set"[^>]*>(.*?)</span>', text, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "", line))


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("memories?order=newest&tags=", ""),
        ("memories?order=changed&kinds=note&kinds=diary", ": order changed; of kind note, diary"),
        ("memories?tags=a,b&author=%3Cb%3E&place=w/r", ": tagged a, b; said by <b>; kept in w/r"),
        ("memories?session=s&include=removed", ": of session s; also removed"),
        ("memories?routing=true", ": with routing nodes"),
        ("recall", ""),
        ("recall?q=jwt&since=2026-01-01&known_at=2026-12-31", ": said from 2026-01-01; as of 2026-12-31"),
    ],
)
def test_filters_that_are_set_are_told_where_they_are_folded(served: Served, path: str, told: str) -> None:
    whole = seen(served, path)
    part = served.client.get(f"{HERE}/{path}", headers={"HX-Request": "true"}).text
    assert told_on_the_line(whole) == told_on_the_line(part) == told
    assert "hx-swap-oob" in part and "hx-swap-oob" not in whole
    assert '<details class="fold">' in whole and '<details class="fold"' not in part


def test_what_only_leads_to_memories_is_shown_where_it_is_asked_for(served: Served) -> None:
    assert "show them" not in seen(served, "memories")
    with pieria.open("notes") as bank:
        bank.remember("toolchains", id="route", kind="tag")
    for path, shows in {
        "recall": False,
        "memories": False,
        "memories?routing=true": True,
        "memories?kinds=tag": True,
    }.items():
        assert ("toolchains" in seen(served, path)) is shows, path
    assert "show them" in seen(served, "memories")


def test_a_procedure_is_shown_with_what_it_is_for(served: Served) -> None:
    with pieria.open("notes") as bank:
        body = {"condition": "The gate is <b>shut</b>"}
        bank.remember("Ring the bell twice.", id="bell", kind="procedural", body=body)
    for path in ("memories", "recall?q=ring+the+bell", "memory?id=bell"):
        assert "The gate is &lt;b&gt;shut&lt;/b&gt; → </span>" in seen(served, path), path


def edit(served: Served, id: str, **changed: Any) -> Any:
    """Fill in and send the form of that memory."""
    fields = form_of(seen(served, f"memory/edit?id={id}"), "memory/edit")
    return served.client.post(f"{HERE}/memory/edit", data={**fields, **changed})


def purge(served: Served, id: str) -> Any:
    fields = form_of(seen(served, f"memory/purge?id={id}"), "memory/purge")
    return served.client.post(f"{HERE}/memory/purge", data=fields)


def test_an_edit_is_a_revision_or_the_next_version(served: Served) -> None:
    moved = edit(served, "jwt", text="Passkeys now.", tags="auth, web", reason="new")
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
    edit(served, "maya", text="Maya likes trains.", how="update", title="")
    with pieria.open("notes") as bank:
        maya = bank.get("maya")
        assert maya is not None and (maya.version, maya.text, maya.title) == (2, "Maya likes trains.", None)


def test_what_a_past_day_answers_is_opened_as_it_was_then(served: Served) -> None:
    with pieria.open("notes") as bank:
        then = iso(bank.history("jwt")[0].known_from)
    answer = seen(served, f"recall?q=jwt&known_at={quote(then)}")
    [there] = re.findall(r'<h3[^>]*><a href="/banks/notes/([^"]*jwt[^"]*)"', answer)
    opened = seen(served, html.unescape(there))
    assert "We chose JWT for all new APIs.<" in opened and "This is the old version 1" in opened


@pytest.mark.parametrize("how", ["revise", "update"])
def test_where_it_belongs_and_when_it_holds_is_edited_too(served: Served, how: str) -> None:
    with pieria.open("notes") as bank:
        bank.update("jwt", files=["old.py"], valid_from="2026-01-01T09:30:00.000001Z", valid_until="2096-03-31")
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    shown = {"files": "old.py", "valid_from": "2026-01-01T09:30:00.000001+00:00", "valid_until": "2096-03-31"}
    assert fields.items() >= shown.items()
    changed = {"place": "apis/doors", "files": "a.py, b.py", "entities": "JWT", "valid_from": "2026-03-01"}
    assert served.client.post(f"{HERE}/memory/edit", data={**fields, **changed, "how": how}).status_code == 303
    with pieria.open("notes") as bank:
        [memory] = bank.list(place="apis/doors")
        told = memory.as_dict()
        assert (told["valid_from"], told["valid_until"]) == ("2026-03-01T00:00:00Z", "2096-04-01T00:00:00Z")
        assert (memory.files, memory.entities, memory.tags) == (("a.py", "b.py"), ("JWT",), ("auth",))
    edit(served, memory.id, valid_until="", files="", how="update")
    with pieria.open("notes") as bank:
        cleared = bank.get(memory.id)
        assert cleared is not None and (cleared.files, cleared.valid_until) == ((), None)
    refused = edit(served, memory.id, place="", valid_until="2020-01-01", how=how)
    assert refused.status_code == 422 and '<details class="unfolds" open>' in refused.text
    assert form_of(refused.text, "memory/edit").items() >= {"place": "", "valid_until": "2020-01-01"}.items()


@pytest.mark.parametrize("how", ["revise", "update"])
def test_what_it_was_said_about_and_values_of_one_s_own_are_edited_too(served: Served, how: str) -> None:
    with pieria.open("notes") as bank:
        bank.update("jwt", context="The\raudit.", meta={"team": "api", "ö": [1, None]})
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    assert fields["context"] == "The\r\naudit." and json.loads(fields["meta"]) == {"team": "api", "ö": [1, None]}
    edit(served, "jwt", meta='{"ticket": {"number": 42.0}, "team": "api"}', tags="edited", how=how)
    with pieria.open("notes") as bank:
        [memory] = bank.list(tags="edited")
        assert (memory.context, memory.meta) == ("The\raudit.", {"team": "api", "ticket": {"number": 42.0}})
        history = seen(served, f"memory/history?id={memory.id}")
    assert "&#34;ticket&#34;: {&#34;number&#34;: 42.0}}</ins>" in history
    edit(served, memory.id, context=" ", meta=" ", how="update")
    with pieria.open("notes") as bank:
        cleared = bank.get(memory.id)
        assert cleared is not None and (cleared.context, cleared.meta) == (None, {})


@pytest.mark.parametrize("how", ["revise", "update"])
def test_what_a_procedure_is_for_is_edited_and_the_rest_of_its_body_stays(served: Served, how: str) -> None:
    with pieria.open("notes") as bank:
        body = {"condition": "The gate is shut.", "return_score": 0.5}
        bank.remember("Ring the bell twice.", id="bell", kind="procedural", body=body)
    assert 'name="condition"' not in seen(served, "memory/edit?id=jwt")
    edit(served, "bell", condition="The gate\r\nis locked.", tags="edited", how=how)
    with pieria.open("notes") as bank:
        [bell] = bank.list(tags="edited")
        assert bell.body == {"condition": "The gate\nis locked.", "return_score": 0.5}
    assert "<del>The gate is shut.</del> <ins>The gate is locked.</ins>" in seen(served, f"memory/history?id={bell.id}")
    edit(served, bell.id, text="Ring thrice.", how="update")
    edit(served, bell.id, condition="", how="update")
    with pieria.open("notes") as bank:
        cleared = bank.get(bell.id)
        assert cleared is not None and (cleared.text, cleared.body) == ("Ring thrice.", {"return_score": 0.5})
    assert " → </span>" not in seen(served, f"memory?id={bell.id}")


def test_values_that_are_spelt_in_another_way_are_the_same(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.update("jwt", meta={"a": 1, "b": [True]})
    assert edit(served, "jwt", meta='{"b":[ true ],"a":1}').status_code == 422
    assert edit(served, "maya", meta=" {} ").status_code == 422
    assert edit(served, "jwt", meta='{"b":[1],"a":1}', how="update").status_code == 303
    with pieria.open("notes") as bank:
        jwt = bank.get("jwt")
        assert jwt is not None and json.dumps(dict(jwt.meta)) == '{"a": 1, "b": [1]}'


@pytest.mark.parametrize(
    "typed", ["ticket 42", "[1]", '"a"', "{'a': 1}", '{"a": NaN}', '{"a": 1e999}', "[" * 300 + "]" * 300]
)
def test_values_that_are_no_json_object_are_refused_in_words(served: Served, typed: str) -> None:
    before = served.head()
    answer = edit(served, "jwt", text="Long to type.", meta=typed)
    assert (answer.status_code, served.head()) == (422, before)
    assert "meta" in answer.text and ("a JSON object" in answer.text or "finite" in answer.text)
    assert form_of(answer.text, "memory/edit").items() >= {"text": "Long to type.", "meta": typed}.items()


def test_what_another_changed_and_nobody_touched_here_is_not_taken_back(served: Served) -> None:
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    with pieria.open("notes") as bank:
        bank.update("jwt", tags=["auth", "keys"], place="apis/doors", context="An audit.", meta={"ticket": 42})
    answer = served.client.post(f"{HERE}/memory/edit", data={**fields, "text": "Mine.", "how": "update"})
    again = form_of(answer.text, "memory/edit")
    assert (again["text"], again["tags"], again["place"]) == ("Mine.", "auth, keys", "apis/doors")
    assert (again["context"], json.loads(again["meta"])) == ("An audit.", {"ticket": 42})
    assert "<ins>An audit.</ins>" in answer.text and "<ins>{&#34;ticket&#34;: 42}</ins>" in answer.text
    assert served.client.post(f"{HERE}/memory/edit", data=again).status_code == 303
    with pieria.open("notes") as bank:
        jwt = bank.get("jwt")
        assert jwt is not None and (jwt.text, jwt.tags, jwt.place) == ("Mine.", ("auth", "keys"), "apis/doors")
        assert (jwt.context, jwt.meta) == ("An audit.", {"ticket": 42})


@pytest.mark.parametrize("how", ["revise", "update"])
def test_of_forms_that_are_sent_at_once_one_is_kept_and_the_others_are_told(served: Served, how: str) -> None:
    sending, id = 4, "jwt"
    for turn in range(3):
        fields = form_of(seen(served, f"memory/edit?id={id}"), "memory/edit")
        together = Barrier(sending)

        def send(number: int, fields: Any = fields, together: Barrier = together, turn: int = turn) -> Any:
            together.wait(60)
            typed = {**fields, "text": f"{turn} {number}", "how": how}
            return served.client.post(f"{HERE}/memory/edit", data=typed)

        with ThreadPoolExecutor(sending) as threads:
            answers = list(threads.map(send, range(sending)))
        [kept] = [answer for answer in answers if answer.status_code == 303]
        for answer in answers:
            assert answer is kept or (answer.status_code, "while you edited it" in answer.text) == (409, True)
        id = html.unescape(kept.headers["location"]).rpartition("id=")[2]


@pytest.mark.parametrize("how", ["revise", "update"])
@pytest.mark.parametrize("other", ["revise", "update", "remove", "rate"])
def test_what_was_changed_meanwhile_is_told_and_what_was_typed_is_kept(served: Served, how: str, other: str) -> None:
    fields = form_of(seen(served, "memory/edit?id=jwt"), "memory/edit")
    with pieria.open("notes") as bank:
        {
            "revise": lambda: bank.revise("jwt", text="We chose passkeys for all new APIs, rotated daily."),
            "update": lambda: bank.update("jwt", text="We chose passkeys for all new APIs, rotated daily."),
            "remove": lambda: bank.remove("jwt"),
            "rate": lambda: bank.update("jwt", importance=0.1),
        }[other]()
    before = served.head()
    mine = {"text": "Mine & <mine>.", "tags": "mine", "reason": "why not", "how": how}
    answer = served.client.post(f"{HERE}/memory/edit", data={**fields, **mine})
    assert answer.status_code == 409 and served.head() == before
    assert "the memory was changed while you edited it" in answer.text and "Changes in the meantime" in answer.text
    again = form_of(answer.text, "memory/edit")
    assert again.items() >= mine.items()
    told = {"remove": "<ins>removed</ins>", "rate": "<ins>0.1</ins>"}.get(other, "<ins>passkeys</ins>")
    assert told in answer.text
    if other != "remove":
        assert served.client.post(f"{HERE}/memory/edit", data=again).status_code == 303
        with pieria.open("notes") as bank:
            assert [memory.text for memory in bank.list(tags="mine")] == ["Mine & <mine>."]


def test_a_form_that_is_refused_comes_back_as_it_was_filled_in(served: Served) -> None:
    wrong = {"text": "Long to type.", "title": "<T>", "tags": "a, b", "importance": "1.5", "place": "no room"}
    answer = do(served, "memories/new", **wrong, kind="diary")
    assert answer.status_code == 422 and "from 0 to 1" in answer.text
    assert form_of(answer.text, "memories/new").items() >= wrong.items()
    assert '<option value="diary" selected>' in answer.text
    answer = edit(served, "jwt", text="Long to type.", importance="much", title="")
    assert answer.status_code == 422
    assert (
        form_of(answer.text, "memory/edit").items()
        >= {"text": "Long to type.", "importance": "much", "title": ""}.items()
    )
    assert do(served, "memory/edit", text="x", seen=1, id="nowhere").status_code == 404


def test_a_form_that_outlived_its_server_comes_back_and_can_be_sent(served: Served) -> None:
    stale = {"seal": "0" * 64, "text": "Long to type."}
    before = served.head()
    answer = served.client.post(f"{HERE}/memories/new", data=stale, headers={"Origin": "http://localhost:7411"})
    assert (answer.status_code, served.head()) == (403, before)
    assert served.client.post(f"{HERE}/memories/new", data=form_of(answer.text, "memories/new")).status_code == 303
    unsaid = served.client.post(f"{HERE}/memories/new", data=stale)
    assert unsaid.status_code == 403 and "Long to type." not in unsaid.text


def test_what_nobody_touched_stays_as_it_is(served: Served) -> None:
    text = "one\r\ntwo\rthree\n\n four "
    with pieria.open("notes") as bank:
        bank.remember(text, id="odd", title="two\nlines", tags=["a, b", '"q"', "c"], importance=0.1)
    answer = edit(served, "odd")
    assert answer.status_code == 422 and "at least one changed field" in answer.text
    edit(served, "odd", tags='"a, b", d', how="update")
    with pieria.open("notes") as bank:
        odd = bank.get("odd")
        assert odd is not None and (odd.text, odd.title, odd.tags) == (text, "two\nlines", ("a, b", "d"))
    page = seen(served, "memory?id=odd")
    tagged = next(part.split('"')[0] for part in page.split('href="') if part.startswith(f"{HERE}/memories?tags="))
    assert "/memory?id=odd" in served.client.get(html.unescape(tagged)).text


def test_a_form_of_what_was_revised_leads_to_the_revision(served: Served) -> None:
    with pieria.open("notes") as bank:
        revised = bank.revise("jwt", text="Passkeys.")
    answer = served.client.get(f"{HERE}/memory/edit?id=jwt")
    assert answer.headers["location"] == f"{HERE}/memory/edit?id={revised.id}"


def test_what_ends_can_be_brought_back(served: Served) -> None:
    do(served, "memory/remove", id="maya", reason="moved away")
    assert "moved away" in seen(served, "memory?id=maya")
    assert "aisle seat" not in seen(served, "memories")
    assert "aisle seat" in seen(served, "memories?include=removed")
    do(served, "memory/restore", id="maya")
    assert "aisle seat" in seen(served, "memories")
    do(served, "memory/invalidate", id="gateway", replacement="jwt", reason="rebuilt")
    text = seen(served, "memory?id=gateway")
    assert "It has not been valid since" in text and "rebuilt" in text and 'href="/banks/notes/memory?id=jwt"' in text
    assert "no longer holds" in seen(served, "memories?include=invalid")
    do(served, "memory/hold", id="gateway")
    assert "It has not been valid since" not in seen(served, "memory?id=gateway")


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
    answer = purge(served, "jwt")
    assert answer.status_code == 200
    for what, count in told.erased.items():
        assert (f"<dt>{what}</dt><dd>{count}</dd>" in answer.text) == (count > 0)
    assert served.client.get(f"{HERE}/memory?id=jwt").status_code == 404


MEANWHILE: dict[str, tuple[Callable[[pieria.Bank], Any], str]] = {
    "it was corrected": (
        lambda bank: bank.update("jwt", text="We chose passkeys for all new APIs, rotated daily."),
        "<del>JWT</del><ins>passkeys</ins>",
    ),
    "more was drawn": (lambda bank: draw(bank, "later"), '<ins>new</ins> <a href="/banks/notes/memory?id=later">'),
    "what was drawn is gone": (lambda bank: bank.purge("drawn"), "<dt>memories</dt><dd>1 <ins>before: 2</ins></dd>"),
    "it was linked": (lambda bank: bank.link("maya", "jwt", "asked"), "<dt>links</dt><dd>3 <ins>before: 2</ins></dd>"),
    "a fact was drawn": (
        lambda bank: bank.facts.add("APIs", "use", "JWT", memory="jwt"),
        "<dt>facts</dt><dd>1 <ins>before: 0</ins></dd>",
    ),
}


def draw(bank: pieria.Bank, id: str) -> None:
    bank.remember("Something worth keeping.", id=id, kind="summary")
    bank.link(id, "jwt", "provenance")


@pytest.mark.parametrize("what", MEANWHILE)
def test_nothing_is_erased_that_was_not_told_and_what_has_changed_is_marked(served: Served, what: str) -> None:
    happens, marked = MEANWHILE[what]
    page = seen(served, "memory/purge?id=jwt")
    assert "<ins>" not in page
    with pieria.open("notes") as bank:
        happens(bank)
    before = served.head()
    answer = served.client.post(f"{HERE}/memory/purge", data=form_of(page, "memory/purge"))
    assert answer.status_code == 409 and "Nothing was erased" in answer.text and served.head() == before
    assert marked in answer.text
    assert served.client.post(f"{HERE}/memory/purge", data=form_of(answer.text, "memory/purge")).status_code == 200


def test_what_came_to_a_purge_stands_first_however_much_goes(served: Served) -> None:
    with pieria.open("notes") as bank:
        for number in range(60):
            draw(bank, f"drawn, {number}")
        fields = form_of(seen(served, "memory/purge?id=jwt"), "memory/purge")
        draw(bank, 'later, or "last"')
        bank.touch("jwt")
    answer = served.client.post(f"{HERE}/memory/purge", data=fields)
    assert answer.status_code == 409 and answer.text.count("<ins>new</ins>") == 1
    listed = answer.text.partition("These memories contain")[2]
    assert listed.index("later%2C+or+%22last%22") < listed.index("drawn")
    fields = form_of(answer.text, "memory/purge")
    with pieria.open("notes") as bank:
        bank.touch("jwt")
    assert served.client.post(f"{HERE}/memory/purge", data=fields).status_code == 200


def test_links_are_shown_from_both_ends(served: Served) -> None:
    text = seen(served, "memory?id=jwt")
    assert "Source of" in text and "All doors ask for a token." in text and "related →" in text
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
    assert "Its facts" in text and "small hotels\n" not in text and "billing" not in text
    assert "Its facts" not in seen(served, "memory?id=jwt")


def test_a_memory_s_own_page_leaves_out_nothing_unsaid(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember("much", id="much", tags=[f"tag{number}" for number in range(20)])
        for number in range(TIED + 1):
            bank.link("much", bank.remember(f"thing {number}").id, "related")
            bank.facts.add("Maya", "knows", f"person {number}", memory="much")
    text = seen(served, "memory?id=much")
    assert ">tag19<" in text and text.count("There are more than these.") == 2
    assert f'href="{HERE}/graph?node=memory%3Amuch"' in text


def test_every_toolset_shows_the_same_memory(served: Served) -> None:
    text = seen(served, "memory/voices?id=jwt")
    for toolset in ("mempalace", "mnemex", "mnemosyne", "open-mem", "sessions"):
        part = text.partition(f"<h2>{toolset} ")[2].partition("</section>")[0]
        assert "rotated daily" in part


def test_whoever_looks_at_pages_uses_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_COUNT_USES", "true")
    fill()
    with serving() as served, pieria.open("notes") as bank:

        def uses() -> int:
            bank.sync()
            return sum(bank.usage(each.id)[each.id].accesses for each in bank.list())

        for path in ("recall?q=JWT", "memories", "memory?id=jwt", "memory/voices?id=jwt", "graph?q=JWT"):
            seen(served, path)
            assert (path, uses()) == (path, 0)
        asked = {"query": "JWT for all new APIs", "top_k": 3}
        assert served.client.post("/v1/banks/notes/tools/mnemosyne_recall", json=asked).status_code == 200
        assert uses() > 0


def test_history_tells_what_changed_and_why(served: Served) -> None:
    do(served, "memory/remove", id="jwt", reason="<b>gone</b>")
    text = seen(served, "memory/history?id=jwt")
    assert "<ins>, rotated daily</ins>" in text and "security review" in text
    assert "&lt;b&gt;gone&lt;/b&gt;" in text and "<del>–</del> <ins>removed</ins>" in text


def test_a_revision_does_not_begin_with_how_the_one_before_ended(served: Served) -> None:
    with pieria.open("notes") as bank:
        heir = bank.revise("jwt", text="We chose PASETO.").id
    text = seen(served, f"memory/history?id={heir}")
    assert "<ins>revised</ins>" in text and "<del>revised</del>" not in text
    assert f"<ins>{heir}</ins>" in text and f"<del>{heir}</del>" not in text


def test_a_past_version_is_shown_as_one(served: Served) -> None:
    text = seen(served, "memory?id=jwt&version=1")
    assert "rotated" not in text.partition("<h2")[0] and "Show the present one" in text
    assert "memory/edit" not in text
    assert "Show the present one" in seen(served, "memory?id=jwt@1")


def test_what_ends_later_today_still_holds(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.update("jwt", valid_until=bank.clock() + timedelta(minutes=1))
    assert "It has not been valid since" not in seen(served, "memory?id=jwt")


def test_a_long_history_is_told_step_by_step(served: Served) -> None:
    with pieria.open("notes") as bank:
        for number in range(STEPS + 1):
            bank.update("jwt", importance=number / 100)
    path, told = "memory/history?id=jwt", 0
    while path:
        text = seen(served, path)
        assert text.count("<li data-item>") <= STEPS
        told += text.count("<li data-item>")
        following = re.search(rf'rel="next" href="{HERE}/([^"]*)"', text)
        path = html.unescape(following.group(1)) if following else ""
    assert told == STEPS + 3 and "We chose JWT for all new APIs.</p>" in text


def test_something_is_remembered_in_a_bank_that_begins_with_it(served: Served) -> None:
    seal = seal_in(served.client.get("/banks/fresh/memories/new"))
    answer = served.client.post(
        "/banks/fresh/memories/new", data={"seal": seal, "text": "First\r\nthing", "tags": "a,b"}
    )
    assert answer.status_code == 303
    with pieria.open("fresh") as bank:
        [memory] = bank.list()
        assert (memory.text, memory.tags) == ("First\nthing", ("a", "b"))


def test_what_is_remembered_has_whatever_its_form_says(served: Served) -> None:
    said = {
        "text": "The pump is serviced each May.",
        "title": "Pump",
        "kind": "observation",
        "tags": "care",
        "importance": "0.7",
        "place": "plant/hall two",
        "entities": 'the pump, "Meyer, Ltd."',
        "files": "manual.pdf",
        "valid_from": "2026-01-01",
        "valid_until": "2026-12-31",
        "zone": "Europe/Berlin",
        "context": "Asked about upkeep.",
        "meta": '{"order": 7}',
    }
    answer = do(served, "memories/new", **said)
    assert answer.status_code == 303
    id = answer.headers["location"].partition("id=")[2]
    with pieria.open("notes") as bank:
        memory = bank.get(id)
        assert memory is not None and memory.valid_from is not None and memory.valid_until is not None
        assert (memory.text, memory.title, memory.kind, memory.tags) == (said["text"], "Pump", "observation", ("care",))
        assert (memory.importance, memory.place) == (0.7, "plant/hall two")
        assert (memory.entities, memory.files) == (("the pump", "Meyer, Ltd."), ("manual.pdf",))
        assert (memory.context, memory.meta) == ("Asked about upkeep.", {"order": 7})
        assert [each.isoformat() for each in (memory.valid_from, memory.valid_until)] == [
            "2025-12-31T23:00:00+00:00",
            "2026-12-31T23:00:00+00:00",
        ]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("meta", "[7]", "a JSON object"), ("valid_until", "soon", "valid_until"), ("place", "no room", "place")],
)
def test_a_field_that_was_folded_is_unfolded_where_it_may_be_wrong(
    served: Served, name: str, value: str, told: str
) -> None:
    assert '<details class="unfolds" >' in seen(served, "memories/new")
    answer = do(served, "memories/new", text="Long to type.", **{name: value})
    assert answer.status_code == 422 and told in answer.text and '<details class="unfolds" open>' in answer.text
    assert form_of(answer.text, "memories/new").items() >= {"text": "Long to type.", name: value}.items()


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" ".join(f"w{n}" for n in range(1_900)), " ".join(f"v{n}" for n in range(1_900))),
        ("a b c d " * 400 + "end", "d c b a " * 400 + "END"),
    ],
    ids=["no word in common", "few words over and over"],
)
def test_what_has_nothing_to_tell_apart_is_told_whole(before: str, after: str) -> None:
    assert list(diffs.parts(before, after)) == [("gone", before), ("came", after)]


def test_very_long_texts_are_compared_by_their_lines() -> None:
    line = "word " * 50 + "\n"
    before, after = line * 200, line * 100 + "new\n" + line * 100
    assert [part for part in diffs.parts(before, after) if part[0] != "kept"] == [("came", "new\n")]
    many = "".join(f"{number}\n" for number in range(5_000))
    assert list(diffs.parts(f"a\n{many}b", f"b\n{many}a")) == [("gone", f"a\n{many}b"), ("came", f"b\n{many}a")]


def test_days_in_forms_are_those_of_the_record(served: Served) -> None:
    do(served, "memory/invalidate", id="maya", at="2026-01-31")
    with pieria.open("notes") as bank:
        maya = bank.get("maya")
        assert maya is not None and maya.valid_until is not None
        assert iso(maya.valid_until).startswith("2026-01-31")


def test_the_page_finds_a_fact_and_lists_it_where_asked_for(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.facts.add("Caroline", "lives_in", "Madrid", valid_from="2024-05-01")
        bank.facts.supersede("Caroline", "lives_in", "Porto", at="2026-02-01")
    found = seen(served, "recall?q=where+does+Caroline+live")
    assert found.index("in Porto.") < found.index("in Madrid (from 2024-05-01 until 2026-01-31).")
    assert "overturned by" in found
    assert "Caroline" not in seen(served, "memories")
    assert "lives in Porto." in seen(served, "memories?kinds=fact")
