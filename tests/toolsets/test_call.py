"""One call: its access, its reply, and that no exception escapes."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.made_toolsets import serving, tool, toolset

from pieria import errors
from pieria.errors import AccessError, InputError, NotFoundError, PrivacyError, UnavailableError, UnknownError
from pieria.toolsets import Access, Banks, Host, Reply, called
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import KEPT
from pieria.workspace import Workspace

MADE = toolset(
    tool("made_do", speaks={"text": "content"}, properties={"content": {"type": "string"}}),
    tool("made_look", Access.read, aliases=("made_see",)),
    tool("made_rule", Access.admin),
)


def raising(error: BaseException) -> Callable[..., Any]:
    def handler(call: Any, **given: Any) -> Any:
        raise error

    return handler


def test_reply_is_what_the_handler_returned_in_values_and_words(host: Host) -> None:
    with serving(MADE, do=lambda call, content="": [content, call.bank.name], look=lambda call: call.tool.name) as made:
        reply = called(made, "made_do", {"content": "é"}, host)
        assert called(made, "made_see", {}, host).value == {"value": "made_look"}, "an alias is another name"
    assert (reply.value, reply.is_error) == ({"value": ["é", "notes"]}, False)
    assert json.loads(reply.text) == reply.structured == reply.value
    assert (Reply([1]).structured, Reply([1]).text) == ({"result": [1]}, "[1]")
    said = Spoken({"count": 1}, "One.\udce9")
    with serving(MADE, do=lambda call, content="": said) as registry:
        vars(sys.modules[f"{MADE.package}.words"])["succeeded"] = lambda call, value: value
        reply = called(registry, "made_do", {}, host)
    assert (reply.value, reply.structured, reply.text) == ({"count": 1}, {"count": 1}, "One.?")


def test_nobody_does_more_than_they_may(host: Host) -> None:
    done: list[str] = []
    handlers = {name: lambda call, name=name: done.append(name) for name in ("do", "look", "rule")}
    for held, may in ((Access.read, {"look"}), (Access.write, {"look", "do"}), (Access.admin, {"look", "do", "rule"})):
        done.clear()
        with serving(MADE, **handlers) as registry:
            replies = {name: called(registry, f"made_{name}", {}, host.having(access=held)) for name in handlers}
        assert {name for name, reply in replies.items() if reply.error is None} == set(done) == may
        assert all(isinstance(reply.error, AccessError | None) for reply in replies.values())
    with serving(MADE) as registry:
        reply = called(registry, "made_do", {"nonsense": 1}, host.having(access=Access.read))
        assert isinstance(reply.error, AccessError), "it is told nothing of the arguments"


def test_handler_gets_arguments_that_fit_and_objects_as_text(host: Host) -> None:
    with serving(MADE, do=raising(AssertionError("it was called"))) as registry:
        told = called(registry, "made_do", {"text": "x", "content": 5}, host).value["error"]
    assert {told["parameter"], *(one["parameter"] for one in told["errors"])} == {"text", "content"}
    assert (told["parameter"], told["expected"]) == ("text", "a parameter of made_do")
    made = toolset(tool("made_do", objects=("text",)), tool("made_look"))
    with serving(made, do=lambda call, text: text, look=lambda call, text: text) as registry:
        assert called(registry, "made_do", {"text": {"a": ["é", 1]}}, host).value == {"value": '{"a": ["é", 1]}'}
        assert called(registry, "made_do", {"text": "{}"}, host).value == {"value": "{}"}
        for tool_name, wrong in (("made_look", {"a": 1}), ("made_do", {"a": float("nan")}), ("made_do", [1])):
            assert isinstance(called(registry, tool_name, {"text": wrong}, host).error, InputError)


def test_replies_warn_of_options_that_are_left_out(host: Host) -> None:
    warning = "verbosity: made_look has no such option, and left it out."
    cases: tuple[tuple[Any, Any, str], ...] = (
        ({"count": 1}, {"count": 1, "warnings": [warning]}, ""),
        ({"warnings": ["a"]}, {"warnings": ["a", warning]}, ""),
        ({"data": 1, "meta": {"n": 1}}, {"data": 1, "meta": {"n": 1, "warnings": [warning]}}, ""),
        (Spoken({"count": 1}, "One."), {"count": 1, "warnings": [warning]}, f"One.\n{warning}"),
    )
    for said, value, text in cases:
        with serving(MADE, look=lambda call, said=said: said) as registry:
            vars(sys.modules[f"{MADE.package}.words"])["succeeded"] = lambda call, value: value
            reply = called(registry, "made_look", {"verbosity": 3}, host)
        assert (reply.value, reply.text) == (value, text or reply.written)


def test_errors_name_the_parameters_of_the_tool(host: Host) -> None:
    error = InputError("text", "a text", None, errors=[InputError("text[2].x", "y", 1), InputError("kind", "z", 1)])
    with serving(MADE, do=raising(error)) as registry:
        told = called(registry, "made_do", {}, host).value["error"]
    assert told["parameter"] == "content"
    assert told["message"].startswith("content:")
    assert [one["parameter"] for one in told["errors"]] == ["content[2].x", "kind"]
    for raised, message, hint in (
        (PrivacyError("text", ["password"]), "content: refused", "Take the secret out"),
        (PrivacyError("text", "private"), "content: refused", "Take the secret out"),
        (UnavailableError("text", "there is none"), "content: not available, there is none", "Leave content out."),
        (UnavailableError("text", "there is none", hint="Wait."), "content: not available", "Wait."),
    ):
        with serving(MADE, do=raising(raised)) as registry:
            told = called(registry, "made_do", {}, host).value["error"]
        assert (told["code"], told["parameter"]) == (raised.code, "content")
        assert told["message"].startswith(message)
        assert told["hint"].startswith(hint)


def test_nothing_that_a_handler_raises_escapes(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    unforeseen = (ValueError, KeyError, RuntimeError, RecursionError, OSError, AttributeError, TypeError, StopIteration)
    with caplog.at_level(logging.ERROR):
        for kind in (*unforeseen, errors.BusyError, NotFoundError, UnknownError, errors.PieriaError):
            caplog.clear()
            with serving(MADE, do=raising(kind("secret words"))) as registry:
                reply = called(registry, "made_do", {"content": "x"}, host)
            assert reply.is_error
            json.loads(reply.text)
            if kind in unforeseen:
                assert isinstance(reply.error, UnknownError)
                assert "secret words" not in reply.text
                [record] = caplog.records
                assert record.exc_info and "made_do" in record.getMessage()
    with serving(MADE) as registry:
        assert called(registry, "made_do", {}, host).is_error, "there is no handler"
        with pytest.raises(NotFoundError):
            called(registry, "made_dance", {}, host)


def test_banks_are_opened_once_and_within_reach(host: Host, tmp_path: Path) -> None:
    confined = host.having(covers=lambda name: name == "mine", bank_name="mine")
    with serving(MADE, do=lambda call: call.host.other("theirs").name) as registry:
        host.having(bank_name="theirs").bank.remember("x")
        assert isinstance(called(registry, "made_do", {}, confined).error, AccessError)
    with serving(MADE, do=lambda call: call.bank.name) as registry:
        reply = called(registry, "made_do", {}, confined.having(bank_name="others"))
    assert isinstance(reply.error, AccessError)
    assert not (tmp_path / "data" / "others.db").exists()
    with Workspace(tmp_path) as workspace:
        banks = Banks(workspace, "test")
        first = banks.opened("Notes", "s1")
        assert banks.opened("notes", "s1") is first
        banks.opened("NOTES", "s2")
        assert [bank.name for bank in banks._worked_on()] == ["Notes"]
        assert (banks.there(), banks.has("nOTES"), banks.has("@me")) == (["Notes"], True, False)
        banks.opened("@me", None)
        assert (banks.there(), banks.has("@me")) == (["Notes", "@me"], True)


def test_banks_must_exist_and_stay_open(host: Host) -> None:
    host.bank.remember("x")
    with pytest.raises(NotFoundError) as caught:
        host.other("nowhere")
    assert caught.value.hint == "Banks here: notes. What is first written to a bank makes it."
    assert host.other(None) is host.other("NOTES") is host.bank
    assert host.having(session="tuesday").bank is not host.bank
    first = host.bank
    for number in range(KEPT):
        host.having(session=f"s{number}").bank  # noqa: B018 - to open it is the point
    assert host.bank is not first


SECRET = "password: tern-9Wq!fjord"


def kept(host: Host, **values: Any) -> str:
    made = toolset(tool("made_do"), **values)
    with serving(made, do=lambda call: call.bank.remember(SECRET).text) as registry:
        text: str = called(registry, "made_do", {}, host).value["value"]
        return text


def test_toolset_redacts_secrets_unless_a_setting_rules(host: Host, tmp_path: Path) -> None:
    assert kept(host) == SECRET
    assert kept(host, secrets="redact") == "password: [secret: password]"
    assert kept(host) == SECRET
    made = toolset(tool("made_do"), secrets="redact")
    with serving(made, do=lambda call: call.bank.remember(SECRET, scope="user").text) as registry:
        assert called(registry, "made_do", {}, host).value == {"value": "password: [secret: password]"}
    with Workspace(tmp_path / "set", {"secrets": "flag"}) as workspace:
        assert kept(host.having(banks=Banks(workspace, "test")), secrets="redact") == SECRET
