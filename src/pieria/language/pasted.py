"""Find pasted material: the parts of a prompt that its author did not write. Pure.

When in doubt, a part counts as pasted. A part ends at its end mark (a fence, a tag, a quote), or where its lines stop
looking like a log, code or a diff. Otherwise it ends with the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pieria.language import paste_forms

Span = tuple[int, int]
REPEATS = "repeats"
"""The key in a turn's `meta` for spans that repeat tool output."""
_PROSE_BETWEEN = 6
"""Most lines of prose between two lines of a log that count as part of it."""
_BEFORE = 60
"""Characters before a verb of saying that may name the speaker."""
_OWN_QUOTE, _OWN_QUOTE_LENGTH = 4, 40
"""Most words and characters of a quotation that is only the author's way to name something."""

_FENCE = re.compile(r"[ \t>]{0,8}(?P<mark>`{3,}|~{3,})")
_QUOTED_LINE = re.compile(r"[ \t]{0,3}(?:>|\|\s)")
_TAG = re.compile(r"[ \t]*<(?P<name>[A-Za-z][\w:.-]{0,40})(?:\s[^<>\n]{0,200})?>")
_QUOTATION = re.compile(
    r'"[^"\n]{0,2000}(?:\n[^"\n]{1,2000}){0,20}"|“[^“”]{0,4000}”?|„[^„“”]{0,4000}[“”]?'
    r"|«[^«»]{0,4000}»?|「[^「」]{0,4000}」?"
    r"|(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,2000}'(?!\w)"
)
_DIVIDER = re.compile(
    r"[ \t]*+(?:[-=_*~#]{3,}+|[—–]{2,}+)(?:[^\n]{0,30}\bend\b[^\n]{0,30})?[-=_*~#—–]*+[ \t]*+$", re.IGNORECASE
)
_END = re.compile(r"\W{0,8}(?:end|eof|ende|fin)\b(?: (?:of|der|des|de la|du|del)\b[^\n]{0,30})?\W{0,8}$", re.IGNORECASE)

_HUNK = re.compile(r"@@ -\d")
_CHANGED_LINE = re.compile(r"[-+ ]")
_CODE_INDENT = re.compile(r"(?: {4,}|\t+)\S")
_BULLET = re.compile(r"\s*(?:[-*•+]|\d+[.)])\s")


class _Line(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def pasted(text: str) -> list[Span]:
    """Return the spans of the text that another author may have written, in order and without overlaps."""
    lines = list(_lines(text))
    spans = merged(_marked(lines))
    spans = merged([*spans, *_artefacts([line for line in lines if not is_within(line.start, spans)])])
    spans += _brought([line for line in lines if not is_within(line.start, spans)], len(text))
    spans += _before_remarks(lines)
    spans += _reported(lines)
    spans += (found.span() for found in _QUOTATION.finditer(text) if _is_long(found[0]))
    return merged(spans)


def holds_paste(text: str) -> bool:
    """Return whether another author may have written part of the text."""
    return bool(pasted(text))


def is_surely_own(prompt: str) -> bool:
    """Return whether the prompt is certainly the person's own text.

    With several lines, any of them may be pasted. After a request to translate or check something, the rest of the
    line may be.
    """
    return len(prompt.strip().splitlines()) <= 1 and not paste_forms.handovers().search(prompt)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with touching spans joined."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found


def is_within(place: int, spans: list[Span]) -> bool:
    """Return whether one of the merged spans contains the position."""
    at = bisect_right(spans, (place, 1 << 62)) - 1
    return at >= 0 and spans[at][0] <= place < spans[at][1]


def repeats_of(meta: Mapping[str, Any]) -> list[Span]:
    """Return the spans in a memory's `meta`, without malformed entries."""
    held = meta.get(REPEATS)
    pairs = [pair for pair in held if isinstance(pair, list) and len(pair) == 2] if isinstance(held, list) else []
    return merged((start, end) for start, end in pairs if isinstance(start, int) and isinstance(end, int))


def overlaps(start: int, end: int, spans: list[Span]) -> bool:
    """Return whether one of the merged spans overlaps `start:end`."""
    at = bisect_right(spans, (end - 1, 1 << 62)) - 1
    return at >= 0 and spans[at][1] > start


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield _Line(start, start + len(line), line.splitlines()[0])
        start += len(line)


# --- parts whose beginning and end are marked


def _marked(lines: list[_Line]) -> Iterator[Span]:
    """Yield fenced blocks, quoted lines and text between tags. A block without an end goes to the end of the text."""
    place = 0
    while place < len(lines):
        line = lines[place]
        fence, tag = _FENCE.match(line.text), _TAG.match(line.text)
        if fence is not None:
            last = _closing(lines, place + 1, re.compile(rf"[ \t>]{{0,8}}{re.escape(fence['mark'][:3])}"))
            yield line.start, lines[last].end
            place = last + 1
            continue
        if tag is not None:
            close = re.compile(rf".*</{re.escape(tag['name'])}\s*>", re.IGNORECASE)
            last = place if close.match(line.text) else _closing(lines, place + 1, close)
            yield line.start, lines[last].end
            place = last + 1
            continue
        if _QUOTED_LINE.match(line.text):
            yield line.start, line.end
        place += 1


def _closing(lines: list[_Line], place: int, mark: re.Pattern[str]) -> int:
    return next((at for at in range(place, len(lines)) if mark.match(lines[at].text)), len(lines) - 1)


# --- parts that look like program output


def _artefacts(free: list[_Line]) -> Iterator[Span]:
    """Yield logs, code, diffs and the like, each to the end of its last paragraph, with a little prose in between."""
    begin = last = None
    ends = _paragraph_ends(free)
    for place in _artefact_places(free):
        if last is not None and begin is not None and _prose(free, last, place) > _PROSE_BETWEEN:
            yield free[begin].start, free[ends[last]].end
            begin = None
        begin, last = place if begin is None else begin, place
    if begin is not None and last is not None:
        yield free[begin].start, free[ends[last]].end


def _prose(free: list[_Line], after: int, before: int) -> int:
    """Return the number of non-blank lines between two positions, counted no further than needed."""
    between = free[after + 1 : min(before, after + 4 * _PROSE_BETWEEN)]
    return sum(not line.is_blank for line in between)


def _paragraph_ends(free: list[_Line]) -> list[int]:
    """Return for each line the index of the last line of its paragraph."""
    ends = list(range(len(free)))
    for place in range(len(free) - 2, -1, -1):
        following = free[place + 1]
        if following.start == free[place].end and not following.is_blank:
            ends[place] = ends[place + 1]
    return ends


def _artefact_places(free: list[_Line]) -> Iterator[int]:
    in_hunk = after_bullet = False
    is_artefact = paste_forms.lines().match
    for place, line in enumerate(free):
        if _HUNK.match(line.text):
            in_hunk = True
        elif in_hunk and not _CHANGED_LINE.match(line.text):
            in_hunk = False
        if line.is_blank:
            continue
        is_indented = _CODE_INDENT.match(line.text) is not None
        if in_hunk or (is_indented and not after_bullet) or is_artefact(line.text):
            yield place
        # Indented lines below a bullet continue the bullet.
        after_bullet = _BULLET.match(line.text) is not None and (after_bullet or not is_indented)


# --- parts that are announced and have no end mark


def _brought(free: list[_Line], end: int) -> Iterator[Span]:
    """Yield mails, chats and announced parts, up to a dividing line or the end of the text."""
    place = 0
    while place < len(free):
        line = free[place]
        begins = paste_forms.mails().match(line.text) or paste_forms.chats().match(line.text)
        announced = not begins and paste_forms.announcements().match(line.text.strip())
        if not begins and not announced:
            place += 1
            continue
        start = line.start if begins else line.end
        place += 1
        if announced and _ends_by_itself(line, free, place):
            continue
        while place < len(free) and not (_DIVIDER.match(free[place].text) or _END.match(free[place].text)):
            place += 1
        yield start, free[place].start if place < len(free) else end
        place += 1


def _ends_by_itself(announcement: _Line, free: list[_Line], place: int) -> bool:
    """Return whether the announced part is marked, or is a log or code: such parts have their own end."""
    here = announcement.end
    while place < len(free) and free[place].is_blank and free[place].start == here:
        here, place = free[place].end, place + 1
    return place == len(free) or free[place].start != here


def _before_remarks(lines: list[_Line]) -> Iterator[Span]:
    """Yield everything before a line such as “the above is from the ticket”."""
    for line in lines[1:]:
        if paste_forms.remarks().match(line.text):
            yield 0, line.start


def _reported(lines: list[_Line]) -> Iterator[Span]:
    """Yield the rest of a line after “the wiki says:” or “translate this:”."""
    for line in lines:
        handed = paste_forms.tasks().search(line.text)
        if handed is not None:
            yield line.start + handed.end(), line.end
        for found in paste_forms.reports().finditer(line.text):
            if not paste_forms.own_words().search(line.text[max(0, found.start() - _BEFORE) : found.start()]):
                yield line.start + found.end(), line.end
                break


def _is_long(quotation: str) -> bool:
    """Return whether the quotation is long enough to be another author's sentence rather than a name."""
    return len(quotation.split()) > _OWN_QUOTE or len(quotation) > _OWN_QUOTE_LENGTH
