"""The reranker of recall: it wraps any reranking, checks replies and meters calls.

`rerankers` calls the servers; `recall` uses the scores.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

from pieria import telemetry
from pieria.errors import AdapterError, InputError, PieriaError
from pieria.models.llm import USAGE, tokens
from pieria.models.meter import UNMETERED, Meter

STEP = "rerank"
"""The step that calls are metered under."""
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RerankResponse:
    """Pairs of (index of a document, score), in any order. Documents may be missing."""

    scores: Sequence[tuple[int, float]]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)


class Reranking(Protocol):
    """`model` is written `provider:model`. `rerank` raises `AdapterError`."""

    model: str

    def rerank(self, query: str, documents: Sequence[str]) -> RerankResponse: ...


class Reranker:
    """Wraps a reranking. Safe in threads if the wrapped one is. `seconds` bounds the wait of a recall."""

    def __init__(self, reranking: Reranking, *, seconds: float = SECONDS) -> None:
        self._reranking = reranking
        self.seconds = seconds
        self.model = reranking.model

    @property
    def about(self) -> str:
        """The model's name and, if known, its host and whether a key is set. Never contains the key."""
        host = getattr(self._reranking, "host", None)
        if not isinstance(host, str):
            return self.model
        return f"{self.model} at {host}, {'with a' if getattr(self._reranking, 'has_key', False) else 'without a'} key"

    def close(self) -> None:
        """Close connections, if there are any."""
        close = getattr(self._reranking, "close", None)
        if callable(close):
            close()

    def scores(self, query: str, documents: Sequence[str], meter: Meter = UNMETERED) -> list[float | None]:
        """Return the score of each document, and None for a document without one in the reply.

        Raises `AdapterError` if the model fails or its reply is invalid, `BudgetError` if the meter refuses.
        """
        with telemetry.during("reranking.rerank", model=self.model, batch_size=len(documents)):
            return self._checked(self._replied(query, documents, meter), len(documents))

    def _replied(self, query: str, documents: Sequence[str], meter: Meter) -> RerankResponse:
        meter.allow(STEP, self.model)
        begun = perf_counter()
        reply: RerankResponse | None = None
        try:
            reply = self._reranking.rerank(query, documents)
            return reply
        except PieriaError:
            raise
        # An adapter may raise any exception; it is kept as the cause.
        except Exception as problem:
            raise AdapterError(self.model, STEP, f"it failed with {type(problem).__name__}") from problem
        finally:
            usage = tokens(None if reply is None else reply.usage, *((name,) for name in USAGE))
            meter.note(STEP, self.model, usage, perf_counter() - begun, failed=reply is None)

    def _checked(self, reply: RerankResponse, count: int) -> list[float | None]:
        found: list[float | None] = [None] * count
        for index, score in reply.scores:
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
                raise self._wrong(f"a score has a wrong index: expected an index from 0 to {count - 1}")
            if found[index] is not None:
                raise self._wrong(f"the reply has two scores for document {index}")
            found[index] = self._finite(score, index)
        if all(score is None for score in found):
            raise self._wrong("the reply has no scores")
        return found

    def _finite(self, score: object, index: int) -> float:
        if isinstance(score, int | float) and not isinstance(score, bool):
            try:
                if math.isfinite(score):
                    return float(score)
            except OverflowError:
                pass
        raise self._wrong(f"the score of document {index} is not a finite number")

    def _wrong(self, reason: str) -> AdapterError:
        hint = "Check that the address and the name are those of a reranker."
        return AdapterError(self.model, STEP, reason, hint=hint)


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
        from pieria.models.endpoint import Endpoint

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
