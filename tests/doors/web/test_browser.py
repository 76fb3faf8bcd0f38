"""The site in headless Chromium: no complaints, no requests to other hosts, no barriers, and no hostile text runs."""

import json
import re
import subprocess
from datetime import UTC, datetime

import pytest
from tests.doors.http.conftest import ENTRY
from tests.doors.web.conftest import (
    APART,
    AXE,
    GIVING_UP,
    HOSTILE,
    OF_A_RECALL,
    OF_A_SESSION,
    Opening,
    Window,
    address,
    left_uncommitted,
    views,
)

import pieria
from pieria.doors.web.pages import PAGES
from pieria.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.timeout(600)]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SETTLED = {"fading": "#due > :not(p:has(.button))", "graph": "#canvas[data-ready]", "health": "#checks .verdict"}
"""The element that shows that a page has loaded its later parts."""
WATCHED = """globalThis.moved = 0;
new PerformanceObserver(list => list.getEntries().forEach(each => { moved += each.value; }))
  .observe({type: "layout-shift", buffered: true});"""
DRAWN = "new Promise(told => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => told(moved)))))"
with_or_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])


def barriers(window: Window) -> list[str]:
    """Return the barriers that axe finds, each with its element."""
    window.page.evaluate(AXE.read_text())
    found = window.page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def too_wide(window: Window) -> int:
    return int(window.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def look_over(window: Window, path: str) -> None:
    """Check a page light and wide, and dark on a phone with everything unfolded."""
    page = window.go(path)
    if not page.locator("html[data-look]").count():
        return  # the response is a fragment for a script and not a page
    assert page.get_by_role("heading", level=1).count() == 1, path
    assert (path, barriers(window)) == (path, [])
    page.evaluate("document.querySelectorAll('details:not(.menu)').forEach(each => { each.open = true; })")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    assert (path, barriers(window)) == (path, [])
    assert too_wide(window) <= 0, path
    last = page.locator(".pages a").last.bounding_box()
    assert last is not None and last["x"] + last["width"] <= 390
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 860})


def test_every_view_is_whole_and_accessible(opened: Opening) -> None:
    window, id = opened(), left_uncommitted()
    question = {"query": "How do APIs authenticate?"}
    for path in ("recall", "tools/sessions_recall"):
        window.served.client.post(f"/v1/banks/notes/{path}", json=question)
    links = window.go("/banks/notes/sessions").locator(f"a[href*='{OF_A_RECALL}']").all()
    traces = [link.get_attribute("href") for link in links]
    assert len(traces) == 2
    seen = [address(view) for view in views() if view.method == "GET" and view.path not in APART]
    wrong = ["/banks/notes/memory?id=nowhere", "/banks/notes/recall?since=soon"]
    for path in (*seen, *(f"/banks/notes/{path}?id={id}" for path in (OF_A_SESSION, GIVING_UP)), *traces, *wrong):
        look_over(window, path)
    page = window.go("/banks/notes/health")
    page.get_by_role("button", name="Make a backup").click()
    page.get_by_role("link", name="Download").wait_for()
    look_over(window, page.url.removeprefix(window.url))
    window.complaints.clear()


def test_steps_and_recalls_appear_on_open_pages(opened: Opening) -> None:
    page = opened().go("/banks/notes/sessions")
    with pieria.open("notes") as bank:
        session = bank.session("Plan a trip", auto_commit=False)
        page.get_by_role("link", name="Plan a trip").wait_for()
        bank.recall("Who goes to Tokyo?")
        page.get_by_role("link", name="recall", exact=True).first.wait_for()
        page.goto(f"{page.url}/one?id={session.id}")
        page.locator("#live").wait_for(state="attached")
        session.append("The user wants to be in Tokyo on March 3.", "Noted Tokyo for March 3.")
        page.locator(".cut").get_by_text("The user wants to be in Tokyo on March 3.").first.wait_for()


def test_every_page_works_without_scripts_and_dark(opened: Opening) -> None:
    window = opened(scripts=False)
    window.go("/banks/notes/recall").get_by_role("button", name="dark").click()
    window.page.wait_for_selector("html[data-look=dark]")
    for page in PAGES:
        window.go(f"/banks/notes/{page.name}")
        assert window.page.get_by_role("navigation", name="Pages").get_by_role("link").count() == len(PAGES)
        assert window.page.get_by_role("heading", level=1).count() == 1
        shade = window.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert max(map(int, re.findall(r"\d+", shade))) < 64, "the system's look is light"


@pytest.mark.parametrize("phone", [False, True], ids=["wide", "phone"])
def test_nothing_jumps_while_a_page_loads(opened: Opening, phone: bool) -> None:
    window = opened(phone=phone)
    window.page.add_init_script(WATCHED)
    for page in PAGES:
        window.go(f"/banks/notes/{page.name}").locator(SETTLED.get(page.name, "main")).first.wait_for()
        assert (page.name, window.page.evaluate(DRAWN)) < (page.name, 0.05)


@with_or_without_scripts
def test_a_memory_is_found_and_edited(opened: Opening, scripts: bool) -> None:
    page = opened(scripts=scripts).go("/banks/notes/recall")
    page.get_by_role("searchbox").fill("jwt rotated")
    page.get_by_role("searchbox").press("Enter")
    page.get_by_role("link", name="We chose JWT").click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("We chose passkeys.")
    page.get_by_label("Reason, shown in the history").fill("a better way")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("We chose passkeys.").first.wait_for()
    page.get_by_role("link", name="History").click()
    page.locator(".steps").get_by_text("a better way").first.wait_for()
    assert page.locator("ins").first.inner_text() == "passkeys"


def test_answers_arrive_while_one_types(opened: Opening) -> None:
    """A change of the bank meanwhile does not take the answer's place."""
    window = opened()
    held = []
    window.page.route(
        lambda url: url.endswith("/recall"),
        lambda route: held.append(route) if "hx-request" in route.request.headers else route.continue_(),
    )
    page = window.go("/banks/notes/recall")
    with page.expect_request(lambda asked: asked.url.endswith("/recall")), pieria.open("notes") as bank:
        bank.remember("Something newer.")
    with page.expect_event("requestfailed"):
        page.get_by_role("searchbox").press_sequentially("jwt rotated")
    page.locator("#answer mark").first.wait_for()
    # The answer arrives while a slow typist is still typing.
    page.wait_for_url(lambda url: "q=jwt+rotated" in url)
    assert page.locator("#answer [data-item]").first.inner_text().startswith("We chose JWT")
    assert held and page.locator("html").get_attribute("data-look") == "auto"
    page.context.set_offline(True)
    page.get_by_role("searchbox").press_sequentially(" daily")
    page.get_by_text("The server does not answer.").wait_for()
    window.complaints.clear()


def test_single_keys_lead_everywhere_until_switched_off(opened: Opening) -> None:
    window = opened()
    page = window.go("/banks/notes/memories")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    for key in ("Escape", "j", "j", "k"):
        page.keyboard.press(key)
    assert page.locator("[data-item]").first.evaluate("item => item.contains(document.activeElement)")
    menu = page.locator("details.banks")
    menu.locator("summary").press("Enter")
    assert menu.get_by_role("link").first.is_visible()
    page.keyboard.press("Escape")
    assert not menu.get_by_role("link").first.is_visible()
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/recall")
    page = window.go("/banks/notes/memories")
    page.keyboard.press("?")
    help = page.get_by_role("dialog")
    assert "Next in the list" in help.inner_text()
    help.get_by_role("button", name="Switch these keys off").click()
    page.wait_for_selector("html[data-keys=off]")
    page.wait_for_load_state()
    before = page.evaluate("document.activeElement.outerHTML")
    for key in ("/", "j", "k", "?", "g", "r"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.outerHTML") == before
    assert page.url.endswith("/memories") and not help.is_visible()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    page.get_by_role("button", name="Keyboard help").click()
    assert "Open it" in help.inner_text() and "Next in the list" not in help.inner_text()
    assert barriers(window) == []
    help.get_by_role("button", name="Switch these keys on").click()
    page.wait_for_selector("html[data-keys=on]")
    page.wait_for_load_state()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


def test_memories_of_other_processes_appear_on_open_pages(opened: Opening) -> None:
    window = opened()
    pages = [opened().go(f"/banks/notes/{path}") for path in ("recall", "memories", "time")]
    for page in pages:
        page.locator("#live").wait_for(state="attached")
    pages[1].keyboard.press("j")
    before = pages[1].evaluate("document.activeElement.href")
    subprocess.run([*ENTRY, "remember", "The kettle whistles in G.", "--bank", "notes", "--quiet"], check=True)
    for page in pages:
        page.get_by_text("The kettle whistles in G.").wait_for()
    assert pages[1].evaluate("document.activeElement.href") == before, "the focus stays"
    # A list that was narrowed stays so while it follows the bank.
    page = window.go("/banks/notes/memories")
    page.get_by_label("Tags, separated by commas").fill("auth")
    page.get_by_text("Maya prefers").wait_for(state="detached")
    with pieria.open("notes") as bank:
        bank.remember("Something else.")
        bank.remember("Something newer.", tags=["auth"])
    page.get_by_text("Something newer.").wait_for()
    assert page.get_by_text("Something else.").count() == 0


@with_or_without_scripts
def test_filters_are_folded_on_a_phone_and_name_those_set(opened: Opening, scripts: bool) -> None:
    window = opened(scripts=scripts, phone=True)
    for path in ("memories", "recall"):
        page = window.go(f"/banks/notes/{path}?author=Maya")
        page.set_viewport_size({"width": 390, "height": 800})
        line, tags = page.locator(".fold > summary"), page.get_by_label("Tags, separated by commas")
        first = page.locator("[data-item]").first.bounding_box()
        assert first is not None and first["y"] < 400 and not tags.is_visible()
        assert line.inner_text().endswith("ilters: said by Maya")
        line.press("Enter")
        page.get_by_label("Said by").fill("")
        tags.fill("auth")
        tags.press("Enter")
        page.get_by_text("ilters: tagged auth").wait_for()
        page.wait_for_load_state()
        assert not tags.is_visible() and too_wide(window) <= 0
        page.set_viewport_size({"width": 1280, "height": 860})
        assert tags.is_visible() and not line.is_visible()


def test_a_form_is_sent_once(opened: Opening) -> None:
    page = opened().go("/banks/notes/memories/new")
    sends = "form => form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }))"
    form = page.locator("main form")
    assert [form.evaluate(sends) for _ in range(2)] == [True, False]


def test_menus_fit_a_phone_and_close_by_keyboard(opened: Opening) -> None:
    pieria.open("b" * 100).close()
    window = opened(phone=True)
    page = window.go("/banks/notes/memory?id=jwt")
    assert page.locator("details.menu").count() == 3
    for menu in page.locator("details.menu").all():
        menu.locator("summary").click()
        box = menu.locator("summary + *").bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
        assert too_wide(window) <= 0 and barriers(window) == []
    page = opened().go("/banks/notes/memory?id=jwt")
    page.get_by_text("Remove", exact=True).first.click()
    page.locator("#reason").press("Escape")
    assert page.locator("details.menu[open]").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "Remove"


def test_a_past_day_is_chosen_with_a_slider(opened: Opening) -> None:
    day = datetime(2026, 1, 5, tzinfo=UTC)
    with Workspace(clock=lambda: day) as workspace, workspace.open("old") as bank:
        bank.remember("The office is in Bonn.", id="office")
    with pieria.open("old") as bank:
        bank.update("office", text="The office is in Berlin.")
    page = opened().go("/banks/old/recall?q=office")
    assert "Berlin" in page.locator("#answer").inner_text()
    page.get_by_role("slider", name="As of a past day").fill("3")
    page.get_by_text("The office is in Bonn.").wait_for()
    assert page.locator("#known_at").input_value() == "2026-01-08"
    assert "known_at=2026-01-08" in page.url
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "2026-01-08"
    page.get_by_role("link", name="The office is in Bonn.").click()
    page.get_by_text("This is the old version").wait_for()
    assert "The office is in Bonn." in page.locator("article").inner_text()


def test_a_sign_in_hides_its_token_and_ends_when_revoked(opened: Opening) -> None:
    window = opened()
    window.served.service.hub.keep_alive = 0.2
    window.served.tokens.create("somebody")
    page = window.go("/")
    assert page.get_by_role("heading", name="Sign in").is_visible() and barriers(window) == []
    page.get_by_role("link", name="Choose another time zone").click()
    page.get_by_role("heading", name="Time zone").wait_for()
    page.wait_for_load_state()
    assert barriers(window) == [] and too_wide(window) <= 0
    token, shown = window.served.tokens.create("laptop", "read", ["notes"])
    page = window.go("/banks/notes/memories")
    page.get_by_label("Token").fill(shown)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/banks/notes/memories")
    assert page.evaluate("document.cookie") == "pieria-browser-zone=UTC"
    assert shown not in json.dumps(page.evaluate("[{...localStorage}, {...sessionStorage}]"))
    window.served.tokens.revoke(token.id)
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Token").wait_for()
    assert "next=%2Fbanks%2Fnotes%2Fmemories" in page.url
    window.complaints.clear()


GRAPHS = ("graph", "graph?node=memory:named&hops=3")
LINE = "x" * 1_000_000
NAME = "<img/src=x onerror=document.title='owned'>\u202e"
"""Short, because names have a length limit."""


def hostile_bank() -> str:
    """Return the id of a session in a bank with hostile names, facts, steps and jobs, and a long line."""
    with pieria.open("notes") as bank:
        bank.remember(HOSTILE, id="named", tags=[NAME], entities=[NAME], author=NAME, source=NAME, session=NAME)
        bank.remember(LINE, id="long", entities=[NAME], place="wing/room")
        bank.facts.add(NAME, "works_on", NAME, source=NAME, memory="named")
        bank.facts.add(NAME, "works_on", "x" * 200)
        bank.jobs.add("grind", {"of": HOSTILE}, due="2999-01-01")
        session = bank.session(HOSTILE, auto_commit=False)
        for observation in (HOSTILE, LINE[:20_000], "It works."):
            session.append(observation, HOSTILE)
        session.close_and_wait(60)
        return str(session.id)


def is_unharmed(window: Window) -> bool:
    page = window.page
    planted = "main img, main b:text-is('bold'), main script, main svg[onload], [onerror], [onload]"
    return bool(page.title() != "owned" and page.locator(planted).count() == 0)


def test_hostile_text_runs_on_no_page(opened: Opening) -> None:
    session = hostile_bank()
    window = opened()
    seen = [address(view) for view in views() if view.method == "GET" and view.path not in APART]
    seen = [path.replace("words", "bold+end").replace("jwt", "named") for path in seen]
    more = [*GRAPHS, f"graph?q={'x' * 300}", "memory?id=long&all=true", "fading?id=named", "fading?id=long"]
    more += [f"sessions/one?id={session}", f"sessions/discard?id={session}", "recall?q=bold+end"]
    for path in (*seen, *(f"/banks/notes/{each}" for each in more)):
        page = window.go(path)
        if path.endswith(GRAPHS):
            page.wait_for_selector("#canvas[data-ready=yes] canvas")
        assert is_unharmed(window) and too_wide(window) <= 0, path
    window.served.client.post("/v1/banks/notes/tools/sessions_recall", json={"query": HOSTILE})
    window.go("/banks/notes/sessions").get_by_role("link", name="recall of knowledge").first.click()
    assert is_unharmed(window)
    page = window.go(f"/banks/notes/sessions/one?id={session}")
    page.get_by_role("button", name="Commit").click()
    page.get_by_text("Committed ").wait_for()
    assert is_unharmed(window) and page.get_by_role("link", name="onerror").count() > 0
    page = window.go("/banks/notes/time/facts")
    page.get_by_role("link", name="onerror").first.click()
    assert is_unharmed(window) and page.get_by_role("row").count() > 1
    page = window.go("/banks/notes/sessions/ask")
    page.get_by_label("Question").fill(HOSTILE.replace("\x1b", ""))
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("How it was found").wait_for()
    assert is_unharmed(window)
