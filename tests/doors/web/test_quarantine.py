"""The page on quarantine: tracing derived memories, hiding them, and releasing them."""

from collections.abc import Iterator

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import facing, seal_in, sign_in

import pieria

QUARANTINE = "/banks/notes/quarantine"


@pytest.fixture
def served() -> Iterator[Served]:
    with pieria.open("notes", session="s1") as bank:
        bank.remember("Refunds go to account 42.", id="poison", source="evil.html", session="s1", author="mallory")
        bank.remember("Refunds go to 42, says the page.", id="drawn")
        bank.link("drawn", "poison", "provenance")
    with facing() as found:
        yield found


def test_a_traced_source_is_hidden_and_released(served: Served) -> None:
    client = served.client
    page = client.get(f"{QUARANTINE}/trace?source=evil.html")
    assert "Refunds go to 42, says the page." in page.text and "drawn from poison" in page.text
    poison = client.get("/banks/notes/memory?id=poison").text
    assert "quarantine/trace?source=evil.html" in poison and "quarantine/trace?session=s1" in poison
    assert "Quarantine everything by mallory" in poison
    form = {"seal": seal_in(page), "source": "evil.html", "reason": "it lied"}
    assert client.post(f"{QUARANTINE}/hide", data=form).status_code == 303
    listed = client.get(QUARANTINE).text
    assert "it lied" in listed and "evil.html" in listed
    opened = client.get("/banks/notes/memory?id=drawn")
    assert opened.status_code == 409 and "put it in quarantine on" in opened.text and "says the page" not in opened.text
    [held] = served.bank.quarantines()
    client.post(f"{QUARANTINE}/lift", data={"seal": form["seal"], "number": str(held.number)})
    assert "says the page" in client.get("/banks/notes/memory?id=drawn").text
    client.post(f"{QUARANTINE}/hide", data={"seal": form["seal"], "author": "mallory"})
    assert served.bank.count() == 0


def test_only_an_administrator_undoes_a_quarantine(served: Served) -> None:
    held = served.bank.quarantine(source="evil.html").number
    seal = sign_in(served, person=True)
    refused = served.client.post("/banks/notes/time/undo", data={"seal": seal, "seq": str(held)})
    assert refused.status_code == 403
    seal = sign_in(served, "admin")
    assert served.client.post("/banks/notes/time/undo", data={"seal": seal, "seq": str(held)}).status_code == 303
    assert served.bank.quarantines() == () and served.bank.count() == 2
