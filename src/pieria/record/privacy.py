"""Find what must not be remembered: private blocks, which are cut, and secrets.

Every text passes here before it is written. A text without findings costs a few substring probes, and patterns are
compiled on first use. Shapes of secrets belong in ``*_secrets``. What to do with a secret (flag, redact or refuse) is
a setting of the bank and does not belong here.
"""

from __future__ import annotations

from pieria.record.named_secrets import COMMAND_SECRETS, NAMED_SECRETS, SPOKEN_SECRETS, VARIABLES
from pieria.record.private_tags import find_blocks
from pieria.record.provider_secrets import PROVIDER_SECRETS
from pieria.record.secret_shapes import LONGEST_RUN, LONGEST_VALUE, NEAR, TAIL, Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Secret(tuple[str, int, int]):
    """The kind and position of a secret in a text, never the secret itself."""

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


def cut_private(text: str) -> tuple[str, int]:
    """Return the text without its ``<private>…</private>`` blocks, and how many were cut.

    Blocks may be nested, and their tags escaped, decorated or spelt with look-alikes. A block without a closing tag
    reaches to the end of the text. A tag like a placeholder opens no such block: "run it with <private key>".
    """
    kept: list[str] = []
    cuts = resumed = 0
    for start, end in find_blocks(text):
        kept.append(text[resumed:start])
        cuts += 1
        # Keep one of two spaces around a block, and none at either end of the text.
        resumed = end + 1 if not text[start - 1 : start].strip() and text[end : end + 1] == " " else end
        if end == len(text):
            kept = ["".join(kept).rstrip()]
    if not cuts:
        return text, 0
    return "".join(kept) + text[resumed:], cuts


PLAIN, FOLDED = (*PROVIDER_SECRETS, *VARIABLES, *COMMAND_SECRETS), (*NAMED_SECRETS, *SPOKEN_SECRETS)
_RANKS = {kind: rank for rank, kind in reversed(list(enumerate(shape.kind for shape in (*PLAIN, *FOLDED))))}


def _by_probe(shapes: tuple[Shape, ...]) -> dict[str, tuple[Shape, ...]]:
    found: dict[str, list[Shape]] = {}
    for shape in shapes:
        for probe in shape.probes:
            found.setdefault(probe, []).append(shape)
    return {probe: tuple(under) for probe, under in found.items()}


_FOLDED_SHAPES = _by_probe(FOLDED)
_PLAIN_SHAPES = _by_probe(PLAIN)
_RUN = 60
_COMMAND_PROBES = tuple(probe for shape in COMMAND_SECRETS for probe in shape.probes)
_COMMAND_MARKS = (" -", "/", "phrase")
"""A command without any of these has no password that a shape knows."""
_MARKS = "_-."
_HEAD = 10
"""Longest run of letters and digits that a probe has before its first mark."""


def _by_mark(probes: list[str]) -> tuple[dict[str, dict[str, list[str]]], tuple[str, ...]]:
    """Return the probes by their first mark and the run before it, and the probes without a mark."""
    marked: dict[str, dict[str, list[str]]] = {mark: {} for mark in _MARKS}
    unmarked = []
    for probe in probes:
        head = next((probe[:place] for place in range(1, len(probe)) if not probe[place].isalnum()), probe)
        mark = probe[len(head) : len(head) + 1]
        if head.isalnum() and len(head) <= _HEAD and mark and mark in _MARKS:
            marked[mark].setdefault(head, []).append(probe)
        else:
            unmarked.append(probe)
    return marked, tuple(unmarked)


_MARKED, _UNMARKED = _by_mark([probe for probe in _PLAIN_SHAPES if probe not in _COMMAND_PROBES])
_ENDS = {mark: frozenset(head[-2:] for head in heads) for mark, heads in _MARKED.items()}


def _plain_probes(text: str) -> list[str]:
    """Return the probes that occur in a text. Few texts have many marks, so most probes cost nothing."""
    found = [probe for probe in _UNMARKED if probe in text]
    if any(mark in text for mark in _COMMAND_MARKS):
        found += [probe for probe in _COMMAND_PROBES if probe in text]
    for mark, heads in _MARKED.items():
        if mark in text:
            ends = _ENDS[mark]
            tails = {part[-_HEAD:] for part in text.split(mark) if part[-2:] in ends}
            runs = {tail[place:] for tail in tails for place in range(len(tail))} & heads.keys()
            found += [probe for run in sorted(runs) for probe in heads[run] if probe in text]
    return found


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in order. Overlapping secrets are merged."""
    folded = text.lower()
    found = [probe for probe in _FOLDED_SHAPES if probe in folded]
    plain = _plain_probes(text)
    if not found and not plain:
        return ()
    if len(folded) != len(text):
        folded = text.replace("İ", "I").lower()
    secrets: list[Secret] = []
    for probe in plain:
        for shape in _PLAIN_SHAPES[probe]:
            secrets += _matches(probe, shape, text, text)
    for probe in found:
        for shape in _FOLDED_SHAPES[probe]:
            secrets += _matches(probe, shape, folded, text)
    return tuple(_merged(secrets)) if secrets else ()


def _matches(probe: str, shape: Shape, searched: str, text: str) -> Iterator[Secret]:
    """Yield the secrets of one shape. `searched` is the text itself or the text in lower case."""
    place = searched.find(probe)
    while place >= 0:
        resumed = place + len(probe)
        near = searched[place : place + NEAR] if shape.needs else ""
        if not shape.needs or any(need in near for need in shape.needs):
            pattern = shape.compiled()
            match = pattern.match(searched, _run_start(searched, place, shape.run) if shape.run else place)
            group = "secret" if "secret" in pattern.groupindex else 0
            if match and shape.plausible(text[match.start(group) : match.end(group)]):
                start, end = match.span(group)
                if end - start >= LONGEST_VALUE:
                    end = _tail_end(searched, end)
                yield Secret(shape.kind, start, end)
                resumed = max(resumed, end)
            elif match and match.end() - resumed > _RUN:
                # The match is not a secret. Continue at the last name within it: its value is the shortest.
                resumed = max(resumed, searched.rfind(probe, resumed, match.end()))
        place = searched.find(probe, resumed)


def _tail_end(text: str, end: int) -> int:
    """Return where a value ends that is longer than its pattern allows."""
    import re

    tail = re.compile(TAIL).match(text, end)
    return tail.end() if tail else end


def _run_start(text: str, place: int, run: str) -> int:
    """Return where the run of these characters before the position begins."""
    least = max(0, place - LONGEST_RUN)
    while place > least and text[place - 1] in run:
        place -= 1
    return place


def _merged(secrets: list[Secret]) -> list[Secret]:
    """Return the secrets by position. Overlapping ones become one secret, of the kind listed first."""
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
    """Return the text with ``[secret: kind]`` in place of every secret, and the secrets found."""
    secrets = find_secrets(text)
    kept: list[str] = []
    resumed = 0
    for secret in secrets:
        kept += text[resumed : secret.start], f"[secret: {secret.kind}]"
        resumed = secret.end
    return "".join(kept) + text[resumed:], secrets
