"""JSON over HTTP to a model's server: few retries under one deadline, and typed errors.

All adapters for servers use it. They interpret requests and replies themselves.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pieria.errors import AdapterError, InputError
from pieria.record.json_text import parsed
from pieria.runtime import forks

if TYPE_CHECKING:
    import httpx2

TRIES = 3
_NOT_TAKEN = frozenset({400, 422})
_AGAIN = frozenset({408, 409, 425, 429, 529})
_LONGEST_REPLY = 128 << 20
_FIRST_PAUSE = 0.5
_QUOTED = 200
_SHARED = 16
_WORD = 3
"""Private texts up to this length may be quoted in errors: they reveal nothing and match by chance."""
_HINTS = {
    400: "The server refuses the request: check the model's name, its options, and the length that it can read.",
    401: "Check the API key.",
    403: "Check the API key and its rights.",
    404: "Check the address and the model's name.",
    413: "Send shorter texts, or fewer at once.",
    429: "The server limits requests; try again later.",
}


class Endpoint:
    """A server at one address. `seconds` bounds a call with all its retries and pauses.

    The key goes only into the request, and redirects are not followed. `key_header` has the header's name and the
    prefix of its value.
    """

    def __init__(
        self,
        adapter: str,
        address: str,
        *,
        key: str | None = None,
        key_header: tuple[str, str] = ("Authorization", "Bearer "),
        headers: Mapping[str, str] = MappingProxyType({}),
        seconds: float = 60.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if not _is_address(address):
            raise InputError("base_url", "an address that begins with http:// or https://", None)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 3_600:
            raise InputError("seconds", "a number above 0, up to 3,600", seconds)
        if key is not None and (not key.isascii() or not key.isprintable()):
            raise InputError("api_key", "printable ASCII characters", None)
        self._adapter = adapter
        self._address = address.rstrip("/")
        self._headers = dict(headers)
        if key is not None:
            name, word = key_header
            self._headers[name] = word + key
        self.has_key = key is not None
        self._secrets = () if key is None else (key,)
        self.seconds = seconds
        self._sleep = sleep
        self._client: forks.Own[httpx2.Client] = forks.Own()
        """One for each process: two processes on one connection would read each other's replies."""

    @property
    def host(self) -> str:
        """The server's host, with the port if the address has one. Leaves out user names and passwords."""
        return urlsplit(self._address).netloc.rpartition("@")[2]

    def deadline(self) -> float:
        """Return the time at which a call that begins now must end, with all its retries.

        Imports the HTTP client first, so that the import does not count.
        """
        self._opened()
        return time.monotonic() + self.seconds

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        operation: str,
        private: Sequence[str] = (),
        *,
        deadline: float | None = None,
        optional: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the server's reply, a JSON object. Errors quote none of the `private` texts.

        Raises `NotTakenError` if the server refuses the request and its message contains one of the `optional` words.
        """
        reply = self.post_any(path, body, operation, private, deadline=deadline, optional=optional)
        if not isinstance(reply, dict):
            raise self._error(operation, "the reply is not a JSON object")
        return reply

    def post_any(
        self,
        path: str,
        body: Mapping[str, Any],
        operation: str,
        private: Sequence[str] = (),
        *,
        deadline: float | None = None,
        optional: Sequence[str] = (),
    ) -> Any:
        """Do as `post` does, and return a reply of any JSON value."""
        return self._any("POST", path, body, operation, private, deadline, optional)

    def get(self, path: str, operation: str) -> Any:
        """Return the server's reply to a GET request, any JSON value."""
        return self._any("GET", path, None, operation, (), None, ())

    def _any(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        operation: str,
        private: Sequence[str],
        deadline: float | None,
        optional: Sequence[str],
    ) -> Any:
        until = self.deadline() if deadline is None else deadline
        for attempt in range(1, TRIES + 1):
            try:
                return self._once(method, path, body, operation, private, until)
            except _Refused as refused:
                said = refused.content.decode(errors="replace")
                if refused.status in _NOT_TAKEN and any(word in said.lower() for word in optional):
                    raise NotTakenError(refused.error, said) from None
                raise refused.error from None
            except _Passing as passing:
                pause = passing.after if passing.after is not None else _pause(attempt)
                if attempt == TRIES or time.monotonic() + pause >= until:
                    raise passing.final(time.monotonic() + pause >= until) from passing.__cause__
            self._sleep(pause)
        raise AssertionError("a try either returns or raises")

    def close(self) -> None:
        client = self._client.take()
        if client is not None:
            client.close()

    def _once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        operation: str,
        private: Sequence[str],
        deadline: float,
    ) -> Any:
        import httpx2

        client = self._opened()
        try:
            with client.stream(method, f"{self._address}{path}", json=body, timeout=_left(deadline)) as reply:
                content = self._content(reply, operation, deadline)
        except httpx2.TimeoutException as problem:
            raise _Passing(self._error(operation, self._too_slow(), retryable=True)) from problem
        except httpx2.TransportError as problem:
            reason = f"{self.host} cannot be reached ({type(problem).__name__})"
            hint = "Check the address, and whether the server runs."
            raise _Passing(self._error(operation, reason, retryable=True, hint=hint)) from problem
        except httpx2.DecodingError as problem:
            raise self._error(operation, "the reply has a wrong compression header") from problem
        if reply.status_code != 200:
            raise self._refused(reply.status_code, reply.headers, content, operation, private)
        return self._read(content, operation)

    def _content(self, reply: httpx2.Response, operation: str, deadline: float) -> bytes:
        """Return the whole reply, or raise if it is too late: a slow server may send a byte at a time."""
        reply.request.extensions["timeout"] = {"read": _left(deadline)}
        received = bytearray()
        for chunk in reply.iter_bytes():
            received += chunk
            if len(received) > _LONGEST_REPLY:
                raise self._error(operation, f"the reply is longer than {_LONGEST_REPLY:,} bytes")
            if time.monotonic() > deadline:
                raise _Passing(self._error(operation, self._too_slow(), retryable=True))
        return bytes(received)

    def _refused(
        self, status: int, headers: Mapping[str, str], content: bytes, operation: str, private: Sequence[str]
    ) -> Exception:
        passing = status in _AGAIN or status >= 500
        said = _said(content, (*self._secrets, *private))
        reason = f"the server answered {status}" + (f": {said}" if said else "")
        error = self._error(operation, reason, retryable=passing, hint=_HINTS.get(status))
        return _Passing(error, _retry_after(headers)) if passing else _Refused(error, status, content)

    def _read(self, content: bytes, operation: str) -> Any:
        try:
            return parsed(content)
        except ValueError as problem:
            raise self._error(operation, "the reply is not JSON") from problem

    def _opened(self) -> httpx2.Client:
        try:
            import httpx2
        except ImportError as problem:
            raise self._error("load", "the package httpx2 is missing", hint="Install httpx2.") from problem
        return self._client.get(lambda: httpx2.Client(headers=self._headers, follow_redirects=False))

    def _too_slow(self) -> str:
        return f"no whole reply within {self.seconds:g} seconds"

    def _error(self, operation: str, reason: str, *, retryable: bool = False, hint: str | None = None) -> AdapterError:
        return AdapterError(self._adapter, operation, reason, retryable=retryable, hint=hint)


class NotTakenError(Exception):
    """The server refuses an optional part of the request. `said` is its message.

    Adapters ask again without that part, or raise the `error`.
    """

    def __init__(self, error: AdapterError, said: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.said = said


class _Refused(Exception):
    """A failure that a retry does not help."""

    def __init__(self, error: AdapterError, status: int, content: bytes) -> None:
        super().__init__(str(error))
        self.error = error
        self.status = status
        self.content = content


class _Passing(Exception):
    """A failure that a retry may help. `after` is the pause the server asked for."""

    def __init__(self, error: AdapterError, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.after = after

    def final(self, is_too_long: bool) -> AdapterError:
        """Return the error to raise. If the pause is too long for this call, it says how long the pause must be."""
        error = self.error
        if self.after is None or not is_too_long:
            return error
        hint = f"The server asks to wait {math.ceil(self.after):,} seconds; try again after that."
        return AdapterError(error.adapter, error.operation, error.reason, retryable=True, wait=self.after, hint=hint)


def _is_address(address: object) -> bool:
    try:
        split = urlsplit(address if isinstance(address, str) else "")
        return split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:
        return False


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0.001)


def _pause(attempt: int) -> float:
    """Return a random pause whose bound doubles with each attempt, so that clients do not return together."""
    return random.uniform(0, _FIRST_PAUSE * 2**attempt)  # noqa: S311 - no secret


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, given as a number or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        asked = _seconds(headers.get(name, ""))
        if asked is not None and 0 <= asked < math.inf:
            return asked * unit
    return None


def _seconds(told: str) -> float | None:
    try:
        return float(told)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError):  # no date either, or one without a zone
        return None


def _said(content: bytes, private: Sequence[str]) -> str:
    """Return the server's error message, or an empty text if it quotes the request."""
    try:
        told = parsed(content)
    except ValueError:
        return ""
    error = told.get("error", told) if isinstance(told, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str):
        return ""
    quoted = " ".join(message.split())[:_QUOTED]
    runs = {quoted[at : at + _SHARED] for at in range(max(len(quoted) - _SHARED, 0) + 1)}
    repeats = any((len(text) > _WORD and text in quoted) or any(run in text for run in runs) for text in private)
    return "" if repeats else quoted
