"""The site in headless Chromium: nothing is complained of, nobody else is asked, everybody can use it."""

import json
import subprocess

import pytest
from tests.doors.http.conftest import ENTRY
from tests.doors.web.conftest import AXE, HOSTILE, Opening, Window

import pieria
from pieria.doors.web.page import Page
from pieria.doors.web.pages import PAGES

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SERIOUS = ("serious", "critical")


def shown(page: Page) -> str:
    return page.name


def barriers(window: Window) -> list[str]:
    """What keeps somebody out, by axe: each with the element it is about."""
    window.page.evaluate(AXE.read_text())
    found = window.page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("page", PAGES, ids=shown)
@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_every_page_is_whole_and_open_to_everybody(opened: Opening, page: Page, look: str) -> None:
    window = opened(dark=look == "dark", phone=look == "phone")
    window.go(f"/banks/notes/{page.name}")
    assert window.page.get_by_role("main").is_visible()
    assert barriers(window) == []
    width = window.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, f"{width} pixels stand out to the side"


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_page_works_without_scripts(opened: Opening, page: Page) -> None:
    window = opened(scripts=False)
    window.go(f"/banks/notes/{page.name}")
    assert window.page.get_by_role("navigation", name="Pages").get_by_role("link").count() == len(PAGES)
    assert window.page.get_by_role("heading", level=1).count() == 1


def test_the_door_is_open_to_everybody(opened: Opening) -> None:
    window = opened()
    window.served.tokens.create("somebody")
    window.go("/")
    assert window.page.get_by_role("heading", name="Sign in").is_visible()
    assert barriers(window) == []


def test_search_answers_while_one_types(opened: Opening) -> None:
    page = opened().go("/banks/notes/recall")
    page.get_by_role("searchbox").press_sequentially("jwt rotated")
    page.locator("#answer mark").first.wait_for()
    assert page.locator("#answer [data-item]").first.inner_text().startswith("We chose JWT")
    assert "q=jwt+rotated" in page.url
    assert page.locator("html").get_attribute("data-look") == "auto"


def test_the_keyboard_leads_everywhere(opened: Opening) -> None:
    page = opened().go("/banks/notes/memories")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator("[data-item]").first
    assert first.evaluate("item => item.contains(document.activeElement)")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    assert "Next in the list" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/recall")


def test_dark_is_remembered(opened: Opening) -> None:
    page = opened().go("/banks/notes/recall")
    before = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    page.get_by_role("button", name="dark").click()
    page.wait_for_selector("html[data-look=dark]")
    page.reload()
    assert page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor") != before


def test_what_is_remembered_in_a_terminal_appears_on_the_open_page(opened: Opening) -> None:
    page = opened().go("/banks/notes/recall")
    page.locator("#live").wait_for(state="attached")
    subprocess.run([*ENTRY, "remember", "The kettle whistles in G.", "--bank", "notes", "--quiet"], check=True)
    page.get_by_text("The kettle whistles in G.").wait_for()


def test_hostile_text_runs_nowhere(opened: Opening) -> None:
    window = opened()
    for path in ("recall", "recall?q=bold+end", "memories"):
        page = window.go(f"/banks/notes/{path}")
        assert "owned" not in page.title()
        assert page.locator("main img, main b:text('bold'), main script").count() == 0
    assert "onerror" in HOSTILE


def test_a_line_of_a_million_letters_is_shown(opened: Opening) -> None:
    with pieria.open("notes") as bank:
        bank.remember("x" * 1_000_000, id="long")
    page = opened().go("/banks/notes/recall")
    assert page.locator("[data-item]").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_whoever_signs_in_sees_the_bank_and_no_script_sees_the_token(opened: Opening) -> None:
    window = opened()
    _, shown = window.served.tokens.create("laptop", "read", ["notes"])
    page = window.go("/banks/notes/memories")
    page.get_by_label("Token").fill(shown)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/banks/notes/memories")
    assert page.evaluate("document.cookie") == ""
    assert shown not in json.dumps(page.evaluate("[{...localStorage}, {...sessionStorage}]"))
