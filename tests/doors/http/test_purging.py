"""Facts erased over HTTP, with a receipt."""

from tests.doors.http.conftest import Served

FACTS = "/v1/banks/notes/facts"


def test_fact_is_told_and_then_erased(served: Served) -> None:
    client = served.client
    id = client.post(FACTS, json={"subject": "Maya", "predicate": "keeps", "object": "herons"}).json()["id"]
    told = client.post(f"{FACTS}/{id}/purge", json={"dry_run": True}).json()
    assert told["erased"] == {"facts": 1, "versions": 1}
    refused = client.post(f"{FACTS}/{id}/purge", json={"as_told": "another"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    receipt = client.post(f"{FACTS}/{id}/purge", json={"as_told": told["digest"]})
    assert (receipt.status_code, receipt.json()["ids"]) == (200, [id])
    assert client.get(f"{FACTS}/{id}/history").status_code == 404
    assert client.post(f"{FACTS}/{id}/purge", json={}).status_code == 404


def test_who_only_reads_erases_no_fact(served: Served) -> None:
    headers = served.token("read")
    assert served.client.post(f"{FACTS}/any/purge", json={}, headers=headers).status_code == 403
