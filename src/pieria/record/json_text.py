"""Parse JSON from outside without deep recursion.

The parser recurses once per level. A text of nothing but brackets takes it to the interpreter's recursion limit,
where unrelated code such as finalisers fails too. So the depth is measured before the parser starts. JSON that Pieria
wrote itself needs no such check.
"""

from __future__ import annotations

import json
import re
from array import array
from itertools import accumulate
from typing import Any, NoReturn

DEEPEST = 200
"""Most levels of nesting. The JSON of a memory may have 50."""

_OTHERS = bytes(set(range(256)).difference(b'"[]{}'))
_STRING = re.compile(rb'"[^"]*"?')
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


class TooDeepError(ValueError):
    """A text with more than `DEEPEST` levels of nesting."""


def parsed(text: str | bytes | bytearray, *, strict: bool = False) -> Any:
    """Return the result of `json.loads`, or raise `ValueError`. `strict` rejects NaN and the infinities."""
    if not isinstance(text, str):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if len(text) > DEEPEST and _may_be_deep(text) and _depth(text) > DEEPEST:
        raise TooDeepError(f"it is nested deeper than {DEEPEST} levels")
    return _decode_strictly(text) if strict else json.loads(text)


def _may_be_deep(text: str) -> bool:
    """Return whether there are enough brackets. Counting stops early: a full count takes five times as long."""
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
    """Return the nesting depth of a JSON text. The parser goes no deeper: it stops at the first error."""
    written = text.encode("utf-8", "surrogatepass")
    # Without escapes, each quote begins or ends a string.
    written = written.replace(rb"\\", b"").replace(rb"\"", b"")
    # Most strings are an empty pair of quotes by now. `replace` removes those fastest.
    shape = _STRING.sub(b"", written.translate(None, _OTHERS).replace(b'""', b""))
    return max(accumulate(array("b", shape.translate(_STEPS))), default=0)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_decode_strictly = json.JSONDecoder(parse_constant=_no_number).decode
