"""Words: how one written word, address, path or identifier becomes the whole and its parts.

Exists because people search for `store.ts` and mean `src/db/store.ts`. The whole comes first, then its parts from left
to right, so that the terms of a phrase stand next to each other. Finding where a word begins and ends in a text
belongs to `tokens`; what an English word is reduced to, to `stem`.
"""

from __future__ import annotations

import re

from pieria.record.analyser.stem import stem

LONGEST = 64
"""Characters of a term. A longer one keeps its beginning and a digest of all of it, so that equals stay equal."""
_DIGEST = 16

# Letters with a body of their own, which no decomposition takes apart. As it depends on the case whether one letter
# becomes two, this waits until case no longer tells parts.
_SPELT = str.maketrans({
    "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n",
    "æ": "ae", "œ": "oe", "þ": "th",
})  # fmt: skip

_PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+s?|[0-9]+")
_CONTRACTION = re.compile(r"(?:'(?:s|ll|re|ve|m|d))+\Z", re.IGNORECASE)
_NEGATION = re.compile(r"[a-z]+n't", re.IGNORECASE)
_PREFIX = re.compile(r"[.#@$]|::")
_SUFFIX = re.compile(r"(?:\+\+?|[#%$])\Z")

# Hyphens, underscores and apostrophes join a word and mean nothing else, but in a row of numbers: 2026-01-10.
_LINKS = re.compile(r"[-_']+")
_NUMBERS = re.compile(r"[0-9]+(?:-[0-9]+)+")
_PATH = re.compile(r"[/\\@]+")
_SLASHES = re.compile(r"[/\\]+")
_COLON = re.compile(r":+")
_DOT = re.compile(r"\.")

MOMENT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}"
    r"(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
_MOMENT = re.compile(MOMENT)
_DATE = re.compile(r"[0-9]{4}([/.])[0-9]{1,2}\1[0-9]{1,2}")
_CLOCK = re.compile(r"([0-9]{1,2}:[0-9]{2})(?::[0-9]{2}|[AaPp][Mm])")
_INITIALS = re.compile(r"[A-Za-z](?:\.[A-Za-z])+")
_NUMBERED = re.compile(r"([vV]?)([0-9]+(?:\.[0-9]+)+)")

_CASES = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_IS_CASED = re.compile(r"[a-z].*[A-Z]|[A-Z]{2}.*[a-z]")
_NAME_THEN_NUMBER = re.compile(r"([A-Za-z]{3,})([0-9]+)")
_NUMBER_THEN_UNIT = re.compile(r"([0-9]+)([A-Za-z]+)")
_ORDINAL = re.compile(r"st|nd|rd|th|s", re.IGNORECASE)
_IS_OPAQUE = re.compile(r"(?:[0-9]+[A-Za-z]+){3}")


Placed = tuple[str, int, int]
"""A term, and where in the folded text it starts and ends."""


def shortened(term: str) -> str:
    """The beginning and a digest of the whole."""
    from hashlib import blake2b  # rare, and slow to import

    digest = blake2b(term.encode(), digest_size=_DIGEST // 2).hexdigest()
    return f"{term[: LONGEST - _DIGEST - 1]}~{digest}"


def lowered(text: str) -> str:
    """Without case, every Latin letter with a body of its own spelt in plain ones."""
    return text.lower() if text.isascii() else text.casefold().translate(_SPELT)


class Words:
    """The words of one folded text, taken apart; what comes of it gathers in `found`."""

    def __init__(self, folded: str, shape: str) -> None:
        self._text = folded
        self._shape = shape
        self.found: list[Placed] = []

    def add(self, term: str, start: int, end: int) -> None:
        self.found.append((term if len(term) <= LONGEST else shortened(term), start, end))

    def compound(self, start: int, end: int) -> None:
        """A word with all that clings to it: `#123`, `C++`, `$5`, `.NET`."""
        shape = self._shape
        if shape[start:end].isalnum():
            self._cased(start, end)
            return
        prefix = _PREFIX.match(shape, start, end)
        first = prefix.end() if prefix else start
        suffix = _SUFFIX.search(shape, first, end)
        last = self._without_contraction(first, suffix.start() if suffix else end)
        if not suffix or last < suffix.start():
            end = last
        if (start, end) != (first, last):
            self._clinging(self._whole(first, last), start, first, last, end)
        self._path(first, last)

    def grouped(self, start: int, end: int) -> None:
        """`1,000` is 1000, `$1,000` is that and $1000."""
        first = start + (self._shape[start] == "$")
        last = end - (self._shape[end - 1] in "$%")
        number = self._text[first:last].replace(",", "")
        if (first, last) != (start, end):
            self._clinging(number, start, first, last, end)
        self.add(number, first, last)

    def moment(self, start: int, end: int) -> None:
        """`2026-01-10T10:30:15Z`: the moment, its date and its time of day."""
        self.add(lowered(self._text[start:end]), start, end)
        clock = start + len("2026-01-10T")
        self._word(start, clock - 1)
        self._coloned(clock, clock + len("10:30"))

    def picture(self, start: int, end: int) -> None:
        self.add(self._text[start:end], start, end)

    def _clinging(self, whole: str, start: int, first: int, last: int, end: int) -> None:
        before, after = self._text[start:first], self._text[last:end]
        if self._shape[last:end] == "$":
            before, after = after, ""
        self.add(before + whole + after, start, end)

    def _without_contraction(self, start: int, end: int) -> int:
        contraction = _CONTRACTION.search(self._shape, start, end)
        return contraction.start() if contraction else end

    def _path(self, start: int, end: int) -> None:
        """`src/db/store.ts`, `user@example.com`, `2026/01/10`."""
        if self._shape[start:end].isalnum():
            self._cased(start, end)
            return
        pieces = self._split(_PATH, start, end)
        if len(pieces) > 1:
            self._add_whole(start, end)
        for piece in pieces:
            self._coloned(*piece)

    def _coloned(self, start: int, end: int) -> None:
        """`127.0.0.1:7411`, `10:30`, `std::vector`."""
        end = self._without_contraction(start, end)
        if _MOMENT.fullmatch(self._shape, start, end):
            self.moment(start, end)
            return
        pieces = self._split(_COLON, start, end)
        if len(pieces) > 1:
            self._add_whole(start, end)
            clock = _CLOCK.match(self._shape, start, end)
            if clock:
                self.add(clock[1], start, clock.end(1))
        for piece in pieces:
            self._dotted(*piece)

    def _dotted(self, start: int, end: int) -> None:
        """`store.ts`, `v3.15.1`, `U.S.`"""
        shape = self._shape
        end = self._without_contraction(start, end)
        if "." not in shape[start:end]:
            self._word(start, end)
        elif _INITIALS.fullmatch(shape, start, end):
            self.add(lowered(self._text[start:end].replace(".", "")), start, end)
        else:
            self._add_whole(start, end)
            numbered = None if _DATE.fullmatch(shape, start, end) else _NUMBERED.match(shape, start, end)
            if numbered:
                self._numbered(numbered, end)
                start = numbered.end()
            for piece in self._split(_DOT, start, end):
                self._word(*piece)

    def _numbered(self, found: re.Match[str], end: int) -> None:
        """A number with dots is no set of numbers: a decimal or an address stays whole, a version has its series."""
        start, number_end = found.span(2)
        number = self._whole(start, number_end)
        if found[1] or number_end < end:
            self.add(number, start, number_end)
        if number.count(".") == 2:
            series = number[: number.rindex(".")]
            self.add(series, start, start + len(series))

    def _word(self, start: int, end: int) -> None:
        """`user_name`, `well-known`, `don't`: joined, and what was joined."""
        if self._shape[start:end].isalnum():
            self._cased(start, end)
            return
        end = self._without_contraction(start, end)
        if _NEGATION.fullmatch(self._shape, start, end):
            self.add(lowered(self._text[start:end].replace("'", "")), start, end)
            return
        pieces = self._split(_LINKS, start, end)
        if len(pieces) > 1:
            self.add(self._joined(start, end), start, end)
        for piece in pieces:
            self._cased(*piece)

    def _cased(self, start: int, end: int) -> None:
        """`getUserName`, `OAuth2`, `python3`, `5km`. What looks like a digest or a key stays whole."""
        shape = self._shape[start:end]
        self._part(start, end)
        if _PLAIN.fullmatch(shape) or len(shape) > LONGEST or _IS_OPAQUE.search(shape):
            return
        if _IS_CASED.search(shape):
            for part in _CASES.finditer(shape):
                if len(part[0]) > 1 or part[0].isdigit():
                    self._part(start + part.start(), start + part.end())
            return
        found = _NAME_THEN_NUMBER.fullmatch(shape) or _NUMBER_THEN_UNIT.fullmatch(shape)
        if found:
            for group in (1, 2):
                if found[group].isdigit() or (len(found[group]) > 1 and not _ORDINAL.fullmatch(found[group])):
                    self._part(start + found.start(group), start + found.end(group))

    def _part(self, start: int, end: int) -> None:
        self.add(self._stemmed(self._text[start:end]), start, end)

    def _stemmed(self, text: str) -> str:
        word = lowered(text)
        return stem(word) if word.isascii() and word.isalpha() else word

    def _joined(self, start: int, end: int) -> str:
        text = self._text[start:end]
        return text if _NUMBERS.fullmatch(text) else self._stemmed(_LINKS.sub("", text))

    def _add_whole(self, start: int, end: int) -> None:
        self.add(self._whole(start, end), start, end)

    def _whole(self, start: int, end: int) -> str:
        """One spelling of a path or address: slashes forward, dates with hyphens, links left out."""
        whole = lowered(self._text[start:end])
        if _DATE.fullmatch(self._shape, start, end):
            return whole.replace("/", "-").replace(".", "-")
        return _SLASHES.sub("/", _LINKS.sub("", whole))

    def _split(self, by: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
        pieces = []
        for link in by.finditer(self._shape, start, end):
            pieces.append((start, link.start()))
            start = link.end()
        pieces.append((start, end))
        return [piece for piece in pieces if piece[0] < piece[1]]
