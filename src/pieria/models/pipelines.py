"""spaCy pipelines that find people, places and organisations, in addition to the names that the rules find.

A trained model tells a name from a capitalised word. It is optional: without one the rules serve. A pipeline is loaded
on first use, once per process.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import AdapterError, InputError
from pieria.models.providers import AUTO, NONE
from pieria.runtime import forks

if TYPE_CHECKING:
    from pieria.language.grammar import Named
    from pieria.language.grammar.names import Placed

KNOWN = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm", "xx_ent_wiki_sm")
"""The pipelines that `auto` looks for, in this order."""
PACKAGE = "spacy"
_KINDS = {
    "PERSON": "person",
    "PER": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "name",
    "PRODUCT": "name",
    "EVENT": "name",
    "WORK_OF_ART": "title",
    "NORP": "name",
    "LAW": "name",
    "MISC": "name",
}
"""Labels for names. The rules find times, amounts and the like."""
_LONGEST = 100_000
"""Characters per call: a pipeline refuses more than a million, and needs much memory for them."""
_NAME = re.compile(r"\w+")
_loading: dict[str, threading.Lock] = {}
_loaded: dict[str, Any] = {}
forks.in_child(_loading.clear)


def checked_pipeline(name: object, parameter: str) -> str:
    """Return the setting in its stored spelling: `none`, `auto`, a pipeline's name or folder. Loads nothing."""
    spelt = name.strip() if isinstance(name, str) else ""
    if not (_NAME.fullmatch(spelt) or _is_whole_path(spelt)):
        raise InputError(parameter, "none, auto, the name of a pipeline of spaCy, or its folder in full", name)
    return spelt.lower() if spelt.lower() in (NONE, AUTO) else spelt


def _is_whole_path(spelt: str) -> bool:
    return "\0" not in spelt and Path(spelt).expanduser().is_absolute()


class Pipeline:
    """Names the things that its pipeline or the rules find in a text. Safe in threads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, text: str) -> list[Named]:
        from pieria.language.grammar.names import named

        return named(text, list(self._spotted(text)))

    def _spotted(self, text: str) -> Iterator[Placed]:
        from pieria.language.grammar import Named
        from pieria.language.grammar.names import Placed

        pipeline = _pipeline(self._name)
        for begin in range(0, len(text), _LONGEST):
            try:
                found = pipeline(text[begin : begin + _LONGEST]).ents
            # A component may raise any exception.
            except Exception as problem:
                raise AdapterError(self._name, "names", f"the pipeline failed: {problem}") from problem
            for entity in found:
                kind = _KINDS.get(entity.label_)
                if kind and entity.text.strip():
                    start, end = begin + entity.start_char, begin + entity.end_char
                    yield Placed(start, end, Named(" ".join(entity.text.split()), kind))


def pipeline(name: str) -> Callable[[str], list[Named]] | None:
    """Return the pipeline of a setting, or None if the rules serve. Raises `InputError` if it is not installed."""
    if name == NONE:
        return None
    has_spacy = importlib.util.find_spec(PACKAGE) is not None
    if name == AUTO:
        known = next((known for known in KNOWN if has_spacy and importlib.util.find_spec(known)), None)
        return Pipeline(known) if known else None
    if not has_spacy:
        raise InputError("nlp", "none or auto, where spaCy is not installed", name, hint="pip install 'pieria[nlp]'")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Pipeline(str(folder))
    if not name.isidentifier() or importlib.util.find_spec(name) is None:
        hint = f"Install it with `python -m {PACKAGE} download {name}`." if name.isidentifier() else None
        raise InputError("nlp", "an installed pipeline of spaCy, or the folder of one", name, hint=hint)
    return Pipeline(name)


def _pipeline(name: str) -> Any:
    with _loading.setdefault(name, threading.Lock()):
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def _load(name: str) -> Any:
    spacy: Any = importlib.import_module(PACKAGE)
    try:
        return spacy.load(name)
    # A pipeline of another version may raise any exception.
    except Exception as problem:
        hint = "Install a pipeline that fits this version of spaCy, or set nlp to none."
        raise AdapterError(name, "load", f"the pipeline cannot be loaded: {problem}", hint=hint) from problem
