"""One call: its access, its reply, and that no exception escapes."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.toolsets.making import serving, tool, toolset

from pieria.errors import (
    AccessError,
    BusyError,
    InputError,
    NotFoundError,
    PieriaError,
    PrivacyError,
    UnavailableError,
    UnknownError,
)
from pieria.toolsets import Access, Banks, Host, Paths, called
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


def test_an_answer_is_what_the_handler_gave_in_the_envelope(host: Host) -> None:
    with serving(MADE, do=lambda call, content="": [content, call.bank.name]) as registry:
        reply = called(registry, "made_do", {"content": "é"}, host)
    assert (reply.value, reply.is_error) == ({"value": ["é", "notes"]}, False)
    assert json.loads(reply.text) == reply.structured == reply.value


def test_a_list_stands_in_an_object_where_one_is_needed(host: Host) -> None:
    from pieria.toolsets import Reply

    assert Reply([1]).structured == {"result": [1]}
    assert Reply([1]).text == "[1]"


def test_what_is_said_in_words_is_the_text_beside_the_values(host: Host) -> None:
    said = Spoken({"count": 1}, "One.\udce9")
    with serving(MADE, do=lambda call, content="": said) as registry:
        vars(sys.modules[f"{MADE.package}.words"])["succeeded"] = lambda call, value: value
        reply = called(registry, "made_do", {}, host)
    assert (reply.value, reply.structured, reply.text) == ({"count": 1}, {"count": 1}, "One.?")


def test_an_alias_is_another_name_of_the_tool(host: Host) -> None:
    with serving(MADE, look=lambda call: call.tool.name) as registry:
        assert called(registry, "made_see", {}, host).value == {"value": "made_look"}


def test_a_tool_that_is_not_there_is_the_door_s_to_tell(host: Host) -> None:
    with serving(MADE) as registry, pytest.raises(NotFoundError):
        called(registry, "made_dance", {}, host)


@pytest.mark.parametrize(
    ("held", "may"), [(Access.read, {"look"}), (Access.write, {"look", "do"}), (Access.admin, {"look", "do", "rule"})]
)
def test_nobody_does_more_than_they_may(host: Host, held: Access, may: set[str]) -> None:
    done = []
    handlers = {name: lambda call, name=name: done.append(name) for name in ("do", "look", "rule")}
    with serving(MADE, **handlers) as registry:
        for name in handlers:
            reply = called(registry, f"made_{name}", {}, host.having(access=held))
            assert reply.is_error is (name not in may)
            assert isinstance(reply.error, AccessError | None)
    assert set(done) == may


def test_who_may_not_call_it_is_told_nothing_of_the_arguments(host: Host) -> None:
    with serving(MADE) as registry:
        reply = called(registry, "made_do", {"nonsense": 1}, host.having(access=Access.read))
    assert isinstance(reply.error, AccessError)


def test_a_handler_is_not_called_with_arguments_that_do_not_fit(host: Host) -> None:
    with serving(MADE, do=raising(AssertionError("it was called"))) as registry:
        reply = called(registry, "made_do", {"content": 5, "contnet": "x"}, host)
    assert isinstance(reply.error, InputError)
    assert len(reply.error.errors) == 1


def test_an_error_speaks_of_the_parameters_the_caller_knows(host: Host) -> None:
    error = InputError("text", "a text", None, errors=[InputError("text[2].x", "y", 1), InputError("kind", "z", 1)])
    with serving(MADE, do=raising(error)) as registry:
        told = called(registry, "made_do", {}, host).value["error"]
    assert told["parameter"] == "content"
    assert told["message"].startswith("content:")
    assert [one["parameter"] for one in told["errors"]] == ["content[2].x", "kind"]


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (PrivacyError("text", ["password"]), "content: refused", "Take the secret out"),
        (PrivacyError("text", "private"), "content: refused", "Take the secret out"),
        (UnavailableError("text", "there is none"), "content: not available, there is none", "Leave content out."),
        (UnavailableError("text", "there is none", hint="Wait."), "content: not available", "Wait."),
    ],
)
def test_so_does_one_about_what_may_not_be_said(host: Host, error: PieriaError, message: str, hint: str) -> None:
    with serving(MADE, do=raising(error)) as registry:
        told = called(registry, "made_do", {}, host).value["error"]
    assert (told["code"], told["parameter"]) == (error.code, "content")
    assert told["message"].startswith(message)
    assert told["hint"].startswith(hint)


def test_what_does_not_fit_is_told_by_the_name_it_was_given(host: Host) -> None:
    with serving(MADE, do=raising(AssertionError("it was called"))) as registry:
        told = called(registry, "made_do", {"text": "x", "content": 5}, host).value["error"]
    assert {told["parameter"], *(one["parameter"] for one in told["errors"])} == {"text", "content"}
    assert told["parameter"] == "text"
    assert told["expected"] == "a parameter of made_do"


@given(
    st.sampled_from(
        [ValueError, KeyError, RuntimeError, RecursionError, OSError, AttributeError, TypeError, StopIteration]
    )
    | st.sampled_from([BusyError, NotFoundError, UnknownError, PieriaError])
)
def test_nothing_that_a_handler_raises_escapes(kind: type[Exception]) -> None:
    with Workspace(settings={"durability": "off"}) as workspace:
        host = Host(Banks(workspace, "test"), "notes", None, Paths(Path("/"), ()))
        with serving(MADE, do=raising(kind("secret words"))) as registry:
            reply = called(registry, "made_do", {"content": "x"}, host)
    assert reply.is_error
    json.loads(reply.text)
    if not issubclass(kind, PieriaError):
        assert isinstance(reply.error, UnknownError)
        assert "secret words" not in reply.text


def test_what_nobody_foresaw_is_in_the_log(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    with serving(MADE, do=raising(ZeroDivisionError("x"))) as registry, caplog.at_level(logging.ERROR):
        called(registry, "made_do", {}, host)
    [record] = caplog.records
    assert record.exc_info
    assert "made_do" in record.getMessage()


def test_a_tool_that_is_missing_its_handler_is_an_error_too(host: Host) -> None:
    with serving(MADE) as registry:
        assert called(registry, "made_do", {}, host).is_error


# --- banks


def test_a_bank_out_of_reach_is_not_opened(host: Host, tmp_path: Path) -> None:
    confined = host.having(covers=lambda name: name == "mine", bank_name="mine")
    with serving(MADE, do=lambda call: call.host.other("theirs").name) as registry:
        host.having(bank_name="theirs").bank.remember("x")
        assert isinstance(called(registry, "made_do", {}, confined).error, AccessError)
    with serving(MADE, do=lambda call: call.bank.name) as registry:
        reply = called(registry, "made_do", {}, confined.having(bank_name="others"))
    assert isinstance(reply.error, AccessError)
    assert not (tmp_path / "data" / "others.db").exists()


def test_another_bank_must_be_there(host: Host) -> None:
    host.bank.remember("x")
    with pytest.raises(NotFoundError) as caught:
        host.other("nowhere")
    assert caught.value.hint == "Banks here: notes. What is first written to a bank makes it."
    assert host.other(None) is host.other("NOTES") is host.bank


def test_a_bank_stays_open_for_its_session(host: Host) -> None:
    assert host.bank is host.bank
    assert host.having(session="tuesday").bank is not host.bank


def test_those_that_were_used_longest_ago_are_let_go_of(host: Host) -> None:
    first = host.bank
    for number in range(KEPT):
        host.having(session=f"s{number}").bank  # noqa: B018 - to open it is the point
    assert host.bank is not first


def test_a_bank_is_held_and_worked_on_once_however_it_is_spelt(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        banks = Banks(workspace, "test")
        first = banks.opened("Notes", "s1")
        assert banks.opened("notes", "s1") is first
        banks.opened("NOTES", "s2")
        assert [bank.name for bank in banks._worked_on()] == ["Notes"]
        assert (banks.there(), banks.has("nOTES"), banks.has("@me")) == (["Notes"], True, False)
        banks.opened("@me", None)
        assert (banks.there(), banks.has("@me")) == (["Notes", "@me"], True)


SECRET = "password: tern-9Wq!fjord"


def kept(host: Host, **values: Any) -> str:
    made = toolset(tool("made_do"), **values)
    with serving(made, do=lambda call: call.bank.remember(SECRET).text) as registry:
        text: str = called(registry, "made_do", {}, host).value["value"]
        return text


def test_a_toolset_may_redact_secrets_where_nobody_said_what_becomes_of_them(host: Host) -> None:
    assert kept(host) == SECRET
    assert kept(host, secrets="redact") == "password: [secret: password]"
    assert kept(host) == SECRET


@pytest.mark.parametrize("settings", [{"secrets": "flag"}])
def test_what_somebody_set_about_secrets_holds_for_every_toolset(host: Host) -> None:
    assert kept(host, secrets="redact") == SECRET


def test_what_is_the_user_s_own_is_redacted_as_well(host: Host) -> None:
    made = toolset(tool("made_do"), secrets="redact")
    with serving(made, do=lambda call: call.bank.remember(SECRET, scope="user").text) as registry:
        assert called(registry, "made_do", {}, host).value == {"value": "password: [secret: password]"}


def test_json_text_is_taken_as_the_object_itself_where_a_tool_says_so(host: Host) -> None:
    made = toolset(tool("made_do", objects=("text",)), tool("made_look"))
    with serving(made, do=lambda call, text: text, look=lambda call, text: text) as registry:
        assert called(registry, "made_do", {"text": {"a": ["é", 1]}}, host).value == {"value": '{"a": ["é", 1]}'}
        assert called(registry, "made_do", {"text": "{}"}, host).value == {"value": "{}"}
        for tool_name, wrong in (("made_look", {"a": 1}), ("made_do", {"a": float("nan")}), ("made_do", [1])):
            assert isinstance(called(registry, tool_name, {"text": wrong}, host).error, InputError)
