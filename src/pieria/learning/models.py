"""Who judges, and who embeds: of what was handed over and a configuration, the mind and the embedder that are meant.

A name that a provider answers to chooses the model, unless one was handed over. Any other name is what the model is
told, as far as it takes that. What a configuration holds belongs to `config`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from pieria.errors import ConfigError, InputError
from pieria.models import AUTO, FLOOR, LLM_PROVIDERS, NONE, Chat, Embedder, Embedding, language_model, provider_of
from pieria.models import embedder as made_of
from pieria.models.embedders.told import ToldEmbedding

if TYPE_CHECKING:
    from pieria.config import Config, ExtractionProfile
    from pieria.models.meter import Meter
    from pieria.models.mind import Mind, Namer
    from pieria.models.minds.llm import Override, OwnPrompt

log = logging.getLogger(__name__)

NAMELESS = (NONE, AUTO)
"""Names that name no model."""


class Thinker(NamedTuple):
    """A language model, and what differs from step to step; without one rules judge."""

    llm: Chat | None = None
    overrides: Mapping[str, Override] = MappingProxyType({})
    overlays: Mapping[str, str] = MappingProxyType({})
    domain: str | None = None
    prompts: Mapping[str, OwnPrompt] = MappingProxyType({})
    profile: str | None = None
    """The name of the profile: rules know ours."""
    is_own: bool = False
    """Whether somebody handed it over, and no setting names it."""

    def under(self, profile: ExtractionProfile) -> Thinker:
        """The same with this profile in the place of its own."""
        return self._replace(overlays=profile.overlays, domain=profile.domain_context or None, profile=profile.name)

    def mind(self, meter: Meter | None = None, namer: Namer | None = None) -> Mind:
        if self.llm is None:
            from pieria.models.minds.rules import RuleMind

            return RuleMind(namer, profile=self.profile) if namer else RuleMind(profile=self.profile)
        from pieria.models.minds.llm import LLMMind

        return LLMMind(
            self.llm,
            overrides=self.overrides,
            overlays=self.overlays,
            domain=self.domain,
            prompts=self.prompts,
            meter=meter,
        )


def is_mind(given: object) -> TypeGuard[Mind]:
    """Whether it judges by itself: it has every method of a mind."""
    from pieria.models.mind import Mind

    methods = (name for name, kept in vars(Mind).items() if name[0] != "_" and callable(kept))
    return all(callable(getattr(given, name, None)) for name in methods)


def mind_of(
    llm: object = None,
    config: Config | None = None,
    *,
    prompts: Mapping[str, OwnPrompt] | None = None,
    meter: Meter | None = None,
) -> Mind:
    """A mind as it is; of a language model, by object, function or name, the one that asks it; without any, rules.

    `config` says what its steps are told, and names the model where none is handed over; `prompts` are those of the
    caller in place of ours.
    """
    if is_mind(llm):
        if prompts:
            raise InputError("prompts", "none beside a mind, which has its own", prompts)
        return llm
    if llm is None and config is not None and provider_of(config.llm["model"]) is not None:
        llm = config.llm["model"]
    chat = None if llm is None else language_model(llm)
    return thinker_of(chat, config, prompts=prompts, is_named=isinstance(llm, str)).mind(meter)


def thinker_of(
    llm: Chat | None,
    config: Config | None,
    *,
    overrides: Mapping[str, Override] | None = None,
    prompts: Mapping[str, OwnPrompt] | None = None,
    is_named: bool = False,
) -> Thinker:
    """What the configuration comes to for this model, with overrides of the caller's over its own."""
    own = overrides or {}
    profile = None if config is None else config.extraction_profile
    if llm is None:
        for name, given in (("overrides", own), ("prompts", prompts)):
            if given:
                raise InputError(name, "none where no language model is set", given, hint="Give `llm`, too.")
        say_that_rules_judge(config)
        return Thinker(profile=None if profile is None else profile.name)
    if config is not None:
        own = laid_over(configured(config, llm, is_named=is_named), own)
    overlays, domain = ({}, None) if profile is None else (profile.overlays, profile.domain_context or None)
    thinker = Thinker(llm, own, overlays, domain, {} if prompts is None else prompts)
    # What cannot be right is told now, not when the first step is taken.
    thinker.mind()
    return thinker


def embedder_of(embedding: object = None, config: Config | None = None) -> Embedder:
    """An embedder as it is; of an embedding or a function the one that asks it; else the one that needs no model."""
    if isinstance(embedding, Embedder):
        return embedding
    if embedding is None:
        return made_of(FLOOR, models=Path())
    if isinstance(embedding, str):
        hint = "A name needs to know where models lie: pieria.models.embedder(name, models=folder)."
        raise InputError("embedding", "an embedding, an embedder, or a function of texts", embedding, hint=hint)
    options = names_for(embedding, config)
    return made_of(with_options(embedding, told_to(embedding, config)), models=Path(), options=options)


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
    if config is not None and config.llm["model"] not in NAMELESS:
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
    return {"name": named} if is_function and named not in NAMELESS else {}


def with_options(embedder: object, told: Mapping[str, Any]) -> object:
    return ToldEmbedding(embedder, told) if told and isinstance(embedder, Embedding) else embedder


def _told(config: Config, name: str, llm: Chat) -> dict[str, Any]:
    opts = _without_nameless(config.llm_opts(name))
    if not llm.takes_options:
        if len(opts) > 1 or "model" in config.overrides.get(name, {}):
            raise ConfigError(f"{name}: expected no options and no model of its own, for {llm.model} takes none")
        return {}
    model, own = opts.get("model", ""), kind_of(llm.model)
    if own in LLM_PROVIDERS and provider_of(model) is not None and kind_of(model) != own:
        hint = "Hand the other model over: Workspace.open(overrides={…: {'llm': …}})."
        raise ConfigError(f"{name}: expected a model of {own}, got {model!r}", hint=hint)
    return opts


def _without_nameless(opts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in opts.items() if name != "model" or value not in NAMELESS}


def _nameless(override: Override) -> Override:
    from pieria.models.minds.llm import Override

    opts = {name: value for name, value in override.get("opts", {}).items() if name != "model"}
    return Override(**{**override, "opts": opts})


def kind_of(model: str) -> str:
    return model.partition(":")[0].strip().lower()
