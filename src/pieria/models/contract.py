"""The contract of language models and embeddings, as two functions to run against your own model.

No test framework is needed: a violation raises an `AssertionError` that names the broken rule. Each function calls the
model about ten times. Exceptions of the model pass through.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pieria.errors import PieriaError
from pieria.models.embedders.function import Function as Texts
from pieria.models.embedders.function import FunctionEmbedding
from pieria.models.embedding import Embedding, EmbeddingResponse
from pieria.models.llm import LLM, USAGE, LLMResponse
from pieria.models.llms.function import Function, FunctionLLM

_ASKED: tuple[dict[str, str], ...] = ({"role": "user", "content": "What colour is a ripe tomato?"},)
_TALK = (
    {"role": "system", "content": "You answer in one word."},
    {"role": "user", "content": "What colour is a ripe plum? Ça va, 東京, 🙂"},
    {"role": "assistant", "content": "Blue."},
    {"role": "user", "content": "And a ripe lemon?"},
)
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}
_UNKNOWN = {"an_option_that_nobody_has": 1}
_TEXTS = ("A heron stood in the shallows.", "The invoice is due on Friday.", "東京の会議は三月です。", "naïve — 🙂")
_BROKEN = "not kept: "
_STRUCTURED = "chat_structured"
_THREADS = 4
_ALIKE = 0.999
"""The least cosine of two vectors of one text: computing in batches may change the last digits."""


def check_llm(chosen: LLM | Function) -> None:
    """Raise `AssertionError` if the model or function breaks the contract of `pieria.LLM`."""
    llm = chosen if isinstance(chosen, LLM) or not callable(chosen) else FunctionLLM(chosen)
    for name in ("chat", _STRUCTURED):
        _require(callable(getattr(llm, name, None)), f"a language model has a method {name}")
    schema = copy.deepcopy(_SCHEMA)
    for messages in (_ASKED, _TALK):
        _check_reply(_leaving_alone("chat", messages, llm.chat), "chat")
        _check_structured(_leaving_alone(_STRUCTURED, messages, lambda given: llm.chat_structured(given, schema)))
    _require(schema == _SCHEMA, f"{_STRUCTURED} does not change the schema")
    _check_reply(llm.chat([dict(message) for message in _ASKED], None), "chat, with opts=None")
    _check_refuses("chat", lambda: llm.chat(list(_ASKED), _UNKNOWN))
    _check_refuses(_STRUCTURED, lambda: llm.chat_structured(list(_ASKED), _SCHEMA, _UNKNOWN))
    for reply in _at_once(lambda: llm.chat(list(_ASKED))):
        _check_reply(reply, "chat, called by several threads")


def check_embedding(chosen: Embedding | Texts) -> None:
    """Raise `AssertionError` if the model or function breaks the contract of `pieria.models.Embedding`."""
    embedding = (
        chosen if isinstance(chosen, Embedding) or not callable(chosen) else FunctionEmbedding(chosen, name="checked")
    )
    for name in ("embed", "embed_batch"):
        _require(callable(getattr(embedding, name, None)), f"an embedding has a method {name}")
    single = [_vectors(embedding.embed(text), 1, "embed")[0] for text in _TEXTS]
    given = list(_TEXTS)
    batch = _vectors(embedding.embed_batch(given), len(_TEXTS), "embed_batch")
    _require(given == list(_TEXTS), "embed_batch does not change the list")
    _require(len({len(vector) for vector in (*single, *batch)}) == 1, "all vectors have the same dimension")
    _same(single, batch, "embed and embed_batch agree about a text")
    backwards = _vectors(embedding.embed_batch(given[::-1]), len(_TEXTS), "embed_batch")
    _same(batch, backwards[::-1], "the vectors of a batch are in the order of its texts")
    _require(_cosine(single[0], single[1]) < _ALIKE, "texts that have nothing in common have different vectors")
    _vectors(embedding.embed_batch([], None), 0, "embed_batch of no text")
    _vectors(embedding.embed("a long text " * 2_000), 1, "embed of a long text")
    _check_refuses("embed", lambda: embedding.embed(_TEXTS[0], _UNKNOWN))
    _check_refuses("embed_batch", lambda: embedding.embed_batch(given, _UNKNOWN))
    for reply in _at_once(lambda: embedding.embed_batch(given)):
        _same(batch, _vectors(reply, len(_TEXTS), "embed_batch"), "several threads get the vectors that one gets")


def _leaving_alone(
    operation: str, messages: Sequence[dict[str, str]], ask: Callable[[list[dict[str, str]]], Any]
) -> Any:
    given = [dict(message) for message in messages]
    reply = ask(given)
    _require(given == list(messages), f"{operation} does not change the messages")
    return reply


def _check_reply(reply: object, what: str) -> None:
    _check_response(reply, what)
    assert isinstance(reply, LLMResponse)
    _require(isinstance(reply.content, str), f"{what}: content is a text, not {_kind(reply.content)}")
    _require(bool(reply.content.strip()), f"{what}: content is not blank")


def _check_structured(reply: object) -> None:
    what = _STRUCTURED
    _check_response(reply, what)
    assert isinstance(reply, LLMResponse)
    content = reply.content
    _require(not isinstance(content, str), f"{what}: content is the JSON value, not the text it was read from")
    try:
        again = json.loads(json.dumps(content, allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise AssertionError(f"{_BROKEN}{what}: content is what JSON can hold") from problem
    _require(again == content, f"{what}: content is as JSON has it: texts as keys, lists, no tuples")
    _require(isinstance(content, dict), f"{what}: a schema of an object is answered by a dict, not {_kind(content)}")


def _check_response(reply: object, what: str) -> None:
    _require(isinstance(reply, LLMResponse), f"{what} returns a pieria.LLMResponse, not {_kind(reply)}")
    assert isinstance(reply, LLMResponse)
    _require(isinstance(reply.model, str) and bool(reply.model), f"{what}: model is the name of the model")
    _check_usage(reply.usage, USAGE, what)


def _check_usage(usage: object, names: Sequence[str], what: str) -> None:
    _require(isinstance(usage, Mapping), f"{what}: usage is a mapping, not {_kind(usage)}")
    assert isinstance(usage, Mapping)
    for name in names:
        told = usage.get(name, 0)
        sound = isinstance(told, int) and not isinstance(told, bool) and told >= 0
        _require(sound, f"{what}: {name} in usage is a whole number from 0, not {_kind(told)}")


def _vectors(reply: object, wanted: int, what: str) -> list[list[float]]:
    _require(isinstance(reply, EmbeddingResponse), f"{what} returns an EmbeddingResponse, not {_kind(reply)}")
    assert isinstance(reply, EmbeddingResponse)
    _require(isinstance(reply.model, str) and bool(reply.model), f"{what}: model is the name of the model")
    _check_usage(reply.usage, USAGE[:1], what)
    _require(len(reply.vectors) == wanted, f"{what} returns {wanted} vectors, not {len(reply.vectors)}")
    sound = all(isinstance(place, int) and 0 <= place < wanted for place in reply.truncated)
    _require(sound, f"{what}: truncated holds places of texts")
    vectors = [[float(number) for number in vector] for vector in reply.vectors]
    for vector in vectors:
        _require(all(map(math.isfinite, vector)), f"{what}: every number of a vector is finite")
        _require(any(vector), f"{what}: a vector is not all zeros")
    return vectors


def _same(one: Sequence[list[float]], other: Sequence[list[float]], rule: str) -> None:
    _require(all(_cosine(*pair) > _ALIKE for pair in zip(one, other, strict=True)), rule)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def _check_refuses(operation: str, ask: Callable[[], object]) -> None:
    try:
        ask()
    except PieriaError:
        return
    _require(False, f"{operation} refuses an option that it does not know, with an error of pieria.errors")


def _at_once(ask: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(_THREADS) as threads:
        return [asked.result() for asked in [threads.submit(ask) for _ in range(_THREADS)]]


def _kind(value: object) -> str:
    return type(value).__name__


def _require(kept: bool, rule: str) -> None:
    """Raise `AssertionError` unless the rule is kept. An `assert` would not run under `python -O`."""
    if not kept:
        raise AssertionError(_BROKEN + rule)
