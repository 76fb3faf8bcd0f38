"""The engine's language model around any implementation: what it accepts, and how one is chosen."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from tests.models.llm_server import llm_server

from pieria import LLM, LLMResponse, telemetry
from pieria.errors import AdapterError, InputError, ReplyCutError, ReplyError
from pieria.models import LLM_PROVIDERS, Chat, checked_llm, language_model
from pieria.models.llms.function import FunctionLLM
from pieria.models.llms.server import AnthropicLLM, OpenAILLM

ASKED = [{"role": "user", "content": "What colour is it?"}]
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}}


def answering(*answers: Any) -> Chat:
    waiting = list(answers)
    return language_model(lambda messages, schema: waiting.pop(0))


class Own:
    """A user's own LLM, with nothing of ours but the reply."""

    def __init__(self, content: Any = "Red.", **fields: Any) -> None:
        self.reply: Any = LLMResponse(content, **{"model": "own-1", **fields})
        self.opts: list[Any] = []

    def chat(self, messages: Sequence[Mapping[str, str]], opts: Any = None) -> LLMResponse:
        self.opts.append(opts)
        reply: LLMResponse = self.reply
        return reply

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        return self.chat(messages, opts)


# --- a function


def test_a_function_is_given_copies_and_knows_whether_json_is_wanted() -> None:
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


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ('{"colour": "red"}', {"colour": "red"}), ('```json\n{"colour": "red"}\n```', {"colour": "red"}),
        ("[1]", [1]), ({"colour": "red"}, {"colour": "red"}), (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        (LLMResponse({"colour": "red"}, "m"), {"colour": "red"}), (LLMResponse('{"a": 1}', "m"), {"a": 1}),
        (LLMResponse([1, None], "m"), [1, None]),
    ],
)  # fmt: skip
def test_a_function_may_answer_a_schema_in_several_ways(answer: Any, content: Any) -> None:
    assert answering(answer).chat_structured(ASKED, SCHEMA).content == content


def test_a_function_may_tell_its_model_and_what_it_cost() -> None:
    untold, told = "Red.", LLMResponse("Red.", "mine", {"input_tokens": 5, "output_tokens": 2})
    chat = answering(untold, told)

    assert chat.chat(ASKED).usage == {"input_tokens": 0, "output_tokens": 0}
    assert chat.chat(ASKED) == told
    assert language_model(lambda messages, schema: "Red.", options={"name": "mine"}).model == "function:mine"


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"colour": "red"}, "expected a text, got dict"),
        (None, "got NoneType"),
        (LLMResponse(3, "m"), "a text, got int"),
    ],
)
def test_a_function_that_says_nothing_readable_is_refused(answer: Any, complaint: str) -> None:
    with pytest.raises(ReplyError, match=complaint):
        answering(answer).chat(ASKED)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [("Red.", "not JSON"), ([1], "got list"), ({"a": object()}, "what JSON can hold"), ({"a": float("inf")}, "JSON"),
     (LLMResponse("Red.", "m", {"output_tokens": 2}), "not JSON")],
)  # fmt: skip
def test_a_function_that_gives_no_json_is_refused(answer: Any, complaint: str) -> None:
    with pytest.raises(ReplyError, match=complaint) as raised:
        answering(answer).chat_structured(ASKED, SCHEMA)
    assert raised.value.usage.get("output_tokens", 0) == (2 if isinstance(answer, LLMResponse) else 0)


def test_a_function_s_own_error_is_the_cause_and_ours_comes_through() -> None:
    def broken(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
        raise OSError("out of order") if schema is None else ReplyCutError("mine", "chat_structured")

    with pytest.raises(AdapterError, match="OSError") as raised:
        language_model(broken).chat(ASKED)
    assert isinstance(raised.value.__cause__, OSError)
    with pytest.raises(ReplyCutError):
        language_model(broken).chat_structured(ASKED, SCHEMA)


def test_a_function_heeds_no_options() -> None:
    with pytest.raises(InputError, match="opts"):
        answering("Red.").chat(ASKED, {"temperature": 0})


# --- an object


def test_an_llm_needs_two_methods_and_nothing_of_ours() -> None:
    own = Own(usage={"input_tokens": 3, "output_tokens": True, "further": 9})
    assert isinstance(own, LLM)
    chat = language_model(own)

    assert (chat.model, chat.about) == ("custom:Own", "custom:Own")
    assert chat.chat(ASKED, {"colour": "any"}).usage == {"input_tokens": 3, "output_tokens": 0}
    assert own.opts == [{"colour": "any"}]
    assert isinstance(chat, LLM)
    assert language_model(chat) is chat


@pytest.mark.parametrize("reply", [None, "Red.", {"content": "Red."}])
def test_an_llm_answers_with_a_response(reply: Any) -> None:
    own = Own()
    own.reply = reply
    for ask in (language_model(own).chat, lambda messages: language_model(own).chat_structured(messages, SCHEMA)):
        with pytest.raises(ReplyError, match=f"expected an LLMResponse, got {type(reply).__name__}"):
            ask(ASKED)


def test_an_llm_that_fails_is_an_adapter_that_fails() -> None:
    class Broken(Own):
        def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
            raise KeyError("choices")

    with pytest.raises(AdapterError, match=r"adapter custom:.*Broken\.chat_structured: it failed with KeyError"):
        language_model(Broken()).chat_structured(ASKED, SCHEMA)


@pytest.mark.parametrize("opts", ["fast", [("model", "m")], 3])
def test_options_are_a_mapping(opts: Any) -> None:
    with pytest.raises(InputError, match="opts"):
        language_model(Own()).chat(ASKED, opts)


def test_what_is_no_message_or_schema_reaches_no_model() -> None:
    own = Own()
    with pytest.raises(InputError, match="messages"):
        language_model(own).chat([])
    with pytest.raises(InputError, match="schema"):
        language_model(own).chat_structured(ASKED, {})
    assert own.opts == []


def test_calls_are_told_as_spans() -> None:
    told: list[tuple[Any, ...]] = []
    detach = telemetry.attach(lambda event, measured, about: told.append((event, dict(measured), dict(about))))
    usage = {"input_tokens": 5, "output_tokens": 2}
    try:
        chat = answering(LLMResponse("Red.", "mine", usage), "Red.")
        chat.chat(ASKED, step="get_state")
        with pytest.raises(ReplyError):
            chat.chat_structured(ASKED, SCHEMA)
    finally:
        detach()

    events = {event: (measured, about) for event, measured, about in told}
    measured, about = events["pieria", "llm", "chat", "stop"]
    assert (measured["tokens_input"], measured["tokens_output"]) == (5, 2)
    assert about == {"model": chat.model, "step": "get_state"}
    _, about = events["pieria", "llm", "chat_structured", "exception"]
    assert (about["model"], about["step"], about["kind"]) == (chat.model, None, "ReplyUnreadableError")
    assert "colour" not in repr(told)


# --- a name


@pytest.mark.parametrize(
    ("name", "kind", "about"),
    [
        ("openai:gpt-5-mini", OpenAILLM, "openai:gpt-5-mini at api.openai.com, with a key"),
        ("anthropic:claude-haiku-4-5", AnthropicLLM, "anthropic:claude-haiku-4-5 at api.anthropic.com, with a key"),
        (" Ollama : qwen3:8b ", OpenAILLM, "ollama:qwen3:8b at localhost:11434, with a key"),
        ("openrouter:qwen/qwen3-32b", OpenAILLM, "openrouter:qwen/qwen3-32b at openrouter.ai, with a key"),
    ],
)
def test_a_name_chooses_the_adapter(name: str, kind: type, about: str) -> None:
    chat = language_model(name, options={"api_key": "made-up"})
    assert isinstance(chat._llm, kind)
    assert chat.about == about


def test_an_address_can_be_given_and_nothing_of_it_but_the_host_is_told() -> None:
    made = [
        language_model(name, options={"base_url": "https://maya:hunter2@models.example:8443/v1?key=hunter2"})
        for name in ("server:m", "openai:m", "anthropic:m")
    ]
    assert [chat.about for chat in made] == [
        f"{name}:m at models.example:8443, without a key" for name in ("server", "openai", "anthropic")
    ]


@pytest.mark.parametrize("name", LLM_PROVIDERS)
def test_every_provider_speaks_the_protocol_of_his_servers(name: str) -> None:
    provider = LLM_PROVIDERS[name]
    with llm_server("Red.") as server:
        chat = language_model(f"{name}:{provider.example}", options={"base_url": server.address, "seconds": 9})
        reply = chat.chat(ASKED, {"max_tokens": 9})
        chat.close()
    assert (reply.content, reply.model) == ("Red.", f"{name}:{provider.example}")
    assert server.requests[0].body["model"] == provider.example
    assert ("max_completion_tokens" in server.requests[0].body) == (name == "openai")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opnai:gpt-5-mini", "openai:gpt-5-mini"), ("antropic", "anthropic:claude"), ("openai", "openai:gpt-5-mini"),
        ("ollama:", "ollama:qwen3"), ("non", None), ("none:m", None), ("", None), (3, None), (None, None),
    ],
)  # fmt: skip
def test_another_name_is_refused(name: Any, hint: str | None) -> None:
    with pytest.raises(InputError) as raised:
        checked_llm(name)
    assert raised.value.parameter == "llm"
    assert hint is None or hint in str(raised.value.hint)


@pytest.mark.parametrize("chosen", [3, None, Own, dict, "none", "server:m"])
def test_what_is_no_language_model_is_refused(chosen: object) -> None:
    with pytest.raises(InputError):
        language_model(chosen)


@pytest.mark.parametrize("chosen", ["openai:m", Own(), lambda messages, schema: ""])
def test_an_option_without_effect_is_refused(chosen: object) -> None:
    with pytest.raises(InputError, match="llm options"):
        language_model(chosen, options={"colour": "red"})


def test_the_function_s_adapter_takes_functions_alone() -> None:
    with pytest.raises(InputError, match="callable"):
        FunctionLLM("red")  # type: ignore[arg-type]
