"""Rerankers behind HTTP: names, both forms of the protocol, impossible replies, and metering."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.models.rerank_server import Answer, never, pairs, rerank_server, says, status
from tests.models.scripted import Ledger

from pieria import telemetry
from pieria.errors import AdapterError, InputError
from pieria.models import RERANKER_PROVIDERS, Reranker, checked_reranker, reranker
from pieria.models.meter import UNMETERED
from pieria.models.reranker import RerankResponse, ServerReranking

REPLIES = json.loads(Path(__file__).with_name("reranks.json").read_text("utf-8"))
DOCUMENTS = ["a heron by the mill", "heron", "the heron left"]
QUERY = "which heron?"
KEY = "made-up-key-0123456789"


def asked(*script: Answer, name: str = "server:m", meter: Any = UNMETERED, **options: Any) -> tuple[Any, Any]:
    """Return the scores of the documents, and the requests for them."""
    with (
        rerank_server(*script) as serving,
        closing(reranker(name, options={"base_url": serving.address, **options})) as made,
    ):
        return made.scores(QUERY, DOCUMENTS, meter), serving.requests


def refused(*script: Answer, **options: Any) -> AdapterError:
    with pytest.raises(AdapterError) as caught:
        asked(*script, **options)
    return caught.value


def test_documents_are_sent_and_scored() -> None:
    for name in ("server:m", "cohere:m", "jina:m"):
        scores, [request] = asked(name=name, api_key=KEY)
        assert scores == [1 / len(text) for text in DOCUMENTS]
        assert request.path == "/v1/rerank"
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.body == {"model": "m", "query": QUERY, "documents": DOCUMENTS, "top_n": 3}


def test_text_embeddings_inference_gets_texts() -> None:
    for name in ("tei", "tei:m"):
        scores, [request] = asked(name=name)
        assert scores == [1 / len(text) for text in DOCUMENTS]
        assert request.body == {"query": QUERY, "texts": DOCUMENTS, "truncate": True}
        assert "authorization" not in request.headers


def test_both_forms_of_a_reply_are_read() -> None:
    listed = [{"index": 1, "score": 0.5}, {"index": 0, "score": -2}, {"index": 2, "score": 0}]
    for name in ("server:m", "tei"):
        assert asked(says(listed), name=name)[0] == [-2, 0.5, 0]
        assert asked(says({"results": listed}), name=name)[0] == [-2, 0.5, 0]
    assert asked(pairs((2, 0.1)))[0] == [None, None, 0.1]


def test_passing_failure_is_tried_again() -> None:
    pauses: list[float] = []
    with rerank_server(status(500), status(429, Retry_After="2")) as serving:
        made = ServerReranking("m", base_url=serving.address, provider="server", sleep=pauses.append)
        assert len(made.rerank(QUERY, DOCUMENTS).scores) == 3
        made.close()
    assert len(serving.requests) == 3
    assert pauses[1] == 2


def test_reranking_has_a_time_limit() -> None:
    assert refused(never, seconds=0.1).reason == "no whole reply within 0.1 seconds"
    problem = refused(status(429, Retry_After="19"))
    assert problem.retryable
    assert "429" in str(problem.reason)


def test_impossible_reply_is_refused() -> None:
    for reply, reason in REPLIES["refused"]:
        assert refused(says(reply)).reason == reason
    assert refused(says(b"<html>")).reason == "the reply is not JSON"
    assert refused(pairs((0, 10**400))).reason == "the score of document 0 is not a finite number"


def test_errors_quote_neither_documents_nor_the_key() -> None:
    said = str(refused(status(400, f"cannot read {DOCUMENTS[0]} with {KEY}"), api_key=KEY))
    assert "400" in said
    assert DOCUMENTS[0] not in said
    assert KEY not in said
    said = str(refused(status(401, f"Incorrect API key provided: {KEY}"), api_key=KEY))
    assert "401" in said
    assert KEY not in said


def test_calls_and_tokens_are_metered() -> None:
    meter = Ledger()
    for usage, _ in REPLIES["tokens"]:
        asked(says({"results": [{"index": 0, "relevance_score": 1}], **usage}), meter=meter)
    refused(status(400), meter=meter)
    counts = [(tokens, False) for _, tokens in REPLIES["tokens"]] + [(0, True)]
    assert meter.allowed == [("rerank", "server:m")] * len(counts)
    assert [(step, model, usage, failed) for step, model, usage, _, failed in meter.noted] == [
        ("rerank", "server:m", {"input_tokens": tokens, "output_tokens": 0}, failed) for tokens, failed in counts
    ]


def test_spent_budget_prevents_the_request() -> None:
    with rerank_server() as serving, closing(reranker("server:m", options={"base_url": serving.address})) as made:
        with pytest.raises(Ledger.SpentError):
            made.scores(QUERY, DOCUMENTS, Ledger(limit=0))
        assert serving.requests == []


def test_call_is_a_span_without_its_texts() -> None:
    heard: list[Any] = []
    detach = telemetry.attach(lambda event, *told: heard.append((event, told)))
    asked()
    detach()
    assert [event[1:] for event, _ in heard] == [("reranking", "rerank", "start"), ("reranking", "rerank", "stop")]
    assert DOCUMENTS[0] not in repr(heard)


def test_failing_adapter_is_an_adapter_error() -> None:
    class Broken:
        model = "own:m"

        def rerank(self, query: str, documents: Any) -> RerankResponse:
            raise RuntimeError("no more memory")

    with pytest.raises(AdapterError, match="RuntimeError"):
        Reranker(Broken()).scores(QUERY, DOCUMENTS)
    assert Reranker(Broken()).about == "own:m"


def test_description_names_the_host_without_the_key() -> None:
    made = reranker("cohere:m", options={"api_key": KEY, "base_url": "http://user:secret@localhost:9/v2"})
    assert made.about == "cohere:m at localhost:9, with a key"
    assert reranker("tei").about == "tei at localhost:8080, without a key"
    assert KEY not in json.dumps([made.about, made.model])


def test_name_is_normalised_or_refused() -> None:
    names = {"none": "none", " Cohere : rerank-v3.5": "cohere:rerank-v3.5", "tei": "tei", "TEI:bge": "tei:bge"}
    assert {name: checked_reranker(name) for name in names} == names
    unknown: tuple[Any, ...] = ("", "cohere", "server", "coherre:m", "openai:m", 7, None)
    for name in unknown:
        with pytest.raises(InputError, match="reranker"):
            checked_reranker(name)


def test_wrong_options_are_refused() -> None:
    """Every provider has an address but a server, which needs one."""
    wrong: tuple[dict[str, Any], ...] = ({"seconds": 0}, {"base_url": "localhost"}, {"api_key": "kéy"}, {"batch": 3})
    for options in wrong:
        with pytest.raises(InputError):
            reranker("cohere:m", options=options)
    assert [name for name, provider in RERANKER_PROVIDERS.items() if provider.address is None] == ["server"]
    with pytest.raises(InputError, match="base_url"):
        reranker("server:m")
    with pytest.raises(InputError, match="the name of a reranker"):
        reranker("none")
    with pytest.raises(InputError, match="name of a model"):
        ServerReranking(" ", base_url="http://localhost", provider="server")
