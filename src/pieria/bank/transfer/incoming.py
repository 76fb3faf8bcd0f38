"""What another system wrote, as an export of ours: so that a bank takes in all of it or nothing, by the rules it has.

How the other system's records are read is the business of whoever reads them; what they come to is told by lines here.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from pieria.record.analyser import ANALYSER_VERSION
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria.bank.results.transfer import ImportReport
    from pieria.bank.transfer.verbs import Transferring
    from pieria.store.protocol import Progress

AT_ONCE = 500
"""Memories a change."""
STATED = ("state", "link", "fact")
"""Lines that say from when on they were known."""


class Line(Protocol):
    """A line of an export. Whoever made it knows by itself which record it is of."""

    @property
    def values(self) -> dict[str, Any]: ...


Made = TypeVar("Made", bound=Line)


class TakenIn(NamedTuple, Generic[Made]):
    """What came of it, and whose each line of the file was, by its number."""

    report: ImportReport
    lines: dict[int, Made]


def taken_in(
    bank: Transferring,
    system: str,
    memories: Sequence[Sequence[Made]],
    tied: Sequence[Made] = (),
    records: Iterable[Made] = (),
    *,
    mode: str = "skip",
    dry_run: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> TakenIn[Made]:
    """Each of `memories` is a content, its state and its usage, if any; `tied` are links and facts. All is known from
    now on. What is wrong with a line is reported, and the rest goes in.
    """
    numbered: dict[int, Made] = {}

    def lines() -> Iterator[dict[str, Any]]:
        for number, (line, values) in enumerate(_lines(bank, system, memories, tied, records), start=1):
            if line is not None:
                numbered[number] = line
            yield values

    file = export_of(lines())
    report = bank.import_(file, mode=mode, dry_run=dry_run, force=force, on_error="skip", progress=progress)
    return TakenIn(report, numbered)


def export_of(lines: Iterable[Mapping[str, Any]]) -> BytesIO:
    """These lines, the header first, as an export with its end. In memory: what is private or secret is taken out as
    it is brought in, and lies in no file before.
    """
    file = BytesIO()
    digest, counts = hashlib.sha256(), Counter[str]()
    for number, values in enumerate(lines, start=1):
        written = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        if number > 1:
            counts[values["line"]] += 1
        digest.update(written)
        file.write(written)
    end = {"line": "end", "counts": dict(counts), "sha256": digest.hexdigest()}
    file.write(json.dumps(end).encode() + b"\n")
    return file


def _lines(
    bank: Transferring, system: str, memories: Sequence[Sequence[Made]], tied: Sequence[Made], records: Iterable[Made]
) -> Iterator[tuple[Made | None, dict[str, Any]]]:
    """Memories in changes of a bearable size; last of all what ties them and what they state."""
    now = bank.clock()
    parts = [memories[start : start + AT_ONCE] for start in range(0, len(memories), AT_ONCE)]
    changes = [[line for memory in part for line in memory] for part in parts] + [list(tied)]
    yield None, {
        "pieria": "export", "format": 1, "bank": bank.name, "exported_at": iso(now), "seq": len(changes),
        "contents": len(memories), "analyser": ANALYSER_VERSION,
    }  # fmt: skip
    for seq, lines in enumerate(changes, start=1):
        at = iso(now + timedelta(microseconds=seq))
        ids = list(dict.fromkeys(line.values["id"] for line in lines))
        yield None, {"line": "change", "seq": seq, "at": at, "who": system, "what": "import", "ids": ids}
        for line in lines:
            known = {"known_from": at} if line.values["line"] in STATED else {}
            yield line, {**line.values, **known}
    for line in records:
        yield line, line.values
