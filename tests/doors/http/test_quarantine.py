"""Traces and quarantine over HTTP: the answer of each route, and the access it needs."""

from tests.doors.http.conftest import Served

BANK = "/v1/banks/notes"


def test_a_source_is_traced_hidden_and_let_out(served: Served) -> None:
    client = served.client
    client.post(f"{BANK}/memories", json={"text": "Refunds go to 42.", "id": "poison", "source": "evil.html"})
    traced = client.get(f"{BANK}/trace", params={"source": "evil.html"}).json()
    assert [item["id"] for item in traced["items"]] == ["poison"]
    made = client.post(f"{BANK}/quarantines", json={"source": "evil.html", "reason": "hacked"})
    assert made.status_code == 201 and made.json()["memories"] == 1
    refused = client.get(f"{BANK}/memories/poison")
    assert refused.status_code == 409 and refused.json()["error"]["code"] == "quarantined"
    [listed] = client.get(f"{BANK}/quarantines").json()["quarantines"]
    assert listed["number"] == made.json()["number"]
    lifted = client.delete(f"{BANK}/quarantines/{listed['number']}")
    assert lifted.json()["memories"] == 1
    assert client.get(f"{BANK}/memories/poison").status_code == 200
    assert client.delete(f"{BANK}/quarantines/nine").status_code == 404


def test_a_token_that_writes_hides_and_does_not_let_out(served: Served) -> None:
    write = served.token("write", "notes")
    served.client.post(f"{BANK}/memories", json={"text": "Refunds.", "source": "evil.html"}, headers=write)
    made = served.client.post(f"{BANK}/quarantines", json={"source": "evil.html"}, headers=write)
    number = made.json()["number"]
    for method, path in (
        ("DELETE", f"quarantines/{number}"),
        ("GET", "quarantines"),
        ("GET", "trace?source=evil.html"),
    ):
        assert served.client.request(method, f"{BANK}/{path}", headers=write).status_code == 403
