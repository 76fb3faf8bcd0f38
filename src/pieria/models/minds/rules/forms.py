"""Forms of verbs: from what a text spells to the verb, and to what the pack says that it states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from pieria.models.minds.rules.packs import pack, words
from pieria.record.analyser.irregular import IRREGULAR

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Frame:
    """What a verb states of whoever does it, of what it is done to, and by which preposition."""

    object: str | None = None
    agent: Mapping[str, str] = field(default_factory=dict)
    theme: Mapping[str, str] = field(default_factory=dict)
    when: str | None = None
    naming: str | None = None
    plain: str | None = None
    by: str | None = None
    done: bool = False
    """Whether it brings something about, and so is past once it is done."""
    also: bool = False
    """Whether what the agent's prepositions state holds beside an object too."""
    starts: bool = False
    """Whether what it states begins with it, so that a time beside it says since when."""


@dataclass(frozen=True, slots=True)
class Form:
    """What one spelling may be a form of: `kinds` are base, third, past, participle and ing."""

    lemma: str
    kinds: frozenset[str]


def _doubles(lemma: str) -> bool:
    """Whether the last letter is doubled: plan, planned."""
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
"""What the stemmer's table leads to a verb though it is a noun."""


@cache
def _irregular() -> Mapping[str, tuple[str, ...]]:
    """The past and the participle of verbs no rule reaches."""
    found: dict[str, list[str]] = {}
    for form, base in IRREGULAR.items():
        if form not in _NO_VERBS and not form.endswith(("ing", "s")):
            found.setdefault(base, []).append(form)
    return {base: tuple(held) for base, held in found.items()}


def _is_participle(form: str, lemma: str) -> bool:
    """Whether it is no past as well: written beside wrote."""
    return len(_irregular()[lemma]) > 1 and form.endswith(("n", "ne", "ung", "um", "un"))


@cache
def past_of(lemma: str) -> str:
    irregular = [form for form in _irregular().get(lemma, ()) if not _is_participle(form, lemma)]
    return irregular[0] if irregular else {kind: form for form, kind in _ending(lemma)}["past"]


_SAME = frozenset(("put", "set", "cut", "read", "hit", "let", "cost", "shut", "split", "come", "become", "run"))
"""Verbs of which the participle, or the past as well, is spelt like the verb."""


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
    """Every verb of the pack with what it states; a verb of two words beside the one it begins with."""
    held = pack("verbs")
    literal = {verb: _literal(verb, held["literal"]["by"]) for verb in held["literal"]["verbs"].split()}
    return literal | {verb: _frame(entry) for entry in held["frames"] for verb in entry["verbs"]}


def _literal(verb: str, prepositions: str) -> Frame:
    """A verb that is its own predicate, with the preposition behind it."""
    third = third_of(verb)
    return Frame(object=third, agent={word: f"{third}_{word}" for word in prepositions.split()})


@cache
def adjectives() -> Mapping[str, Frame]:
    return {word: _frame(entry) for entry in pack("verbs")["adjectives"] for word in entry["words"]}


def _frame(entry: Mapping[str, object]) -> Frame:
    return Frame(**{key: value for key, value in entry.items() if key not in ("verbs", "words")})  # type: ignore[arg-type]


@cache
def forms() -> Mapping[str, Form]:
    """Every form of every verb the rules know, with those that state nothing."""
    kinds: dict[str, tuple[str, set[str]]] = {}
    stating = sorted({verb.partition(" ")[0] for verb in frames()})
    for lemma in (*stating, *sorted(words("words", "other_verbs"))):
        for form, kind in _inflected(lemma):
            held = kinds.setdefault(form, (lemma, set()))
            if held[0] == lemma:
                held[1].add(kind)
    kinds["has"] = ("have", {"third"})
    return {form: Form(lemma, frozenset(held)) for form, (lemma, held) in kinds.items()}
