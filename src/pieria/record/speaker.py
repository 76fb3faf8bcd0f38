"""Who says a text, by how it begins: "Caroline: I went to …" was said by Caroline.

Exists because many a caller has no field for the speaker, and writes the name before what was said. It is a guess from
text that anybody may have written: recall ranks by it, and nobody is trusted for it.
"""

from __future__ import annotations

import re

from pieria.record.commonwords import COMMON
from pieria.record.windows import ROLES

LOOKED_AT = 48
"""Characters at the beginning in which a name and its colon stand."""
_NAME = re.compile(r"[*_]{0,2}([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})[*_]{0,2}[:：][*_]{0,2}\s")


def speaker(beginning: str) -> str | None:
    """The name before the first colon; None where it is a part that anybody plays, or a common word such as "Next"."""
    found = _NAME.match(beginning)
    if found is None:
        return None
    name = found[1]
    words = name.casefold().split()
    if name in ROLES or words[0] in ROLES or words[0] in COMMON or not all(map(_is_capital, name.split())):
        return None
    return name


def _is_capital(word: str) -> bool:
    return word[0] != word[0].lower() or word[0] == word[0].upper()
