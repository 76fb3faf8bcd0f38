"""Where a token goes and where it does not, and what failures of the wire mean."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.doors.http.conftest import Served

import pieria
from pieria.doors import server
from pieria.errors import AccessError, InputError, UnavailableError, UnreachableError
from pieria.record.address import WebAddress, split_bank
from pieria.remote import connection
from pieria.remote.connection import Connection

TOKEN = "pieria_made-up"


@contextmanager
def answering(status: int, body: bytes = b"", **headers: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a server that always gives this answer, and the tokens that it was shown."""
    shown: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            shown.append(self.headers.get("Authorization", ""))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", shown
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_redirects_are_not_followed() -> None:
    with answering(200, b'{"value": {}}') as (elsewhere, shown), answering(307, Location=f"{elsewhere}/x") as (url, _):
        with pytest.raises(UnavailableError, match="redirects"):
            pieria.open("notes", data=url, token=TOKEN)
        assert shown == []


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b"", b"null", b"[" * 5000])
def test_an_answer_of_another_program_is_no_bank(body: bytes) -> None:
    with answering(200, body) as (url, _), pytest.raises(UnreachableError, match="does not answer as a Pieria"):
        pieria.open("notes", data=url)


def test_an_error_without_ours_tells_its_status() -> None:
    with answering(502, b'{"detail": "bad gateway"}') as (url, _), pytest.raises(UnreachableError, match="502"):
        pieria.open("notes", data=url)


def test_unknown_values_of_a_newer_server_are_said() -> None:
    with answering(200, b'{"value": {"$new": 1}}') as (url, _), pytest.raises(UnreachableError, match="this version"):
        pieria.open("notes", data=url)


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with answering(200) as (url, _):
        pass
    with pytest.raises(UnreachableError, match="cannot be reached") as failed:
        pieria.open("notes", data=url)
    assert failed.value.retryable


def test_a_token_goes_to_other_machines_only_by_tls() -> None:
    for url in ("http://memory.example", "http://10.0.0.1:7411", "http://127.0.0.1.example"):
        with pytest.raises(UnavailableError, match="readable") as refused:
            Connection(WebAddress(url), TOKEN)
        assert TOKEN not in str(refused.value)
        assert Connection(WebAddress(url)) and Connection(WebAddress(url), TOKEN, plain_http=True)
    for url in ("https://memory.example", "http://127.0.0.1:7411", "http://localhost", "http://[::1]:7411"):
        assert Connection(WebAddress(url), TOKEN)
    with pytest.raises(UnavailableError, match="readable"):
        pieria.open("notes", data="http://memory.example", token=TOKEN)


def test_a_token_that_is_none_is_refused_and_not_shown() -> None:
    for token in ("two\r\nHost: x", "ümlaut", "", " a"):
        with pytest.raises(InputError) as refused:
            Connection(WebAddress("https://memory.example"), token)
        assert refused.value.parameter == "token" and "Host" not in str(refused.value)


@pytest.mark.parametrize("url", [
    "https://maya:hunter2@memory.example", "https://memory.example?token=hunter2", "https://memory.example/#hunter2",
    "https://", "http://host:port", "https://host:0", "https://ho st",
])  # fmt: skip
def test_an_address_that_is_unsound_is_not_shown(url: str) -> None:
    with pytest.raises(UnavailableError) as refused:
        pieria.open("notes", data=url)
    assert refused.value.parameter == "data" and "hunter2" not in str(refused.value)


def test_an_address_may_end_with_the_bank() -> None:
    assert split_bank("https://memory.example/travel") == ("https://memory.example", "travel")
    assert split_bank("https://memory.example/v1/banks/travel/") == ("https://memory.example", "travel")
    assert split_bank("https://example.org/memory/old%20notes") == ("https://example.org/memory", "old notes")
    assert split_bank("http://127.0.0.1:7411/") == ("http://127.0.0.1:7411", None)


def test_arguments_without_an_effect_are_refused(at: tuple[Served, str], tmp_path: Path) -> None:
    _, url = at
    for more, parameter in (
        ({"token": TOKEN, "data": tmp_path}, "token"),
        ({"data": url, "settings": {"embedder": "none"}}, "embedder"),
        ({"data": url, "clock": lambda: None}, "clock"),
    ):
        with pytest.raises(UnavailableError) as refused:
            pieria.open("notes", **more)
        assert refused.value.parameter == parameter
    with pytest.raises(InputError):
        pieria.open(f"{url}/notes", data=url)
    with pytest.raises(UnavailableError), pieria.Workspace(url, llm=lambda messages: "") as workspace:
        workspace.open("notes")


def test_a_missing_token_says_how_to_give_it(at: tuple[Served, str]) -> None:
    served, url = at
    served.token("read")
    with pytest.raises(AccessError) as refused:
        pieria.open("notes", data=url)
    assert refused.value.reason == "no_token" and "PIERIA_TOKEN" in str(refused.value.hint)


def test_a_connection_is_left_before_a_server_closes_it() -> None:
    assert connection.IDLE_SECONDS < server.IDLE_SECONDS
    assert uvicorn.Config(lambda: None).timeout_keep_alive > connection.IDLE_SECONDS
