"""Which settings a workspace takes from a configuration.

`learning.models` applies a configuration to a model; `config` defines its fields.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pieria.errors import ConfigError, InputError, UnavailableError
from pieria.learning.models import NAMELESS, kind_of
from pieria.models import NONE, PROVIDERS, provider_of

if TYPE_CHECKING:
    from pieria.config import Config, ExtractionProfile

log = logging.getLogger(__name__)


def config_of(given: object) -> Config | None:
    """Return the configuration, built from a mapping if needed."""
    if given is None:
        return None
    from pieria.config import Config

    if not isinstance(given, Config | Mapping):
        raise ConfigError(f"config: expected a Config or a mapping of its fields, got a {type(given).__name__}")
    return given if isinstance(given, Config) else Config.from_dict(given)


def refuse_backend(config: object) -> None:
    """Raise `UnavailableError` if the configuration names a backend: a bank stores its own graph."""
    kept = config_of(config)
    if kept is not None and kept.backend is not None:
        reason = "a bank keeps its graph itself"
        raise UnavailableError("config.backend", reason, hint="Open a repository with it: open_repo.")


def config_for_session(config: Config | None, own: Mapping[str, Any]) -> tuple[Config | None, ExtractionProfile | None]:
    """Return the configuration of a session with its own `profile` or `auto_commit`, and that profile."""
    from pieria.config import Config

    given = {name: own[name] for name in ("profile", "auto_commit") if own.get(name) is not None}
    if not given:
        return config, None
    usual = config or Config(llm={"model": NONE}, embedding={"model": NONE})
    session = {**usual.session, **{name: it for name, it in given.items() if name == "auto_commit"}}
    changed = replace(usual, extraction_profile=given.get("profile", usual.extraction_profile), session=session)
    return changed, changed.extraction_profile if "profile" in given else None


def names_in(config: Config | None, *, llm: bool, embedder: bool) -> dict[str, str]:
    """Return the models that the configuration names, unless they were passed as arguments."""
    found = {}
    if config is not None and llm and provider_of(config.llm["model"]) is not None:
        found["llm"] = config.llm["model"]
    if config is not None and embedder and kind_of(config.embedding["model"]) in PROVIDERS:
        found["embedder"] = config.embedding["model"]
    return found


def further_of(config: Config | None) -> dict[str, Any]:
    """Return the options for a named embedder."""
    return {} if config is None else dict(config.embedding["opts"])


def say_who_embeds(config: Config | None, model: str) -> None:
    named = NONE if config is None else config.embedding["model"]
    if named not in NAMELESS and named not in (model, model.partition(":")[2]) and kind_of(named) not in PROVIDERS:
        log.warning("the configuration names the embedding model %r, but %s is used", named, model)


def mapping_of(settings: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the settings by name, or raise `InputError`."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise InputError("settings", "a mapping of settings by name", settings)
    return settings
