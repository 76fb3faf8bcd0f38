"""Split one written word, address, path or identifier into terms: the whole and its parts.

People search for `store.ts` and mean `src/db/store.ts`. The whole comes first, then its parts from left to right, so
that the terms of a phrase are adjacent. Finding words in a text belongs in `tokens`; reducing an English word belongs
in `stem`.
"""

from __future__ import annotations

import re

from pieria.language.analyser.stem import stem

LONGEST = 64
"""Most characters of a term. A longer term is cut and ends in a digest of the whole, so that equal terms stay equal."""
_DIGEST = 16

# Letters that Unicode does not decompose. One letter may become two, depending on case, so map them only after the
# word is split by case.
_SPELT = str.maketrans({
    "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n",
    "æ": "ae", "œ": "oe", "þ": "th",
})  # fmt: skip

_PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+s?|[0-9]+")
_CONTRACTION = re.compile(r"(?:'(?:s|ll|re|ve|m|d))+\Z", re.IGNORECASE)
_NEGATION = re.compile(r"[a-z]+n't", re.IGNORECASE)
_PREFIX = re.compile(r"[.#@$]|::")
_SUFFIX = re.compile(r"(?:\+\+?|[#%$])\Z")

# Hyphens, underscores and apostrophes only join a word, except between numbers: 2026-01-10.
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
"""A term with its start and end in the folded text."""


def shortened(term: str) -> str:
    """Return the beginning of a long term with a digest of the whole."""
    from hashlib import blake2b  # Imported here because it is rarely needed and slow.

    digest = blake2b(term.encode(), digest_size=_DIGEST // 2).hexdigest()
    return f"{term[: LONGEST - _DIGEST - 1]}~{digest}"


def lowered(text: str) -> str:
    """Return the text in lower case, with letters that Unicode does not decompose spelt in plain Latin ones."""
    return text.lower() if text.isascii() else text.casefold().translate(_SPELT)


class Words:
    """Splits the words of one folded text and collects their terms in `found`."""

    def __init__(self, folded: str, shape: str) -> None:
        self._text = folded
        self._shape = shape
        self.found: list[Placed] = []

    def add(self, term: str, start: int, end: int) -> None:
        self.found.append((term if len(term) <= LONGEST else shortened(term), start, end))

    def compound(self, start: int, end: int) -> None:
        """Add a word with the signs attached to it: `#123`, `C++`, `$5`, `.NET`."""
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
        """Add `1000` for `1,000`, and also `$1000` for `$1,000`."""
        first = start + (self._shape[start] == "$")
        last = end - (self._shape[end - 1] in "$%")
        number = self._text[first:last].replace(",", "")
        if (first, last) != (start, end):
            self._clinging(number, start, first, last, end)
        self.add(number, first, last)

    def moment(self, start: int, end: int) -> None:
        """Add `2026-01-10T10:30:15Z`: the moment, its date and its time of day."""
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
        """Add `src/db/store.ts`, `user@example.com`, `2026/01/10`."""
        if self._shape[start:end].isalnum():
            self._cased(start, end)
            return
        pieces = self._split(_PATH, start, end)
        if len(pieces) > 1:
            self._add_whole(start, end)
        for piece in pieces:
            self._coloned(*piece)

    def _coloned(self, start: int, end: int) -> None:
        """Add `127.0.0.1:7411`, `10:30`, `std::vector`."""
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
        """Add `store.ts`, `v3.15.1`, `U.S.`."""
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
        """Add a number with dots. A decimal or an address stays whole; a version also gets its series."""
        start, number_end = found.span(2)
        number = self._whole(start, number_end)
        if found[1] or number_end < end:
            self.add(number, start, number_end)
        if number.count(".") == 2:
            series = number[: number.rindex(".")]
            self.add(series, start, start + len(series))

    def _word(self, start: int, end: int) -> None:
        """Add `user_name`, `well-known`, `don't`: the joined word and its parts."""
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
        """Add `getUserName`, `OAuth2`, `python3`, `5km`. Words that look like a digest or a key stay whole."""
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
        """Return one spelling of a path or address: forward slashes, dates with hyphens, no joining characters."""
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
