"""With a language model, a job extracts the facts of a text, and the reply says so."""

import json
from typing import Any

import pytest
from tests.models.scripted import Scripted
from tests.toolsets.conftest import Ask
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host

TRIPLE = {
    "subject": "Maya",
    "predicate": "works_on",
    "object": "billing",
    "confidence": 0.8,
    "since": None,
    "until": None,
}


@pytest.fixture
def models() -> dict[str, Any]:
    return {"llm": Scripted(json.dumps({"triples": [TRIPLE]}))}


@requirement("remember.extract", "triple.extracted")
def test_model_extracts_in_a_job_that_the_reply_names(ask: Ask, host: Host) -> None:
    told = ask("mnemosyne_remember", content="Maya works on billing.", extract=True)
    [job] = host.bank.jobs.list()
    drawn = told["extracted"]
    assert (drawn["engine"], drawn["queued"], drawn["facts"]) == ("scripted-1", job.id, [])
    assert ask("mnemosyne_triple_query", subject="Maya")["results"] == []
    assert dict(host.bank.jobs.worker().run(once=True)) == {"done": 1}
    [row] = ask("mnemosyne_triple_query", subject="Maya")["results"]
    assert (row["object"], row["memory_id"]) == ("billing", told["memory_id"])
