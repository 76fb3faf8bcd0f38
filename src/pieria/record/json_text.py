"""JSON that comes from elsewhere, read without ever going deep.

The parser calls itself for each level. A text of nothing but brackets takes it to the interpreter's limit, where more
fails than the reading: whatever is put away at that moment, whoever it belongs to, finds no room to run either. So
depth is measured before the parser starts. What we wrote ourselves needs none of this.
"""

from __future__ import annotations

import json
import re
from array import array
from itertools import accumulate
from typing import Any, NoReturn

DEEPEST = 200
"""Lists and objects within one another; what a memory keeps may have 50."""

_OTHERS = bytes(set(range(256)).difference(b'"[]{}'))
_STRING = re.compile(rb'"[^"]*"?')
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


class TooDeepError(ValueError):
    """A text whose lists and objects lie deeper within one another than `DEEPEST`."""


def parsed(text: str | bytes | bytearray, *, strict: bool = False) -> Any:
    """What `json.loads` makes of it, or `ValueError`. Where it is `strict`, NaN and the infinities are no numbers."""
    if not isinstance(text, str):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if len(text) > DEEPEST and _may_be_deep(text) and _depth(text) > DEEPEST:
        raise TooDeepError(f"it is nested deeper than {DEEPEST} levels")
    return _decode_strictly(text) if strict else json.loads(text)


def _may_be_deep(text: str) -> bool:
    """Looks from bracket to bracket: to count them all takes five times as long, and few texts have many."""
    seen = 0
    for bracket in "[{":
        at = text.find(bracket)
        while at >= 0:
            seen += 1
            if seen > DEEPEST:
                return True
            at = text.find(bracket, at + 1)
    return False


def _depth(text: str) -> int:
    """How deep the parser would go, as far as the text is JSON: it stops where that ends."""
    written = text.encode("utf-8", "surrogatepass")
    # Only then does each quote begin or end a string.
    written = written.replace(rb"\\", b"").replace(rb"\"", b"")
    # Most strings are an empty pair of quotes by now, and a pair is taken out the quickest by its spelling.
    shape = _STRING.sub(b"", written.translate(None, _OTHERS).replace(b'""', b""))
    return max(accumulate(array("b", shape.translate(_STEPS))), default=0)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_decode_strictly = json.JSONDecoder(parse_constant=_no_number).decode
