"""Hindsight: a server with its API's shape (hindsight-client 1.1), and a saved list of memories."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.importers.api import Api, served

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.importers import import_from

FACT = {"id": "0f000000-0000-4000-8000-000000000001", "text": "Ida moved to Vega.", "context": "a letter",
        "date": "2024-03-01T00:00:00Z", "fact_type": "world", "document_id": "letter-1", "entities": "Ida, Vega",
        "occurred_start": "2024-02-01T00:00:00Z", "tags": ["family"], "metadata": {"page": 2}, "proof_count": 1,
        "state": "valid"}  # fmt: skip
OBSERVATION = {"id": "0f000000-0000-4000-8000-000000000002", "text": "Ida likes islands.", "fact_type": "observation",
               "date": "2024-04-01T00:00:00Z", "source_memory_ids": [FACT["id"]], "entities": ""}  # fmt: skip
OVER = {"id": "0f000000-0000-4000-8000-000000000003", "text": "Ida lives in Bergen.", "fact_type": "world",
        "date": "2020-01-01T00:00:00Z", "state": "invalidated", "invalidated_at": "2024-02-02T00:00:00Z"}  # fmt: skip
DOCUMENT = {"id": "letter-1", "bank_id": "ida", "original_text": "Dear Omar, I moved to Vega.", "tags": ["family"],
            "created_at": "2024-03-01T00:00:00Z", "memory_unit_count": 1, "document_metadata": {"k": "v"}}  # fmt: skip


def listed(*rows: object) -> Api:
    def page(query: Mapping[str, str], _: object) -> object:
        begun, size = int(query["offset"]), int(query["limit"])
        return {"items": rows[begun : begun + size], "total": len(rows), "limit": size, "offset": begun}

    return page


@pytest.mark.slow
def test_banks_of_a_server_are_read_page_by_page(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.importers.hindsight.PAGE", 2)
    at = "GET /v1/default/banks"
    routes = {
        at: lambda query, body: {"banks": [{"bank_id": "ida"}]},
        f"{at}/ida/documents": listed({"id": "letter-1"}, {"id": "missing"}),
        f"{at}/ida/documents/letter-1": lambda query, body: DOCUMENT,
        f"{at}/ida/memories/list": listed(OBSERVATION, FACT, OVER),
    }
    with served(routes) as api:
        report = import_from(bank, "hindsight", api.address, token="h")
        assert import_from(bank, "hindsight", api.address, user="ida").memories == {"unchanged": 4}
    assert report.memories == {"new": 4} and report.links == {"new": 1} and len(report.left) == 1
    assert [problem.where for problem in report.problems] == ["bank ida, documents[1]"]
    fact, over = bank.get(FACT["id"]), bank.get(OVER["id"])  # type: ignore[arg-type]
    assert fact is not None and over is not None and over.times.valid_until is not None
    assert (fact.at.isoformat()[:10], fact.entities, fact.tags) == ("2024-02-01", ("Ida", "Vega"), ("family",))
    assert (fact.source, fact.context, fact.meta["page"]) == ("letter-1", "a letter", 2)
    [letter] = bank.list(kinds="drawer")
    assert (letter.text, letter.source, letter.meta["bank_id"]) == (DOCUMENT["original_text"], "letter-1", "ida")
    [observation] = bank.list(kinds="summary")
    assert [neighbor.memory.id for neighbor in bank.neighbors(observation.id) if neighbor.memory] == [fact.id]


def test_saved_list_arrives_and_broken_records_are_listed(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"items": [OBSERVATION, FACT, {"id": "x"}], "total": 3}))
    tried = import_from(bank, "hindsight", path, dry_run=True)
    report = import_from(bank, "hindsight", path)
    assert tried.memories == report.memories == {"new": 2} and tried.links == report.links == {"new": 1}
    assert [problem.where for problem in report.problems] == ["memories.json, items[2]"]
    assert import_from(bank, "hindsight", path).memories == {"unchanged": 2}
    for written in ("{}", "not json"):
        path.write_text(written)
        with pytest.raises(TransferError) as refused:
            import_from(bank, "hindsight", path)
        assert "server of Hindsight" in str(refused.value.hint)
