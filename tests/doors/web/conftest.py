"""The site in this process, and in headless Chromium for tests of the browser's behaviour."""

import html
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from tests.doors.http.conftest import Served, listening, serving

import pieria
from pieria.doors.web import vendor
from pieria.doors.web.page import View
from pieria.doors.web.pages import PAGES

AXE = Path(sys.prefix) / "share/pieria/web/node_modules/axe-core/axe.min.js"
SEAL = 'name="seal" value="'
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<svg onload=\"document.title='owned'\"><b>bold</b> \u202etxet desrever\u202c \x1b[31mred 😀 &amp; end"
)


STEPS = (
    ("The build fails: Bazel cannot find the toolchain.", "Looked into the workspace file."),
    ("The toolchain is registered twice.", "Removed the second registration."),
    ("The build passes.", "Told Ada that the toolchain must be registered once."),
)


def left_uncommitted(*steps: tuple[str, str]) -> str:
    """Return the id of a session whose process left after drawing knowledge, without a commit."""
    with pieria.open("notes") as bank:
        session = bank.session("Mend the build", auto_commit=False)
        for step in steps or STEPS:
            session.append(*step)
        session.close_and_wait(60)
        return str(session.id)


def fill() -> None:
    with pieria.open("notes") as bank:
        bank.remember("We chose JWT for all new APIs.", id="jwt", tags=["auth"], author="Ada", importance=0.8)
        bank.update("jwt", text="We chose JWT for all new APIs, rotated daily.", reason="security review")
        text = "The API gateway checks every bearer token first."
        bank.remember(text, id="gateway", kind="observation", tags=["auth"])
        bank.remember("Maya prefers an aisle seat and small hotels.", id="maya", author="Maya", place="travel/habits")
        bank.remember(HOSTILE, id="hostile", title="<i>not</i> a title", tags=["<b>tag</b>"])
        bank.link("jwt", "gateway", "related")
        bank.remember("All doors ask for a token.", id="drawn", kind="summary")
        bank.link("drawn", "jwt", "provenance")
        bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
        bank.facts.add("Maya", "prefers", "small hotels", memory="maya")


@contextmanager
def facing(**more: Any) -> Iterator[Served]:
    with serving(**more) as found:
        found.client.headers["accept"] = "text/html"
        found.client.follow_redirects = False
        yield found


@pytest.fixture
def served() -> Iterator[Served]:
    fill()
    with facing() as found:
        yield found


def seal_in(answer: httpx2.Response) -> str:
    """Return the seal that the forms of a page carry."""
    return answer.text.partition(SEAL)[2].partition('"')[0]


def form_of(text: str, action: str) -> dict[str, str]:
    """Return the fields of an untouched form as a browser sends them."""
    [form] = re.findall(rf'<form [^>]*action="/banks/notes/{re.escape(action)}".*?</form>', text, re.DOTALL)
    fields = {}
    for tag in re.findall(r"<input[^>]*>", form):
        told = dict(re.findall(r'([a-z]+)="([^"]*)"', tag))
        if told.get("type") != "radio" or "checked" in tag:
            fields[told["name"]] = html.unescape(told.get("value", ""))
    for name, value in re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL):
        fields[name] = re.sub(r"\r\n|\r|\n", "\r\n", html.unescape(value))
    return fields


def sign_in(served: Served, access: str = "write", *banks: str, person: bool = False) -> str:
    _, shown = served.tokens.create(f"test {len(served.tokens.all())}", access, banks or ("*",), person=person)
    served.client.cookies.clear()
    seal = seal_in(served.client.get("/sign-in"))
    answer = served.client.post("/sign-in", data={"seal": seal, "token": shown, "next": "/"})
    assert answer.status_code == 303, answer.text
    return seal_in(served.client.get(f"/banks/{banks[0] if banks else 'notes'}/recall"))


def over(served: Served, begun: httpx2.Response) -> str:
    """Return the page of a task started by a form, once the task is over."""
    return over_at(served.client, begun)


def over_at(client: httpx2.Client, begun: httpx2.Response) -> str:
    assert begun.status_code == 303, begun.text
    task = begun.headers["location"]
    with client.stream("GET", task.replace("/task?", "/task/events?")) as events:
        assert "event: over" in events.read().decode()
    return str(client.get(task).text)


OF_A_SESSION, GIVING_UP, OF_A_RECALL = "sessions/one", "sessions/discard", "sessions/trace"
OF_A_LINEAGE = "quarantine/trace"
APART = (OF_A_SESSION, GIVING_UP, OF_A_RECALL, OF_A_LINEAGE)
"""Views that need more parameters than a memory."""


def views() -> list[View]:
    return [view for page in PAGES for view in page.views]


def address(view: View) -> str:
    return f"/banks/notes/{view.path}?{urlencode(asking(view))}"


def asking(view: View) -> dict[str, Any]:
    """Return the parameters of a view for the memory `jwt`."""
    return {name: "jwt" if name == "id" else "words" for name in view.needs}


def chromium() -> str:
    """Return the path of Chromium; fail if there is none, since browser tests cannot run without one."""
    named = os.environ.get("CHROMIUM", "chromium")
    found = shutil.which(named)
    assert found, f"{named} was not found: install Chromium, or name it in CHROMIUM"
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a browser for one module: while it is open, an event loop runs in this thread."""
    from playwright.sync_api import sync_playwright

    home = tmp_path_factory.mktemp("browser")
    environment: Any = os.environ | dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(home))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"], env=environment)
        yield opened
        opened.close()


@dataclass
class Window:
    """A page in the browser. It records complaints and requests to other hosts, and reports them at the end."""

    page: Any
    served: Served
    url: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Any:
        self.page.goto(self.url + path)
        return self.page

    def watch(self) -> None:
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.page.on("request", self._asked)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((f"{self.url}/", "data:")):
            self.complaints.append(f"asked {request.url}")


Opening = Callable[..., Window]


@pytest.fixture
def opened(browser: Any) -> Iterator[Opening]:
    """Yield a function that opens a window on a served bank: `opened(scripts=…, phone=…, zone=…)`."""
    assert vendor.missing() == () and AXE.exists(), "run make web: it brings the scripts that are tested"
    fill()
    windows: list[Window] = []
    with listening() as (served, url):

        def opening(*, scripts: bool = True, phone: bool = False, zone: str = "UTC") -> Window:
            size = {"width": 390, "height": 800} if phone else {"width": 1280, "height": 860}
            how = {"java_script_enabled": scripts, "reduced_motion": "reduce", "timezone_id": zone, "viewport": size}
            context = browser.new_context(color_scheme="light", **how)
            context.set_default_timeout(60_000)
            windows.append(Window(context.new_page(), served, url))
            windows[-1].watch()
            return windows[-1]

        yield opening
        for window in windows:
            window.page.context.close()
    assert [each for window in windows for each in window.complaints] == []
