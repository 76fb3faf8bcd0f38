"""Removal of a whole bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.bank.results.transfer import RemovalReport
from pieria.bank.vault.marks import paths_in
from pieria.errors import NotFoundError
from pieria.store.parts import counts
from pieria.workspace.locations import Spot, Way
from pieria.workspace.open_stores import stores

if TYPE_CHECKING:
    from pieria.store.protocol import Reader


def remove_bank(spot: Spot, way: Way, *, dry_run: bool) -> RemovalReport:
    """Remove the bank. Raise `NotFoundError` if there is none, and `BusyError` if others use it; then nothing
    is lost.
    """
    if not spot.is_there:
        raise NotFoundError("bank", spot.name, hint="`pieria where` lists the banks.")
    if not dry_run:
        with stores.alone(spot):
            return _removed(spot, way)
    stores.settle(spot)
    store = spot.open(way, create=False)
    try:
        with store.reading() as reader:
            return _report(spot, reader, store.copies(), dry_run=True)
    finally:
        store.close()


def _removed(spot: Spot, way: Way) -> RemovalReport:
    gone: list[RemovalReport] = []
    store = spot.open(way, create=False)
    try:
        copies = store.copies()
        left = store.remove(lambda reader: gone.append(_report(spot, reader, [], dry_run=False)))
    finally:
        store.close()
    return gone[0].not_reaching([*left, *copies])


def _report(spot: Spot, reader: Reader, unreached: list[str], *, dry_run: bool) -> RemovalReport:
    notes = [f"the note {path} in the vault, which is yours to delete" for path in sorted(paths_in(reader).values())]
    erased = counts(reader.tally(), reader.totals())
    left = (*notes, *spot.other_names(), *unreached)
    return RemovalReport(spot.name, str(spot), dry_run, reader.head().seq, erased, left)
