"""The models of this process: one for each setting, since a loaded model is large, and one for each object."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.errors import InputError
from pieria.learning.models import Thinker, names_for, thinker_of, told_to, with_options
from pieria.models import (
    NONE,
    PROVIDERS,
    RERANKER_PROVIDERS,
    Chat,
    Embedder,
    Reranker,
    language_model,
    provider_of,
    reranker,
    settled,
)
from pieria.models import embedder as made_of
from pieria.notifier import Courier
from pieria.runtime import forks
from pieria.workspace.config import config_of, further_of, names_in, say_who_embeds
from pieria.workspace.open_stores import stores

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.minds.llm import Override, OwnPrompt
    from pieria.settings import Resolved, Settings


class Handed(NamedTuple):
    """The objects passed when a bank is opened, which no setting names."""

    llm: Chat | None = None
    overrides: Mapping[str, Override] = MappingProxyType({})
    courier: Courier | None = None
    config: Config | None = None
    is_named: bool = False
    """Whether the caller named the language model."""
    embedder: object = None
    prompts: Mapping[str, OwnPrompt] = MappingProxyType({})


def handed_over(
    resolved: Resolved,
    base: Handed,
    courier: Courier | None,
    own: Mapping[str, Any],
    overrides: Mapping[str, Override] | None = None,
    prompts: Mapping[str, OwnPrompt] | None = None,
) -> tuple[Resolved, Handed]:
    """Return the settings and objects with the given `llm`, `embedder` and `config` in place.

    A name chooses a model of the settings; an object takes precedence over any name.
    """
    llm, embedder = own.get("llm"), own.get("embedder")
    config = config_of(own.get("config"))
    named: dict[str, str | None] = {
        **names_in(config, llm=llm is None and base.llm is None, embedder=embedder is None and base.embedder is None),
        **{name: it for name, it in (("llm", llm), ("embedder", embedder)) if isinstance(it, str)},
    }
    given = None if llm is None or isinstance(llm, str) else language_model(llm)
    handed = Handed(
        given or (None if "llm" in named else base.llm),
        base.overrides if overrides is None else overrides,
        courier or base.courier,
        config or base.config,
        isinstance(llm, str) or (llm is None and "llm" not in named and base.is_named),
        base.embedder if embedder is None else None if isinstance(embedder, str) else embedder,
        base.prompts if prompts is None else prompts,
    )
    return resolved.having(**named), handed


def embedder_among(
    handed: Handed, settings: Settings, models: Path, *, served_in: Path | None = None
) -> Embedder | None:
    """Return the embedder: the given one, or the one that the settings name.

    `served_in` is the data folder whose server is asked before a model is loaded here.
    """
    if handed.embedder is None:
        return embedders.named(settings, handed.config, served_in)
    return embedders.given(handed.embedder, models, handed.config)


class Embedders:
    """The embedders of this process: one for each setting, since a loaded model is large, and one for each object."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._named: dict[tuple[object, ...], Embedder] = {}
        self._given: weakref.WeakValueDictionary[tuple[int, str], Embedder] = weakref.WeakValueDictionary()

    def named(self, settings: Settings, config: Config | None, served_in: Path | None = None) -> Embedder | None:
        """Return the embedder of the settings. `auto` is resolved each time, since a model may have been installed."""
        name = settled(settings.embedder, settings.models)
        if name == NONE:
            return None
        key = settings.embedder_key
        told = {
            "threads": settings.embedder_threads,
            "base_url": settings.embedder_url,
            "api_key": None if key is None else key.get_secret_value(),
            "served_in": None if served_in is None else str(served_in),
        }
        provider = PROVIDERS[name.partition(":")[0]]
        options = {option: value for option, value in told.items() if value is not None and option in provider.options}
        if "base_url" in provider.options and provider.address is None and "base_url" not in options:
            raise _no_address("embedder_url")
        options |= further_of(config)
        mark = (name, settings.models, repr(sorted(options.items())))
        with stores.lock:
            made = self._named.get(mark)
            if made is None:
                made = self._named[mark] = made_of(name, models=settings.models, options=options)
        say_who_embeds(config, made.model)
        return made

    def given(self, embedder: object, models: Path, config: Config | None) -> Embedder:
        told, named = told_to(embedder, config), names_for(embedder, config)
        # An embedder keeps its object alive, so the object's id is not reused.
        mark = (id(embedder), repr(sorted((told | named).items())))
        with stores.lock:
            made = self._given.get(mark)
            if made is None:
                made = self._given[mark] = made_of(with_options(embedder, told), models=models, options=named)
            return made


class LLMs:
    """The language models of this process: one for each setting, so that banks share connections."""

    def __init__(self) -> None:
        self._named: dict[tuple[object, ...], Chat] = {}

    def named(self, settings: Settings) -> Chat | None:
        name = settings.llm
        if name == NONE:
            return None
        provider = provider_of(name)
        if settings.llm_url is None and provider is not None and provider.address is None:
            raise _no_address("llm_url")
        key = settings.llm_key
        told = {
            "base_url": settings.llm_url,
            "api_key": None if key is None else key.get_secret_value(),
            "seconds": settings.llm_seconds,
        }
        options = {option: value for option, value in told.items() if value is not None}
        mark = (name, *sorted(options.items()))
        with stores.lock:
            return self._named.setdefault(mark, language_model(name, options=options))


class Rerankers:
    """The rerankers of this process: one for each setting, so that banks share connections."""

    def __init__(self) -> None:
        self._named: dict[tuple[object, ...], Reranker] = {}

    def named(self, settings: Settings) -> Reranker | None:
        """Return the reranker that the settings name; None for `none`."""
        name = settings.reranker
        if name == NONE:
            return None
        if settings.reranker_url is None and RERANKER_PROVIDERS[name.partition(":")[0]].address is None:
            raise _no_address("reranker_url")
        key = settings.reranker_key
        told = {
            "base_url": settings.reranker_url,
            "api_key": None if key is None else key.get_secret_value(),
            "seconds": settings.reranker_seconds,
        }
        options = {option: value for option, value in told.items() if value is not None}
        mark = (name, *sorted(options.items()))
        with stores.lock:
            made = self._named.get(mark)
            if made is None:
                made = self._named[mark] = reranker(name, options=options)
            return made


embedders = Embedders()
forks.in_child(embedders.reset)
llms = LLMs()
rerankers = Rerankers()


def settled_thinker(given: Handed, settings: Settings) -> Thinker:
    """Return the language model with its overrides. A given model takes precedence over the settings."""
    if not isinstance(given.overrides, Mapping):
        raise InputError("overrides", "a mapping of steps to mappings", given.overrides)
    llm = given.llm or llms.named(settings)
    own = {step: _with_model(step, override) for step, override in given.overrides.items()}
    if given.llm is None and llm is not None and given.config is None:
        # The setting names only models of the server in the settings.
        from pieria.models.minds.llm.request import overrides_of

        own = {**overrides_of(settings.llm_steps or ""), **own}
    thinker = thinker_of(llm, given.config, overrides=own, prompts=given.prompts, is_named=given.is_named)
    return thinker._replace(is_own=given.llm is not None)


def _with_model(step: str, override: Override) -> Override:
    """Return the override with its model name or function replaced by the model."""
    if not isinstance(override, Mapping):
        raise InputError(f"overrides.{step}", "a mapping with `llm`, `opts` or both", override)
    opts = override.get("opts", {})
    if not isinstance(opts, Mapping) or not all(isinstance(name, str) for name in opts):
        raise InputError(f"overrides.{step}.opts", "a mapping of options by name", opts)
    if not isinstance(opts.get("model", ""), str):
        raise InputError(f"overrides.{step}.opts.model", "the name of a model", opts["model"])
    if "llm" not in override:
        return override
    try:
        return {**override, "llm": language_model(override["llm"])}
    except InputError as problem:
        expected, hint = problem.expected, problem.hint
        raise InputError(f"overrides.{step}.llm", expected, override["llm"], hint=hint) from problem


def _no_address(setting: str) -> InputError:
    return InputError(setting, "the address of the server", None, hint="Such as http://localhost:8000/v1")
