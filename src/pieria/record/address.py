"""Where things are: addresses of servers, places of keys, and the length of paths.

Connect with `url`. Log, show or report only `str(address)`, which leaves the password out.
"""

from __future__ import annotations

import ipaddress
import re
from hashlib import sha256
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from pieria.errors import InputError
from pieria.record.banks import bank_name_from

_WEB = re.compile(r"https?://", re.IGNORECASE)
_BANKS = "/v1/banks"
HOW_TO_WRITE_WEB = "Write https://HOST, and give the token in token or PIERIA_TOKEN."
_SERVER = re.compile(r"(postgres(?:ql)?)://(.*)", re.IGNORECASE | re.DOTALL)
_PORTS = re.compile(r"[0-9]*")
HOW_TO_WRITE = "Write postgresql://USER@HOST:PORT/DATABASE; what is special in a password is spelt %40 for @ and so on."
UNREADABLE = "the address cannot be read; it is not shown, for a password may be in it"
_TOLD = ("host", "hostaddr", "port", "dbname", "service", "user")
"""Query parameters that are safe to show. Other parameters may hold passwords."""
_HIDDEN = "…"
_LONGEST_STEM = 40
_DIGITS = 8
KEYRING, FILE, COMMAND, VARIABLE = "keyring", "file", "command", "env"
KINDS = (KEYRING, FILE, COMMAND, VARIABLE)
ENTRY = "default"
"""The default name of the keyring entry."""
LONGEST, LONGEST_PART = 4_000, 255
"""Bytes that every system accepts. Longer paths would fail in the middle of an operation."""
EXPECTED = f"a path of at most {LONGEST:,} bytes, each part of at most {LONGEST_PART}"
_SLASHES = re.compile(rb"[/\\]")


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


class WebAddress(Address):
    """The address of a Pieria server, without a token. One that holds more than host, port and path is not sound."""

    __slots__ = ("_host",)

    def __init__(self, url: str) -> None:
        found = _web_parts(url.strip())
        self._user = ""
        self._target = _HIDDEN if found is None else f"{found.netloc.lower()}{found.path.rstrip('/')}"
        self.url = url if found is None else f"{found.scheme}://{self._target}"
        self._host = None if found is None else found.hostname

    def __str__(self) -> str:
        return self.url if self.is_sound else _HIDDEN

    @property
    def is_private(self) -> bool:
        """Return whether the way is private: it has TLS, or the server is on this machine."""
        return self.url.startswith("https:") or _is_loopback(self._host or "")


def split_bank(url: str) -> tuple[str, str | None]:
    """Return the server's address and the bank's name, which is the last part of the path. None if there is none."""
    scheme, _, rest = url.strip().partition("://")
    host, slash, path = rest.rstrip("/").partition("/")
    before, _, name = f"{slash}{path}".rpartition("/")
    return f"{scheme}://{host}{before.removesuffix(_BANKS)}", unquote(name) or None


def is_web(text: str) -> bool:
    return _WEB.match(text.strip()) is not None


def _web_parts(url: str) -> SplitResult | None:
    """Return the parts of an address that has only a host, a port and a path."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    more = parts.query or parts.fragment or "@" in parts.netloc or any(map(str.isspace, url))
    return parts if parts.hostname and port != 0 and not more and url.isprintable() else None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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


def checked_key_place(value: str, parameter: str = "seal_key") -> str:
    kind, colon, rest = value.strip().partition(":")
    rest = rest.strip()
    if not colon or kind not in KINDS or "\0" in rest or (kind != KEYRING and not rest):
        # Do not quote the value in the error: it may be a key.
        raise InputError(parameter, "keyring:, keyring:NAME, file:PATH, command:… or env:NAME", None)
    if kind == FILE and not Path(rest).expanduser().is_absolute():
        raise InputError(parameter, "a file in full, as file:/PATH or file:~/PATH", value)
    if kind == KEYRING and not rest:
        rest = ENTRY
    return f"{kind}:{rest}"


def check_length(path: str, parameter: str) -> str:
    """Return the path. Raise `InputError` if the path or one of its parts is too long."""
    if not has_length(path):
        raise InputError(parameter, EXPECTED, path)
    return path


def has_length(path: str) -> bool:
    """Return whether a path and its parts are short enough for every system."""
    written = path.encode("utf-8", "surrogatepass")
    return len(written) <= LONGEST and all(len(part) <= LONGEST_PART for part in _SLASHES.split(written))
