"""The mind that a recall asks: with what its caller adds to each call, and every call counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.learning.models import is_mind, mind_of, thinker_of
from pieria.models import language_model
from pieria.models.meter import Tally
from pieria.models.mind import Mind

if TYPE_CHECKING:
    from pieria.config import Config

Options = Mapping[str, Any] | Iterable[tuple[str, Any]]


def judging(llm: object, config: Config | None, llm_opts: Options, tally: Tally) -> Mind:
    """What the configuration says goes before what the caller adds."""
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
