"""`make screenshots`: every page of a small bank, light and dark, for the documents."""

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright
from tests.doors.http.conftest import listening
from tests.doors.web.conftest import STEPS, chromium

from pieria.doors.web.pages import PAGES
from pieria.workspace import Workspace

FOLDER = Path(__file__).parents[3] / "docs" / "pages"
SIZE: ViewportSize = {"width": 1040, "height": 680}
ASKED = {"recall": "?q=how+do+our+APIs+check+tokens"}
TOLD = (
    (58, "The build moved to Bazel in March; the old Makefiles stay for the docs.", "note", ["build"], "Ada"),
    (51, "Nobody deploys on a Friday afternoon, as the rollback of 4 May showed.", "note", ["deploy", "rule"], "Ben"),
    (44, "Tokens of the old API never expire: all who find one may use it.", "observation", ["auth"], "agent"),
    (40, "Maya prefers an aisle seat and small hotels near the river.", "note", ["travel"], "Maya"),
    (33, "Kyoto in spring: temples early, markets late, two free days in between.", "diary", ["travel"], "Maya"),
    (26, "We chose JWT for all new APIs, with the keys in the vault.", "note", ["auth", "api"], "Ada"),
    (19, "The gateway checks the bearer token of every request before anything else sees it.", "note", ["auth"], "Ben"),
    (12, "Flaky test in billing: it depends on the order of two events.", "observation", ["billing"], "agent"),
    (5, "A partner asked for tokens that last a year; we offered refresh tokens instead.", "note", ["api"], "Maya"),
    (1, "All of our APIs ask for a token, and all tokens expire.", "summary", ["auth"], "agent"),
)
"""The age in days, the text, and its fields."""


def stage() -> None:
    now = datetime.now(UTC)
    day = [now]
    with Workspace(clock=lambda: day[0]) as workspace, workspace.open("notes") as bank:
        for number, (days, text, kind, tags, author) in enumerate(TOLD):
            day[0] = now - timedelta(days=days, hours=number)
            bank.remember(text, id=f"m{number}", kind=kind, tags=tags, author=author, importance=0.4 + number / 20)
        bank.link("m9", "m5", "provenance")
        bank.link("m9", "m6", "provenance")
        bank.link("m5", "m6", "related")
        bank.facts.declare("lives_in")
        session = bank.session("Mend the build of billing", auto_commit=False)
        for observation, action in STEPS:
            session.append(observation, action)
        session.close_and_wait(60)
        bank.facts.add("Maya", "lives_in", "Berlin", valid_from="2025-04-01", valid_until="2026-02-01")
        bank.facts.add("Maya", "lives_in", "Lisbon", valid_from="2026-02-01")
        bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", memory="m3")
        day[0] = now - timedelta(hours=2)
        text = "We chose JWT for all new APIs, rotated daily, with the keys in the vault."
        bank.update("m5", text=text, reason="audit")
        day[0] = now


def taken(url: str) -> list[Path]:
    FOLDER.mkdir(exist_ok=True)
    paths = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for look in ("light", "dark"):
            context = browser.new_context(color_scheme=look, viewport=SIZE, reduced_motion="reduce", timezone_id="UTC")
            window = context.new_page()
            for page in PAGES:
                window.goto(f"{url}/banks/notes/{page.name}{ASKED.get(page.name, '')}", wait_until="load")
                window.wait_for_timeout(500)
                paths.append(FOLDER / f"{page.name}-{look}.png")
                window.screenshot(path=paths[-1], animations="disabled")
        browser.close()
    return paths


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PIERIA_DATA": folder, "PIERIA_EMBEDDER": "none", "TZ": "UTC"}
        stage()
        with listening() as (_, url):
            for path in taken(url):
                sys.stdout.write(f"{path.relative_to(FOLDER.parents[1])}  {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
