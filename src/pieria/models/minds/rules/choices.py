"""Name what a short answer chose: an option by its number, letter or place in the question before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pieria.language.packs import pack
from pieria.language.sentences import sentences
from pieria.models.minds.rules.pieces import told
from pieria.record.clip import clipped

OPTION = 160
"""Characters of an option that are quoted."""
_READ = 4_000
_FEW = 4
"""Terms of an answer that only names an option, and the last sentences that may be its question."""
_LISTED = re.compile(r"(?:(?<=\s)|\A)\(?([A-Ha-h]|[1-9])[).:][ \t]+(?=\S)")
_ENDS = re.compile(r"\n|[;?？]|(?<=\S)[.。](?=\s|\Z)")
_MARKS = " \t-–—*_:;,."


def named_choice(said: str, before: str) -> str:
    """Return an answer with the name of the option in place of its number; unchanged if it names no option."""
    found = _reference().match(said)
    if found is None:
        return said
    option = _option(found, before[-_READ:])
    if not option:
        return said
    rest = said[found.end() :].strip()
    return f"{option}{'' if rest[:1] in ',.;:' else ', '}{rest}" if rest.strip(_MARKS) else option


def names_option(said: str, before: str) -> bool:
    """Return whether the first sentence of an answer only names something that the question before offered."""
    asked = [before[start:end] for start, end in sentences(before[-_READ:])]
    answers = [said[start:end] for start, end in sentences(said[:_READ])]
    offered = [each for each in asked[-_FEW:] if each.rstrip().endswith(("?", "？"))]
    if not offered or not answers:
        return False
    named = told(_consent().sub("", answers[0]))
    return 0 < len(named) <= _FEW and named <= told(offered[-1])


def _option(found: re.Match[str], before: str) -> str:
    listed = _listed(before)
    if mark := found["mark"] or found["named"]:
        return listed.get(mark.lower(), "")
    places = pack("notes")["places"]
    place = next(int(key) for key, words in places.items() if re.fullmatch(words, found["place"], re.IGNORECASE))
    options = list(listed.values()) or _alternatives(before)
    index = place - 1 if place > 0 else place
    return options[index] if -len(options) <= index < len(options) else ""


def _listed(before: str) -> dict[str, str]:
    """Return the last list of options by their mark."""
    marks = list(_LISTED.finditer(before))
    found: dict[str, str] = {}
    ends = [*(mark.start() for mark in marks[1:]), len(before)]
    for mark, end in zip(marks, ends, strict=False):
        name = mark[1].lower()
        if name in ("1", "a"):
            found = {}
        text = before[mark.end() : end]
        stop = _ENDS.search(text)
        option = clipped(text[: stop.start()] if stop else text, OPTION).strip(_MARKS)
        found[name] = re.sub(rf"[,;]?\s+(?:{pack('notes')['options']['or']})\Z", "", option)
    return found


def _alternatives(before: str) -> Sequence[str]:
    """Return the alternatives of the last question: “SQLite or Postgres?”."""
    asked = [before[start:end] for start, end in sentences(before) if before[start:end].rstrip().endswith(("?", "？"))]
    if not asked:
        return []
    joint = rf"\s*,?\s*\b(?:{pack('notes')['options']['or']})\b\s*|,\s+|(?:または|还是|還是)"
    parts = re.split(joint, asked[-1].rstrip("?？ "))
    return [clipped(part, OPTION).strip(_MARKS) for part in parts if part.strip(_MARKS)]


_LEAD = r"\s*+(?:(?:ok(?:ay)?|yes|yeah|ja|oui|sí|sim|hm+|let'?s (?:take|go with|do)|take|use|go with)[\s,.!]++)*"


@cache
def _consent() -> re.Pattern[str]:
    return re.compile(_LEAD, re.IGNORECASE)


@cache
def _reference() -> re.Pattern[str]:
    places, options = pack("notes")["places"], pack("notes")["options"]
    place = "|".join(places.values())
    named = rf"(?:(?:{options['word']})\s+)+\(?(?P<named>[a-h]|[1-9])(?!\w)"
    bare = rf"\(?(?P<mark>[a-h]|[1-9])(?=[).,:;!]|\s*\Z|\s+(?:{options['then']})\b)"
    article = rf"(?:(?:{options['article']})\s+)?"
    return re.compile(
        rf"{_LEAD}(?:(?:{named}|{bare})(?!\s*[\w%€$]*\d)[).:]?|{article}(?P<place>{place})(?!\w)(?: one)?)",
        re.IGNORECASE,
    )
