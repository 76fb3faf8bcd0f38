"""Encode AAAK lines as text and decode them without loss. `aaak.md` describes the notation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pieria.errors import InputError
from pieria.language.analyser import terms
from pieria.language.analyser.tokenizer import STOP_WORDS
from pieria.language.entities import entities
from pieria.language.sentences import sentences

CODE = re.compile(r"[A-Z0-9]{2,6}")
EMPTY = "-"
MOST_STARS = 5
_MARKED = re.compile(r"[|+_=>(\"\-:@\\]")
_BREAKS = {"\n": "n", "\r": "r"}
_WRITTEN = {letter: mark for mark, letter in _BREAKS.items()}
_TIME = re.compile(r" \((?P<since>[\w:.+\\-]*?)(?P<until>\.\.[\w:.+\\-]+)?\)$")
MOST = 3
LONGEST = 80
CODE_LETTERS = 3
FLAGS = {
    "DECISION": "decided|chose|chosen|agreed|switched|instead",
    "ORIGIN": "began|started|created|founded|first",
    "CORE": "always|never|principle|must|rule",
    "PIVOT": "realised|realized|turned out|breakthrough|suddenly|discovered",
    "TECHNICAL": "api|server|database|deploy|deployed|code|bug|schema|token|port",
    "SENSITIVE": "secret|private|confidential|diagnosis|salary",
}
FEELINGS = {
    "joy": "happy|glad|joy|delighted",
    "fear": "afraid|scared|fear",
    "hope": "hope|hopes|hoping|hopeful",
    "doubt": "doubt|unsure|uncertain",
    "relief": "relieved|relief",
    "anger": "angry|furious|annoyed",
    "grief": "grief|mourning|sad",
    "worry": "worried|worry|anxious",
    "pride": "proud|pride",
    "love": "love|loves|loved",
    "surprise": "surprised|surprise|amazed",
}
_CUES = {name: re.compile(rf"\b(?:{cues})\b", re.IGNORECASE) for name, cues in {**FLAGS, **FEELINGS}.items()}


class Legend(NamedTuple):
    code: str
    name: str


class Header(NamedTuple):
    wing: str = ""
    room: str = ""
    date: str = ""
    title: str = ""


class Entry(NamedTuple):
    """An entry. Each topic is a tuple of words; `stars` is 1 to 5, or 0 if not given."""

    codes: tuple[str, ...] = ()
    topics: tuple[tuple[str, ...], ...] = ()
    words: str = ""
    stars: int = 0
    feelings: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class Relation(NamedTuple):
    subject: str
    predicate: str
    object: str
    since: str = ""
    until: str = ""


class Sentence(NamedTuple):
    text: str


Line = Legend | Header | Entry | Relation | Sentence


def encode(lines: Iterable[Line]) -> str:
    """Return the text of the lines. Raise `InputError` for values that the notation cannot express."""
    return "\n".join(map(_written, lines))


def decode(text: str) -> list[Line]:
    """Return the lines of a text. A line of no known form is a sentence."""
    return [_read(line) for line in text.splitlines() if line.strip()]


def _written(line: Line) -> str:
    if isinstance(line, Legend):
        if not CODE.fullmatch(line.code):
            raise InputError("code", "2 to 6 capitals or digits", line.code)
        return f"{line.code}={_needed(line.name, 'name')}"
    if isinstance(line, Header):
        return "@" + _fields([_needed(part, "field") if part else EMPTY for part in line])
    if isinstance(line, Relation):
        said = ">".join(_needed(part, "relation") for part in line[:3])
        return said + _when(line)
    if isinstance(line, Sentence):
        return f": {_needed(line.text, 'text')}"
    if not 0 <= line.stars <= MOST_STARS:
        raise InputError("stars", f"0 to {MOST_STARS}", line.stars)
    fields = [
        _several(line.codes),
        _several(line.topics),
        f'"{_plain(line.words)}"' if line.words else EMPTY,
        "*" * line.stars or EMPTY,
        _several(line.feelings),
        _several(line.flags),
    ]
    # An entry needs at least one bar to be recognised.
    return _fields(fields) if any(field != EMPTY for field in fields[1:]) else f"{fields[0]}|{EMPTY}"


def _several(parts: Sequence[str | tuple[str, ...]]) -> str:
    written = [
        _needed(part, "part") if isinstance(part, str) else "_".join(_needed(word, "topic") for word in part)
        for part in parts
    ]
    if not all(written):
        raise InputError("topics", "topics of a word or more", parts)
    return "+".join(written) or EMPTY


def _when(line: Relation) -> str:
    if not line.since and not line.until:
        return ""
    return f" ({_day(line.since)}{f'..{_day(line.until)}' if line.until else ''})"


def _day(value: str) -> str:
    if value and not re.fullmatch(r"\d{4}(-\d{2}(-\d{2}(T[\d:.]+Z?)?)?)?", value):
        raise InputError("since", "a day such as 2026-01-31", value)
    return value


def _fields(fields: list[str]) -> str:
    while len(fields) > 1 and fields[-1] == EMPTY:
        fields = fields[:-1]
    return "|".join(fields)


def _needed(text: str, parameter: str) -> str:
    if not text.strip() or text != text.strip():
        raise InputError(parameter, "a text without space around it", text)
    return _plain(text)


def _plain(text: str) -> str:
    """Return the text with its special characters escaped."""
    marked = _MARKED.sub(lambda found: "\\" + found[0], text)
    return "".join("\\" + _BREAKS[each] if each in _BREAKS else _named(each) for each in marked)


def _named(character: str) -> str:
    """Return other line separators as a numeric escape."""
    return f"\\u{ord(character):04x}" if character.splitlines() == [""] else character


def _read(line: str) -> Line:
    line = line.strip()
    if line.startswith(":"):
        return Sentence(_unmarked(line[1:].strip()))
    if line.startswith("@"):
        return Header(*[_value(part) for part in _split(line[1:], "|")[:4]])
    relation = _relation(line)
    if relation is not None:
        return relation
    parts = _split(line, "=")
    if len(parts) == 2 and CODE.fullmatch(parts[0]) and parts[1].strip():
        return Legend(parts[0], _unmarked(parts[1].strip()))
    fields = _split(line, "|")
    return _entry(fields) if len(fields) > 1 else Sentence(_unmarked(line))


def _relation(line: str) -> Relation | None:
    said, since, until = line, "", ""
    when = _TIME.search(line)
    if when:
        said, since, until = line[: when.start()], when["since"], (when["until"] or "")[2:]
    ends = _split(said, ">")
    if len(ends) != len(Relation._fields[:3]) or len(_split(said, "|")) > 1 or not all(end.strip() for end in ends):
        return None
    subject, predicate, object = (_unmarked(end.strip()) for end in ends)
    return Relation(subject, predicate, object, since, until)


def _entry(fields: list[str]) -> Entry:
    codes, topics, words, stars, feelings, flags = [*fields, *[EMPTY] * 6][:6]
    said = "" if words.strip() == EMPTY else words.strip()
    return Entry(
        codes=_parts(codes),
        topics=tuple(
            tuple(_unmarked(word) for word in _split(topic, "_") if word) for topic in _raw(topics) if topic.strip("_")
        ),
        words=_unmarked(said[1:-1] if len(said) > 1 and said[0] == said[-1] == '"' else said),
        stars=min(MOST_STARS, stars.count("*")),
        feelings=_parts(feelings),
        flags=_parts(flags),
    )


def _raw(field: str) -> list[str]:
    kept = field.strip()
    return [] if kept in ("", EMPTY) else [part.strip() for part in _split(kept, "+") if part.strip()]


def _parts(field: str) -> tuple[str, ...]:
    return tuple(_unmarked(part) for part in _raw(field))


def _value(field: str) -> str:
    kept = field.strip()
    return "" if kept == EMPTY else _unmarked(kept)


def _split(text: str, mark: str) -> list[str]:
    """Split the text at every unescaped mark."""
    parts, begin, place = [], 0, 0
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == mark:
            parts.append(text[begin:place])
            begin = place + 1
        place += 1
    return [*parts, text[begin:]]


def _unmarked(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _WRITTEN.get(found[2], found[2])

    return re.sub(r"\\(?:u([0-9a-f]{4})|(.))", plain, text)


def brief(text: str, names: Mapping[str, str] | None = None, stars: int = 0) -> tuple[list[Legend], Entry]:
    """Return an entry for the text, and the legend of its codes. `names` maps names to known codes."""
    known = {name.casefold(): code for name, code in (names or {}).items()}
    named = Counter(found.name for found in entities(text) if found.kind in ("name", "acronym"))
    legend: dict[str, str] = {}
    for name, _ in named.most_common(MOST):
        code = known.get(name.casefold()) or _code(name, legend)
        if code:
            legend[code] = name
    return [Legend(code, name) for code, name in legend.items()], Entry(
        codes=tuple(legend),
        topics=_topics(text),
        words=_key_words(text),
        stars=stars,
        feelings=_said(text, FEELINGS),
        flags=_said(text, FLAGS),
    )


def _code(name: str, taken: Mapping[str, str]) -> str | None:
    letters = "".join(each for each in name.upper() if each.isascii() and each.isalnum())
    for length in range(CODE_LETTERS, len(letters) + 1):
        if letters[:length] not in taken and length <= 2 * CODE_LETTERS:
            return letters[:length]
    return None


def _topics(text: str) -> tuple[tuple[str, ...], ...]:
    counted = Counter(term for term in terms(text) if term.isalnum() and not term.isdigit() and term not in STOP_WORDS)
    return tuple((term,) for term, _ in counted.most_common(MOST))


def _key_words(text: str) -> str:
    """Return the sentence with most cues; among equals, the shortest."""
    spoken = [" ".join(text[found.start : found.end].split()) for found in sentences(text)]
    best = max(spoken, key=lambda each: (len(_said(each, {**FLAGS, **FEELINGS})), -len(each)), default="")
    return best if len(best) <= LONGEST else best[:LONGEST].rsplit(" ", 1)[0]


def _said(text: str, cues: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in cues if _CUES[name].search(text))[:MOST]
