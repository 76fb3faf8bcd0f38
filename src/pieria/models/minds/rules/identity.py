"""Statements of `is`: a kind, a role, a relation or a property, the same for every phrasing.

"Lena is Maya's sister", "Maya's sister is Lena" and "Lena is the sister of Maya" give one statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pieria.models.minds.rules.noun_phrases import Phrase
from pieria.models.minds.rules.packs import pack, words

_PASSING = frozenset(("current", "latest", "new", "official", "exact", "full", "main", "own", "present"))
_MEMBERS = {"part": "part_of", "member": "member_of", "fan": "likes", "citizen": "citizen_of", "resident": "lives_in"}
_CHERISHED = frozenset(("favourite", "favorite", "preferred", "best"))
_NO_WORD = re.compile(r"[^\w]+")

Stated = tuple[str, str, str]


def equated(
    subject: Phrase, said: Phrase, word: str, where: Sequence[Phrase], *, several: bool, past: bool
) -> list[Stated]:
    """Return the statements of `subject is said`, with `where` after `word`: a designer at Acme."""
    return list(_equated(subject, said, word, where, several=several, past=past))


def _equated(
    subject: Phrase, said: Phrase, word: str, where: Sequence[Phrase], *, several: bool, past: bool
) -> Iterator[Stated]:
    owner = _owner(subject)
    if owner is not None and not said.pronoun:
        yield owner, _has(subject.noun, several=several, past=past), said.text
        return
    if said.pronoun or not said.text:
        return
    owner = _owner(said)
    role = _is_role(said.noun)
    if said.determiner == "own" and owner is None:
        return
    if said.of is not None and said.noun.split()[-1] in _MEMBERS:
        yield subject.text, _MEMBERS[said.noun.split()[-1]], said.of.text
    elif owner is not None and _tells_whose(said, owner):
        yield owner, _has(said.noun, several=several, past=past), subject.text
    elif role and (subject.named or subject.pronoun):
        yield from _employed(subject.text, said, word, where, past=past)
    elif owner is not None or said.determiner == "a" or (several and said.noun.endswith("s")):
        yield subject.text, "was_a" if past else "is_a", said.bare
    elif subject.named and said.text.isdigit():
        yield subject.text, "has_age", said.text
    elif said.determiner == "the" or said.named or any(map(str.isdigit, said.text)):
        yield subject.text, "was" if past else "is", said.text


def _tells_whose(said: Phrase, owner: str) -> bool:
    """Return whether the phrase is a relation to its owner, not a kind: my sister, but not our new manager."""
    if is_relation(said.noun) and not (owner == "we" and _is_role(said.noun)):
        return True
    if owner in ("I", "we"):
        return bool(_CHERISHED.intersection(said.noun.split()))
    made = said.of is None or not _is_role(said.noun) or _is_among(said.noun, "makers")
    return made and said.determiner in ("own", "the", "a", "")


def _employed(who: str, said: Phrase, word: str, where: Sequence[Phrase], *, past: bool) -> Iterator[Stated]:
    """Yield role and employer: `the CEO of Acme`, `a designer at Acme`."""
    held = said.of is not None and said.of.named and not said.of.determiner and _is_among(said.noun, "offices")
    yield who, "had_role" if past else "has_role", said.noun_text if held else said.bare
    there = [said.of] if held and said.of is not None else []
    there += where if word in ("at", "for") else []
    for place in there:
        if place.named:
            yield who, "worked_at" if past else "works_at", place.text


def _owner(phrase: Phrase) -> str | None:
    """Return the owner: Maya in Maya's sister, France in the capital of France."""
    if phrase.owner is not None:
        return phrase.owner
    if phrase.of is None or phrase.of.pronoun:
        return None
    whose = phrase.determiner == "the" or is_relation(phrase.noun) or _is_role(phrase.noun)
    return phrase.of.text if whose else None


def is_relation(noun: str) -> bool:
    return _is_among(noun, "relations")


def _is_role(noun: str) -> bool:
    return _is_among(noun, "roles")


def _is_among(noun: str, key: str) -> bool:
    held = words("nouns", key)
    return noun in held or noun.rsplit(maxsplit=1)[-1] in held


def mutual(subjects: Sequence[Phrase], said: Phrase) -> list[Stated]:
    """Return the relation between two subjects: `Karim and Leila are siblings`."""
    single = said.noun.removesuffix("s")
    if len(subjects) != 2 or said.owner is not None or single not in words("nouns", "relations"):
        return []
    return [(subjects[0].text, f"has_{single.replace(' ', '_').replace('-', '_')}", subjects[1].text)]


def _has(noun: str, *, several: bool, past: bool) -> str:
    spelt = [word for word in noun.split() if word not in _PASSING] or noun.split()
    if several and spelt[-1].endswith("s") and not spelt[-1].endswith("ss"):
        spelt[-1] = spelt[-1][:-3] + "y" if spelt[-1].endswith("ies") else spelt[-1][:-1]
    return f"{'had' if past else 'has'}_{_NO_WORD.sub('_', ' '.join(spelt)).strip('_')}"


def introduced(phrase: Phrase) -> Iterator[Stated]:
    """Yield the statement of an introduction: `my sister Lena`, `Acme's CTO Maya`, `CEO Tim Cook`."""
    if phrase.called is None:
        return
    title = phrase.called
    if _is_role(title.lower()) and not is_relation(title.lower()):
        yield phrase.text, "has_role", title
    elif phrase.owner is not None:
        yield phrase.owner, _has(title.lower(), several=False, past=False), phrase.text


def placed(predicate: str, word: str, where: Phrase) -> str | None:
    """Return the predicate of a location, or None if the place is a state: in progress, on hold."""
    if where.determiner == "denied" or where.pronoun:
        return None
    if word in ("at", "on") and where.noun.startswith("version"):
        return "has_version"
    if where.named or where.determiner in ("the", "own") or word == "from":
        return predicate
    return None


def time_noun(noun: str) -> bool:
    return noun.split()[-1:] != [] and noun.rsplit(maxsplit=1)[-1] in pack("nouns")["times"]
