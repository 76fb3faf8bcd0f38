"""Copy a whole bank to another place, and compare the copy before reporting success."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.bank.results.transfer import CopyReport
from pieria.errors import CorruptError, InputError, NotFoundError
from pieria.workspace.comparison import Print, asked_alike, prints
from pieria.workspace.locations import Way, in_the_way
from pieria.workspace.open_stores import stores

if TYPE_CHECKING:
    from pieria.store.protocol import Progress, Reader
    from pieria.workspace.locations import Spot


def copy_bank(source: Spot, target: Spot, way: Way, progress: Progress | None = None) -> CopyReport:
    """Copy the bank. Check source and target first; raise `CorruptError` and remove the copy if it differs."""
    if not source.is_there:
        raise NotFoundError("bank", source.name, hint="`pieria where` lists the banks.")
    if source.key == target.key:
        raise InputError("to", "another place, or another name there", str(target))
    if target.is_there and not target.is_empty(way):
        raise in_the_way(target.name)
    stores.settle(source)
    bar = _Bar(progress)
    store = source.open(way, create=False)
    try:
        # The source is read at one moment, even if others write. The copy appears complete or not at all.
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
        raise _differs([f"the results of recall for the texts of {', '.join(ids)}"])
    return {what: print.sha256 for what, print in ours.items()}, questions


def _told(what: str, ours: Print, theirs: Print) -> str:
    return what if ours.lines == theirs.lines else f"{what} ({ours.lines:,} and {theirs.lines:,})"


def _differs(what: list[str]) -> CorruptError:
    hint = "The bank was not changed. Copy it again. If that fails too, run `pieria doctor` on the bank."
    return CorruptError("copy", f"the copy differs in {', '.join(what)}, and was removed", hint=hint)


class _Bar:
    """One progress bar for the copy and the two reads that compare it. The reads count the rows of the copy."""

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
