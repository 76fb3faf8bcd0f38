"""The site as a program sees it: access, the properties of every page, and refusals."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Served, later
from tests.doors.web.conftest import SEAL, asking, facing, seal_in, sign_in, views

from pieria.doors.http.callers import Door
from pieria.doors.http.tokens import Tokens
from pieria.doors.web import vendor
from pieria.doors.web.assets import STATIC, Assets
from pieria.doors.web.entries import KEPT, LASTS, Entries, cookie_name
from pieria.doors.web.page import View
from pieria.doors.web.pages import PAGES
from pieria.doors.web.pages.recall import REASONS
from pieria.errors import AccessError, StorageError
from pieria.recall.scores import WEIGHTS
from pieria.toolsets import Access

PINS = Path(__file__).parents[3] / "requirements" / "web"
EVERY = views()
FIRST = [f"/banks/notes/{page.name}" for page in PAGES]
HERE = FIRST[0]
LOCAL = "http://localhost:7411"


def send(served: Served, view: View, **more: Any) -> Any:
    path = f"/banks/notes/{view.path}"
    if view.method == "GET":
        return served.client.get(path, params=asking(view))
    return served.client.post(path, data={**asking(view), **more})


def enter(served: Served, token: str, to: str = "/") -> Any:
    seal = seal_in(served.client.get("/sign-in"))
    return served.client.post("/sign-in", data={"seal": seal, "token": token, "next": to})


def test_views_are_refused_without_a_token_with_the_right(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.doors.app.GUESSES_A_SECOND", 1e6)
    before = served.head()
    with facing() as unhurried:
        unhurried.tokens.create("somebody")
        for view in EVERY:
            answer = send(unhurried, view)
            assert answer.headers["location"].startswith("/sign-in") and "JWT" not in answer.text, view.line
    seal = sign_in(served, "read")
    seen = "".join(send(served, view).text for view in EVERY if view.method == "GET" and view.access is Access.read)
    for view in (view for view in EVERY if view.access > Access.read):
        answer = send(served, view, seal=seal)
        assert (answer.status_code, AccessError.reasons["read_only"] in answer.text) == (403, True), view.line
        assert f'action="/banks/notes/{view.path}"' not in seen
    seal = sign_in(served, "admin", "other")
    for view in EVERY:
        answer = send(served, view, seal=seal)
        assert (answer.status_code, AccessError.reasons["wrong_bank"] in answer.text) == (403, True), view.line
    assert served.head() == before


def test_forms_without_their_seal_do_nothing(served: Served) -> None:
    before = served.head()
    for view in (view for view in EVERY if view.method == "POST"):
        for seal in ({"other": "words"}, {"seal": "0" * 64}):
            answer = send(served, view, **seal)
            assert (answer.status_code, AccessError.reasons["foreign_origin"] in answer.text) == (403, True), view.line
    for path in ("/sign-in", "/sign-out", "/preferences"):
        assert served.client.post(path, data={"token": "x"}).status_code == 403
    assert served.head() == before
    served.tokens.create("somebody")
    of_a_stranger = seal_in(served.client.get("/sign-in"))
    sign_in(served)
    for path in ("/banks/notes/memories/new", "/sign-out"):
        assert served.client.post(path, data={"seal": of_a_stranger, "text": "x"}).status_code == 403
    assert served.client.get(HERE).status_code == 200


def test_a_sign_in_lasts_until_its_token_is_revoked(served: Served) -> None:
    token, shown = served.tokens.create("laptop", "write", ["notes"])
    there = "/banks/notes/memories?order=oldest"
    assert "Sign in" in served.page(served.client.get(there).headers["location"])
    wrong = enter(served, "pieria_made-up", there)
    assert wrong.status_code == 401 and "the token is unknown" in wrong.text
    right = enter(served, shown, there)
    assert right.headers["location"] == there
    cookie = right.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", f"Max-Age={int(LASTS)}"} <= {*cookie.split("; ")} and shown not in cookie
    assert served.client.get(there).status_code == 200
    assert served.client.get("/v1/banks").status_code == 401, "the cookie opens nothing for programs"
    served.tokens.revoke(token.id)
    assert served.client.get(there).status_code == 303
    elsewhere = dict.fromkeys(("http://[", f"{LOCAL}//elsewhere.example/", "javascript:alert(1)"), "/sign-in?next=%2F")
    for url, led in {f"{LOCAL}{there}": "/sign-in?next=%2Fbanks%2Fnotes%2Fmemories", **elsewhere}.items():
        part = served.client.get(there, headers={"HX-Request": "true", "HX-Current-URL": url})
        assert part.status_code == 401 and part.headers["hx-redirect"].startswith(led), url


def test_sign_ins_end_when_replaced_expired_or_signed_out(served: Served) -> None:
    _, shown = served.tokens.create("soon over", "read", ["notes"], "2999-01-01")
    enter(served, shown)
    kept = [dict(served.client.cookies)]
    served.client.post("/sign-in", data={"seal": seal_in(served.client.get(HERE)), "token": shown})
    kept.append(dict(served.client.cookies))
    assert served.client.get(HERE).status_code == 200
    later(served)
    assert served.client.get(HERE).status_code == 303
    seal = sign_in(served)
    kept.append(dict(served.client.cookies))
    assert served.client.post("/sign-out", data={"seal": seal}).headers["location"] == "/sign-in"
    for cookies in kept:
        served.client.cookies.clear()
        served.client.cookies.update(cookies)
        assert served.client.get(HERE).status_code == 303


def test_the_door_leads_nowhere_else(served: Served) -> None:
    _, shown = served.tokens.create("laptop")
    for to in ("//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example", ""):
        served.client.cookies.clear()
        assert enter(served, shown, to).headers["location"] == "/"


def test_a_link_from_elsewhere_leads_to_a_door_that_opens(served: Served) -> None:
    sign_in(served)
    kept = {each.name: str(each.value) for each in served.client.cookies.jar}
    served.client.cookies.clear()
    led = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    door = served.client.get(f"/sign-in?next={HERE}", headers=led)
    assert f'<a href="{HERE}">continue</a>' in door.text
    served.client.cookies.update(kept)
    _, token = served.tokens.create("another")
    answer = served.client.post("/sign-in", data={"seal": seal_in(door), "token": token, "next": HERE})
    assert (answer.status_code, answer.headers["location"]) == (303, HERE)
    assert served.client.get(f"/sign-in?next={HERE}").headers["location"] == HERE


def test_guessing_is_slowed_down(served: Served) -> None:
    served.tokens.create("somebody")
    seal = seal_in(served.client.get("/sign-in"))
    # Enough guesses for a slow machine to exceed the rate limit.
    guesses = (served.client.post("/sign-in", data={"seal": seal, "token": f"x{n}"}).status_code for n in range(500))
    assert next(status for status in guesses if status != 401) == 429


def test_requests_of_other_sites_are_refused(served: Served) -> None:
    foreign = served.client.get(HERE, headers={"host": "elsewhere.example:7411"})
    assert foreign.status_code == 421 and SEAL not in foreign.text and SEAL in served.page(HERE)
    assert served.client.get(HERE, headers={"origin": "http://localhost:3000"}).status_code == 403
    for path in (HERE, "/banks/notes/memory/voices?id=jwt", "/v1/banks"):
        for site in ("cross-site", "same-site"):
            for destination in ("image", "iframe", "empty", "script"):
                answer = served.client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": destination})
                assert (answer.status_code, AccessError.reasons["foreign_origin"] in answer.text) == (403, True)
            led = served.client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "document"})
            assert led.status_code == 200
        own = served.client.get(path, headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"})
        assert own.status_code == 200
        assert {own.headers[f"cross-origin-{what}-policy"] for what in ("opener", "resource")} == {"same-origin"}


def test_every_page_is_closed_small_and_follows_its_bank(served: Served) -> None:
    served.client.get("/banks/notes/recall?q=jwt")
    for path in FIRST:
        page = served.client.get(path)
        check_policy(page.headers)
        text = page.text
        assert "<style" not in text and " style=" not in text and " onclick=" not in text
        scripts = re.findall(r"<script ([^>]*)>(.*?)</script>", text)
        assert len(scripts) == text.count("<script") > 0
        assert all('src="/static/' in told and not within for told, within in scripts)
        names = {*re.findall(r'(?:src|href)="(/static/[^"]*)"', text)}
        loaded = [served.client.get(each) for each in names if "force-graph" not in each]
        assert all(each.status_code == 200 for each in loaded) and loaded
        assert len(page.content) + sum(len(each.content) for each in loaded) < 200_000
        assert f'hx-sse:connect="/banks/notes/events?since={served.head()}"' in text
    check_policy(served.client.get("/banks/notes/nowhere").headers)
    served.tokens.create("somebody")
    check_policy(served.client.get("/sign-in").headers)
    assert len({page.key for page in PAGES}) == len({page.name for page in PAGES}) == len(PAGES)


def check_policy(headers: Any) -> None:
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == policy["img-src"] == "'self'"
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    others = {"x-content-type-options": "nosniff", "referrer-policy": "same-origin", "cache-control": "no-store"}
    assert {name: headers[name] for name in others} == others


def test_static_files_are_kept_for_ever_under_their_digest(served: Served) -> None:
    [path] = re.findall(r'href="(/static/[^"]*app\.css)"', served.page(HERE))
    headers = served.client.get(path).headers
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["content-type"].startswith("text/css")
    assert served.client.get("/static/0/app.css").headers["cache-control"] == "no-cache"
    for outside in ("/static/0/../page.py", "/static/0/%2e%2e/page.py"):
        assert served.client.get(outside).status_code == 404


def test_text_is_compressed_for_clients_that_accept_it(served: Served) -> None:
    for path in (f"{HERE}?q=jwt", f"/static/{Assets().mark}/js/keys.js"):
        plain = served.client.get(path, headers={"accept-encoding": "identity, gzip;q=0"})
        small = served.client.get(path, headers={"accept-encoding": "br, gzip"})
        assert (plain.headers.get("content-encoding"), small.headers["content-encoding"]) == (None, "gzip")
        assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 2
        assert "Accept-Encoding" in plain.headers["vary"] and "Accept-Encoding" in small.headers["vary"]
    assert small.text == plain.text


def test_a_part_is_the_same_as_on_the_whole_page(served: Served) -> None:
    assert served.client.get("/").headers["location"] == "/banks/notes"
    assert served.client.get("/banks/notes").headers["location"] == HERE
    assert served.page("/", headers={"accept": "*/*"}).startswith("Pieria")
    whole = served.client.get("/banks/notes/recall?q=jwt")
    part = served.client.get("/banks/notes/recall?q=jwt", headers={"HX-Request": "true"})
    assert "<!doctype html>" in whole.text and "<html" not in part.text and "data-item" in part.text
    assert "HX-Request" in whole.headers["vary"]


def test_preferences_are_kept_for_a_year_without_scripts(served: Served) -> None:
    served.tokens.create("somebody")  # and no visitor is signed in
    page = served.client.get("/sign-in")
    assert 'data-keys="on"' in page.text and page.text.count("Switch these keys off") == 2
    for name, value, look, keys in (
        ("keys", "off", "auto", "off"),
        ("look", "dark", "dark", "off"),
        ("keys", "<b>", "dark", "on"),
        ("look", "", "auto", "on"),
    ):
        answer = served.client.post("/preferences", data={"seal": seal_in(page), name: value, "next": "/sign-in"})
        [cookie] = answer.headers.get_list("set-cookie")
        assert answer.headers["location"] == "/sign-in" and (value != "off" or "Max-Age=31536000" in cookie)
        page = served.client.get("/sign-in")
        assert f'data-look="{look}" data-keys="{keys}"' in page.text
        assert page.text.count("Switch these keys " + {"off": "on", "on": "off"}[keys]) == 2


def test_the_look_is_chosen_after_a_form_as_well(served: Served) -> None:
    page = "/banks/notes/memory/edit?id=jwt"
    sent = {"seal": seal_in(served.client.get(page)), "id": "jwt", "text": "x", "seen": "1"}
    for referer, back in ((f"{LOCAL}{page}", page), ("http://elsewhere.example/", "/")):
        refused = served.client.post("/banks/notes/memory/edit", data=sent, headers={"referer": referer})
        assert refused.status_code == 409 and f'name="next" value="{back}"' in refused.text


def test_wrong_addresses_are_refused_with_what_to_do(served: Served) -> None:
    wrong = {"recall?q=x&since=soon&order=best": "order", "recall?q=x&since=soon": "a time in ISO-8601 form"}
    wrong |= dict.fromkeys(("recall?cursor=x", "graph?node=memory:jwt&q=jwt"), "expected no value")
    for path, said in wrong.items():
        answer = served.client.get(f"/banks/notes/{path}")
        assert (answer.status_code, said in answer.text) == (422, True), path
    missing = served.client.get("/banks/ntoes/recall")
    assert missing.status_code == 404 and "notes" in missing.text
    seal = seal_in(served.client.get(HERE))
    for path in ("recall", "memories/new", "events", "nowhere"):
        for method in ("GET", "POST", "PUT"):
            form = {"seal": seal, "text": "x"} if method == "POST" else None
            answer = served.client.request(method, f"/banks/%ff/{path}", data=form)
            assert 400 <= answer.status_code < 500 and "<h1>" in answer.text


def test_without_a_bank_the_first_page_says_how_to_begin() -> None:
    with facing() as served:
        page = served.page("/")
        assert "No memories yet" in page and "pieria remember" in page
        for access, begins in (("read", False), ("write", True)):
            _, token = served.tokens.create(access, access, ["other"])
            served.client.cookies.clear()
            enter(served, token)
            for path in ("/", "/banks/other/recall"):
                assert ('href="/banks/other/memories/new"' in served.client.get(path).text) is begins


def test_scripts_of_others_are_optional_and_pinned(tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))
    assets = Assets(tmp_path / "static")
    assert assets.missing == tuple(file.name for file in vendor.listed())
    assert not any(name.startswith("vendor/") for name in assets.sizes)
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
    versions = {name.removeprefix("node_modules/"): each.get("version") for name, each in pinned.items()}
    assert {**declared["dependencies"], **declared["devDependencies"]}.items() <= versions.items()
    assert all(each["integrity"].startswith("sha512-") for name, each in pinned.items() if name)
    assert "://" not in (PINS / "package-lock.json").read_text()


def test_every_feature_of_a_score_is_in_one_part_of_its_bar() -> None:
    assert sorted(feature for group in REASONS.values() for feature in group) == sorted(WEIGHTS)


SETTING = "by chance, and long enough"


def entries(tokens: Tokens, now: Callable[[], float] = lambda: 0.0) -> Entries:
    return Entries(Door(tokens, SETTING, always=False), now)


def test_a_sign_in_lasts_a_month(tmp_path: Path) -> None:
    tokens, now = Tokens(tmp_path), [0.0]
    _, shown = tokens.create("laptop", "read", ["notes"])
    held = entries(tokens, lambda: now[0])
    secret, caller = held.enter(f" {shown}\n")
    assert (caller.access.name, caller.opened) == ("read", ("notes",))
    now[0] = LASTS - 1
    assert held.admit(secret) == caller
    for at in (LASTS + 1, 0.0):
        now[0] = at
        with pytest.raises(AccessError):
            held.admit(secret)
    for token in ("", "pieria_made-up", shown[:-1]):
        with pytest.raises(AccessError):
            held.enter(token)
    for wrong in (None, "", shown, "0" * 43):
        with pytest.raises(AccessError):
            held.admit(wrong)


def test_the_longest_unused_sign_in_ends_first(tmp_path: Path) -> None:
    held = entries(Tokens(tmp_path))
    first, second = held.enter(SETTING)[0], held.enter(SETTING)[0]
    held.admit(first)
    for _ in range(KEPT - 1):
        held.enter(SETTING)
    assert held.admit(first)
    with pytest.raises(AccessError):
        held.admit(second)


def test_a_seal_is_of_one_sign_in_and_server(tmp_path: Path) -> None:
    held, other = entries(Tokens(tmp_path)), entries(Tokens(tmp_path))
    one, two = held.enter(SETTING)[0], held.enter(SETTING)[0]
    seal = held.seal(one)
    assert held.is_sealed(one, seal) and not other.is_sealed(one, seal)
    assert not any((held.is_sealed(two, seal), held.is_sealed(None, seal), held.is_sealed(one, "ü")))
    assert cookie_name(7411) != cookie_name(7412)
