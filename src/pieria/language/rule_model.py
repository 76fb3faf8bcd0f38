"""Decides whether a person's sentence states something lasting.

Which sentences are a person's own is decided in `standing_rules`.
"""

from __future__ import annotations

from pieria.language.sentence_model import features, judge, load_model

MODEL = "rule"
PROMPT, NOTE = "prompt", "note"
"""How a person says something: typed to an agent during work, or stored on purpose."""
LEAST = 0.35
"""The least probability that a sentence is taken for lasting."""
LASTING = ("rule", "preference", "profile")


def lasting_kind(sentence: str, said_as: str) -> str | None:
    """Return the kind of lasting statement that a sentence makes, one of `LASTING`, or None."""
    found = judge(load_model(MODEL), features_of(sentence, said_as), LEAST)
    return found and found.kind


def features_of(sentence: str, said_as: str) -> list[str]:
    return features(sentence, NOTE if said_as == NOTE else "")
