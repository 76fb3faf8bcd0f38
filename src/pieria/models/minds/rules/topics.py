"""Whether a step goes on with what the steps before it were about, or turns to something else.

Judged as the step comes, by what came before it alone: each sign is weighed, and it turns where that is likelier than
not. The weights are fitted to days whose turns are known. What a turn leads to is told in `stepping`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pieria.models.mind import StepSeen
from pieria.models.minds.rules.packs import pack
from pieria.models.minds.rules.signs import SIGNS, Embed, Sight


def turns(observation: str, action: str, before: Sequence[StepSeen], embed: Embed | None = None) -> bool:
    """Whether the step is about something else than those before it. The first one turns from nothing."""
    if not before:
        return False
    weights = pack("turning")["by_words" if embed is None else "by_meaning"]
    sight = Sight(observation, action, before, embed)
    odds = weights["at_first"] + sum(weight * SIGNS[name](sight) for name, weight in weights["signs"].items())
    return bool(odds > 0.0)
