"""Forms of verbs: the verb for each spelling, and the statements that the pack has for the verb."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from pieria.language.analyser.stem import IRREGULAR
from pieria.language.packs import pack, words

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Frame:
    """The predicates of a verb: for its object, for the prepositions of its subject and object, and for times."""

    object: str | None = None
    agent: Mapping[str, str] = field(default_factory=dict)
    theme: Mapping[str, str] = field(default_factory=dict)
    when: str | None = None
    naming: str | None = None
    plain: str | None = None
    by: str | None = None
    done: bool = False
    """Whether the action is complete once done, so that its perfect and passive count as past."""
    also: bool = False
    """Whether the subject's prepositions count even if there is an object."""
    starts: bool = False
    """Whether the stated relation begins with the action, so that a time of the action is its start."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a spelling may be: `kinds` are base, third, past, participle and ing."""

    lemma: str
    kinds: frozenset[str]


def _doubles(lemma: str) -> bool:
    """Return whether the last letter is doubled: plan, planned."""
    if len(lemma) < 3 or lemma[-1] in _VOWELS + "wxy" or lemma[-2] not in _VOWELS or lemma[-3] in _VOWELS:
        return False
    return sum(letter in _VOWELS for letter in lemma) == 1 or lemma in (
        "transfer",
        "refer",
        "prefer",
        "commit",
        "admit",
    )


def _ending(lemma: str) -> Iterator[tuple[str, str]]:
    consonant_y = lemma.endswith("y") and lemma[-2:-1] not in _VOWELS
    whole = lemma + lemma[-1] if _doubles(lemma) else lemma
    yield lemma, "base"
    if consonant_y:
        yield lemma[:-1] + "ies", "third"
        yield lemma[:-1] + "ied", "past"
    else:
        yield lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else "s"), "third"
        yield whole + ("d" if lemma.endswith("e") else "ed"), "past"
    drops = lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye"))
    yield (lemma[:-2] + "ying" if lemma.endswith("ie") else lemma[:-1] + "ing" if drops else whole + "ing"), "ing"


_NO_VERBS = ("marriage", "marriages", "application", "applications", "programme", "programmes")
"""Nouns that the stemmer's table maps to a verb."""


@cache
def _irregular() -> Mapping[str, tuple[str, ...]]:
    """Return the past and participle forms of irregular verbs."""
    found: dict[str, list[str]] = {}
    for form, base in IRREGULAR.items():
        if form not in _NO_VERBS and not form.endswith(("ing", "s")):
            found.setdefault(base, []).append(form)
    return {base: tuple(held) for base, held in found.items()}


def _is_participle(form: str, lemma: str) -> bool:
    """Return whether the form is only a participle, not a past: written, but wrote."""
    return len(_irregular()[lemma]) > 1 and form.endswith(("n", "ne", "ung", "um", "un"))


@cache
def past_of(lemma: str) -> str:
    irregular = [form for form in _irregular().get(lemma, ()) if not _is_participle(form, lemma)]
    return irregular[0] if irregular else {kind: form for form, kind in _ending(lemma)}["past"]


_SAME = frozenset(("put", "set", "cut", "read", "hit", "let", "cost", "shut", "split", "come", "become", "run"))
"""Verbs whose participle, and often the past, is spelt like the base form."""


def _inflected(lemma: str) -> Iterator[tuple[str, str]]:
    for form, kind in _ending(lemma):
        yield form, kind
        if kind == "past":
            yield form, "participle"
    for form in _irregular().get(lemma, ()):
        yield form, "participle"
        if not _is_participle(form, lemma):
            yield form, "past"
    if lemma in _SAME:
        yield lemma, "participle"


def third_of(lemma: str) -> str:
    return "has" if lemma == "have" else {kind: form for form, kind in _ending(lemma)}["third"]


@cache
def frames() -> Mapping[str, Frame]:
    """Return the frame of every verb in the pack. A two-word verb has its own entry."""
    return {verb: _frame(entry) for entry in pack("verbs")["frames"] for verb in entry["verbs"]}


@cache
def adjectives() -> Mapping[str, Frame]:
    return {word: _frame(entry) for entry in pack("verbs")["adjectives"] for word in entry["words"]}


def _frame(entry: Mapping[str, object]) -> Frame:
    return Frame(**{key: value for key, value in entry.items() if key not in ("verbs", "words")})  # type: ignore[arg-type]


@cache
def forms() -> Mapping[str, Form]:
    """Return the form of every known spelling, including verbs without a frame."""
    kinds: dict[str, tuple[str, set[str]]] = {}
    stating = sorted({verb.partition(" ")[0] for verb in frames()})
    for lemma in (*stating, *sorted(words("words", "stating") | words("words", "other_verbs"))):
        for form, kind in _inflected(lemma):
            held = kinds.setdefault(form, (lemma, set()))
            if held[0] == lemma:
                held[1].add(kind)
    kinds["has"] = ("have", {"third"})
    return {form: Form(lemma, frozenset(held)) for form, (lemma, held) in kinds.items()}
