"""Rows of the table of effects: the settings of the reranker."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.models.rerank_server import never, rerank_server

import pieria


def reranked(folder: Path, *script: Any, **settings: Any) -> tuple[Any, Any]:
    """Return the plan of a recall and the reranker's first request."""
    with rerank_server(*script) as serving:
        told = {"reranker": "server:m", "embedder": "none", **settings}
        told["reranker_url"] = told.get("reranker_url", "{}").format(serving.address)
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.remember_many([{"text": "a heron"}, {"text": "another heron"}])
            assert "hunter" not in json.dumps(bank.doctor().as_dict())
            plan = bank.recall("heron").plan
    return plan, serving.requests[0] if serving.requests else None


def seen_of_reranker(folder: Path, value: Any) -> object:
    plan, request = reranked(folder, reranker=value)
    assert (request is None) == ("reranked" not in plan)
    return request and sorted(request.body)


def seen_of_reranker_url(folder: Path, value: Any) -> object:
    return reranked(folder, reranker_url="{}" + value)[1].path


def seen_of_reranker_key(folder: Path, value: Any) -> object:
    return reranked(folder, reranker_key=value)[1].headers["authorization"]


def seen_of_reranker_seconds(folder: Path, value: Any) -> object:
    return reranked(folder, never, reranker_seconds=value)[0]["left_out"]["rerank"].partition(": ")[2]


RERANKING: dict[str, tuple[Callable[[Path, Any], object], dict[Any, object]]] = {
    "reranker": (
        seen_of_reranker,
        {"none": None, "server:a": ["documents", "model", "query", "top_n"], "tei": ["query", "texts", "truncate"]},
    ),
    "reranker_url": (seen_of_reranker_url, {"/one": "/v1/one/rerank", "/two": "/v1/two/rerank"}),
    "reranker_key": (seen_of_reranker_key, {"hunter1": "Bearer hunter1", "hunter2": "Bearer hunter2"}),
    "reranker_seconds": (
        seen_of_reranker_seconds,
        {0.1: "it did not answer within 0.1 s", 0.2: "it did not answer within 0.2 s"},
    ),
}
