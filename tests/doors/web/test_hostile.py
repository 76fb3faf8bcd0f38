"""Hostile text in every field that takes text, through every page in headless Chromium: shown, and nothing runs."""

import html

import pytest
from tests.doors.web.conftest import HOSTILE, Opening, Window
from tests.doors.web.test_browser import too_wide

import pieria

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
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
    asked = (
        "recall?q=bold+end", "memories", "memory?id=named", "memory/history?id=named", "memory/voices?id=named",
        "memory/edit?id=named", "memory/purge?id=named", "memory?id=long&all=true",
        "graph", "graph?node=memory:named&hops=3",
        f"graph?q={'x' * 300}", "time", "time/facts", "fading", "fading?id=named", "fading?id=long", "fading/due",
        "sessions", f"sessions/one?id={session}", f"sessions/discard?id={session}",
        "sessions/ask?q=bold+end", "health", "health/checks",
    )  # fmt: skip
    for path in asked:
        page = window.go(f"/banks/notes/{path}")
        if path in ("graph", "graph?node=memory:named&hops=3"):
            page.wait_for_selector("#canvas[data-ready=yes] canvas")
        assert is_unharmed(window), path
        assert too_wide(window) <= 0, path
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
    window.go(f"/banks/notes/time/facts?entity={html.escape('<b>nobody</b>')}")
    assert is_unharmed(window)
