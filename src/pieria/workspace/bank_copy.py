"""A whole bank taken from one place to another, and compared there before it is told of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.bank.results.transfer import CopyReport
from pieria.errors import CorruptError, InputError, NotFoundError
from pieria.workspace.comparison import Print, asked_alike, prints
from pieria.workspace.places import Way, in_the_way
from pieria.workspace.stores import stores

if TYPE_CHECKING:
    from pieria.store.protocol import Progress, Reader
    from pieria.workspace.places import Spot


def copy_bank(source: Spot, target: Spot, way: Way, progress: Progress | None = None) -> CopyReport:
    """Raises before anything is made where there is nothing to copy or something in the way; `CorruptError` where the
    copy is not the same, and then nothing of it stays.
    """
    if not source.is_there:
        raise NotFoundError("bank", source.name, hint="`pieria where` names the banks that are there.")
    if source.key == target.key:
        raise InputError("to", "another place, or another name there", str(target))
    if target.is_there and not target.is_empty(way):
        raise in_the_way(target.name)
    stores.settle(source)
    bar = _Bar(progress)
    store = source.open(way, create=False)
    try:
        # All that is read of the source is of one moment, however much is written meanwhile; and what is made is there
        # with all of it, or not at all.
        with store.reading() as reader, target.making(way) as made:
            with made.store.writing() as writer:
                rows = writer.fill(reader, bar.copying)
                sha256, questions = _compared(reader, writer, source.name, bar)
            made.keep()
            seq = reader.head().seq
    finally:
        store.close()
    bar.done()
    return CopyReport(source.name, str(source), target.name, str(target), seq, rows, sha256, questions)


def _compared(here: Reader, there: Reader, name: str, bar: _Bar) -> tuple[dict[str, str], int]:
    ours, theirs = prints(here, bar.comparing), prints(there, bar.comparing)
    differing = [_told(what, ours[what], theirs[what]) for what in ours if ours[what] != theirs[what]]
    counted, anew = here.counters(), there.counters()
    differing += [f"the counter {name}" for name in counted.keys() & anew.keys() if counted[name] != anew[name]]
    if differing:
        raise _differs(differing)
    questions, ids = asked_alike(here, there, name)
    if ids:
        raise _differs([f"what the texts of {', '.join(ids)} find"])
    return {what: print.sha256 for what, print in ours.items()}, questions


def _told(what: str, ours: Print, theirs: Print) -> str:
    return what if ours.lines == theirs.lines else f"{what} ({ours.lines:,} and {theirs.lines:,})"


def _differs(what: list[str]) -> CorruptError:
    hint = "The bank is as it was. Copy it again; if the same comes of it, `pieria doctor` of the bank may tell why."
    return CorruptError("copy", f"the copy is not the same in {', '.join(what)}, and was taken back", hint=hint)


class _Bar:
    """One bar for the copy and the two readings that compare: the last two count the rows that the first one told."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._copied = self._whole = self._compared = 0

    def copying(self, done: int, whole: int) -> None:
        self._copied, self._whole = done, whole
        self._tell()

    def comparing(self, rows: int) -> None:
        self._compared += rows
        self._tell()

    def done(self) -> None:
        if self._progress is not None:
            self._progress(3 * self._whole, 3 * self._whole)

    def _tell(self) -> None:
        if self._progress is not None and self._whole:
            self._progress(min(self._copied + self._compared, 3 * self._whole - 1), 3 * self._whole)
