"""A whole bank removed over HTTP, while the server has it open and other calls run."""

from pathlib import Path

from tests.doors.http.conftest import Served

NOTES = "/v1/banks/notes"


def test_an_administrator_is_told_what_goes_and_then_it_does(served: Served, home: Path) -> None:
    client = served.client
    assert client.get(f"{NOTES}/memories/jwt").status_code == 200
    told = client.delete(NOTES, params={"dry_run": True}).json()
    assert client.get("/v1/banks").json() == {"banks": ["notes"]}
    gone = client.delete(NOTES).json()
    assert gone == {**told, "dry_run": False}
    assert (gone["bank"], gone["path"], gone["erased"]["memories"], gone["erased"]["facts"]) == ("notes", None, 1, 1)
    assert client.get("/v1/banks").json() == {"banks": []}
    for path in (f"{NOTES}/memories/jwt", f"{NOTES}/stats"):
        assert client.get(path).status_code == 404
    assert client.delete(NOTES).json()["error"]["code"] == "not_found"
    assert not list(home.rglob("notes.db*"))
    assert client.post(f"{NOTES}/memories", json={"text": "Anew."}).status_code == 201
    assert client.get(f"{NOTES}/changes").json()["next"] == 1


def test_only_administrators_of_the_bank_may(served: Served) -> None:
    client = served.client
    for headers in (served.token("write"), served.token("admin", "other")):
        answer = client.delete(NOTES, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "access")
    assert client.delete(NOTES).status_code == 401
    headers = served.token("admin", "notes")
    wrong = client.delete(NOTES, params={"dry": True}, headers=headers)
    assert (wrong.status_code, wrong.json()["error"]["parameter"]) == (422, "dry")
    assert client.delete(NOTES, headers=headers).status_code == 200


def test_no_worker_brings_it_back(served: Served) -> None:
    banks = served.service.banks
    bank = banks.opened("notes", None)
    assert [each.name for each in banks._worked_on()] == ["notes"]
    assert served.client.delete(NOTES).status_code == 200
    assert bank.core.store.is_over
    assert [each.name for each in banks._worked_on()] == []
    assert banks.there() == []
