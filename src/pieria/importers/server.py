"""Read the API of another system's server, a page at a time. Addresses come from the user alone, never from a reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pieria.errors import AdapterError, InputError
from pieria.importers.source import Source
from pieria.models.endpoint import Endpoint

SECONDS = 120.0
MOST_PAGES = 1_000_000


class Server:
    """One server. Errors name it, and never the token."""

    def __init__(self, system: str, endpoint: Endpoint) -> None:
        self._system = system
        self._endpoint = endpoint

    def get(self, path: str, **query: object) -> Any:
        """Return the reply to a GET request. A parameter that is None is left out."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._endpoint.get(f"{path}?{urlencode(given)}" if given else path, "read")

    def post(self, path: str, body: Mapping[str, Any], **query: object) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        return self._endpoint.post_any(f"{path}?{urlencode(given)}" if given else path, body, "read")

    def pages(self, path: str, body: Mapping[str, Any], size: int) -> Iterator[Any]:
        """Yield the items of every page of a list with cursors: `items` and `next_cursor`."""
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            reply = self.post(path, body, page_size=size, cursor=cursor)
            yield from self.rows(reply, "items")
            cursor = reply.get("next_cursor") if isinstance(reply, dict) else None
            if not cursor or cursor in seen:
                return
            seen.add(cursor)

    def rows(self, reply: Any, *keys: str) -> list[Any]:
        """Return the list in a reply: the reply itself, or its member under one of the keys."""
        found = reply
        if isinstance(reply, dict):
            found = next((reply[key] for key in keys if isinstance(reply.get(key), list)), None)
        if not isinstance(found, list):
            wanted = " or ".join(keys) or "records"
            raise AdapterError(self._system, "read", f"the reply has no list of {wanted}", hint="Check the address.")
        return found


@contextmanager
def opened(
    source: Source, system: str, variable: str | None, key_header: tuple[str, str] = ("Authorization", "Bearer ")
) -> Iterator[Server]:
    """Yield the server at the source's address. The token is the call's, or that of the environment variable."""
    token = source.token or (source.environment.get(variable) if variable else None) or None
    address = source.name.split("?")[0].split("#")[0]
    parts = urlsplit(address)
    if token is not None and parts.scheme == "http" and not _is_here(parts.hostname or ""):
        raise InputError("source", "an https address: a token is not sent in the clear", source.name)
    endpoint = Endpoint(system, address, key=token, key_header=key_header, seconds=SECONDS)
    try:
        yield Server(system, endpoint)
    finally:
        endpoint.close()


def quoted(name: str) -> str:
    """Return a name as one part of a path."""
    return quote(name, safe="")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
