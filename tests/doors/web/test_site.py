"""The site as a program sees it: access, the properties of every page, and refusals."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Served, later, serving
from tests.doors.web.conftest import asking, seal_in, sign_in, views

from pieria.doors.web import vendor
from pieria.doors.web.assets import STATIC, Assets
from pieria.doors.web.page import View
from pieria.doors.web.pages import PAGES
from pieria.doors.web.pages.recall import REASONS
from pieria.errors import AccessError, StorageError
from pieria.recall.scores import WEIGHTS
from pieria.toolsets import Access

PINS = Path(__file__).parents[3] / "requirements" / "web"

EVERY = views()
STOCK = 20
"""Requests that a stranger may make at once."""
FIRST = [f"/banks/notes/{page.name}" for page in PAGES]


def send(served: Served, view: View, **more: Any) -> Any:
    path = f"/banks/notes/{view.path}"
    if view.method == "GET":
        return served.client.get(path, params=asking(view), **more)
    return served.client.post(path, data={**asking(view), **more})


@pytest.mark.parametrize("first", range(0, len(EVERY), STOCK))
def test_whoever_is_not_signed_in_is_led_to_the_door(served: Served, first: int) -> None:
    served.tokens.create("somebody")
    before = served.head()
    for view in EVERY[first : first + STOCK]:
        answer = send(served, view)
        assert (view.line, answer.status_code) == (view.line, 303)
        assert answer.headers["location"].startswith("/sign-in")
        assert "JWT" not in answer.text
    assert served.head() == before


def test_a_token_that_only_reads_is_shown_no_deeds_and_refused_them(served: Served) -> None:
    seal = sign_in(served, "read")
    before = served.head()
    seen = "".join(send(served, view).text for view in EVERY if view.method == "GET" and view.access is Access.read)
    for view in (view for view in EVERY if view.access > Access.read):
        answer = send(served, view, seal=seal) if view.method == "POST" else send(served, view)
        assert answer.status_code == 403
        assert AccessError.reasons["read_only"] in answer.text
        assert f'action="/banks/notes/{view.path}"' not in seen
    assert served.head() == before


def test_a_token_of_another_bank_opens_nothing(served: Served) -> None:
    _, other = served.tokens.create("other", "admin", ["other"])
    seal = seal_in(served.client.get("/sign-in"))
    served.client.post("/sign-in", data={"seal": seal, "token": other})
    own = seal_in(served.client.get("/banks/other/recall"))
    before = served.head()
    for view in EVERY:
        answer = send(served, view, seal=own) if view.method == "POST" else send(served, view)
        assert (view.line, answer.status_code) == (view.line, 403)
        assert AccessError.reasons["wrong_bank"] in answer.text
    assert served.head() == before


def test_a_form_from_elsewhere_does_nothing(served: Served) -> None:
    before = served.head()
    for view in (view for view in EVERY if view.method == "POST"):
        for seal in ({"other": "words"}, {"seal": "0" * 64}):
            answer = send(served, view, **seal)
            assert answer.status_code == 403
            assert AccessError.reasons["foreign_origin"] in answer.text
    assert served.head() == before


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/preferences"])
def test_the_forms_of_the_shell_are_sealed_too(served: Served, path: str) -> None:
    assert served.client.post(path, data={"token": "x"}).status_code == 403


@pytest.mark.parametrize("path", [*FIRST, "/sign-in", "/banks/notes/nowhere"])
def test_every_page_allows_only_what_is_ours(served: Served, path: str) -> None:
    served.tokens.create("somebody")
    if path != "/sign-in":
        sign_in(served, "read")
    headers = served.client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == policy["img-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", FIRST)
def test_a_page_has_no_script_or_style_within(served: Served, path: str) -> None:
    text = served.client.get(path).text
    assert "<style" not in text and " style=" not in text and " onclick=" not in text
    scripts = re.findall(r"<script ([^>]*)>(.*?)</script>", text)
    assert len(scripts) == text.count("<script") > 0
    assert all('src="/static/' in told and not within for told, within in scripts)


@pytest.mark.parametrize("path", FIRST)
def test_a_page_with_all_that_it_loads_is_small(served: Served, path: str) -> None:
    page = served.client.get(path)
    names = {part.split('"')[0] for part in page.text.replace("href=", "src=").split('src="')[1:]}
    loaded = [served.client.get(name) for name in names if name.startswith("/static/") and "force-graph" not in name]
    assert all(each.status_code == 200 for each in loaded) and loaded
    assert len(page.content) + sum(len(each.content) for each in loaded) < 200_000


@pytest.mark.parametrize("path", FIRST)
def test_a_page_follows_the_bank_from_where_it_shows_it(served: Served, path: str) -> None:
    served.client.get("/banks/notes/recall?q=jwt")
    text = served.client.get(path).text
    assert f'hx-sse:connect="/banks/notes/events?since={served.head()}"' in text


def test_styles_and_scripts_are_kept_for_ever_under_the_name_of_what_they_are(served: Served) -> None:
    text = served.client.get(FIRST[0]).text
    path = next(
        part.split('"')[0] for part in text.split('href="') if part.startswith("/static/") and "app.css" in part
    )
    answer = served.client.get(path)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/css")
    assert served.client.get("/static/0/app.css").headers["cache-control"] == "no-cache"
    assert served.client.get("/static/0/../page.py").status_code == 404
    assert served.client.get("/static/0/%2e%2e/page.py").status_code == 404


def test_text_is_packed_for_whoever_takes_it_so(served: Served) -> None:
    page = f"{FIRST[0]}?q=jwt"
    script = f"/static/{Assets().mark}/js/keys.js"
    for path in (page, script):
        plain = served.client.get(path, headers={"accept-encoding": "identity, gzip;q=0"})
        small = served.client.get(path, headers={"accept-encoding": "br, gzip"})
        assert (plain.headers.get("content-encoding"), small.headers["content-encoding"]) == (None, "gzip")
        assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 2
        assert "Accept-Encoding" in plain.headers["vary"] and "Accept-Encoding" in small.headers["vary"]
    assert small.text == plain.text


def test_the_start_leads_to_the_bank(served: Served) -> None:
    assert served.client.get("/").headers["location"] == "/banks/notes"
    assert served.client.get("/banks/notes").headers["location"] == f"/banks/notes/{PAGES[0].name}"
    assert served.client.get("/", headers={"accept": "*/*"}).text.startswith("Pieria")


def test_a_part_is_the_same_as_on_the_whole_page(served: Served) -> None:
    whole = served.client.get("/banks/notes/recall?q=jwt")
    part = served.client.get("/banks/notes/recall?q=jwt", headers={"HX-Request": "true"})
    assert "<!doctype html>" in whole.text and "<html" not in part.text
    assert "data-item" in part.text
    assert "HX-Request" in whole.headers["vary"]


def test_one_signs_in_once_and_is_out_when_the_token_is_revoked(served: Served) -> None:
    token, shown = served.tokens.create("laptop", "write", ["notes"])
    there = "/banks/notes/memories?order=oldest"
    led = served.client.get(there)
    door = served.client.get(led.headers["location"])
    assert "Sign in" in door.text
    seal = seal_in(door)
    wrong = served.client.post("/sign-in", data={"seal": seal, "token": "pieria_made-up", "next": there})
    assert wrong.status_code == 401 and "the token is unknown" in wrong.text
    right = served.client.post("/sign-in", data={"seal": seal, "token": shown, "next": there})
    assert (right.status_code, right.headers["location"]) == (303, there)
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and shown not in cookie
    assert served.client.get(there).status_code == 200
    served.tokens.revoke(token.id)
    assert served.client.get(there).status_code == 303
    part = served.client.get(there, headers={"HX-Request": "true", "HX-Current-URL": f"http://localhost:7411{there}"})
    assert part.headers["hx-redirect"].startswith("/sign-in?next=%2Fbanks%2Fnotes%2Fmemories")


def test_a_token_that_ends_ends_what_was_begun_with_it(served: Served) -> None:
    _, shown = served.tokens.create("soon over", "read", ["notes"], "2999-01-01")
    seal = seal_in(served.client.get("/sign-in"))
    served.client.post("/sign-in", data={"seal": seal, "token": shown})
    assert served.client.get(FIRST[0]).status_code == 200
    later(served)
    assert served.client.get(FIRST[0]).status_code == 303


def test_whoever_signs_out_is_out(served: Served) -> None:
    seal = sign_in(served)
    kept = dict(served.client.cookies)
    assert served.client.post("/sign-out", data={"seal": seal}).headers["location"] == "/sign-in"
    served.client.cookies.update(kept)
    assert served.client.get(FIRST[0]).status_code == 303


def test_the_cookie_of_a_page_opens_nothing_for_programs(served: Served) -> None:
    sign_in(served)
    assert served.client.get("/v1/banks").status_code == 401


@pytest.mark.parametrize("to", ["//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example", ""])
def test_the_door_leads_nowhere_else(served: Served, to: str) -> None:
    _, shown = served.tokens.create("laptop")
    seal = seal_in(served.client.get("/sign-in"))
    answer = served.client.post("/sign-in", data={"seal": seal, "token": shown, "next": to})
    assert answer.headers["location"] == "/"


def test_whoever_guesses_is_slowed_down(served: Served) -> None:
    served.tokens.create("somebody")
    seal = seal_in(served.client.get("/sign-in"))
    # Enough guesses for a slow machine to exceed the rate limit.
    guesses = (served.client.post("/sign-in", data={"seal": seal, "token": f"x{n}"}).status_code for n in range(500))
    assert next(status for status in guesses if status != 401) == 429


def test_a_page_is_answered_under_our_names_alone(served: Served) -> None:
    assert served.client.get(FIRST[0], headers={"host": "elsewhere.example"}).status_code == 421
    assert served.client.get(FIRST[0], headers={"origin": "http://localhost:3000"}).status_code == 403


def test_the_look_is_remembered_without_a_script(served: Served) -> None:
    seal = seal_in(served.client.get(FIRST[0]))
    answer = served.client.post("/preferences", data={"seal": seal, "look": "dark", "next": FIRST[0]})
    assert answer.headers["location"] == FIRST[0]
    assert '<html lang="en" data-look="dark"' in served.client.get(FIRST[0]).text


def test_single_keys_are_switched_off_for_a_year_and_on_again_without_a_script(served: Served) -> None:
    served.tokens.create("somebody")  # and no visitor is signed in
    page = served.client.get("/sign-in")
    assert 'data-keys="on"' in page.text and page.text.count("Switch these keys off") == 2
    for keys, other in (("off", "on"), ("on", "off")):
        fields = {"seal": seal_in(page), "keys": keys, "next": "/sign-in"}
        answer = served.client.post("/preferences", data=fields)
        [cookie] = answer.headers.get_list("set-cookie")
        assert answer.headers["location"] == "/sign-in" and "Max-Age=31536000" in cookie
        page = served.client.get("/sign-in")
        assert f'data-keys="{keys}"' in page.text and page.text.count(f"Switch these keys {other}") == 2


def test_one_preference_leaves_the_other_and_what_is_none_is_as_nothing_said(served: Served) -> None:
    seal = seal_in(served.client.get(FIRST[0]))
    for fields, told in (
        ({"keys": "off"}, 'data-look="auto" data-keys="off"'),
        ({"look": "dark"}, 'data-look="dark" data-keys="off"'),
        ({"keys": "<b>"}, 'data-look="dark" data-keys="on"'),
        ({"look": ""}, 'data-look="auto" data-keys="on"'),
    ):
        assert served.client.post("/preferences", data={"seal": seal, **fields}).status_code == 303
        assert told in served.client.get(FIRST[0]).text


def test_the_look_is_chosen_after_a_form_as_well(served: Served) -> None:
    page = "/banks/notes/memory/edit?id=jwt"
    sent = {"seal": seal_in(served.client.get(page)), "id": "jwt", "text": "x", "seen": "1"}
    for referer, back in ((f"http://localhost:7411{page}", page), ("http://elsewhere.example/", "/")):
        refused = served.client.post("/banks/notes/memory/edit", data=sent, headers={"referer": referer})
        assert refused.status_code == 409 and f'name="next" value="{back}"' in refused.text


def test_what_is_wrong_is_said_with_what_to_do(served: Served) -> None:
    answer = served.client.get("/banks/notes/recall?q=x&since=soon&order=best")
    assert answer.status_code == 422
    assert "order" in answer.text
    answer = served.client.get("/banks/notes/recall?q=x&since=soon")
    assert answer.status_code == 422
    assert "expected a date or a time" in answer.text and "2026-01-31" in answer.text
    for path in ("recall?cursor=x", "graph?node=memory:jwt&q=jwt"):
        assert "expected no value" in served.client.get(f"/banks/notes/{path}").text
    missing = served.client.get("/banks/ntoes/recall")
    assert missing.status_code == 404 and "notes" in missing.text


def test_where_there_is_no_bank_the_first_page_says_how_to_begin() -> None:
    with serving() as served:
        answer = served.client.get("/", headers={"accept": "text/html"})
        assert answer.status_code == 200
        assert "No memories yet" in answer.text and "pieria remember" in answer.text


def test_every_page_has_a_letter_of_its_own() -> None:
    assert len({page.key for page in PAGES}) == len({page.name for page in PAGES}) == len(PAGES)


def test_without_what_others_wrote_the_page_says_so_and_works(tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))
    assets = Assets(tmp_path / "static")
    assert assets.missing == tuple(file.name for file in vendor.listed())
    assert not any(name.startswith("vendor/") for name in assets.sizes)


def test_what_others_wrote_is_taken_only_if_it_is_what_was_pinned(tmp_path: Path) -> None:
    for file in vendor.listed():
        path = tmp_path / "from" / file.package / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something else")
    with pytest.raises(StorageError, match=r"vendor\.json"):
        vendor.copied(tmp_path / "from", tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_the_pins_of_npm_are_hashed_and_name_no_source() -> None:
    pinned = json.loads((PINS / "package-lock.json").read_text())["packages"]
    declared = json.loads((PINS / "package.json").read_text())
    assert {**declared["dependencies"], **declared["devDependencies"]}.items() <= {
        name.removeprefix("node_modules/"): each.get("version") for name, each in pinned.items()
    }.items()
    assert all(each["integrity"].startswith("sha512-") for name, each in pinned.items() if name)
    assert "://" not in (PINS / "package-lock.json").read_text()


def test_every_feature_of_a_score_is_in_one_part_of_its_bar() -> None:
    assert sorted(feature for group in REASONS.values() for feature in group) == sorted(WEIGHTS)
