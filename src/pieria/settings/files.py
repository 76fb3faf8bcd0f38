"""Settings files: a project's `.pieria.toml` and a data folder's `pieria.toml`, read fully if trusted."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

from pieria.errors import ConfigError
from pieria.settings.source import PREFIX, PROJECT, TIGHTENS, Remark, Source, is_stricter
from pieria.settings.trust import Digests, Trust, contents, digest_of, name_within, own_digest

FILE = "pieria.toml"
"""File in the data folder, with settings for all its banks."""
SHARED = f"data folder {FILE}"
"""Origin of the values in that file."""
PERSONAL = (
    *("embedder_url", "embedder_key", "reranker_url", "reranker_key", "llm_url", "llm_key"),
    *("llm_steps", "budget_tokens_per_day", "budget_calls_per_day"),
    *("paths", "token", "plain_http", "nlp"),
    *("user", "row_security", "local"),
    *("vault", "vault_folder"),
    *("accept_above", "fetch_model", "sleep"),
    *("request_seconds", "request_memory", "telemetry"),
)
"""No project may set these, trusted or not: they could spend money or the network, and send memories to servers and
folders that its author chooses. For the same reason, a project may not name a server in `data`."""
CHECK = "trust"
"""The name under which `doctor` lists ignored values."""
WORDS = {"untrusted": "is not trusted", "changed": "has changed since it was trusted"}


def from_project(file: Path, trust: Trust, names: Collection[str]) -> Source:
    """Return the values of a project's file. `tightened` later filters those of an untrusted one."""
    return _judged(file, PROJECT, file.parent, {}, trust, names, impersonal)


def from_data_folder(
    folder: Path, naming: Sequence[str], trust: Trust, names: Collection[str], *, is_judged: bool, by_project: bool
) -> Source:
    """Return the values of a data folder's file, without the settings that name the folder.

    If the folder `is_judged` and is inside a project, that project must be trusted together with this file.
    """

    def whole(source: Source) -> Source:
        found = _well_placed(source, naming)
        # A project that chooses the data folder could put a file into it, too.
        return impersonal(found) if by_project else found

    file, origin = folder / FILE, SHARED
    project = trust.project_around(folder) if is_judged else None
    if project is None:
        return whole(source_of(file, contents(file), origin, names))
    return _judged(file, origin, project, own_digest(project), trust, names, whole)


def _judged(
    file: Path,
    origin: str,
    folder: Path,
    beside: Digests,
    trust: Trust,
    names: Collection[str],
    whole: Callable[[Source], Source],
) -> Source:
    try:
        read = contents(file)
    except ConfigError as problem:
        # An unreadable file counts as untrusted, so that it stops no work.
        return _nothing(file, origin, str(problem))
    standing = trust.standing(folder, {**beside, name_within(folder, file): digest_of(read)})
    if standing == "trusted":
        return whole(source_of(file, read, origin, names))
    try:
        said = tomllib.loads(read.decode("utf-8"))
    except (ValueError, RecursionError):
        return _nothing(file, origin, f"{file}: not valid TOML")
    known = {name: value for name, value in said.items() if name in names}
    return Source(origin, known, file.parent, file, personal=False, standing=standing, project=folder)


def _nothing(file: Path, origin: str, reason: str) -> Source:
    remark = Remark(f"{shown(reason)}, so it is ignored", f"Repair or remove {shown(str(file))}.", CHECK)
    return Source(origin, {}, file.parent, file, personal=False, remarks=(remark,))


def tightened(source: Source, below: Sequence[Source], read: Callable[[str, object], object]) -> Source:
    """Return the source without values that its untrusted folder may not set, and with a remark about them.

    `below` are the sources of lower precedence; `read` returns a setting's value as the settings read it.
    """
    if source.standing == "trusted":
        return source
    kept, ignored = {}, []
    for name, value in source.values.items():
        if name not in TIGHTENS:
            ignored.append(name)
            continue
        said = next((each.values[name] for each in below if name in each.values), TIGHTENS[name][0])
        given, held = read(name, value), read(name, said)
        if is_stricter(name, given, held):
            kept[name] = value
        elif given != held:
            ignored.append(name)
    return replace(source, values=kept, remarks=(*source.remarks, *_ignored(source, ignored)))


def _ignored(source: Source, names: Sequence[str]) -> tuple[Remark, ...]:
    if not names:
        return ()
    what = f"{shown(str(source.file))} {WORDS[source.standing]}: {', '.join(sorted(names))} ignored"
    return (Remark(what, how_to_trust(source.project or source.folder), CHECK),)


def how_to_trust(folder: Path) -> str:
    return f"Read its settings, then run in a terminal of your own: pieria trust {quote(shown(str(folder)))}"


def shown(text: str) -> str:
    """Return a foreign text on one line and without control characters."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def source_of(file: Path, read: bytes, origin: str, names: Collection[str]) -> Source:
    try:
        values = tomllib.loads(read.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file}: not valid TOML: {problem}", hint='Write: bank = "notes"') from problem
    unknown = tuple(
        ConfigError(f"{file}: unknown setting {name[:60]!r}", hint=names_near(name, names))
        for name in values
        if name not in names
    )
    known = {name: value for name, value in values.items() if name in names}
    return Source(origin, known, file.parent, file, unknown)


def _well_placed(source: Source, naming: Sequence[str]) -> Source:
    """Return the source without the settings that name its own folder, which are refused."""
    misplaced = tuple(
        ConfigError(
            f"{source.file}: {name} cannot be set in the folder it names",
            hint=f"Set it in {PREFIX}{name.upper()}.",
        )
        for name in naming
        if name in source.values
    )
    values = {name: value for name, value in source.values.items() if name not in naming}
    return replace(source, values=values, unknown=(*source.unknown, *misplaced))


def impersonal(source: Source) -> Source:
    """Return the source without settings that a project may not set, which are refused."""
    refused = tuple(
        ConfigError(f"{source.file}: {name} cannot be set by a project", hint=f"Set {PREFIX}{name.upper()} instead.")
        for name in PERSONAL
        if name in source.values
    )
    values = {name: value for name, value in source.values.items() if name not in PERSONAL}
    return replace(source, values=values, unknown=(*source.unknown, *refused), personal=False)


def names_near(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name.lower().replace("-", "_"), names, 1)
    if near:
        return f"Did you mean {near[0]}?"
    return f"The settings are {', '.join(names)}."
