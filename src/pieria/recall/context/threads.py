"""Open threads: sentences that say so, and failures without a later fix. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pieria.language.analyser import terms
from pieria.language.sentences import sentences
from pieria.record.memory import Memory

OPEN = "open"
"""The tag of an observation about an open failure."""
POINTS = 3
"""Most sentences from one memory."""
SEARCHED = 20_000
"""Characters of a text to search."""
ALIKE = 0.5
"""Share of a failure's terms that its fix must mention."""
NEXT = ("next_steps", "nextSteps")
"""Keys of next steps in the bodies of summaries from other systems."""
_CUE = re.compile(
    r"""\b(?: to-?dos? | fixme | tbd | next \s steps? | next [:,]
        | open \s (?: points? | questions? | issues? | items? | ends? ) | (?: is|are|was|were|left|remains?) \s open
        | still \s (?: to\b | open | fail \w* | broken | missing | needs? | unclear | unknown | have \s to | has \s to )
        | not \s (?: yet | finished | resolved | fixed | solved ) | yet \s to | remain (?: s|ing )
        | left \s to \s \w+ | unfinished | unresolved | pending | blocked | waiting \s (?: for|on )
        | follow [- ]? ups? | needs? \s to | postponed | deferred )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def open_points(memory: Memory) -> list[str]:
    """Return the sentences of a memory that leave work open, and the next steps it names."""
    return list(dict.fromkeys([*_named(memory), *_said(memory.text[:SEARCHED])]))[:POINTS]


def unmended(failures: Sequence[Memory], fixes: Sequence[Memory]) -> list[Memory]:
    """Return the failures that no later fix covers: none shares a changed file, and none mentions them."""
    return [failure for failure in failures if not any(_mends(fix, failure) for fix in fixes)]


def _named(memory: Memory) -> Iterator[str]:
    for key in NEXT:
        held = memory.body.get(key)
        for step in held if isinstance(held, list) else [held]:
            if isinstance(step, str) and step.strip():
                yield step


def _said(text: str) -> Iterable[str]:
    return (text[start:end] for start, end in sentences(text) if _CUE.search(text, start, end))


def _mends(fix: Memory, failure: Memory) -> bool:
    if fix.at <= failure.at:
        return False
    if _changed(fix) & _changed(failure):
        return True
    of_failure = set(terms(failure.title or failure.text[:SEARCHED]))
    of_fix = set(terms(f"{fix.title or ''} {fix.text[:SEARCHED]}"))
    return bool(of_failure) and len(of_failure & of_fix) >= ALIKE * len(of_failure)


def _changed(memory: Memory) -> set[str]:
    """Return its files, without those only read: every session reads the same few."""
    read, both = (memory.body.get(key) for key in ("files_read", "files_modified"))
    only_read = set(read if isinstance(read, list) else ()) - set(both if isinstance(both, list) else ())
    return set(memory.files) - only_read
