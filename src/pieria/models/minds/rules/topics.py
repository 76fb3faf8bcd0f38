"""Decides whether a step continues the topic of the steps before.

The decision uses only this step and earlier ones: a weighted sum of signs. The weights are fitted to labelled days.
`steps` uses the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from pieria.models.mind import StepSeen
from pieria.models.minds.rules.packs import pack
from pieria.models.minds.rules.signs import SIGNS, Embed, Sight


def turns(observation: str, action: str, before: Sequence[StepSeen], embed: Embed | None = None) -> bool:
    """Return whether the step begins another topic. The first step does not."""
    if not before:
        return False
    weights = pack("turning")["by_words" if embed is None else "by_meaning"]
    sight = Sight(observation, action, before, embed)
    odds = weights["at_first"] + sum(weight * SIGNS[name](sight) for name, weight in weights["signs"].items())
    return bool(odds > 0.0)
