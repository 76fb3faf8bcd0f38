"""Who says what in a text: its sentences with their speakers, from chats, notes and messages in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from pieria.language.commonwords import COMMON
from pieria.language.grammar.persons import is_first
from pieria.language.packs import pack, words
from pieria.language.sentences import sentences
from pieria.models.minds.rules.pieces import bare

_MARK = re.compile(
    r"""
    (?: [\[(]? (?P<when> (?: \d{4}-\d\d-\d\d [T ,]{1,2} )? \d{1,2}:\d\d (?: :\d\d )? (?: \s?[AaPp][Mm] )? ) [\])]?
        (?: \s? [-–] )? \s{1,3} )?
    (?: < (?P<chat> [\w.-]{1,30} ) > (?= \s )
      | [*_]{0,2} (?P<name> [^\W\d_] [\w.'’-]{0,30} (?: [ ] [^\W\d_] [\w.'’-]{0,30} ){0,2}? )
        (?: [ ]? \( (?P<who> [^()\n]{1,40} ) \) )? (?: [ ] (?: SAYING ) )? [*_]{0,2} : [*_]{0,2} (?= \s | \Z ) )
    """.replace("SAYING", "|".join(sorted(words("persons", "saying")))),
    re.VERBOSE,
)
_REPORT = re.compile(
    r"(?:the )?user (?:REPORTING)(?: me| us)?(?: that)? they(?P<verb>['’]re| are| were)?(?=[\s'’])".replace(
        "REPORTING", "|".join(sorted(words("persons", "reporting")))
    ),
    re.IGNORECASE,
)
_OWN_VERBS = {"re": "I'm", "are": "I am", "were": "I was"}
USER = "the user"
"""The speaker of a person's message to the agent, as worded within a sentence."""
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}")
_NO_NAME_ENDS = ("tion", "sion", "ment", "ness", "ity", "ing", "ance", "ence", "ture", "ship", "ism")
_SENDERS = ("name", "from", "author", "sender", "who", "src", "role", "user")
_TEXTS = ("msg", "message", "text", "content", "body", "answer", "reply", "said")
"""Keys of messages in JSON: whose they are, from the most to the least telling, and what they say."""
_PROSE = 4
"""Words of a value in JSON that is prose, not data."""
_OPENS, _CLOSES = tuple('"“„«'), tuple('"”“»')
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


class Spoken(NamedTuple):
    """A sentence without marks, its speaker as worded within a sentence, and whether it continues the one before.

    With `quoted`, it is in quotation marks that begin or end outside it: the words are another person's.
    """

    text: str
    speaker: str | None
    goes_on: bool
    quoted: bool
    opens_line: bool

    @property
    def is_named(self) -> bool:
        return self.speaker is not None and not self.speaker.startswith("the ")


def is_serving(speaker: str) -> bool:
    """Return whether the speaker is the assistant, the agent or the system."""
    return speaker.removeprefix("the ") in words("persons", "serving")


def spoken(text: str, speaker: str | None = None) -> Iterator[Spoken]:
    """Yield the sentences. `speaker` is the speaker of sentences without a name in front."""
    text = _messages(text)
    unnamed = speaker
    known: set[str] = set()
    goes_on, open_quote, is_told, after = False, False, False, 0
    for start, end in sentences(text):
        opens_line = after == 0 or "\n" in text[after:start]
        open_quote, is_told, after = open_quote and not opens_line, is_told and not opens_line, end
        said = " ".join(text[start:end].split())
        cited = opens_line and said.startswith(">")
        mark = _MARK.match(bare(said))
        turn = _turn(mark, known, opens_line=opens_line) if mark else None
        if turn is not None and mark is not None:
            said, goes_on = bare(said)[mark.end() :], False
            speaker = turn
            known.add(turn)
        elif opens_line and mark and _is_unknown(mark):
            speaker, goes_on = unnamed, False
        said, by = _reported(bare(said.strip()), speaker)
        if (opens_line or turn is not None) and said.startswith(_OPENS) and not _closes_early(said):
            # Everything that is said here is in quotation marks: they set nothing apart.
            said, is_told = said[1:].lstrip(), True
        if is_told and said.rstrip(".!?").endswith(_CLOSES) and _has_odd_quote(said):
            said, is_told = _without_last_quote(said), False
        began = open_quote
        open_quote ^= _has_odd_quote(said)
        if said:
            is_apart = cited or began or open_quote
            yield Spoken(said, None if cited else by, goes_on and not cited, is_apart, opens_line)
            goes_on = not cited


def _reported(said: str, speaker: str | None) -> tuple[str, str | None]:
    """Return a sentence such as `The user says they prefer tea` in the user's own words, and its speaker."""
    found = _REPORT.match(said)
    if found is None or is_first(said[found.end() :]):
        return said, speaker
    verb = (found["verb"] or "").strip(" '’").lower()
    return f"{_OWN_VERBS.get(verb, 'I')}{said[found.end() :]}", USER


def _closes_early(said: str) -> bool:
    """Return whether the quotation at the beginning ends within the sentence."""
    closed = said.translate(_QUOTES).find('"', 1)
    return 0 < closed < len(said.rstrip(".!?")) - 1


def _has_odd_quote(said: str) -> bool:
    return said.translate(_QUOTES).count('"') % 2 == 1


def _without_last_quote(said: str) -> str:
    place = max(said.rfind(mark) for mark in _CLOSES)
    return f"{said[:place]}{said[place + 1 :]}".rstrip()


def _messages(text: str) -> str:
    """Return the text with each JSON document replaced by the messages and the prose in it, a line each."""
    if "{" not in text:
        return text
    whole = _parsed(text)
    if whole is not None:
        return "\n".join(_prose(whole))
    lines: list[str] = []
    for line in text.splitlines():
        found = _parsed(line)
        lines += [line] if found is None else _prose(found)
    return "\n".join(lines)


def _parsed(text: str) -> dict[str, Any] | list[Any] | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _prose(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        sender = next((str(value[key]) for key in _SENDERS if isinstance(value.get(key), str)), "")
        for key, inner in value.items():
            if key in _TEXTS and isinstance(inner, str) and sender:
                yield f"{sender}: {inner}"
            elif key not in _SENDERS:
                yield from _prose(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _prose(inner)
    elif isinstance(value, str) and len(value.split()) >= _PROSE:
        yield value


def _turn(mark: re.Match[str], known: set[str], *, opens_line: bool) -> str | None:
    """Return the speaker of a mark, or None if it marks no turn. Within a line, only a known name or a role counts."""
    if mark["chat"]:
        return mark["chat"] if opens_line else None
    name = mark["name"]
    role = _roles().get(name.lower())
    if role is not None:
        return mark["who"] if mark["who"] and _is_name(mark["who"]) else role
    timed = mark["when"] is not None and name.lower() not in _labels()
    if name in known or (opens_line and (timed or _is_name(name))):
        return name
    return None


def _is_name(name: str) -> bool:
    parts = name.split()
    return (
        _NAME.fullmatch(name) is not None
        and all(part[0].isupper() for part in parts)
        and not any(part.lower() in _labels() for part in parts)
        and not parts[0].lower().endswith(_NO_NAME_ENDS)
        and not (len(name) > 4 and name.isupper())
    )


def _is_unknown(mark: re.Match[str]) -> bool:
    """Return whether the mark may name another speaker or a label."""
    name = mark["name"] or ""
    return name[:1].isupper() and " " not in name and name.lower() not in words("persons", "announcing")


@cache
def _roles() -> Mapping[str, str]:
    return {role: said for said, listed in pack("persons")["speakers"].items() for role in listed.split()}


@cache
def _labels() -> frozenset[str]:
    return COMMON | words("persons", "labels") | words("persons", "announcing")
