"""What must not be remembered: text marked as private, which is cut, and secrets, which are found.

Every text passes here before it is written, so the common case, where there is nothing to find, costs a few
substring probes, and patterns are compiled when first needed. What secrets look like is told in ``secrets``;
what becomes of one that was found (flagged, redacted or refused) is a setting of the bank. Neither may be put
here.
"""

from __future__ import annotations

from pieria.record.secrets import FOLDED, NEAR, PLAIN, Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


class Secret(tuple[str, int, int]):
    """Where a secret stands in a text and what it looks like; never the secret itself."""

    __slots__ = ()

    def __new__(cls, kind: str, start: int, end: int) -> Secret:
        return super().__new__(cls, (kind, start, end))

    @property
    def kind(self) -> str:
        return self[0]

    @property
    def start(self) -> int:
        return self[1]

    @property
    def end(self) -> int:
        return self[2]


_OPENING = r"(?:<|&(?:amp;)?lt;|&\#0{0,5}60;|&\#x0{0,5}3c;|\\u003c|%3c)"
_CLOSING = r"(?:>|&(?:amp;)?gt;|&\#0{0,5}62;|&\#x0{0,5}3e;|\\u003e|%3e)"
_SLASH = r"(?:\\?/|\\u002f|&\#0{0,5}47;|&\#x0{0,5}2f;|%2f)"
_PRIVATE_TAG = rf"""(?isx)
    {_OPENING} \s* (?: (?P<ending> {_SLASH} ) \s* )? private (?![\w\-.:])
    (?P<attributes> (?: (?!{_OPENING}|{_CLOSING}) . )* ) (?P<closing> {_CLOSING} )?"""


def cut_private(text: str) -> tuple[str, int]:
    """The text without its ``<private>…</private>`` blocks, and how many were cut.

    Blocks may be nested, in any case, with attributes, and escaped as in HTML, JSON or URLs. One that is
    never closed reaches to the end of the text, unless what opens it reads like a placeholder, as in "run
    it with <private key>".
    """
    if "private" not in text.lower():
        return text, 0
    left = ""
    cuts = resumed = 0
    for start, end in _private_blocks(text):
        left += text[resumed:start]
        cuts += 1
        # A block between two blanks leaves one of them, and one at either end of the text none.
        resumed = end + 1 if not text[start - 1 : start].strip() and text[end : end + 1] == " " else end
        left = left.rstrip() if end == len(text) else left
    return left + text[resumed:], cuts


def _private_blocks(text: str) -> Iterator[tuple[int, int]]:
    import re

    tags = list(re.finditer(_PRIVATE_TAG, text))
    last_ending = max((tag.start() for tag in tags if tag["ending"]), default=-1)
    depth = start = 0
    for tag in tags:
        if tag["ending"]:
            if depth == 1:
                yield start, tag.end()
            depth = max(depth - 1, 0)
        elif depth or tag.start() < last_ending or _opens_for_certain(tag):
            start = start if depth else tag.start()
            depth += 1
    if depth:
        yield start, len(text)


def _opens_for_certain(tag: re.Match[str]) -> bool:
    attributes = tag["attributes"].strip(" \t\r\n/\\")
    return not attributes or ("=" in attributes and tag["closing"] is not None)


_RANKS = {kind: rank for rank, kind in reversed(list(enumerate(shape.kind for shape in PLAIN + FOLDED)))}


def _by_probe(shapes: tuple[Shape, ...]) -> dict[str, tuple[Shape, ...]]:
    probes = dict.fromkeys(probe for shape in shapes for probe in shape.probes)
    return {probe: tuple(shape for shape in shapes if probe in shape.probes) for probe in probes}


_FOLDED_SHAPES = _by_probe(FOLDED)
_PLAIN_SHAPES = _by_probe(PLAIN)
# Ordinary prose has few of these marks, and a text without one needs none of the probes that hold it.
_MARKS = ("_", "-")
_MARKED_PROBES = {mark: tuple(probe for probe in _PLAIN_SHAPES if mark in probe) for mark in _MARKS}
_UNMARKED_PROBES = tuple(probe for probe in _PLAIN_SHAPES if not any(mark in probe for mark in _MARKS))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets of a text, by where they stand; those that overlap are one."""
    folded = text.lower()
    found = [probe for probe in _FOLDED_SHAPES if probe in folded]
    plain = [probe for probe in _UNMARKED_PROBES if probe in text]
    for mark, probes in _MARKED_PROBES.items():
        if mark in text:
            plain += [probe for probe in probes if probe in text]
    if not found and not plain:
        return ()
    if len(folded) != len(text):
        folded = text.replace("İ", "I").lower()
    secrets: list[Secret] = []
    for probe in plain:
        for shape in _PLAIN_SHAPES[probe]:
            secrets += _seen(probe, shape, text, text)
    for probe in found:
        for shape in _FOLDED_SHAPES[probe]:
            secrets += _seen(probe, shape, folded, text)
    return tuple(_merged(secrets))


def _seen(probe: str, shape: Shape, searched: str, text: str) -> Iterator[Secret]:
    """The secrets of one shape; where the case is ignored, the searched text is the text in lower case."""
    place = searched.find(probe)
    while place >= 0:
        resumed = place + len(probe)
        near = searched[place : place + NEAR]
        if not shape.needs or any(need in near for need in shape.needs):
            import re

            pattern = re.compile(shape.pattern)
            match = pattern.match(searched, place)
            group = "secret" if "secret" in pattern.groupindex else 0
            if match and shape.plausible(text[match.start(group) : match.end(group)]):
                yield Secret(shape.kind, *match.span(group))
                resumed = max(resumed, match.end())
        place = searched.find(probe, resumed)


def _merged(secrets: list[Secret]) -> list[Secret]:
    """In order of place; what overlaps becomes one secret of the kind listed first."""
    merged: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: secret.start):
        if merged and secret.start < merged[-1].end:
            last = merged.pop()
            kind = min(last.kind, secret.kind, key=_RANKS.__getitem__)
            merged.append(Secret(kind, last.start, max(last.end, secret.end)))
        else:
            merged.append(secret)
    return merged


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """The text with ``[secret: kind]`` in the place of every secret, and where those stood."""
    secrets = find_secrets(text)
    kept: list[str] = []
    resumed = 0
    for secret in secrets:
        kept += text[resumed : secret.start], f"[secret: {secret.kind}]"
        resumed = secret.end
    return "".join(kept) + text[resumed:], secrets
