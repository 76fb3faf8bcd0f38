"""The context for an agent over HTTP."""

from tests.doors.http.conftest import Served

from pieria.record.clip import estimated_tokens

PATH = "/v1/banks/notes/context"


def test_the_block_comes_with_its_tokens(served: Served) -> None:
    told = served.client.post(PATH, json={"query": "which APIs use JWT?", "budget_tokens": 400}).json()
    assert "We chose JWT for all new APIs." in told["text"]
    assert told["tokens"] == estimated_tokens(told["text"]) <= 400
    assert told["items"][0]["id"] == "jwt"


def test_the_moment_of_an_answer_gives_the_same_bytes_again(served: Served) -> None:
    first = served.client.post(PATH, json={}).json()
    served.client.post("/v1/banks/notes/memories", json={"text": "Never deploy on Fridays.", "author_type": "human"})
    assert served.client.post(PATH, json={"known_at": first["known_at"]}).json() == first
    assert "Fridays" in served.client.post(PATH, json={}).json()["text"]


def test_whoever_may_read_may_ask_and_nothing_is_written(served: Served) -> None:
    reader = served.token("read", "notes")
    before = served.head()
    assert served.client.post(PATH, json={"session": "s1"}, headers=reader).status_code == 200
    assert served.head() == before
    refused = served.client.post(PATH, json={"keep": True}, headers=reader)
    assert refused.status_code == 422
    assert "keep" in refused.text
