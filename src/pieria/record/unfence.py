"""Remove Pieria's own output from a text, so that capture does not store it as new.

Agent hooks load this module, like ``privacy``: import inside functions. Making a fence belongs in ``fence``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = "From Pieria,"
LONGEST_HEAD = 2_000
_OPENING = r"<<<([0-9a-f]{12,64})\n"
_CLOSING = r"([0-9a-f]{12,64})>>>"


def unfenced(text: str) -> str:
    """Return the text without fences, their content, and the heading before a fence of Pieria."""
    left = ""
    resumed = 0
    for start, end in _fences(text):
        begin = text.rfind("\n", resumed, max(start - 1, resumed)) + 1 or resumed
        head = text[begin:start]
        is_ours = len(head) <= LONGEST_HEAD and head.startswith(HEAD) and head.endswith("\n")
        left += text[resumed : begin if is_ours else start]
        resumed = end
    return left + text[resumed:]


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the fences in order. One pass, because a text may consist of openings that are never closed."""
    import re

    ends: dict[str, list[int]] = {}
    for closing in re.finditer(_CLOSING, text):
        ends.setdefault(closing[1], []).append(closing.end())
    for found in ends.values():
        found.reverse()
    last = 0
    for opening in re.finditer(_OPENING, text):
        left = ends.get(opening[1], [])
        while left and left[-1] <= opening.end():
            left.pop()
        if left and opening.start() >= last:
            last = left[-1]
            yield opening.start(), last
