"""The emphasis of a profile: which sentences the rules keep, weaken or drop for it."""

from __future__ import annotations

from dataclasses import replace

from pieria.language.letters import lowered
from pieria.language.packs import pack
from pieria.models.mind import Proposition
from pieria.models.minds.rules.pieces import has_word

_PACK = "emphases"
KEPT = 0.7
"""Confidence of a sentence that only the profile keeps."""
_LESS = 0.5


class Emphasis:
    """The emphasis of a profile, by name. An unknown profile, or none, changes nothing."""

    def __init__(self, profile: str | None = None) -> None:
        self._name = profile if profile in pack(_PACK) else None

    @property
    def takes_steps(self) -> bool:
        """Whether successful steps become procedures."""
        return self._name is None or bool(pack(_PACK)[self._name]["steps"])

    def keeps(self, sentence: str) -> bool:
        """Return whether the profile's words make the sentence a fact."""
        return self._speaks(sentence, "kept") and not self._speaks(sentence, "dropped")

    def weighed(self, proposition: Proposition) -> Proposition | None:
        """Return the proposition with its confidence for this profile, or None if the profile drops it."""
        if self._speaks(proposition.text, "dropped"):
            return None
        if self._speaks(proposition.text, "weaker"):
            return replace(proposition, confidence=round(proposition.confidence * _LESS, 4))
        return proposition

    def _speaks(self, sentence: str, how: str) -> bool:
        return self._name is not None and has_word(_PACK, f"{self._name}.{how}", lowered(sentence))


NONE = Emphasis()
