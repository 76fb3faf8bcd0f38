"""What a configuration comes to for the models that are there: which name chooses one, and what each is told.

A name that a provider answers to chooses the model, unless one was handed over. Any other name is what the model is
told, as far as it takes that. What a configuration holds belongs to `config`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pieria.errors import ConfigError, UnavailableError
from pieria.models import AUTO, LLM_PROVIDERS, NONE, PROVIDERS, Chat, Embedder, Embedding, provider_of
from pieria.models.embedders.told import ToldEmbedding

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.minds.llm import Override

log = logging.getLogger(__name__)

HEEDED = ("llm", "embedding", "overrides", "extraction_profile")
"""The fields that a bank reads. Another that says something else than by default is refused, not ignored."""
_NAMELESS = (NONE, AUTO)
"""Names that name no model."""


def config_of(given: object) -> Config | None:
    """A configuration itself, or of a mapping of its fields."""
    from pieria.config import Config

    if given is None:
        return None
    if not isinstance(given, Config | Mapping):
        raise ConfigError(f"config: expected a Config or a mapping of its fields, got a {type(given).__name__}")
    config = given if isinstance(given, Config) else Config.from_dict(given)
    usual = Config(llm=config.llm, embedding=config.embedding)
    for name in (each.name for each in fields(config) if each.name not in HEEDED):
        if getattr(config, name) != getattr(usual, name):
            raise UnavailableError(f"config.{name}", "it has no effect in this version")
    return config


def names_in(config: Config | None, *, llm: bool, embedder: bool) -> dict[str, str]:
    """The settings that it names itself, where there is nothing handed over in their place."""
    found = {}
    if config is not None and llm and provider_of(config.llm["model"]) is not None:
        found["llm"] = config.llm["model"]
    if config is not None and embedder and _kind(config.embedding["model"]) in PROVIDERS:
        found["embedder"] = config.embedding["model"]
    return found


def configured(config: Config, llm: Chat, *, is_named: bool) -> dict[str, Override]:
    """By group, and by each step that differs from its group, what its calls are told.

    A language model that was named by itself is the one that is meant, whatever the configuration calls it.
    """
    from pieria.models.minds.llm import GROUPS, Override

    known = replace(config, llm={**config.llm, "model": NONE}) if is_named else config
    names = dict.fromkeys((*GROUPS, *config.overrides))
    return {name: Override(opts=_told(known, name, llm)) for name in names}


def laid_over(base: Mapping[str, Override], own: Mapping[str, Override]) -> dict[str, Override]:
    """The overrides of a bank over those of its configuration, option by option.

    A model of its own is not told what the other is called.
    """
    from pieria.models.minds.llm import GROUPS, Override

    both = dict(base)
    for name in [name for name, override in own.items() if "llm" in override]:
        for step in (name, *GROUPS.get(name, ())):
            both[step] = _nameless(both.get(step, Override()))
    for name, override in own.items():
        held = both.get(name, Override())
        both[name] = Override(**{**held, **override, "opts": {**held.get("opts", {}), **override.get("opts", {})}})
    return both


def say_that_rules_judge(config: Config | None) -> None:
    if config is not None and config.llm["model"] not in _NAMELESS:
        log.warning(
            "the configuration names the language model %r; there is none, and rules judge", config.llm["model"]
        )


def told_to(embedder: object, config: Config | None) -> dict[str, Any]:
    """What an embedding that was handed over is told with each call. A function is one model, and takes nothing."""
    if config is None:
        return {}
    if isinstance(embedder, Embedding) and not isinstance(embedder, type):
        return _without_nameless(config.embedding_opts())
    if config.embedding["opts"]:
        raise ConfigError("embedding.opts: expected none, for this embedder takes no options")
    return {}


def names_for(embedder: object, config: Config | None) -> dict[str, str]:
    """A function goes by the name that the model has in the configuration: its space is called after it."""
    named = NONE if config is None else config.embedding["model"]
    is_function = callable(embedder) and not isinstance(embedder, Embedding | Embedder | type)
    return {"name": named} if is_function and named not in _NAMELESS else {}


def with_options(embedder: object, told: Mapping[str, Any]) -> object:
    return ToldEmbedding(embedder, told) if told and isinstance(embedder, Embedding) else embedder


def further_of(config: Config | None) -> dict[str, Any]:
    """Options for an embedder that is named."""
    return {} if config is None else dict(config.embedding["opts"])


def say_who_embeds(config: Config | None, model: str) -> None:
    named = NONE if config is None else config.embedding["model"]
    if named not in _NAMELESS and named not in (model, model.partition(":")[2]) and _kind(named) not in PROVIDERS:
        log.warning("the configuration names the embedding model %r; %s embeds", named, model)


def _told(config: Config, name: str, llm: Chat) -> dict[str, Any]:
    opts = _without_nameless(config.llm_opts(name))
    if not llm.takes_options:
        if len(opts) > 1 or "model" in config.overrides.get(name, {}):
            raise ConfigError(f"{name}: expected no options and no model of its own, for {llm.model} takes none")
        return {}
    model, own = opts.get("model", ""), _kind(llm.model)
    if own in LLM_PROVIDERS and provider_of(model) is not None and _kind(model) != own:
        hint = "Hand the other model over: Workspace.open(overrides={…: {'llm': …}})."
        raise ConfigError(f"{name}: expected a model of {own}, got {model!r}", hint=hint)
    return opts


def _without_nameless(opts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in opts.items() if name != "model" or value not in _NAMELESS}


def _nameless(override: Override) -> Override:
    from pieria.models.minds.llm import Override

    opts = {name: value for name, value in override.get("opts", {}).items() if name != "model"}
    return Override(**{**override, "opts": opts})


def _kind(model: str) -> str:
    return model.partition(":")[0].strip().lower()
