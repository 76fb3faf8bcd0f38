"""Choose the mind and the embedder from the given objects and a configuration.

A known provider name chooses the model, unless an object was passed. Any other name is passed to the model as an
option. The fields of a configuration are defined in `config`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from pieria.errors import ConfigError, InputError
from pieria.models import AUTO, FLOOR, LLM_PROVIDERS, NONE, Chat, Embedder, Embedding, language_model, provider_of
from pieria.models import embedder as made_of
from pieria.models.embedding import ToldEmbedding

if TYPE_CHECKING:
    from pieria.config import Config, ExtractionProfile
    from pieria.models.meter import Meter, Tally
    from pieria.models.mind import Mind, Namer
    from pieria.models.minds.llm import Override, OwnPrompt

log = logging.getLogger(__name__)

NAMELESS = (NONE, AUTO)
"""Names that choose no model."""

Options = Mapping[str, Any] | Iterable[tuple[str, Any]]


class Thinker(NamedTuple):
    """A language model with its settings for each step; without a model, rules judge."""

    llm: Chat | None = None
    overrides: Mapping[str, Override] = MappingProxyType({})
    overlays: Mapping[str, str] = MappingProxyType({})
    domain: str | None = None
    prompts: Mapping[str, OwnPrompt] = MappingProxyType({})
    profile: str | None = None
    """Name of the profile; rules know the built-in ones."""
    is_own: bool = False
    """Whether a caller passed the model as an object, rather than a setting naming it."""

    def under(self, profile: ExtractionProfile) -> Thinker:
        """Return a copy that uses this profile."""
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
    """Return whether the object has every method of a mind."""
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
    """Return a mind: the given one, one that asks the given language model, or rules.

    `config` sets the options of each step, and names the model if none is passed. `prompts` replace the built-in
    prompts.
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
    """Return the model with the configuration's settings; the caller's overrides take precedence."""
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
    # Raise errors now, not at the first step.
    thinker.mind()
    return thinker


def embedder_of(embedding: object = None, config: Config | None = None) -> Embedder:
    """Return the given embedder, one that wraps the embedding or function, or the embedder without a model."""
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
    """Return the options of each step group, and of each step that differs from its group.

    A model named by the caller is used even if the configuration names another.
    """
    from pieria.models.minds.llm import GROUPS, Override

    known = replace(config, llm={**config.llm, "model": NONE}) if is_named else config
    names = dict.fromkeys((*GROUPS, *config.overrides))
    return {name: Override(opts=_told(known, name, llm)) for name in names}


def laid_over(base: Mapping[str, Override], own: Mapping[str, Override]) -> dict[str, Override]:
    """Return the configuration's overrides with those of the bank on top, option by option.

    A step with its own model does not get the name of the configured one.
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
    """Return the options for an embedding that the caller passed. A function takes none."""
    if config is None:
        return {}
    if isinstance(embedder, Embedding) and not isinstance(embedder, type):
        return _without_nameless(config.embedding_opts())
    if config.embedding["opts"]:
        raise ConfigError("embedding.opts: expected none, for this embedder takes no options")
    return {}


def names_for(embedder: object, config: Config | None) -> dict[str, str]:
    """Return the model name of a function from the configuration; it names the vector space."""
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


def judging(llm: object, config: Config | None, llm_opts: Options, tally: Tally) -> Mind:
    """Return the mind. The configuration's options take precedence over `llm_opts`."""
    opts = _options(llm_opts)
    if not opts:
        return mind_of(llm, config, meter=tally)
    if llm is None or is_mind(llm):
        raise InputError("llm_opts", "none where no language model is asked", opts)
    if config is not None:
        told = {**config.llm, "opts": {**opts, **config.llm["opts"]}}
        return mind_of(llm, replace(config, llm=told), meter=tally)
    from pieria.models.minds.llm import GROUPS, Override

    return thinker_of(language_model(llm), None, overrides={name: Override(opts=opts) for name in GROUPS}).mind(tally)


def _options(given: object) -> dict[str, Any]:
    try:
        opts: dict[str, Any] = dict(given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InputError("llm_opts", "options by name", given) from None
    if not all(isinstance(name, str) for name in opts):
        raise InputError("llm_opts", "options by name", given)
    return opts
