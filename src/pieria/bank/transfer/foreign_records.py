"""Import records of another system as an export of ours, so that all or nothing passes the bank's own rules.

The caller reads the other system's records; this module builds the lines.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from pieria.bank.core import Core
from pieria.bank.transfer.files import imported
from pieria.language.analyser import ANALYSER_VERSION
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria.bank.results.transfer import ImportReport
    from pieria.store.protocol import Progress

AT_ONCE = 500
"""Memories per change."""
STATED = ("state", "link", "fact")
"""Lines with a known time."""


class Line(Protocol):
    """A line of an export. Its maker can tell which source record it came from."""

    @property
    def values(self) -> dict[str, Any]: ...


Made = TypeVar("Made", bound=Line)


class TakenIn(NamedTuple, Generic[Made]):
    """The report, and the source of each line of the file by its number."""

    report: ImportReport
    lines: dict[int, Made]


def taken_in(
    core: Core,
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
    """Import memories, each a content, its state and optional usage; `tied` are links and facts.

    All of it is known from now on. A line with a problem is reported, and the others are imported.
    """
    numbered: dict[int, Made] = {}

    def lines() -> Iterator[dict[str, Any]]:
        for number, (line, values) in enumerate(_lines(core, system, memories, tied, records), start=1):
            if line is not None:
                numbered[number] = line
            yield values

    file = export_of(lines())
    report = imported(
        core, file, mode=mode, dry_run=dry_run, force=force, on_error="skip", trusted=False,
        progress=progress,
    )  # fmt: skip
    return TakenIn(report, numbered)


def export_of(lines: Iterable[Mapping[str, Any]]) -> BytesIO:
    """Return the lines, header first, as a complete export in memory.

    Private text and secrets are removed on import, so they must not be written to a file before.
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
    core: Core, system: str, memories: Sequence[Sequence[Made]], tied: Sequence[Made], records: Iterable[Made]
) -> Iterator[tuple[Made | None, dict[str, Any]]]:
    """Yield the memories in changes of limited size, then links and facts."""
    now = core.clock()
    parts = [memories[start : start + AT_ONCE] for start in range(0, len(memories), AT_ONCE)]
    changes = [[line for memory in part for line in memory] for part in parts] + [list(tied)]
    yield None, {
        "pieria": "export", "format": 1, "bank": core.name, "exported_at": iso(now), "seq": len(changes),
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
