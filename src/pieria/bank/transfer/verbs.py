"""The verbs that take a bank out as a file and bring files in. What they do is in `transfer`, loaded with the first."""

from __future__ import annotations

from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.bank.core import Core

if TYPE_CHECKING:
    from pieria.bank.results.transfer import ExportReport, ImportReport
    from pieria.store.protocol import Progress


class Transferring(Core):
    def export(self, path: str | Path, *, progress: Progress | None = None) -> ExportReport:
        """Writes the whole bank, its past included, to one file of JSON lines: `docs/export-format.md`.

        An older export of that name is replaced once the new one is whole, and no other file is; a folder gets a file
        named after the bank and the time. `progress` counts versions and changes.
        """
        from pieria.bank.transfer.files import exported

        return exported(self, path, progress)

    def import_(
        self,
        path: str | Path | BufferedIOBase,
        *,
        mode: str = "skip",
        dry_run: bool = False,
        force: bool = False,
        on_error: str = "stop",
        system: str | None = None,
        trusted: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Brings an export in, all of it or nothing. A bank without a past becomes the one that was exported.

        `mode` decides about what is here already: `skip` leaves it, `merge` takes the later, `replace` the file's.
        What was removed here stays removed, and what was purged stays away, unless `force`. With `on_error="skip"`
        broken lines are left out and reported; otherwise they are a `TransferError` and nothing is written.
        `dry_run` reports without writing. `progress` counts bytes; the file is read twice. It may also be given open,
        for reading bytes at any place, such as one that stands in memory alone. `system` names another system whose
        store is at the path: `mnemex`. What comes in is hearsay, whatever the file says of it, unless `trusted`: for an
        export of one's own that was in no other hands.
        """
        from pieria.bank.transfer.files import imported

        return imported(
            self,
            path,
            mode=mode,
            dry_run=dry_run,
            force=force,
            on_error=on_error,
            system=system,
            trusted=trusted,
            progress=progress,
        )

    def backup(self, path: str | Path, *, progress: Progress | None = None) -> Path:
        """Copies the bank's store as it is now, while others read and write on. `pieria.restore` brings it back.

        An older backup of that name is replaced once the new one is whole; a folder gets a file named after the bank
        and the time. `progress` counts pages.
        """
        from pieria.bank.transfer.files import backed_up

        return backed_up(self, path, progress)
