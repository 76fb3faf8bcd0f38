"""Server addresses: recognise them, parse them, and show them without a password.

Connect with `url`. Log, show or report only `str(address)`, which leaves the password out.
"""

from __future__ import annotations

import re
from hashlib import sha256
from urllib.parse import parse_qsl, quote

from pieria.record.banks import bank_name_from

_SERVER = re.compile(r"(postgres(?:ql)?)://(.*)", re.IGNORECASE | re.DOTALL)
_PORTS = re.compile(r"[0-9]*")
HOW_TO_WRITE = "Write postgresql://USER@HOST:PORT/DATABASE; what is special in a password is spelt %40 for @ and so on."
UNREADABLE = "the address cannot be read; it is not shown, for a password may be in it"
_TOLD = ("host", "hostaddr", "port", "dbname", "service", "user")
"""Query parameters that are safe to show. Other parameters may hold passwords."""
_HIDDEN = "…"
_LONGEST_STEM = 40
_DIGITS = 8


class Address:
    """A server's address. `str()` gives the form that may be shown."""

    __slots__ = ("_target", "_user", "url")

    def __init__(self, url: str) -> None:
        found = _SERVER.fullmatch(url)
        # The driver accepts the scheme only in lower case.
        self.url = f"{found[1].lower()}://{found[2]}" if found else url
        self._user, self._target = _parts(found[2] if found else "")

    def __str__(self) -> str:
        user = f"{self._user}@" if self._user else ""
        return f"postgresql://{user}{self._target}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    @property
    def is_sound(self) -> bool:
        """Return whether the address could be parsed. Never show any part of an address that could not."""
        return self._target not in ("", _HIDDEN)

    @property
    def stem(self) -> str:
        """Return a folder name for the server's database. Credentials before the @ do not change it."""
        named = bank_name_from(re.sub(r"[^\w.-]", "-", self._target), _LONGEST_STEM) or "server"
        return f"{named.strip('-')}-{sha256(self._target.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"


def is_server(text: str) -> bool:
    return _SERVER.fullmatch(text) is not None


def _parts(behind_scheme: str) -> tuple[str, str]:
    """Return the user and the target, both without secrets.

    An address that does not parse is hidden completely: any part of it may be a password.
    """
    place, question, query = behind_scheme.partition("?")
    netloc, slash, database = place.partition("/")
    credentials, _, hosts = netloc.rpartition("@")
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    if "@" in slash + database + query or not all(map(_PORTS.fullmatch, ports)):
        return "", _HIDDEN
    told = [(name, value) for name, value in parse_qsl(query) if name in _TOLD] if question else []
    behind = "&".join(f"{name}={quote(value, safe='/,:')}" for name, value in told)
    return credentials.partition(":")[0], hosts + slash + database + (f"?{behind}" if behind else "")
