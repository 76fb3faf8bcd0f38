"""Display of user text: always as plain text.

Every piece is escaped before it is put between our tags; invisible and misleading characters are replaced by visible
signs. Nothing here parses HTML or builds it by joining unescaped text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from markupsafe import Markup, escape

from pieria.language.analyser import query_terms, spans

CUT = 1_200
"""Characters shown of a text; a click opens the whole."""
MOST_MARKS = 2_000
"""Most characters shown as a named sign; later ones share one general sign."""
SEARCHED = 20_000
"""Characters of a text that are searched for the query's terms."""
_UNSEEN = re.compile(
    "["
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # controls, except tab and newline
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # changes of the writing direction
    "\\u00ad\\u180e\\u200b\\u2028\\u2029\\u2060-\\u2064\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb"  # invisible characters
    "\\U000e0000-\\U000e007f"  # invisible tag characters
    "\\ud800-\\udfff"  # surrogates
    "]+"
)
ANY = "\N{REPLACEMENT CHARACTER}"


def words(text: str, asked: Collection[str] = (), limit: int | None = None) -> Markup:
    """Return the text, at most `limit` characters, with the terms in `asked` marked."""
    whole = text.replace("\r\n", "\n")
    shown = whole if limit is None else whole[:limit]
    pieces = [_marked(part) if hit else _plain(part) for part, hit in _parted(shown, asked)] if asked else None
    if pieces is None:
        pieces = [_plain(shown)]
    if len(shown) < len(whole):
        pieces.append(Markup('<span class="cut" title="more follows">…</span>'))
    return Markup("").join(pieces)


def asked_terms(query: str) -> frozenset[str]:
    """Return the terms of a query to mark, without stop words unless there are no others."""
    terms = query_terms(query[:SEARCHED])
    return frozenset(each.term for each in terms if not each.stop) or frozenset(each.term for each in terms)


def _parted(text: str, asked: Collection[str]) -> Iterator[tuple[str, bool]]:
    end = 0
    for start, stop in _places(text, asked):
        if start > end:
            yield text[end:start], False
        yield text[start:stop], True
        end = stop
    if end < len(text):
        yield text[end:], False


def _places(text: str, asked: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the terms without overlaps. The earliest span wins, then the longest."""
    end = 0
    found = (span for span in spans(text[:SEARCHED]) if span.term in asked)
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if span.start >= end and span.end > span.start:
            yield span.start, span.end
            end = span.end


def _marked(text: str) -> Markup:
    return Markup("<mark>{}</mark>").format(_plain(text))


def _plain(text: str) -> Markup:
    """Return the text escaped, with invisible characters shown by their codes."""
    pieces: list[Markup] = []
    end = 0
    for number, found in enumerate(_UNSEEN.finditer(text)):
        if number >= MOST_MARKS:
            pieces.append(escape(_UNSEEN.sub(ANY, text[end:])))
            return Markup("").join(pieces)
        pieces.append(escape(text[end : found.start()]))
        pieces.append(_sign(found.group()))
        end = found.end()
    pieces.append(escape(text[end:]))
    return Markup("").join(pieces)


def _sign(unseen: str) -> Markup:
    """Return a sign such as `U+202E`, titled with the character's name. A run shows its first character and length."""
    code = f"U+{ord(unseen[0]):04X}"
    name = unicodedata.name(unseen[0], "a control character").lower()
    more = f" ×{len(unseen):,}" if len(unseen) > 1 else ""
    return Markup('<span class="unseen" title="{}">{}{}</span>').format(name, code, more)


def one_line(text: str, limit: int = 80, asked: Collection[str] = ()) -> Markup:
    """Return a title, a name or a tag on one line, cut and escaped."""
    return words(" ".join(text[: 8 * limit].split()), asked, limit)
