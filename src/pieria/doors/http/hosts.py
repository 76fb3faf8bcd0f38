"""The host names that a server accepts. A page of another site can send requests, but not under these names.

An address that leads here need not be ours: a foreign name may resolve to this machine (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pieria.errors import AccessError, InputError

LOCAL = "localhost"
ALLOWED = "Only pages of this server and of hosts named with --allow-host may send requests."
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Hosts:
    """`named` are the server's names, including the allowed ones; `allowed` are only those, whose pages may send
    requests.

    `open_to_others`: other machines can reach the server.
    """

    named: frozenset[str] = field(default_factory=frozenset)
    open_to_others: bool = False
    allowed: frozenset[str] = field(default_factory=frozenset)

    def check(self, host: str | None, arrived_at: str | None) -> None:
        """Raise `InputError` if the `Host` header is not one of ours."""
        name = None if host is None else _parts(host, "http")[0]
        if name is None or not self._is_ours(name, arrived_at):
            hint = "Use the address that the server printed, or allow the name: pieria serve --allow-host NAME."
            raise InputError("Host", "a host name of this server", host, hint=hint)

    def check_origin(self, origin: str, host: str | None) -> None:
        """Raise `AccessError` for a page of another origin. Another port is another origin."""
        split = _split(origin)
        scheme = split[0] if split else ""
        asked = _parts(split[1], scheme) if split else ("", None)
        same = host is not None and scheme in _PORTS and asked == _parts(host, scheme)
        if not same and not (scheme in _PORTS and asked[0] in self.allowed):
            raise AccessError("foreign_origin", hint=ALLOWED)

    def _is_ours(self, name: str, arrived_at: str | None) -> bool:
        if name == LOCAL or name in self.named or _is_loopback(name):
            return True
        return self.open_to_others and arrived_at is not None and name == arrived_at.partition("%")[0].lower()


def check_led(destination: str | None) -> None:
    """Raise `AccessError` unless a request led by another site's page opens in a window of its own."""
    if destination != "document":
        raise AccessError("foreign_origin", hint=ALLOWED)


def hosts(bound: str, open_to_others: bool, allowed: Iterable[str]) -> Hosts:
    """Return the names of a server that is bound to a host."""
    own = [bound, socket.gethostname()] if open_to_others else [bound]
    further = frozenset(map(_plain, allowed))
    return Hosts(frozenset(map(_plain, own)) | further, open_to_others, further)


def _split(origin: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.scheme, parts.netloc


def _parts(authority: str, scheme: str) -> tuple[str, int | None]:
    """Return name and port of `name:port`, `[address]:port` or a name alone."""
    name, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        name, port = authority, ""
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else None
    if port and number is None:
        return authority, None
    return _plain(name), number or _PORTS.get(scheme)


def _plain(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
