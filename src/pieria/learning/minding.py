"""Who judges, and who embeds: of whatever was handed over and a configuration, the mind and the embedder meant by it.

What is a mind or an embedder already stays as it is. Settings and keys are read elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pieria.errors import InputError
from pieria.models import AUTO, FLOOR, NONE, Embedder, embedder, language_model

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.metering import Meter
    from pieria.models.mind import Mind
    from pieria.models.minds.llm import Override

_NAMELESS = (NONE, AUTO)


def mind_of(
    llm: object = None,
    config: Config | None = None,
    *,
    prompts: Mapping[str, Any] | None = None,
    meter: Meter | None = None,
) -> Mind:
    """The mind itself, or of a language model one that asks it; without either, rules judge.

    `prompts` adds text to the system message of steps, in place of what the profile of the configuration adds to them.
    """
    if llm is None:
        from pieria.models.minds.rules import RuleMind

        return RuleMind()
    if hasattr(llm, "propositions"):
        return cast("Mind", llm)
    from pieria.models.minds.llm import LLMMind

    profile = None if config is None else config.extraction_profile
    return LLMMind(
        language_model(llm),
        overrides={} if config is None else _configured(config),
        overlays={**({} if profile is None else profile.overlays), **(prompts or {})},
        domain=None if profile is None else profile.domain_context or None,
        meter=meter,
    )


def embedder_of(embedding: object = None, config: Config | None = None) -> Embedder:
    """The embedder itself, or of an embedding or a function one; without any, the one that needs no model."""
    if isinstance(embedding, Embedder):
        return embedding
    if embedding is None:
        return embedder(FLOOR, models=Path())
    if isinstance(embedding, str):
        hint = "A name needs to know where models lie: pieria.models.embedder(name, models=folder)."
        raise InputError("embedding", "an embedding, an embedder, or a function of texts", embedding, hint=hint)
    named = NONE if config is None else config.embedding["model"]
    is_function = callable(embedding)
    options = {"name": named} if is_function and named not in _NAMELESS else {}
    return embedder(embedding, models=Path(), options=options)


def _configured(config: Config) -> dict[str, Override]:
    """By group, and by each step that differs from its group, what its calls are told."""
    from pieria.models.minds.llm import GROUPS, Override

    told = {name: config.llm_opts(name) for name in dict.fromkeys((*GROUPS, *config.overrides))}
    return {
        name: Override(opts={key: value for key, value in opts.items() if key != "model" or value not in _NAMELESS})
        for name, opts in told.items()
    }
