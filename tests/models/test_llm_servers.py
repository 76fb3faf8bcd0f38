"""The adapters for language models, each against a real HTTP server on this machine that misbehaves on demand.

Each test also checks how often the server was called: an answer costs money, so no answer is requested twice.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.models.llm_server import (
    LLMServer,
    Said,
    breaks_off,
    cut,
    drips,
    ends_early,
    hangs,
    llm_server,
    objects,
    raw,
    refuses,
    resets,
    says,
    stalls,
    status,
)

from pieria.errors import AdapterError, InputError, ReplyCutError, ReplyError, ReplyRefusedError
from pieria.models.llms.server import AnthropicLLM, OpenAILLM, ServerLLM

KEY = "made-up-key-0123456789"
ASKED = [{"role": "user", "content": "What colour is a ripe tomato, in the summer of this year?"}]
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Tomato?"},
    {"role": "system", "content": "Be kind."},
    {"role": "assistant", "content": "Red."},
    {"role": "user", "content": "Lemon?"},
]
SCHEMA = {
    "title": "the colour, of it",
    "type": "object",
    "properties": {"size": {"type": "string"}, "colour": {"type": "string"}},
    "required": ["size", "colour"],
    "additionalProperties": False,
}
FITS = {"size": "ready", "colour": "ready"}
FENCED = '```json\n{"colour": "red"}\n```'
Opened = Callable[..., ServerLLM]


@pytest.fixture
def server() -> Iterator[LLMServer]:
    with llm_server() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture(params=[OpenAILLM, AnthropicLLM])
def opened(request: pytest.FixtureRequest, server: LLMServer, pauses: list[float]) -> Iterator[Opened]:
    made: list[ServerLLM] = []

    def open(**options: Any) -> ServerLLM:
        given = {"base_url": server.address, "api_key": KEY, "sleep": pauses.append, **options}
        made.append(request.param("m", **given))
        return made[-1]

    yield open
    for llm in made:
        llm.close()


# --- requests and replies


def test_openai_is_asked_in_its_own_words(server: LLMServer) -> None:
    llm = OpenAILLM("m", base_url=server.address, api_key=KEY)
    llm.chat(TALK, {"max_tokens": 7, "temperature": 0, "extra": {"seed": 3}})
    reply = llm.chat_structured(ASKED, SCHEMA)
    OpenAILLM("m", base_url=server.address, limit_field="max_completion_tokens").chat(ASKED, {"max_tokens": 9})
    llm.close()

    first, second, third = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.body == {"model": "m", "messages": TALK, "max_tokens": 7, "temperature": 0, "seed": 3}
    told = {"name": "the_colour_of_it", "schema": SCHEMA, "strict": True}
    assert second.body == {
        "model": "m", "messages": ASKED, "response_format": {"type": "json_schema", "json_schema": told},
    }  # fmt: skip
    assert list(second.body["response_format"]["json_schema"]["schema"]["properties"]) == ["size", "colour"]
    assert reply.content == FITS
    assert "authorization" not in third.headers
    assert third.body["max_completion_tokens"] == 9
    assert "max_tokens" not in third.body


def test_anthropic_is_asked_in_its_own_words(server: LLMServer) -> None:
    llm = AnthropicLLM("m", base_url=server.address, api_key=KEY)
    llm.chat(TALK, {"max_tokens": 7, "temperature": 0.5, "extra": {"top_k": 3}})
    reply = llm.chat_structured(ASKED, SCHEMA)
    llm.close()

    first, second = server.requests
    assert first.path == "/v1/messages"
    assert (first.headers["x-api-key"], first.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in first.headers
    assert first.body == {
        "model": "m", "max_tokens": 7, "system": "Be brief.\n\nBe kind.", "temperature": 0.5, "top_k": 3,
        "messages": [message for message in TALK if message["role"] != "system"],
    }  # fmt: skip
    assert second.body == {
        "model": "m", "max_tokens": 8_192, "messages": ASKED,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }  # fmt: skip
    assert reply.content == FITS


def test_an_answer_comes_with_its_cost(opened: Opened, server: LLMServer) -> None:
    server.script += ["It is red.", says("Red.", usage=False)]
    llm = opened()
    told, untold = llm.chat(ASKED), llm.chat(ASKED)

    assert (told.content, told.model) == ("It is red.", llm.model)
    assert told.usage == {"input_tokens": 12, "output_tokens": 3}
    assert (untold.content, untold.usage) == ("Red.", {"input_tokens": 0, "output_tokens": 0})


def test_another_model_of_the_server_can_be_named(opened: Opened, server: LLMServer) -> None:
    llm = opened(provider="own")
    named = [llm.chat(ASKED, {"model": model}).model for model in ("qwen3:8b", "own:qwen3:8b")]

    assert llm.model == "own:m"
    assert named == ["own:qwen3:8b"] * 2
    assert [request.body["model"] for request in server.requests] == ["qwen3:8b"] * 2


def test_what_anthropic_read_from_a_cache_was_read(server: LLMServer) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 500, "output_tokens": 2}
    blocks = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It "}, {"type": "text", "text": "is."}]
    server.script.append(raw({"content": blocks, "stop_reason": "end_turn", "usage": usage}))
    llm = AnthropicLLM("m", base_url=server.address)
    reply = llm.chat(ASKED)
    llm.close()

    assert (reply.content, reply.usage) == ("It is.", {"input_tokens": 543, "output_tokens": 2})


# --- failures, and how often the server was called

FAILURES: list[tuple[str, list[Said], type[AdapterError], str, bool, int]] = [
    ("too many requests", [status(429, "slow down")], AdapterError, "answered 429: slow down", True, 3),
    ("an error of the server", [status(500)], AdapterError, "answered 500", True, 3),
    ("no answer in time", [hangs], AdapterError, r"within 0\.3 seconds", True, 1),
    ("a byte at a time", [drips], AdapterError, r"within 0\.3 seconds", True, 1),
    ("a reply that stops", [stalls], AdapterError, r"within 0\.3 seconds", True, 1),
    ("a connection that is reset", [resets], AdapterError, "cannot be reached", True, 3),
    ("a reply that breaks off", [breaks_off], AdapterError, "cannot be reached", True, 3),
    ("a reply that is cut", [ends_early], AdapterError, "not JSON", False, 1),
    ("a reply that is a page", [raw(b"<html>")], AdapterError, "not JSON", False, 1),
    ("a reply that is a list", [raw([1])], AdapterError, "not a JSON object", False, 1),
    ("a reply in pieces", [raw(b"abc", Content_Encoding="gzip")], AdapterError, "compression", False, 1),
    ("a reply without an answer", [raw({"error": {"message": "upstream"}})], ReplyError, "holds no answer", False, 1),
    ("a wrong key", [status(401)], AdapterError, "answered 401", False, 1),
    ("a wrong request", [status(400, "no such model")], AdapterError, "answered 400: no such model", False, 1),
    ("a redirection", [status(307, Location="/elsewhere")], AdapterError, "answered 307", False, 1),
    ("a filter", [refuses()], ReplyRefusedError, "refused to answer", False, 1),
    ("a refusal", [objects("I will not speak of tomatoes.")], ReplyRefusedError, "refused to answer", False, 1),
    ("an answer that is cut", [cut("It is r")], ReplyCutError, "cut off", False, 1),
    ("half of a value", [cut('{"colour": "r')], ReplyCutError, "cut off", False, 1),
]


@pytest.mark.parametrize("structured", [False, True], ids=["chat", "chat_structured"])
@pytest.mark.parametrize(
    ("script", "kind", "said", "retryable", "times"),
    [case[1:] for case in FAILURES],
    ids=[case[0] for case in FAILURES],
)
def test_a_failure_is_told_and_no_answer_asked_for_twice(
    opened: Opened,
    server: LLMServer,
    script: list[Said],
    kind: type[AdapterError],
    said: str,
    retryable: bool,
    times: int,
    structured: bool,
) -> None:
    server.script = script * times
    seconds = 0.3 if times == 1 and retryable else 30
    llm = opened(seconds=seconds)

    with pytest.raises(AdapterError, match=said) as raised:
        llm.chat_structured(ASKED, SCHEMA) if structured else llm.chat(ASKED)

    assert type(raised.value) is kind
    assert raised.value.retryable is retryable
    assert raised.value.operation == ("chat_structured" if structured else "chat")
    assert len(server.requests) == times
    shown = str(raised.value) + repr(raised.value) + json.dumps(raised.value.as_dict())
    assert KEY not in shown
    assert "tomato" not in shown


def test_what_a_useless_answer_cost_is_told(opened: Opened, server: LLMServer) -> None:
    server.script += [cut("It is r"), refuses("No."), "no JSON"]
    costs = []
    for _ in range(3):
        with pytest.raises(ReplyError) as raised:
            opened().chat_structured(ASKED, SCHEMA)
        costs.append(raised.value.as_dict()["usage"])

    assert [cost["output_tokens"] for cost in costs] == [3, 1, 2]
    assert {cost["input_tokens"] for cost in costs} == {12}


def test_the_server_says_when_to_come_back(opened: Opened, server: LLMServer, pauses: list[float]) -> None:
    server.script += [status(429, Retry_After="3"), status(529, retry_after_ms="1500"), "Red."]

    assert opened().chat(ASKED).content == "Red."
    assert pauses == [3, 1.5]
    assert len(server.requests) == 3


def test_no_pause_outlasts_the_time_there_is(opened: Opened, server: LLMServer, pauses: list[float]) -> None:
    server.script.append(status(429, Retry_After="9"))

    with pytest.raises(AdapterError, match="429"):
        opened(seconds=5).chat(ASKED)

    assert (len(server.requests), pauses) == (1, [])


@pytest.mark.parametrize("code", [408, 409, 425, 500, 502, 503, 529])
def test_what_passes_is_tried_again(opened: Opened, server: LLMServer, pauses: list[float], code: int) -> None:
    server.script += [status(code), status(code), "Red."]

    assert opened().chat(ASKED).content == "Red."
    assert len(server.requests) == 3
    assert 0 <= pauses[0] <= 1
    assert 0 <= pauses[1] <= 2


@pytest.mark.parametrize("structured", [False, True], ids=["chat", "chat_structured"])
def test_no_error_repeats_what_was_asked(opened: Opened, server: LLMServer, structured: bool) -> None:
    server.script.append(status(400, f"cannot read '{ASKED[0]['content'][5:40]}'"))

    with pytest.raises(AdapterError, match="answered 400") as raised:
        opened().chat_structured(ASKED, SCHEMA) if structured else opened().chat(ASKED)

    assert "ripe" not in str(raised.value)


# --- JSON of a schema


@pytest.mark.parametrize("answer", [{"colour": 3}, {}, [1, 2], 7, None, True, "0.5"])
def test_any_json_is_an_answer_and_the_schema_is_for_others_to_check(
    opened: Opened, server: LLMServer, answer: Any
) -> None:
    server.script.append(says(json.dumps(answer)))

    assert opened().chat_structured(ASKED, SCHEMA).content == answer


@pytest.mark.parametrize(
    "text",
    ["", " ", "Red.", FENCED, '{"colour": "red"} Does that help?', '{"colour": NaN}', "{'colour': 'red'}", "[" * 9_999],
)
def test_what_is_not_json_is_no_answer(opened: Opened, server: LLMServer, text: str) -> None:
    server.script.append(says(text))

    with pytest.raises(ReplyError, match="the answer is not JSON") as raised:
        opened().chat_structured(ASKED, SCHEMA)

    assert not raised.value.retryable
    assert len(server.requests) == 1


def test_a_server_that_knows_no_schemas_is_asked_in_words(opened: Opened, server: LLMServer) -> None:
    server.rejects_schemas = True
    server.script += [{"colour": "red"}, FENCED]
    llm = opened()
    first = llm.chat_structured([*TALK, {"role": "assistant", "content": "Yellow."}], SCHEMA)
    assert len(server.requests) == 2
    second = llm.chat_structured(ASKED, {"type": "array"})

    assert first.content == second.content == {"colour": "red"}
    assert len(server.requests) == 3, "what the server does not know is remembered"
    asked, words = server.requests[0].messages, server.requests[1].messages
    assert [len(message["content"]) for message in words] != [len(message["content"]) for message in asked]
    assert [pair for pair in zip(asked, words, strict=True) if pair[0] != pair[1]] == [
        ({"role": "user", "content": "Lemon?"}, words[-2])
    ]
    assert words[-2]["content"].startswith("Lemon?\n\n")
    assert words[-2]["content"].endswith(json.dumps(SCHEMA))
    assert server.requests[2].schema is None


def test_each_model_of_a_server_is_asked_whether_it_knows_schemas(opened: Opened, server: LLMServer) -> None:
    server.rejects_schemas = True
    server.script += [{}, {}]
    llm = opened()
    llm.chat_structured(ASKED, SCHEMA)
    llm.chat_structured(ASKED, SCHEMA, {"model": "other"})

    assert [request.schema is None for request in server.requests] == [False, True, False, True]


@pytest.mark.parametrize(
    ("text", "said"), [("Red.", "not JSON"), (f"Here it is:\n{FENCED}", "not JSON"), (f"{FENCED}\nWell?", "not JSON")]
)
def test_asked_in_words_no_more_than_a_fence_is_looked_through(
    opened: Opened, server: LLMServer, text: str, said: str
) -> None:
    server.rejects_schemas = True
    server.script.append(says(text))

    with pytest.raises(ReplyError, match=said):
        opened().chat_structured(ASKED, SCHEMA)

    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("words", "again"),
    [
        ("Invalid schema for response_format 'answer': output_config.format.schema", True),
        ("This model does not support response format `json_schema`", False),
    ],
)
def test_a_schema_that_is_refused_says_nothing_of_the_next(
    opened: Opened, server: LLMServer, words: str, again: bool
) -> None:
    server.script += [status(400, words), {"colour": "red"}, {"colour": "blue"}]
    llm = opened()

    assert llm.chat_structured(ASKED, SCHEMA).content == {"colour": "red"}
    assert llm.chat_structured(ASKED, {"type": "object"}).content == {"colour": "blue"}
    assert [request.schema is not None for request in server.requests] == [True, False, again]


def test_nothing_is_learnt_from_a_request_that_is_wrong_all_the_same(opened: Opened, server: LLMServer) -> None:
    echo = "too long: '… response_format … output_config …'"
    server.script += [status(400, echo), status(400, echo)]
    llm = opened()

    with pytest.raises(AdapterError, match="too long"):
        llm.chat_structured(ASKED, SCHEMA)

    assert llm.chat_structured(ASKED, SCHEMA).content == FITS
    assert [request.schema is not None for request in server.requests] == [True, False, True]


def test_an_error_that_names_the_schema_but_passes_is_tried_again(opened: Opened, server: LLMServer) -> None:
    server.script += [status(503, "response_format and output_config are overloaded"), {"colour": "red"}]

    assert opened().chat_structured(ASKED, SCHEMA).content == {"colour": "red"}
    assert [request.schema is not None for request in server.requests] == [True, True]


# --- input refused before a request


@pytest.mark.parametrize(
    ("messages", "parameter"),
    [
        ([], "messages"), ("What?", "messages"), ({"role": "user"}, "messages"), (None, "messages"),
        ([{"role": "system", "content": "a"}], "messages"), (["What?"], "messages[0]"),
        ([{"role": "user"}], "messages[0]"), ([{"role": "user", "content": "a", "name": "b"}], "messages[0]"),
        ([*ASKED, {"role": "tool", "content": "a"}], "messages[1].role"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "user", "content": " "}], "messages[0].content"),
        ([{"role": "user", "content": "\ud800"}], "messages[0].content"),
    ],
)  # fmt: skip
def test_messages_that_are_none_are_not_sent(opened: Opened, server: LLMServer, messages: Any, parameter: str) -> None:
    with pytest.raises(InputError) as raised:
        opened().chat(messages)
    assert raised.value.parameter == parameter
    with pytest.raises(InputError) as raised:
        opened().chat_structured(messages, SCHEMA)
    assert raised.value.parameter == parameter
    assert server.requests == []


@pytest.mark.parametrize("schema", [None, {}, "object", {"type": object()}, {"minimum": float("nan")}])
def test_a_schema_that_is_none_is_not_sent(opened: Opened, server: LLMServer, schema: Any) -> None:
    with pytest.raises(InputError, match="schema"):
        opened().chat_structured(ASKED, schema)
    assert server.requests == []


@pytest.mark.parametrize(
    ("opts", "parameter"),
    [
        ({"colour": "red"}, "opts"), ({"model": " "}, "opts.model"), ({"max_tokens": 0}, "opts.max_tokens"),
        ({"max_tokens": True}, "opts.max_tokens"), ({"temperature": 3}, "opts.temperature"),
        ({"temperature": "hot"}, "opts.temperature"), ({"extra": []}, "opts.extra"),
        ({"extra": {"model": "other"}}, "opts.extra"), ({"extra": {"stream": True}}, "opts.extra"),
    ],
)  # fmt: skip
def test_options_that_nobody_heeds_are_refused(
    opened: Opened, server: LLMServer, opts: dict[str, Any], parameter: str
) -> None:
    with pytest.raises(InputError) as raised:
        opened().chat(ASKED, opts)
    assert raised.value.parameter == parameter
    assert server.requests == []


@pytest.mark.parametrize(
    "wrong", [{"base_url": "ftp://host"}, {"base_url": "http://host:port"}, {"base_url": "http://[::1/v1"},
        {"base_url": None}, {"seconds": 0}, {"seconds": True}, {"api_key": "a\nb"}]
)  # fmt: skip
def test_a_server_that_cannot_be_right_is_refused(opened: Opened, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        opened(**wrong)


@pytest.mark.parametrize("model", ["", " ", None, 3])
def test_a_server_needs_a_model(model: Any) -> None:
    with pytest.raises(InputError, match="model"):
        OpenAILLM(model, base_url="http://localhost:1")
