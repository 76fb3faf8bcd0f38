"""The sources of settings: one type for all, the other systems' variables, and what an untrusted file may tighten.

Our own variables take precedence over those of the original systems, and they over files. Variables without effect are
reported with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.errors import ConfigError, InputError, Invalid

if TYPE_CHECKING:
    from pieria.settings.trust import Standing


PREFIX = "PIERIA_"
ARGUMENT = "argument"
PROJECT = "project .pieria.toml"
PREFIXES = ("CORTEXGRAPH_", "MNEMEX_")
"""The newer prefix takes precedence."""
PREFIXED: Mapping[str, str] = {
    "STORAGE_PATH": "data",
    "DECAY_MODEL": "decay_model",
    "DECAY_LAMBDA": "decay_lambda",
    "DECAY_BETA": "decay_beta",
    "PL_HALFLIFE_DAYS": "decay_halflife_days",
    "PL_ALPHA": "decay_alpha",
    "TC_LAMBDA_FAST": "decay_lambda_fast",
    "TC_LAMBDA_SLOW": "decay_lambda_slow",
    "TC_WEIGHT_FAST": "decay_weight_fast",
    "FORGET_THRESHOLD": "forget_threshold",
    "PROMOTE_THRESHOLD": "promote_threshold",
    "PROMOTE_USE_COUNT": "promote_uses",
    "PROMOTE_TIME_WINDOW": "promote_days",
    "REVIEW_BLEND_RATIO": "review_share",
    "REVIEW_DANGER_ZONE_MIN": "review_from",
    "REVIEW_DANGER_ZONE_MAX": "review_to",
    "AUTO_REINFORCE": "reinforce",
    "CLUSTER_LINK_THRESHOLD": "cluster_threshold",
    "CLUSTER_MAX_SIZE": "cluster_most",
    "SEMANTIC_HI": "duplicate_threshold",
    "SEARCH_PREVIEW_LENGTH": "preview_chars",
    "ENABLE_PREPROCESSING": "enrich",
    "ENABLE_EMBEDDINGS": "search_by_meaning",
}
"""Variables with either prefix."""
PLAIN: Mapping[str, str] = {
    "SEARCH_STM_WEIGHT": "short_term_weight",
    "SEARCH_LTM_WEIGHT": "long_term_weight",
    "LTM_VAULT_PATH": "vault",
    "LTM_PROMOTED_FOLDER": "vault_folder",
}
_ONE_FILE = "each bank is its own database, in the data folder or on a server"
_BY_HOOK = "the hook of `pieria context`, if installed, adds memories to a prompt"
_INDEXED = "the vault has no index file: the bank indexes its notes"
INERT: Mapping[str, str] = {
    "STORAGE_BACKEND": _ONE_FILE,
    "SQLITE_PATH": _ONE_FILE,
    "MEMORIES_FILENAME": _ONE_FILE,
    "RELATIONS_FILENAME": _ONE_FILE,
    "EMBED_MODEL": "the setting embedder names the model",
    "SEMANTIC_LO": "merging by a model has no second threshold",
    "AUTO_RECALL_ENABLED": _BY_HOOK,
    "AUTO_RECALL_MODE": _BY_HOOK,
    "AUTO_RECALL_RELEVANCE_THRESHOLD": _BY_HOOK,
    "AUTO_RECALL_MAX_RESULTS": _BY_HOOK,
    "AUTO_RECALL_MIN_INTERVAL": _BY_HOOK,
    "DETECT_SECRETS": "Pieria always looks for secrets; the setting secrets says what to do with them",
    "LTM_INDEX_MAX_AGE_SECONDS": _INDEXED,
}
"""Variables without effect, with either prefix, and the reason."""
UNKNOWN = "Pieria has no such setting"
ENV = Path("cortexgraph", ".env")
"""The original's file of variables, in the configuration folder."""
LOADED = "Set them where pieria is started, in the client's `env` or in the shell: set -a; . {file}; set +a"
NEAR = 0.85
"""A name at least this similar is probably a typo."""
TIGHTENS: Mapping[str, tuple[object, ...]] = {
    "secrets": ("flag", "redact", "refuse"),
    "capture": (True, False),
}
"""Settings that an untrusted file may tighten, with their values from loosest to strictest.

No value of any other setting is stricter than another, so an untrusted file cannot set them.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """Values and their origin. `{}` in the origin is replaced by the setting's name."""

    origin: str
    values: Mapping[str, Any]
    folder: Path
    file: Path | None = None
    unknown: tuple[Invalid, ...] = ()
    """Problems with the names of settings."""
    personal: bool = True
    """Whether the user set the values, rather than the project's author."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables with other names than ours, by setting."""
    standing: Standing = "trusted"
    """Whether a person trusts the source's folder."""
    project: Path | None = None
    """The folder to trust, if it is not trusted."""
    remarks: tuple[Remark, ...] = ()
    """Remarks on ignored values."""

    def origin_of(self, setting: str) -> str:
        variable = self.variables.get(setting)
        return self.origin.format(setting.upper()) if variable is None else f"{self.origin} {variable}"

    def problem(self, setting: str, expected: str, received: object, hint: str | None = None) -> Invalid:
        told = InputError(setting, expected, received, hint=hint)
        if self.origin == ARGUMENT:
            return told
        variable = self.variables.get(setting, f"{PREFIX}{setting.upper()}")
        place = variable if self.file is None else f"{self.file}: {setting}"
        return ConfigError(f"{place}: expected {told.expected}, got {told.received}", hint=hint)


class Remark(NamedTuple):
    """A note on variables or files that may mislead, although nothing is wrong."""

    what: str
    remedy: str
    check: str = "environment"
    """The name under which `doctor` lists it."""


def from_originals(environ: Mapping[str, str], folder: Path) -> Source:
    """Return the settings for such variables. An empty variable is not set."""
    variables = {setting: name for name, setting in PLAIN.items() if environ.get(name)}
    for prefix in reversed(PREFIXES):
        variables.update({setting: prefix + name for name, setting in PREFIXED.items() if environ.get(prefix + name)})
    return Source(
        "environment",
        {setting: environ[variable] for setting, variable in variables.items()},
        folder,
        variables=variables,
    )


def remarks(environ: Mapping[str, str], home: Path | None) -> Iterator[Remark]:
    newer, older = PREFIXES
    for name in PREFIXED:
        one, other = environ.get(newer + name), environ.get(older + name)
        if one and other and one != other:
            yield Remark(f"{newer}{name} is used; {older}{name} has another value", "Unset one of them.")
    for variable in sorted(environ):
        prefix = next((prefix for prefix in PREFIXES if variable.startswith(prefix)), None)
        name = variable.removeprefix(prefix or "")
        if prefix is not None and name not in PREFIXED and environ[variable]:
            meant = [] if name in INERT else get_close_matches(name, PREFIXED, 1, NEAR)
            remedy = f"Set {prefix}{meant[0]}, if that was meant." if meant else "Unset it."
            yield Remark(f"{variable} has no effect: {INERT.get(name, UNKNOWN)}", remedy)
    configured = environ.get("XDG_CONFIG_HOME") or (home and home / ".config")
    if configured:
        yield from _unread(environ, Path(configured) / ENV)


def _unread(environ: Mapping[str, str], file: Path) -> Iterator[Remark]:
    """Yield a remark if the original's file of variables exists but is not read."""
    if not os.access(file, os.R_OK) or not file.is_file():
        return
    with file.open(encoding="utf-8", errors="replace") as lines:
        named = [line.strip().removeprefix("export ").partition("=")[0].strip() for line in lines]
    meant = {*PLAIN, *(prefix + name for prefix in PREFIXES for name in PREFIXED)}
    lost = [name for name in dict.fromkeys(named) if name in meant and not environ.get(name)]
    if lost:
        yield Remark(f"{file} is not read, but sets {', '.join(lost)}", LOADED.format(file=quote(str(file))))


def is_stricter(setting: str, value: object, held: object) -> bool:
    """Return whether the value is stricter than the current one; False for unknown values."""
    order = TIGHTENS.get(setting, ())
    return value in order and held in order and order.index(value) > order.index(held)
