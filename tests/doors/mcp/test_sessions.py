"""The session of a call: from the command line, the environment, the header, the call, or the process."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.doors.mcp.conftest import Piped, Start

from pieria.doors.mcp.server import session_of
from pieria.errors import InputError


def request(header: str | None = None, **meta: Any) -> Any:
    headers = {} if header is None else {"mcp-session-id": header}
    return SimpleNamespace(request=SimpleNamespace(headers=headers), meta=meta)


def session(server: Piped, **meta: Any) -> str:
    params = {"name": "mnemosyne_recall", "arguments": {"query": "tea"}, "_meta": meta}
    told: str = server.ask("tools/call", params)["result"]["_meta"]["pieria/session"]
    return told


def test_a_process_is_one_session_unless_somebody_says_otherwise(start: Start) -> None:
    one, other = start().begun(), start().begun()
    assert session(one) == session(one) != session(other)


def test_a_call_may_name_its_session(start: Start) -> None:
    server = start().begun()
    assert session(server, session="planning") == "planning"
    assert session(server, **{"pieria/session": "planning"}) == "planning"
    assert session(server) != "planning"


def test_the_line_and_the_environment_settle_it(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_SESSION", "from the environment")
    assert session(start().begun(), session="mine") == "from the environment"
    assert session(start("--session", "from the line").begun(), session="mine") == "from the line"


def test_what_a_session_keeps_to_itself_no_other_sees(start: Start) -> None:
    server = start(odd=True).begun()

    def ask(tool: str, session: str, **arguments: Any) -> Any:
        params = {"name": tool, "arguments": arguments, "_meta": {"session": session}}
        return server.ask("tools/call", params)["result"]["structuredContent"]

    ask("odd_keep", "one", text="Our tea is in the blue tin.")
    assert ask("odd_find", "one", query="tea tin") == {"found": 1}
    assert ask("odd_find", "two", query="tea tin") == {"found": 0}


@pytest.mark.parametrize("wrong", [5, "", "  ", ["a"], {"a": 1}, "a\nb", "x" * 1000, True])
def test_a_session_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError) as refused:
        session_of(request(session=wrong))
    assert refused.value.parameter == "_meta.session"


def test_a_session_that_is_none_is_told_to_the_caller(start: Start) -> None:
    params = {"name": "mnemosyne_recall", "arguments": {"query": "tea"}, "_meta": {"session": 5}}
    reply = start().begun().ask("tools/call", params)["result"]
    assert reply["isError"]
    assert reply["structuredContent"]["error"]["parameter"] == "_meta.session"


def test_the_header_of_the_transport_comes_before_what_a_call_says() -> None:
    assert session_of(request("from the header", session="mine")) == "from the header"
    assert session_of(request(session="mine")) == "mine"
    assert session_of(request()) is None
    assert session_of(SimpleNamespace(request=None, meta=None)) is None
