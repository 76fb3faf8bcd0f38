"""The engine's language model around any implementation: what it accepts, and how one is chosen."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from tests.models.llm_server import llm_server

from pieria import LLM, LLMResponse
from pieria.errors import AdapterError, InputError, ReplyCutError, ReplyError
from pieria.models import LLM_PROVIDERS, Chat, checked_llm, language_model
from pieria.models.llms.function import FunctionLLM
from pieria.models.llms.server import AnthropicLLM, OpenAILLM

ASKED = [{"role": "user", "content": "What colour is it?"}]
RED = {"colour": "red"}
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}}


def answering(*answers: Any) -> Chat:
    waiting = list(answers)
    return language_model(lambda messages, schema: waiting.pop(0))


class Own:
    """A user's own LLM, with nothing of ours but the reply."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply
        self.opts: list[Any] = []

    def chat(self, messages: Any, opts: Any = None) -> Any:
        self.opts.append(opts)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> Any:
        return self.chat(messages, opts)


def test_function_gets_copies_and_the_schema() -> None:
    seen: list[tuple[Any, Any]] = []

    def noting(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
        seen.append((json.loads(json.dumps(messages)), schema))
        messages.clear()
        return "{}"

    chat = language_model(noting)
    asked = [MappingProxyType(message) for message in ASKED]
    chat.chat(asked)
    chat.chat_structured(asked, MappingProxyType(SCHEMA))
    assert seen == [(ASKED, None), (ASKED, SCHEMA)]
    assert len(asked) == 1
    assert chat.model == f"function:{__name__}.{noting.__qualname__}"
    assert language_model(noting, options={"name": "mine"}).model == "function:mine"


def test_function_may_answer_in_several_ways() -> None:
    answers = [
        *(('{"colour": "red"}', RED), ('```json\n{"colour": "red"}\n```', RED), ("[1]", [1]), (RED, RED)),
        *((MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}), (LLMResponse(RED, "m"), RED)),
        *((LLMResponse('{"a": 1}', "m"), {"a": 1}), (LLMResponse([1, None], "m"), [1, None])),
    ]
    for answer, content in answers:
        assert answering(answer).chat_structured(ASKED, SCHEMA).content == content
    told = LLMResponse("Red.", "mine", {"input_tokens": 5, "output_tokens": 2})
    assert answering(told).chat(ASKED) == told
    assert answering("Red.").chat(ASKED).usage == {"input_tokens": 0, "output_tokens": 0}


def test_unusable_answer_of_a_function_is_refused() -> None:
    texts = [(RED, "expected a text, got dict"), (None, "got NoneType"), (LLMResponse(3, "m"), "a text, got int")]
    for answer, complaint in texts:
        with pytest.raises(ReplyError, match=complaint):
            answering(answer).chat(ASKED)
    values: list[tuple[Any, str]] = [("Red.", "not JSON"), ([1], "got list"), ({"a": object()}, "what JSON can hold")]
    for answer, complaint in [*values, ({"a": float("inf")}, "JSON")]:
        with pytest.raises(ReplyError, match=complaint):
            answering(answer).chat_structured(ASKED, SCHEMA)
    with pytest.raises(ReplyError, match="not JSON") as raised:
        answering(LLMResponse("Red.", "m", {"output_tokens": 2})).chat_structured(ASKED, SCHEMA)
    assert raised.value.usage.get("output_tokens") == 2


def test_errors_of_a_function_are_adapter_errors() -> None:
    def broken(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
        raise OSError("out of order") if schema is None else ReplyCutError("mine", "chat_structured")

    with pytest.raises(AdapterError, match="OSError") as raised:
        language_model(broken).chat(ASKED)
    assert isinstance(raised.value.__cause__, OSError)
    with pytest.raises(ReplyCutError):
        language_model(broken).chat_structured(ASKED, SCHEMA)
    with pytest.raises(InputError, match="opts"):
        language_model(broken).chat(ASKED, {"temperature": 0})


def test_own_model_needs_two_methods_only() -> None:
    own = Own(LLMResponse("Red.", "own-1", {"input_tokens": 3, "output_tokens": True, "further": 9}))
    assert isinstance(own, LLM)
    chat = language_model(own)
    assert (chat.model, chat.about) == ("custom:Own", "custom:Own")
    assert chat.chat(ASKED, {"colour": "any"}).usage == {"input_tokens": 3, "output_tokens": 0}
    assert own.opts == [{"colour": "any"}]
    assert isinstance(chat, LLM)
    assert language_model(chat) is chat


def test_own_model_has_to_return_a_response() -> None:
    for reply in (None, "Red.", {"content": "Red."}):
        complaint = f"expected an LLMResponse, got {type(reply).__name__}"
        with pytest.raises(ReplyError, match=complaint):
            language_model(Own(reply)).chat(ASKED)
        with pytest.raises(ReplyError, match=complaint):
            language_model(Own(reply)).chat_structured(ASKED, SCHEMA)
    with pytest.raises(AdapterError, match=r"adapter custom:Own\.chat_structured: it failed with KeyError"):
        language_model(Own(KeyError("choices"))).chat_structured(ASKED, SCHEMA)


def test_wrong_input_reaches_no_model() -> None:
    own = Own(LLMResponse("Red.", "own-1"))
    chat = language_model(own)
    wrong: list[Any] = [("messages", [], None), *(("opts", ASKED, opts) for opts in ("fast", [("model", "m")], 3))]
    for parameter, messages, opts in wrong:
        with pytest.raises(InputError, match=parameter):
            chat.chat(messages, opts)
        with pytest.raises(InputError, match=parameter):
            chat.chat_structured(messages, SCHEMA, opts)
    with pytest.raises(InputError, match="schema"):
        chat.chat_structured(ASKED, {})
    assert own.opts == []


def test_calls_are_spans(heard: list[Any]) -> None:
    chat = answering(LLMResponse("Red.", "mine", {"input_tokens": 5, "output_tokens": 2}), "Red.")
    chat.chat(ASKED, step="get_state")
    with pytest.raises(ReplyError):
        chat.chat_structured(ASKED, SCHEMA)
    events = {event: (measured, about) for event, measured, about in heard}
    measured, about = events["pieria.llm.chat.stop"]
    assert (measured["tokens_input"], measured["tokens_output"]) == (5, 2)
    assert about == {"model": chat.model, "step": "get_state"}
    _, about = events["pieria.llm.chat_structured.exception"]
    assert (about["model"], about["step"], about["kind"]) == (chat.model, None, "ReplyUnreadableError")
    assert "colour" not in repr(heard)


def test_name_chooses_adapter_and_address() -> None:
    for name, kind, about in (
        ("openai:gpt-5-mini", OpenAILLM, "openai:gpt-5-mini at api.openai.com, with a key"),
        ("anthropic:claude-haiku-4-5", AnthropicLLM, "anthropic:claude-haiku-4-5 at api.anthropic.com, with a key"),
        (" Ollama : qwen3:8b ", OpenAILLM, "ollama:qwen3:8b at localhost:11434, with a key"),
        ("openrouter:qwen/qwen3-32b", OpenAILLM, "openrouter:qwen/qwen3-32b at openrouter.ai, with a key"),
    ):
        chat = language_model(name, options={"api_key": "made-up"})
        assert (type(chat._llm), chat.about) == (kind, about)
    base = "https://maya:hunter2@models.example:8443/v1?key=hunter2"
    for name in ("server", "openai", "anthropic"):
        about = language_model(f"{name}:m", options={"base_url": base}).about
        assert about == f"{name}:m at models.example:8443, without a key"


def test_every_provider_speaks_the_protocol_of_its_servers() -> None:
    for name, provider in LLM_PROVIDERS.items():
        with llm_server("Red.") as server:
            chat = language_model(f"{name}:{provider.example}", options={"base_url": server.address, "seconds": 9})
            reply = chat.chat(ASKED, {"max_tokens": 9})
            chat.close()
        assert (reply.content, reply.model) == ("Red.", f"{name}:{provider.example}")
        assert server.requests[0].body["model"] == provider.example
        assert ("max_completion_tokens" in server.requests[0].body) == (name == "openai")


def test_unknown_model_or_option_is_refused() -> None:
    hints: dict[Any, str] = {
        **{"opnai:gpt-5-mini": "openai:gpt-5-mini", "antropic": "anthropic:claude", "openai": "openai:gpt-5-mini"},
        **{"ollama:": "ollama:qwen3"}, **dict.fromkeys(("non", "none:m", "", 3, None), ""),
    }  # fmt: skip
    for name, hint in hints.items():
        with pytest.raises(InputError, match="llm") as raised:
            checked_llm(name)
        assert hint in str(raised.value.hint)
    chosen: tuple[Any, ...] = (3, None, Own, dict, "none", "server:m")
    for model in chosen:
        with pytest.raises(InputError):
            language_model(model)
    with pytest.raises(InputError, match="callable"):
        FunctionLLM("red")  # type: ignore[arg-type]
    for choice in ("openai:m", Own(None), lambda messages, schema: ""):
        with pytest.raises(InputError, match="llm options"):
            language_model(choice, options={"colour": "red"})
