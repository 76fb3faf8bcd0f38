"""The verbs that export, import and back up a bank. `transfer.files` implements them, and is loaded at first use."""

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
        """Write the whole bank with its history to a file of JSON lines: `docs/export-format.md`.

        An older export of that name is replaced when the new one is complete; other files are never replaced. A folder
        gets a file named after the bank and the time. `progress` counts versions and changes.
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
        """Import an export, all of it or nothing. A bank without history becomes the exported bank.

        `mode` decides about existing ids: `skip` keeps them, `merge` takes the later version, `replace` the file's.
        Removed memories stay removed and purged ones stay away, unless `force`. With `on_error="skip"` broken lines are
        left out and reported; otherwise raise `TransferError` and write nothing. `dry_run` reports without writing.
        `progress` counts bytes; the file is read twice. `path` may be a seekable stream of bytes. `system` names
        another system whose store is at the path: `mnemex`. Imported text is hearsay, unless `trusted`: use that only
        for an export of your own that no other person could change.
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
        """Copy the bank's store to a file, while other processes read and write. `pieria.restore` brings it back.

        An older backup of that name is replaced when the new one is complete. A folder gets a file named after the bank
        and the time. `progress` counts pages.
        """
        from pieria.bank.transfer.files import backed_up

        return backed_up(self, path, progress)
