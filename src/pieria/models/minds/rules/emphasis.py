"""What a profile puts weight on, for rules: sentences that count for more, for less, or not at all in its work."""

from __future__ import annotations

from dataclasses import replace

from pieria.models.mind import Proposition
from pieria.models.minds.rules.packs import pack
from pieria.models.minds.rules.pieces import has_word
from pieria.record.letters import lowered

_PACK = "emphases"
KEPT = 0.7
"""How sure a sentence is that only the profile takes for a fact."""
_LESS = 0.5


class Emphasis:
    """Of a profile by its name. One that rules do not know, or none, weighs nothing."""

    def __init__(self, profile: str | None = None) -> None:
        self._name = profile if profile in pack(_PACK) else None

    @property
    def takes_steps(self) -> bool:
        """Whether what was done with success is worth doing again by itself."""
        return self._name is None or bool(pack(_PACK)[self._name]["steps"])

    def keeps(self, sentence: str) -> bool:
        """Whether it is worth a fact for what it speaks of."""
        return self._speaks(sentence, "kept") and not self._speaks(sentence, "dropped")

    def weighed(self, proposition: Proposition) -> Proposition | None:
        if self._speaks(proposition.text, "dropped"):
            return None
        if self._speaks(proposition.text, "weaker"):
            return replace(proposition, confidence=round(proposition.confidence * _LESS, 4))
        return proposition

    def _speaks(self, sentence: str, how: str) -> bool:
        return self._name is not None and has_word(_PACK, f"{self._name}.{how}", lowered(sentence))


NONE = Emphasis()
