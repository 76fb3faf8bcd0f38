"""Embeddings from any server with OpenAI's protocol: hosted ones, vLLM, Ollama, LM Studio and others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pieria.errors import AdapterError, InputError
from pieria.models.embedding import EmbeddingResponse, Identity, OwnEmbedding, checked_opts
from pieria.models.endpoint import Endpoint

_BATCH = 64
_CHARACTERS = 200_000
"""Characters per request, because servers limit its tokens."""


class OpenAIEmbedding(OwnEmbedding):
    """An embedding of a server. Safe in threads. `dimensions` asks for shorter vectors; the reply must have as many.

    `batch` is the maximum of texts per request. `seconds` bounds one request with all its retries.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch: int = _BATCH,
        seconds: float = 60.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InputError("model", "the name of a model of the server", model)
        for name, number in (("dimensions", 1 if dimensions is None else dimensions), ("batch", batch)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise InputError(name, "a whole number from 1", number)
        self._model = model
        self._asked = dimensions
        self._batch = batch
        self._endpoint = Endpoint(f"openai:{model}", base_url, key=api_key, seconds=seconds, sleep=sleep)
        self._lock = threading.Lock()
        self._dimension = dimensions
        self.identity = Identity(f"openai:{model}", dimensions)

    def close(self) -> None:
        self._endpoint.close()

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        given = checked_opts(opts, self.identity.model, ("dimensions",))
        asked = given.get("dimensions", self._asked)
        if asked != self._asked:
            hint = "Open another embedder for vectors of another dimension."
            raise InputError("opts.dimensions", str(self._asked or "none"), asked, hint=hint)
        for place, text in enumerate(texts):
            if not text.strip():
                raise InputError(f"texts[{place}]", "a text that is not blank", None)
        vectors: list[list[float]] = []
        tokens = 0
        for part in self._parts(texts):
            made, used = self._requested(part)
            vectors += made
            tokens += used
        return EmbeddingResponse(vectors, self.identity.model, {"input_tokens": tokens})

    def _parts(self, texts: list[str]) -> Iterator[list[str]]:
        part: list[str] = []
        size = 0
        for text in texts:
            if part and (len(part) == self._batch or size + len(text) > _CHARACTERS):
                yield part
                part, size = [], 0
            part.append(text)
            size += len(text)
        if part:
            yield part

    def _requested(self, texts: list[str]) -> tuple[list[list[float]], int]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        reply = self._endpoint.post("/embeddings", body, "embed", texts)
        vectors: list[list[float] | None] = [None] * len(texts)
        data = reply.get("data")
        for item in data if isinstance(data, list) else ():
            place, vector = self._item(item, len(texts))
            if vectors[place] is not None:
                raise self._wrong(f"the reply holds two vectors for the text {place}")
            vectors[place] = vector
        kept = [vector for vector in vectors if vector is not None]
        if len(kept) != len(texts):
            raise self._wrong(f"expected {len(texts)} vectors, got {len(kept)}")
        usage = reply.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return kept, tokens if isinstance(tokens, int) else 0

    def _item(self, item: object, count: int) -> tuple[int, list[float]]:
        place = item.get("index") if isinstance(item, dict) else None
        vector = item.get("embedding") if isinstance(item, dict) else None
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < count:
            raise self._wrong("a vector has no index of its text")
        if not isinstance(vector, list) or not all(type(number) in (float, int) for number in vector):
            raise self._wrong(f"the vector of the text {place} is not a list of numbers")
        with self._lock:
            expected = self._dimension = self._dimension or len(vector)
        if len(vector) != expected or not vector:
            raise self._wrong(f"expected {expected or 'some'} dimensions, got {len(vector)}")
        return place, vector

    def _wrong(self, reason: str) -> AdapterError:
        hint = "The server, or the model behind this name, has changed."
        return AdapterError(self.identity.model, "embed", reason, hint=hint)
