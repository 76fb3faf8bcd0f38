"""The adapters for language models, each against a real HTTP server on this machine that misbehaves on demand.

Each test also checks how often the server was called: an answer costs money, so no answer is requested twice.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.models import llm_server as serving
from tests.models.llm_server import LLMServer, Said, cut, raw, refuses, says, status

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


@pytest.fixture(params=[OpenAILLM, AnthropicLLM])
def opened(request: pytest.FixtureRequest, server: LLMServer, pauses: list[float]) -> Iterator[Opened]:
    with ExitStack() as closing:

        def open(**options: Any) -> ServerLLM:
            given = {"base_url": server.address, "api_key": KEY, "sleep": pauses.append, **options}
            llm: ServerLLM = request.param("m", **given)
            return closing.enter_context(contextlib.closing(llm))

        yield open


def schemas(server: LLMServer) -> list[bool]:
    """Return for each request whether it had a schema."""
    return [request.schema is not None for request in server.requests]


def test_openai_request_follows_its_protocol(server: LLMServer) -> None:
    llm = OpenAILLM("m", base_url=server.address, api_key=KEY)
    llm.chat(TALK, {"max_tokens": 7, "temperature": 0, "extra": {"seed": 3}})
    assert llm.chat_structured(ASKED, SCHEMA).content == FITS
    keyless = OpenAILLM("m", base_url=server.address, limit_field="max_completion_tokens")
    keyless.chat(ASKED, {"max_tokens": 9})
    llm.close()
    keyless.close()
    first, second, third = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.body == {"model": "m", "messages": TALK, "max_tokens": 7, "temperature": 0, "seed": 3}
    told = {"name": "the_colour_of_it", "schema": SCHEMA, "strict": True}
    wanted = {"type": "json_schema", "json_schema": told}
    assert second.body == {"model": "m", "messages": ASKED, "response_format": wanted}
    assert list(second.body["response_format"]["json_schema"]["schema"]["properties"]) == ["size", "colour"]
    assert "authorization" not in third.headers
    assert third.body == {"model": "m", "messages": ASKED, "max_completion_tokens": 9}


def test_anthropic_request_follows_its_protocol(server: LLMServer) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 500, "output_tokens": 2}
    blocks = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It "}, {"type": "text", "text": "is."}]
    server.script.append(raw({"content": blocks, "stop_reason": "end_turn", "usage": usage}))
    llm = AnthropicLLM("m", base_url=server.address, api_key=KEY)
    said = llm.chat(TALK, {"max_tokens": 7, "temperature": 0.5, "extra": {"top_k": 3}})
    assert (said.content, said.usage) == ("It is.", {"input_tokens": 543, "output_tokens": 2})
    assert llm.chat_structured(ASKED, SCHEMA).content == FITS
    llm.close()
    first, second = server.requests
    assert first.path == "/v1/messages"
    assert (first.headers["x-api-key"], first.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in first.headers
    assert first.body == {
        "model": "m", "max_tokens": 7, "system": "Be brief.\n\nBe kind.", "temperature": 0.5, "top_k": 3,
        "messages": [message for message in TALK if message["role"] != "system"],
    }  # fmt: skip
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert second.body == {"model": "m", "max_tokens": 8_192, "messages": ASKED, "output_config": wanted}


def test_reply_has_its_model_and_its_cost(opened: Opened, server: LLMServer) -> None:
    server.script += ["It is red.", says("Red.", usage=False)]
    llm = opened(provider="own")
    replies = [llm.chat(ASKED, opts) for opts in ({}, {"model": "qwen3:8b"}, {"model": "own:qwen3:8b"})]
    assert [reply.model for reply in replies] == [llm.model, "own:qwen3:8b", "own:qwen3:8b"]
    assert [request.body["model"] for request in server.requests] == ["m", "qwen3:8b", "qwen3:8b"]
    assert (replies[0].content, replies[0].usage) == ("It is red.", {"input_tokens": 12, "output_tokens": 3})
    assert (replies[1].content, replies[1].usage) == ("Red.", {"input_tokens": 0, "output_tokens": 0})


FAILURES: list[tuple[str, Said, type[AdapterError], str, bool, int]] = [
    ("too many requests", status(429, "slow down"), AdapterError, "answered 429: slow down", True, 3),
    ("an error of the server", status(500), AdapterError, "answered 500", True, 3),
    ("no answer in time", serving.hangs, AdapterError, "within 0.2 seconds", True, 1),
    ("a byte at a time", serving.drips, AdapterError, "within 0.2 seconds", True, 1),
    ("a reply that stops", serving.stalls, AdapterError, "within 0.2 seconds", True, 1),
    ("a connection that is reset", serving.resets, AdapterError, "cannot be reached", True, 3),
    ("a reply that breaks off", serving.breaks_off, AdapterError, "cannot be reached", True, 3),
    ("a reply that is cut", raw(b'{"cho'), AdapterError, "not JSON", False, 1),
    ("a reply that is a page", raw(b"<html>"), AdapterError, "not JSON", False, 1),
    ("a reply that is a list", raw([1]), AdapterError, "not a JSON object", False, 1),
    ("a reply in pieces", raw(b"abc", Content_Encoding="gzip"), AdapterError, "compression", False, 1),
    ("a reply without an answer", raw({"error": {"message": "upstream"}}), ReplyError, "holds no answer", False, 1),
    ("a wrong key", status(401), AdapterError, "answered 401", False, 1),
    ("a wrong request", status(400, "no such model"), AdapterError, "answered 400: no such model", False, 1),
    ("a quotation", status(400, "cannot read 'colour is a ripe tomato, in'"), AdapterError, "answered 400", False, 1),
    ("a redirection", status(307, Location="/elsewhere"), AdapterError, "answered 307", False, 1),
    ("a filter", refuses(), ReplyRefusedError, "refused to answer", False, 1),
    ("a refusal", serving.objects("I will not speak of tomatoes."), ReplyRefusedError, "refused to answer", False, 1),
    ("an answer that is cut", cut("It is r"), ReplyCutError, "cut off", False, 1),
    ("half of a value", cut('{"colour": "r'), ReplyCutError, "cut off", False, 1),
]


@pytest.mark.parametrize("operation", ["chat", "chat_structured"])
def test_failure_is_reported_without_needless_retries(opened: Opened, server: LLMServer, operation: str) -> None:
    """No error shows the key or the messages."""
    for name, reply, kind, said, retryable, times in FAILURES:
        server.requests.clear()
        server.script = [reply] * times
        llm = opened(seconds=0.2 if "0.2 seconds" in said else 30)
        with pytest.raises(AdapterError) as raised:
            llm.chat(ASKED) if operation == "chat" else llm.chat_structured(ASKED, SCHEMA)
        error = raised.value
        assert said in str(error), name
        assert (type(error), error.retryable, error.operation) == (kind, retryable, operation), name
        assert len(server.requests) == times, name
        shown = str(error) + repr(error) + json.dumps(error.as_dict())
        assert KEY not in shown
        assert "tomato" not in shown


def test_useless_answer_reports_its_cost(opened: Opened, server: LLMServer) -> None:
    server.script += [cut("It is r"), refuses("No."), "no JSON"]
    costs = []
    for _ in range(3):
        with pytest.raises(ReplyError) as raised:
            opened().chat_structured(ASKED, SCHEMA)
        costs.append(raised.value.as_dict()["usage"])
    assert [cost["output_tokens"] for cost in costs] == [3, 1, 2]
    assert {cost["input_tokens"] for cost in costs} == {12}


def test_passing_failure_is_tried_again(server: LLMServer, pauses: list[float]) -> None:
    with contextlib.closing(OpenAILLM("m", base_url=server.address, seconds=10, sleep=pauses.append)) as llm:
        for code in (408, 409, 425, 500, 502, 503, 529):
            server.script = [status(code), status(code), "Red."]
            assert llm.chat(ASKED).content == "Red.", code
            assert 0 <= pauses[-2] <= 1
            assert 0 <= pauses[-1] <= 2
        assert len(server.requests) == 21
        server.script = [status(429, Retry_After="3"), status(529, retry_after_ms="1500"), "Red."]
        assert llm.chat(ASKED).content == "Red."
        assert pauses[-2:] == [3, 1.5]
        server.script = [status(503, Retry_After="Fri, 01 Jan 2016 00:00:00 GMT"), "Red."]
        assert llm.chat(ASKED).content == "Red."
        assert pauses[-1] == 0, "that date has passed"
        for asked, hint in (("15", "wait 15 seconds"), ("4000", "wait 4,000 seconds")):
            server.script = [status(429, Retry_After=asked), "never asked for"]
            with pytest.raises(AdapterError, match="429") as raised:
                llm.chat(ASKED)
            assert len(server.script) == 1, "the pause is longer than the time left"
            assert (raised.value.wait, hint in str(raised.value.hint)) == (float(asked), True)


def test_any_json_is_an_answer_to_a_schema(opened: Opened, server: LLMServer) -> None:
    for answer in ({"colour": 3}, {}, [1, 2], 7, None, True, "0.5"):
        server.script.append(says(json.dumps(answer)))
        assert opened().chat_structured(ASKED, SCHEMA).content == answer


def test_answer_without_json_is_refused(opened: Opened, server: LLMServer) -> None:
    texts = ["", " ", "Red.", FENCED, '{"colour": "red"} Does that help?', '{"colour": NaN}', "{'colour': 'red'}"]
    in_words = ["Red.", f"Here it is:\n{FENCED}", f"{FENCED}\nWell?"]
    for server.rejects_schemas, answers in ((False, [*texts, "[" * 9_999]), (True, in_words)):
        for text in answers:
            server.script.append(says(text))
            with pytest.raises(ReplyError, match="the answer is not JSON") as raised:
                opened().chat_structured(ASKED, SCHEMA)
            assert not raised.value.retryable
    assert schemas(server) == [True] * 8 + [True, False] * 3


def test_server_without_schemas_is_asked_in_words(opened: Opened, server: LLMServer) -> None:
    server.rejects_schemas = True
    server.script += [{"colour": "red"}, FENCED, {}]
    llm = opened()
    first = llm.chat_structured([*TALK, {"role": "assistant", "content": "Yellow."}], SCHEMA)
    second = llm.chat_structured(ASKED, {"type": "array"})
    llm.chat_structured(ASKED, SCHEMA, {"model": "other"})
    assert first.content == second.content == {"colour": "red"}
    assert schemas(server) == [True, False, False, True, False], "remembered for the model"
    asked, words = server.requests[0].messages, server.requests[1].messages
    [(before, after)] = [pair for pair in zip(asked, words, strict=True) if pair[0] != pair[1]]
    assert (before, after) == ({"role": "user", "content": "Lemon?"}, words[-2])
    assert after["content"].startswith("Lemon?\n\n")
    assert after["content"].endswith(json.dumps(SCHEMA))


def test_refusal_of_one_schema_is_not_remembered(opened: Opened, server: LLMServer) -> None:
    server.script += [status(400, "Invalid schema for response_format 'answer': output_config.format.schema")]
    server.script += [{"colour": "red"}, {"colour": "blue"}, status(400, "No response format `json_schema`"), {}, {}]
    llm = opened()
    assert llm.chat_structured(ASKED, SCHEMA).content == {"colour": "red"}
    assert llm.chat_structured(ASKED, {"type": "object"}).content == {"colour": "blue"}
    assert schemas(server) == [True, False, True]
    assert [llm.chat_structured(ASKED, SCHEMA).content for _ in range(2)] == [{}, {}]
    assert schemas(server)[3:] == [True, False, False]


def test_other_errors_do_not_count_as_missing_schemas(opened: Opened, server: LLMServer) -> None:
    echo = "too long: '… response_format … output_config …'"
    overloaded = status(503, "response_format and output_config are overloaded")
    server.script += [status(400, echo), status(400, echo), overloaded, {"colour": "red"}]
    llm = opened()
    with pytest.raises(AdapterError, match="too long"):
        llm.chat_structured(ASKED, SCHEMA)
    assert llm.chat_structured(ASKED, SCHEMA).content == {"colour": "red"}
    assert schemas(server) == [True, False, True, True]


def test_wrong_input_is_not_sent(opened: Opened, server: LLMServer) -> None:
    llm = opened()
    wrong = json.loads(Path(__file__).with_name("wrong_requests.json").read_text("utf-8"))
    requests: list[tuple[Any, Any, str]] = [
        *((messages, {}, parameter) for messages, parameter in wrong["messages"]),
        *((ASKED, opts, parameter) for opts, parameter in wrong["opts"]),
    ]
    for messages, opts, parameter in requests:
        for ask in (llm.chat, lambda messages, opts: llm.chat_structured(messages, SCHEMA, opts)):
            with pytest.raises(InputError) as raised:
                ask(messages, opts)
            assert raised.value.parameter == parameter
    no_schemas: list[Any] = [None, {}, "object", {"type": object()}, {"minimum": float("nan")}]
    for schema in no_schemas:
        with pytest.raises(InputError, match="schema"):
            llm.chat_structured(ASKED, schema)
    assert server.requests == []


def test_wrong_server_or_model_is_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"base_url": "ftp://host"}, {"base_url": "http://host:port"}, {"base_url": "http://[::1/v1"},
        {"base_url": None}, {"seconds": 0}, {"seconds": True}, {"api_key": "a\nb"},
        {"model": ""}, {"model": " "}, {"model": None}, {"model": 3},
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(InputError, match=next(iter(options))):
            OpenAILLM(**{"model": "m", "base_url": "http://localhost:1", **options})
