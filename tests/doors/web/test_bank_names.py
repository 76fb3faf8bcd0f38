"""Banks with odd names: each page leads only to pages of its bank, and every page refuses invalid names."""

import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote, unquote

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import facing, over, sign_in

import pieria
from pieria.doors.web.pages import PAGES

ODD = ["مذكرات-السفر_2", "@me", "Ñandú.e\u0301-ノート", "n" * 100]
"""A right-to-left name, the user's own bank, capitals with decomposed marks, and the longest name allowed."""
IMPOSSIBLE = ["two words", "a/b", ".hidden", "50%", 'a"b', "a'><b>x</b>", "\u202egnp", "a\x00b", "con", "x" * 101]
LEADS = re.compile(r' (?:href|hx-get|data-here|data-source|data-alone)="(/banks/[^"]*)"')
DOES = re.compile(r' (?:action|hx-sse:connect)="(/banks/[^"]*)"')
ID = "a/b?c=d&e#f%20<i>"
PLACE = "a b/c&d"


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.slow)])
def odd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    if request.param == "server":
        monkeypatch.setenv("PIERIA_DATA", request.getfixturevalue("empty_database"))
        monkeypatch.setenv("PIERIA_USER", "maya")
    for name in ODD:
        with pieria.open(name) as bank:
            bank.remember(f"Said in {name}.", id=ID, tags=["a/b"], entities=["Ada & Co"], place=PLACE, session="s/1")
            bank.remember("Said after it.", id="after", tags=["a/b"], place=PLACE)
            bank.link(ID, "after", "related")
            bank.facts.add("Ada & Co", "works_on", "50 %")
    with facing(rate=1e6) as found:
        yield found


def check(served: Served, name: str, seal: str) -> None:
    here = f"/banks/{quote(unicodedata.normalize('NFC', name), safe='')}"
    leads: set[str] = set()
    for page in PAGES:
        _, menu, text = served.page(f"{here}/{page.name}").partition('class="menu banks"')
        offered, _, shown = text.partition("</details>")
        assert menu and 'aria-current="true"' in offered
        leads |= {unescape(each) for each in LEADS.findall(shown)}
        assert all(each.startswith(f"{here}/") for each in (*leads, *DOES.findall(shown)))
    by_path = {each.partition("?")[0]: each for each in sorted(leads)}
    assert len(by_path) > 10
    for each in by_path.values():
        served.page(each)
    assert served.client.get(here).headers["location"] == f"{here}/recall"
    pinned = served.client.post(f"{here}/memory/pin", data={"seal": seal, "id": ID, "pinned": "true"})
    assert pinned.headers["location"] == f"{here}/memory?id={quote(ID, safe='')}"
    begun = served.client.post(f"{here}/health/file", data={"seal": seal, "what": "export"})
    assert begun.headers["location"].startswith(f"{here}/task?")
    [file] = re.findall(r'href="([^"]+/task/file[^"]+)"', over(served, begun))
    sent = served.client.get(unescape(file)).headers["content-disposition"]
    assert unquote(sent.partition("UTF-8''")[2]).startswith(f"{unicodedata.normalize('NFC', name)}.")


def test_pages_lead_only_to_pages_of_their_bank(odd: Served) -> None:
    seal = sign_in(odd, "admin", *ODD)
    for name in ODD:
        check(odd, name, seal)
    # Names ignore case.
    shown = odd.page(f"/banks/{quote('ñANDÚ.é-ノート')}/memories")
    assert shown.partition('class="menu banks"')[2].partition("</details>")[0].count('aria-current="true"') == 1


def test_impossible_names_are_refused() -> None:
    with facing(rate=1e6) as served:
        for name in (*(quote(name, safe="") for name in (*IMPOSSIBLE, "@you", "{{7*7}}")), "%ff", "%e2%28"):
            for page in PAGES:
                answer = served.client.get(f"/banks/{name}/{page.name}")
                assert answer.status_code in (400, 403, 422), (name, answer.text)
                assert 'role="alert"' in answer.text
                assert "<b>x" not in answer.text and "\u202e" not in answer.text and ">49<" not in answer.text
