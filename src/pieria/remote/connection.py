"""Requests to a Pieria server: how they are sent, and what their answers and failures mean.

TLS certificates are verified, redirects are not followed, and a request is never repeated. Verbs do not belong here.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pieria.errors import AccessError, InputError, PieriaError, UnavailableError, UnreachableError
from pieria.record.address import WebAddress
from pieria.record.json_text import parsed
from pieria.remote.errors import error_of
from pieria.runtime import forks

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 30.0
"""Longest silence of a server. It writes a line every few seconds while a verb runs."""
IDLE_SECONDS = 2.0
"""Longest idle time of a connection that is used again. A server closes idle ones after 5 seconds or more."""
LINES = "application/x-ndjson"
"""The content type of an answer that reports progress, line by line."""
CHUNK = 4 << 20
"""Bytes of a file in one request."""
Progress = Callable[[int, int], object]
NO_TLS = "a token would travel readable: the address has no TLS, and is not on this machine"
WHERE = "Check the address in data, and that the server runs."
UNSURE = f"{WHERE} A write may have been done or not: look before you repeat it."


class Connection:
    """A server and the token for it. Threads may share it; a forked child makes its own connection."""

    def __init__(self, address: WebAddress, token: str | None = None, *, plain_http: bool = False) -> None:
        if token is not None and not (token.isascii() and token.isprintable() and token.strip() == token != ""):
            raise InputError("token", "a token as the server printed it", None)
        if token is not None and not (address.is_private or plain_http):
            hint = "Use https://, or allow it with the setting plain_http on a network that you trust."
            raise UnavailableError("token", NO_TLS, hint=hint)
        self.address = address
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client: forks.Own[httpx2.Client] = forks.Own()

    def call(self, bank: str, verb: str, body: Mapping[str, Any], progress: Progress | None = None) -> dict[str, Any]:
        """Return the server's answer to a verb. `progress` is called with the steps that the server reports."""
        path = f"/v1/banks/{quote(bank, safe='')}/verbs/{verb}"
        # Escapes keep any text intact, also one that is no valid Unicode.
        sent = json.dumps(body, allow_nan=False).encode()
        headers = {"Content-Type": "application/json", "Accept": LINES}
        with self._answer("POST", path, content=sent, headers=headers) as answer:
            if _kind(answer) != LINES:
                return self._whole(answer)
            for line in answer.iter_lines():
                if line and (told := self._object(line.encode())):
                    if "progress" not in told:
                        return self._or_error(told)
                    if progress is not None:
                        progress(*told["progress"])
        raise UnreachableError("call", f"{self.address} ended its answer early", hint=UNSURE)

    def get(self, path: str) -> dict[str, Any]:
        with self._answer("GET", path) as answer:
            return self._whole(answer)

    def upload(self, bank: str, chunks: Iterator[bytes]) -> str:
        """Send a file piece by piece, and return the name under which the server holds it for one import."""
        held: dict[str, Any] = {}
        headers = {"Content-Type": "application/octet-stream"}
        for chunk in chunks:
            at = f"?id={held['id']}&at={held['bytes']}" if held else ""
            path = f"/v1/banks/{quote(bank, safe='')}/uploads{at}"
            with self._answer("POST", path, content=chunk, headers=headers) as answer:
                held = self._whole(answer)
        return str(held["id"])

    def download(self, bank: str, file: str) -> Iterator[bytes]:
        """Yield the bytes of a file that a verb has written."""
        with self._answer("GET", f"/v1/banks/{quote(bank, safe='')}/downloads/{file}") as answer:
            if answer.status_code != 200:
                self._whole(answer)
            yield from answer.iter_bytes()

    @contextmanager
    def events(self, path: str, seconds: float) -> Iterator[Iterator[str]]:
        """Yield the lines of a stream of events, which ends after a silence of these seconds."""
        import httpx2

        def lines() -> Iterator[str]:
            try:
                yield from answer.iter_lines()
            except httpx2.ReadTimeout:
                return

        # The time is for the events: a busy server may begin to answer later.
        with self._answer("GET", path) as answer:
            answer.request.extensions["timeout"] = {"read": seconds}
            if _kind(answer) != "text/event-stream":
                self._whole(answer)
            yield lines()

    def close(self) -> None:
        client = self._client.take()
        if client is not None:
            client.close()

    @contextmanager
    def _answer(
        self, method: str, path: str, *, read: float = SILENT_SECONDS, **more: Any
    ) -> Iterator[httpx2.Response]:
        import httpx2

        waits = httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS, read=read, pool=None)
        try:
            with self._opened().stream(method, f"{self.address.url}{path}", timeout=waits, **more) as answer:
                yield answer
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as problem:
            reason = f"{self.address} cannot be reached ({type(problem).__name__})"
            raise UnreachableError("call", reason, hint=WHERE) from problem
        except httpx2.TransportError as problem:
            reason = f"{self.address} does not answer ({type(problem).__name__})"
            raise UnreachableError("call", reason, hint=UNSURE) from problem
        except httpx2.DecodingError as problem:
            raise UnreachableError("call", f"{self.address} sends an unreadable answer", hint=UNSURE) from problem

    def _opened(self) -> httpx2.Client:
        import httpx2

        def made() -> httpx2.Client:
            # Loading the certificates takes longer than a call. Without them, a context accepts no server.
            needs_tls = self.address.url.startswith("https:")
            verify = True if needs_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            # A request on a connection that the server closes at that moment would fail, and is never repeated.
            limits = httpx2.Limits(keepalive_expiry=IDLE_SECONDS)
            return httpx2.Client(headers=self._headers, follow_redirects=False, verify=verify, limits=limits)

        return self._client.get(made)

    def _whole(self, answer: httpx2.Response) -> dict[str, Any]:
        """Return the object that an answer holds, or raise the error that it tells."""
        if 300 <= answer.status_code < 400:
            hint = "Give the address that it redirects to, if you trust it: a token is sent only where you say."
            raise UnavailableError("data", f"{self.address} redirects to another address", hint=hint)
        told = self._object(answer.read(), answer.status_code)
        return self._or_error(told, answer.status_code)

    def _object(self, content: bytes, status: int = 200) -> dict[str, Any]:
        try:
            told = parsed(content)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            reason = f"{self.address} does not answer as a Pieria server (status {status})"
            raise UnreachableError("call", reason, hint=WHERE)
        return told

    def _or_error(self, told: dict[str, Any], status: int = 200) -> dict[str, Any]:
        if "error" not in told and status < 400:
            return told
        raise self._error(told.get("error"), status)

    def _error(self, told: object, status: int) -> PieriaError:
        if not isinstance(told, Mapping):
            return UnreachableError("call", f"{self.address} answers with the status {status}", hint=WHERE)
        error = error_of(told)
        if isinstance(error, AccessError) and error.reason == "no_token":
            return AccessError("no_token", hint="Give the token: pieria.open(…, token=…), or PIERIA_TOKEN.")
        return error


def _kind(answer: httpx2.Response) -> str:
    return str(answer.headers.get("content-type", "")).partition(";")[0].strip().lower()
