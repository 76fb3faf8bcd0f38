"""`make screenshots`: every page of a small bank, light and dark, as it is shown in docs."""

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright
from tests.doors.http.conftest import listening
from tests.doors.web.conftest import chromium

import pieria
from pieria.doors.web.pages import PAGES

FOLDER = Path(__file__).parents[3] / "docs" / "pages"
SIZE: ViewportSize = {"width": 1200, "height": 800}
ASKED = {"recall": "?q=how+do+our+APIs+authenticate"}
TOLD = (
    ("We chose JWT for all new APIs, rotated daily, with the keys in the vault.", "note", ["auth", "api"], "Ada"),
    ("The API gateway authenticates every request before anything else sees it.", "observation", ["auth"], "agent"),
    ("Maya prefers an aisle seat and small hotels near the river.", "note", ["travel"], "Maya"),
    ("Nobody deploys on a Friday afternoon, as the rollback of 4 May showed.", "note", ["deploy", "rule"], "Ben"),
    ("The build moved to Bazel in March; the old Makefiles stay for the docs.", "note", ["build"], "Ada"),
    ("Flaky test in billing: it depends on the order of two events.", "observation", ["billing"], "agent"),
    ("Kyoto in spring: temples early, markets late, two free days in between.", "diary", ["travel"], "Maya"),
)
TALK = (
    "What did we decide about the keys?",
    "They are in the vault, and rotated daily.",
    "Good, then the gateway is next.",
)
KNOWN = (
    ("Maya", "works_on", "billing", 300),
    ("Maya", "lives_in", "Oslo", 260),
    ("Maya", "lives_in", "Bergen", 90),
    ("Ada", "reports_to", "Ben", 120),
    ("billing", "uses", "Bazel", 200),
)
"""Where somebody lives has one value at a time: two of them are a contradiction."""


def stage() -> None:
    """What is shown. Days are counted from today."""
    now = datetime.now(UTC)
    with pieria.open("notes") as bank:
        for days, (text, kind, tags, author) in enumerate(TOLD):
            importance = 0.9 - days / 10
            at = now - timedelta(days=3 * days, hours=days)
            bank.remember(text, id=f"m{days}", kind=kind, tags=tags, author=author, importance=importance, at=at)
        bank.update("m0", text=TOLD[0][0].replace("daily", "weekly"), reason="the vault was slow")
        bank.update("m0", text=TOLD[0][0], reason="security review")
        bank.link("m0", "m1", "related")
        for days in (6, 4, 1):
            for said in TALK:
                bank.remember(said, kind="turn", session=f"day-{days}", at=now - timedelta(days=days))
        for subject, predicate, object, since in KNOWN:
            bank.facts.add(subject, predicate, object, valid_from=now - timedelta(days=since))
        bank.facts.declare("lives_in")


def taken(url: str) -> list[Path]:
    FOLDER.mkdir(exist_ok=True)
    paths = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for look in ("light", "dark"):
            window = browser.new_context(color_scheme=look, viewport=SIZE).new_page()
            for page in PAGES:
                window.goto(f"{url}/banks/notes/{page.name}{ASKED.get(page.name, '')}", wait_until="load")
                window.wait_for_timeout(500)
                paths.append(FOLDER / f"{page.name}-{look}.png")
                window.screenshot(path=paths[-1], animations="disabled")
        browser.close()
    return paths


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PIERIA_DATA": folder, "PIERIA_EMBEDDER": "none"}
        stage()
        with listening() as (_, url):
            for path in taken(url):
                sys.stdout.write(f"{path.relative_to(FOLDER.parents[1])}  {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
