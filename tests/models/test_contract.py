"""The contract for models: ours keep it, and each way to break it is noticed."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import server as embedding_server
from tests.models.llm_server import llm_server

from pieria import LLMResponse
from pieria.errors import InputError
from pieria.models import DEFAULT, EmbeddingResponse, language_model
from pieria.models.contract import check_embedding, check_llm
from pieria.models.embedders.hash_floor import HashingEmbedding
from pieria.models.embedders.local import LocalEmbedding
from pieria.models.embedders.openai import OpenAIEmbedding
from pieria.models.llms.server import AnthropicLLM, OpenAILLM

RED = {"colour": "red"}


def scripted(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str | dict[str, Any]:
    return "ready" if schema is None else dict.fromkeys(schema["required"], "yellow")


def test_our_language_models_keep_the_contract() -> None:
    for adapter, rejects_schemas in itertools.product((OpenAILLM, AnthropicLLM), (False, True)):
        with llm_server() as server, closing(adapter("m", base_url=server.address)) as llm:
            server.rejects_schemas = rejects_schemas
            check_llm(llm)
    check_llm(scripted)
    check_llm(language_model(scripted))


@dataclass
class Model:
    """Keeps the contract, but for the given changes."""

    changed: Callable[[LLMResponse], Any] = lambda reply: reply
    value: Any = field(default_factory=lambda: RED)
    ignores_options: bool = False
    spoil: Callable[[Any, Any], object] = lambda messages, schema: None

    def chat(self, messages: Any, opts: Any = None) -> Any:
        return self.changed(self._reply("ready", messages, {}, opts))

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> Any:
        return self._reply(self.value, [], schema, opts)

    def _reply(self, content: Any, messages: Any, schema: Any, opts: Any) -> LLMResponse:
        if opts and not self.ignores_options:
            raise InputError("opts", "nothing", None)
        self.spoil(messages, schema)
        return LLMResponse(content, "sound", {"input_tokens": 1, "output_tokens": 1})


def saying(**fields: Any) -> Model:
    return Model(lambda reply: replace(reply, **fields))


class Half:
    chat = Model.chat


def test_broken_language_model_is_reported() -> None:
    check_llm(Model())
    check_llm(saying(usage={}))
    broken: list[tuple[Any, str]] = [
        (Half(), "has a method chat_structured"), (Model(ignores_options=True), "chat refuses an option"),
        (Model(spoil=lambda messages, _: messages.append(RED)), "chat does not change the messages"),
        (Model(spoil=lambda _, schema: schema.update(title="mine")), "does not change the schema"),
        (Model(lambda reply: reply.content), "returns a pieria.LLMResponse, not str"),
        (saying(content=None), "content is a text, not NoneType"), (saying(content=" "), "not blank"),
        (saying(model=""), "name of the model"), (saying(usage=None), "usage is a mapping"),
        (saying(usage={"input_tokens": -1}), "input_tokens in usage"),
        (saying(usage={"output_tokens": 1.5}), "output_tokens in usage"),
        (Model(value='{"colour": "red"}'), "not the text"), (Model(value={"colour": {1}}), "what JSON can hold"),
        (Model(value={"colour": float("nan")}), "what JSON can hold"), (Model(value={1: "red"}), "texts as keys"),
        (Model(value={"a": (1,)}), "no tuples"), (Model(value=["red"]), "answered by a dict"),
    ]  # fmt: skip
    for model, rule in broken:
        with pytest.raises(AssertionError, match=f"not kept: .*{rule}"):
            check_llm(model)


def vectors(texts: Sequence[str]) -> list[list[float]]:
    return [[text.count(letter) + 0.1 for letter in "aeiou三"] for text in texts]


def test_our_embeddings_keep_the_contract(models: Path) -> None:
    with embedding_server() as (address, _), closing(OpenAIEmbedding("m", base_url=address)) as served:
        for embedding in (LocalEmbedding(DEFAULT, models), HashingEmbedding(), served, vectors):
            check_embedding(embedding)


@dataclass
class Changing:
    """An embedding that keeps the contract, but for the given changes."""

    change: Callable[[list[list[float]], Sequence[str]], list[list[float]]] = lambda made, texts: made
    fields: Mapping[str, Any] = field(default_factory=dict)
    single: bool = True
    ignores_options: bool = False

    def embed(self, text: str, opts: Any = None) -> Any:
        return self._reply([text], self.single, opts)

    def embed_batch(self, texts: Sequence[str], opts: Any = None) -> Any:
        return self._reply(texts, True, opts)

    def _reply(self, texts: Sequence[str], changed: bool, opts: Any) -> Any:
        if opts and not self.ignores_options:
            raise InputError("opts", "nothing", None)
        made = self.change(vectors(texts), texts) if changed else vectors(texts)
        return EmbeddingResponse(**{"vectors": made, "model": "m", **self.fields})


def telling(**fields: Any) -> Changing:
    return Changing(fields=fields)


class Plain(Changing):
    def _reply(self, texts: Sequence[str], changed: bool, opts: Any) -> Any:
        return super()._reply(texts, changed, opts).vectors


def sorting(made: list[list[float]], texts: Sequence[str]) -> list[list[float]]:
    return vectors(sorted(texts)) if len(texts) > 1 else made


def test_broken_embedding_is_reported() -> None:
    broken: list[tuple[Any, str]] = [
        (Half(), "has a method embed"), (Changing(ignores_options=True), "embed refuses an option"),
        (Plain(), "returns an EmbeddingResponse, not list"), (telling(model=""), "name of the model"),
        (telling(usage={"input_tokens": "3"}), "input_tokens in usage"), (telling(truncated=(9,)), "truncated"),
        (Changing(lambda made, texts: made[1:]), "embed returns 1 vectors, not 0"),
        (Changing(lambda made, texts: made[1:], single=False), "embed_batch returns 4 vectors, not 3"),
        (Changing(lambda made, texts: [[*each, float("nan")] for each in made]), "finite"),
        (Changing(lambda made, texts: [[0.0] * len(each) for each in made]), "all zeros"),
        (Changing(lambda made, texts: [[1.0] * len(text) for text in texts]), "the same dimension"),
        (Changing(lambda made, texts: [[1.0, 2.0] for _ in made]), "different vectors"),
        (Changing(lambda made, texts: [each[::-1] for each in made], single=False), "embed and embed_batch agree"),
        (Changing(lambda made, texts: made or [[1.0]]), "embed_batch of no text returns 0 vectors, not 1"),
        (Changing(sorting, single=False), "embed and embed_batch agree"),
    ]  # fmt: skip
    for embedding, rule in broken:
        with pytest.raises(AssertionError, match=f"not kept: .*{rule}"):
            check_embedding(embedding)
