"""Rerankers behind `POST /rerank`: Cohere, Jina, vLLM and similar servers, and text-embeddings-inference."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pieria.errors import AdapterError, InputError
from pieria.models.endpoint import Endpoint
from pieria.models.llm import USAGE
from pieria.models.reranker import SECONDS, STEP, RerankResponse


class ServerReranking:
    """A reranker on a server. Safe in threads. `seconds` bounds a call with all its retries.

    With `texts`, documents are sent in the form of text-embeddings-inference. Both forms of a reply are read.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        provider: str,
        api_key: str | None = None,
        seconds: float = SECONDS,
        texts: bool = False,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if not texts and not model.strip():
            raise InputError("model", "the name of a model of the server", model)
        self._model = model
        self._texts = texts
        self.model = f"{provider}:{model}" if model else provider
        self._endpoint = Endpoint(self.model, base_url, key=api_key, seconds=seconds, sleep=sleep)

    @property
    def host(self) -> str:
        return self._endpoint.host

    @property
    def has_key(self) -> bool:
        return self._endpoint.has_key

    def close(self) -> None:
        self._endpoint.close()

    def rerank(self, query: str, documents: Sequence[str]) -> RerankResponse:
        reply = self._endpoint.post_any("/rerank", self._body(query, list(documents)), STEP, [query, *documents])
        results = reply.get("results") if isinstance(reply, dict) else reply
        if not isinstance(results, list):
            raise self._wrong("the reply has no list of results")
        usage = _usage(reply) if isinstance(reply, dict) else {}
        return RerankResponse([self._pair(item) for item in results], self.model, usage)

    def _body(self, query: str, documents: list[str]) -> dict[str, Any]:
        if self._texts:
            return {"query": query, "texts": documents, "truncate": True}
        return {"model": self._model, "query": query, "documents": documents, "top_n": len(documents)}

    def _pair(self, item: object) -> tuple[int, float]:
        if not isinstance(item, dict) or "index" not in item:
            raise self._wrong("a result has no index")
        score = item.get("relevance_score", item.get("score"))
        if score is None:
            raise self._wrong("a result has no score")
        return item["index"], score

    def _wrong(self, reason: str) -> AdapterError:
        hint = "Check that the address and the name are those of a reranker."
        return AdapterError(self.model, STEP, reason, hint=hint)


def _usage(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tokens read, from any of the fields that servers use."""
    meta = _within(reply, "meta")
    told = [
        _within(reply, "usage").get("prompt_tokens"),
        _within(reply, "usage").get("total_tokens"),
        _within(meta, "tokens").get("input_tokens"),
        _within(meta, "billed_units").get("input_tokens"),
    ]
    return {USAGE[0]: next((count for count in told if count), 0)}


def _within(reply: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = reply.get(name)
    return found if isinstance(found, dict) else {}
