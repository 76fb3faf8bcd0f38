"""Rerankers behind HTTP: names, both forms of the protocol, impossible replies, and metering."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.models.rerank_server import Answer, never, pairs, rerank_server, says, status
from tests.models.scripted import Ledger

from pieria.errors import AdapterError, InputError
from pieria.models import RERANKER_PROVIDERS, Reranker, checked_reranker, reranker
from pieria.models.meter import UNMETERED
from pieria.models.reranker import RerankResponse, ServerReranking

REPLIES = json.loads(Path(__file__).with_name("reranks.json").read_text("utf-8"))
DOCUMENTS = ["a heron by the mill", "heron", "the heron left"]
QUERY = "which heron?"
KEY = "made-up-key-0123456789"


def adapter(name: str, **options: Any) -> Reranker:
    return reranker(name, options=options)


def asked(*script: Answer, name: str = "server:m", meter: Any = UNMETERED, **options: Any) -> tuple[Any, Any]:
    """Return the scores of the documents, and the requests for them."""
    with rerank_server(*script) as serving, closing(adapter(name, base_url=serving.address, **options)) as made:
        return made.scores(QUERY, DOCUMENTS, meter), serving.requests


def refused(*script: Answer, **options: Any) -> AdapterError:
    with pytest.raises(AdapterError) as caught:
        asked(*script, **options)
    return caught.value


def test_documents_are_sent_and_scored() -> None:
    body = {"model": "m", "query": QUERY, "documents": DOCUMENTS, "top_n": 3}
    texts = {"query": QUERY, "texts": DOCUMENTS, "truncate": True}
    for name, sent in {**dict.fromkeys(("server:m", "cohere:m", "jina:m"), body), "tei": texts, "tei:m": texts}.items():
        for key, authorization in ((KEY, f"Bearer {KEY}"), (None, None)):
            scores, [request] = asked(name=name, api_key=key)
            assert scores == [1 / len(text) for text in DOCUMENTS]
            assert (request.path, request.body) == ("/v1/rerank", sent)
            assert request.headers.get("authorization") == authorization


def test_both_forms_of_a_reply_are_read() -> None:
    listed = [{"index": 1, "score": 0.5}, {"index": 0, "score": -2}, {"index": 2, "score": 0}]
    for name in ("server:m", "tei"):
        assert asked(says(listed), name=name)[0] == [-2, 0.5, 0]
        assert asked(says({"results": listed}), name=name)[0] == [-2, 0.5, 0]
    assert asked(pairs((2, 0.1)))[0] == [None, None, 0.1]


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
    for message in (DOCUMENTS[0], f"Incorrect API key provided: {KEY}"):
        said = str(refused(status(400, message), api_key=KEY))
        assert "400" in said
        assert message not in said


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
    with rerank_server() as serving, closing(adapter("server:m", base_url=serving.address)) as made:
        with pytest.raises(Ledger.SpentError):
            made.scores(QUERY, DOCUMENTS, Ledger(limit=0))
        assert serving.requests == []


def test_call_is_a_span_without_its_texts(heard: list[Any]) -> None:
    asked()
    assert [event for event, *_ in heard] == ["pieria.reranking.rerank.start", "pieria.reranking.rerank.stop"]
    assert DOCUMENTS[0] not in repr(heard)


def test_failing_adapter_is_an_adapter_error() -> None:
    class Broken:
        model = "own:m"

        def rerank(self, query: str, documents: Any) -> RerankResponse:
            raise RuntimeError("no more memory")

    made = Reranker(Broken())
    with pytest.raises(AdapterError, match="RuntimeError"):
        made.scores(QUERY, DOCUMENTS)
    assert made.about == "own:m"


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
    wrong: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("cohere:m", {"seconds": 0}, "seconds"), ("cohere:m", {"base_url": "localhost"}, "base_url"),
        ("cohere:m", {"api_key": "kéy"}, "api_key"), ("cohere:m", {"batch": 3}, "batch"),
        ("server:m", {}, "base_url"), ("none", {}, "the name of a reranker"),
    )  # fmt: skip
    for name, options, complaint in wrong:
        with pytest.raises(InputError, match=complaint):
            adapter(name, **options)
    assert [name for name, provider in RERANKER_PROVIDERS.items() if provider.address is None] == ["server"]
    with pytest.raises(InputError, match="name of a model"):
        ServerReranking(" ", base_url="http://localhost", provider="server")
