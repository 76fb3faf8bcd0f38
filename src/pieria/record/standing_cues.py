"""Whether a text may state a standing rule at all, told by its terms alone.

Exists because every text written is asked, and hardly one states any: to look closer at each would cost more than what
is written of it. Each form of `standing_forms` needs a word of `_ALONE`, or one of the left side of a line of
`_TOGETHER` with one of its right side.
"""

from __future__ import annotations

from collections.abc import Sequence

from pieria.record.analyser import terms

_ALONE = """
always never ever forward henceforth future default notice exception circumstances unless whenever anymore
anytime everytime eachtime rule policy instruction requirement convention order request quit stop matter
prefer preferred preference rather remember note forget aware memorise memorize reference call address refer greet
name nickname pronouns birthday timezone zone email phone tongue title blood
allergic allergy allergies intolerant intolerance coeliac celiac diabetic vegan vegetarian pescatarian colourblind
colorblind blind lefthanded deaf dyslexic teetotal teetotaler
"""
_ACTED = """
ask say mention request tell send share paste give upload type write want need refer use quote post report answer reply
respond summarise summarize explain format generate create draft code translate review suggest recommend propose cite
commit edit change rename plan book show talk speak describe unsure sure done finished doubt list present name
address merge deploy delete refactor
"""
_REPLIES = """
answers responses replies messages explanations summaries emails commits reports suggestions comments reviews drafts
outputs recommendations
"""
_TOGETHER = (
    ("from", "now here today point moment day"),
    ("as starting", "today now tomorrow"),
    ("when if", f"{_ACTED} like love hate dislike appreciate stand enjoy mind"),
    ("while before after", _ACTED),
    ("all any each every", "for in with on before after time times more longer"),
    ("don't not", "again more longer without want like fan eat drink smoke consume"),
    ("can't cannot", "eat drink smoke consume"),
    ("no", "again more longer your"),
    ("keep your", _REPLIES),
    ("favourite favorite", "my"),
    ("language size mind", "my in"),
    ("go", "by"),
    ("like take want", f"{_REPLIES} coffee tea code steak eggs meetings drinks food"),
    ("only", "eat drink use buy wear"),
)


def may_state(found: Sequence[str]) -> bool:
    """`found` are the terms of a text; false where it states none for certain."""
    return any(not _PARTNERS[term].isdisjoint(found) for term in _CUES.intersection(found))


def _read(words: str) -> frozenset[str]:
    return frozenset(term for word in words.split() for term in terms(word))


def _partners() -> dict[str, frozenset[str]]:
    """To each term those that must stand beside it; itself, where it says enough alone."""
    found = {term: _read(words) for left, words in _TOGETHER for term in _read(left)}
    return found | {term: frozenset({term}) for term in _read(_ALONE)}


_PARTNERS = _partners()
_CUES = frozenset(_PARTNERS)
