"""What a user may choose for the agent: `pieria.json` in the home folder of Hermes."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pieria.errors import ConfigError, InputError, PieriaError, StorageError
from pieria.record.banks import bank_name_from, check_bank_name, same_bank
from pieria.record.json_text import parsed

FILE = "pieria.json"
HOME = "HERMES_HOME"
PLACES = ("profile", "platform", "user")
"""What may stand in braces in the name of a bank."""

NOBODY = "nobody"
"""Stands for `{user}` where the host does not say who it is."""
LONGEST_PART = 16
"""Bytes of what stands for a brace, before its digest: what holds several must not be cut."""
DIGEST_BYTES = 6

_NO_PROFILE = ("", "default")
_DIGESTED = re.compile(rf"(^|-)[0-9a-f]{{{2 * DIGEST_BYTES}}}$")
_BRACES = re.compile(r"\{([^{}]*)\}")
_BOUNDS: Mapping[str, tuple[float, float]] = {
    "prefetch_ms": (20, 5_000),
    "prefetch_tokens": (100, 20_000),
    "min_confidence": (0, 1),
}


@dataclass(frozen=True, slots=True)
class Options:
    """`bank` may hold `{profile}`, `{platform}` and `{user}`; without one it follows from the profile.

    Something is told before a message where recall is that confident: a score compares memories with each other, and
    the best of what is beside the point is the best as well.
    """

    bank: str | None = None
    data: str | None = None
    autosave: bool = True
    mirror: bool = True
    sleep: bool = True
    prefetch: bool = True
    prefetch_ms: int = 1_500
    prefetch_tokens: int = 800
    min_confidence: float = 0.3
    tools: tuple[str, ...] | None = None

    @property
    def given_tools(self) -> tuple[str, ...]:
        from pieria.hermes.tools import NAMES

        return NAMES if self.tools is None else self.tools

    def bank_for(self, profile: str, platform: str, user: str) -> str:
        if self.bank is None:
            return "hermes" if profile in _NO_PROFILE else f"hermes-{_part_of_name(profile)}"
        known = {
            "profile": _part_of_name(profile or "default"),
            "platform": _part_of_name(platform or "cli"),
            # Whoever is called as nobody is, is somebody.
            "user": _part_of_name(user, but=NOBODY) if user else NOBODY,
        }
        return _BRACES.sub(lambda place: known[place[1]], self.bank)


def _part_of_name(value: str, but: str | None = None) -> str:
    """The value as it may stand in a bank's name, with a digest where another value could look the same there.

    Names that differ in case alone are one bank's, and a value may look like one with a digest.
    """
    shown = same_bank(bank_name_from(value, LONGEST_PART, LONGEST_PART))
    if shown == value != but and not _DIGESTED.search(value):
        return shown
    digest = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return f"{shown}-{digest}".removeprefix("-")


def home_folder() -> Path:
    """Of the Hermes that is running, or of the one that this user has."""
    constants = sys.modules.get("hermes_constants")
    if constants is not None and hasattr(constants, "get_hermes_home"):
        return Path(constants.get_hermes_home())
    return Path(os.environ.get(HOME) or "~/.hermes").expanduser()


def options_in(home: Path) -> Options:
    """Those of this home folder. Raises `ConfigError` with everything that is wrong in the file."""
    return _options(_read(home / FILE), f"{home / FILE}: ")


def save(home: Path, values: Mapping[str, Any]) -> Options:
    """Writes these beside what the file says already; an empty text takes one out. Raises what `options_in` raises."""
    said = {**_read(home / FILE), **values}
    kept = {name: value for name, value in said.items() if value is not None and value != ""}
    options = _options(kept, "")
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=home, prefix=f".{FILE}.", delete=False, encoding="utf-8") as aside:
            try:
                json.dump(kept, aside, indent=2, ensure_ascii=False)
                aside.write("\n")
                aside.flush()
                os.replace(aside.name, home / FILE)
            except BaseException:
                Path(aside.name).unlink(missing_ok=True)
                raise
    except OSError as problem:
        raise StorageError("options", f"{home / FILE} cannot be written ({problem.strerror})") from problem
    return options


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{file}: cannot be read ({problem})") from problem
    try:
        said = parsed(text)
    except ValueError as problem:
        raise ConfigError(f"{file}: not valid JSON: {problem}", hint='Write: {"bank": "hermes"}') from problem
    if not isinstance(said, dict):
        raise ConfigError(f"{file}: expected an object of options", hint='Write: {"bank": "hermes"}')
    return said


def _options(said: Mapping[str, Any], where: str) -> Options:
    known = {field.name for field in fields(Options)}
    problems: list[PieriaError] = []
    given: dict[str, Any] = {}
    for name, value in said.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]}?" if near else f"The options are {', '.join(sorted(known))}."
            problems.append(ConfigError(f"{where}unknown option {name[:60]!r}", hint=hint))
            continue
        try:
            given[name] = _checked(name, value)
        except InputError as problem:
            told = f"{where}{name}: expected {problem.expected}, got {problem.received}"
            problems.append(ConfigError(told, hint=problem.hint))
    if problems:
        first, *rest = problems
        first.errors = tuple(rest)
        raise first
    return Options(**given)


def _checked(name: str, value: object) -> object:
    usual = asdict(Options())[name]
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise InputError(name, "true or false", value)
        return value
    if name in _BOUNDS:
        least, most = _BOUNDS[name]
        kinds = int if isinstance(usual, int) else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
            raise InputError(name, f"a number from {least:g} to {most:g}", value)
        return value
    if name == "tools":
        return _tools(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(name, "a text", value)
    return _bank(value) if name == "bank" else value


def _bank(value: str) -> str:
    for place in _BRACES.findall(value):
        if place not in PLACES:
            raise InputError("bank", f"in braces one of {', '.join(PLACES)}", place)
    check_bank_name(_BRACES.sub("x", value))
    return value


def _tools(value: object) -> tuple[str, ...]:
    from pieria.hermes.tools import NAMES

    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError("tools", "a list of the names of tools", value)
    for name in value:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, 1)
            raise InputError(
                "tools", f"some of {', '.join(NAMES)}", name, hint=f"Did you mean {near[0]}?" if near else None
            )
    return tuple(dict.fromkeys(value))
