"""Proposals over HTTP: readers see them, writers decide them."""

import pytest
from tests.doors.http.conftest import Served
from tests.learning.lessontelling import MIGRATED, PUT_RIGHT, session

import pieria

PATH = "/v1/banks/notes/proposals"


@pytest.fixture
def taught(served: Served) -> Served:
    with pieria.open("notes", via="person") as bank:
        bank.observe([*session("monday", MIGRATED), *session("tuesday", PUT_RIGHT)])
        bank.distil()
    return served


def test_proposals_are_listed_accepted_and_declined(taught: Served) -> None:
    client = taught.client
    client.headers.update(taught.token("write", "notes", person=True))
    asked = {"type": ["procedure"]}
    [waiting] = client.get(PATH, params=asked).json()["proposals"]
    assert waiting["evidence"][0]["did"] == ["run `alembic upgrade head`"]
    accepted = client.post(f"{PATH}/{waiting['id']}/accept", json={"reason": "seen often"}).json()
    assert accepted["proposals"][0]["state"] == "accepted"
    assert (
        client.get(PATH, params={"state": ["accepted"], "type": ["procedure"]}).json()["proposals"]
        == (accepted["proposals"])
    )
    assert client.post(f"{PATH}/{waiting['id']}/accept", json={}).status_code == 409
    assert client.post(f"{PATH}/{waiting['id']}/decline", json={}).json()["proposals"][0]["state"] == "declined"
    assert client.post(f"{PATH}/nobody/accept", json={}).status_code == 404
    assert client.get(PATH, params={"state": "wanted"}).status_code == 422


def test_who_only_reads_decides_nothing(taught: Served) -> None:
    reader = taught.token("read", "notes")
    waiting, *_ = taught.client.get(PATH, headers=reader).json()["proposals"]
    assert taught.client.post(f"{PATH}/{waiting['id']}/accept", json={}, headers=reader).status_code == 403


def test_a_program_s_token_accepts_nothing(taught: Served) -> None:
    writer = taught.token("write", "notes")
    waiting, *_ = taught.client.get(PATH, headers=writer).json()["proposals"]
    refused = taught.client.post(f"{PATH}/{waiting['id']}/accept", json={}, headers=writer)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (403, "not_a_person")
