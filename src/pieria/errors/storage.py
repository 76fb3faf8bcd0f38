"""Errors of a store that could not read or write."""

from __future__ import annotations

from typing import ClassVar, Self, Unpack

from pieria.errors.root import Framework, More


class StorageError(Framework):
    """The store could not read or write; nothing of the change was kept."""

    code = "storage"
    fields = ("operation", "reason")
    usual_reason: ClassVar[str | None] = None

    def __init__(self, operation: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.operation = operation
        self.reason = self.usual_reason if reason is None else reason
        about = "store" if operation is None else f"store, during {operation}"
        super().__init__(self._worded(about, self.reason), **more)

    def placeless(self) -> Self:
        """Return the error without details, for callers that must not learn where banks are stored."""
        return type(self)(self.operation, hint=self.advice or "The server's log tells more.")


class ReadOnlyError(StorageError):
    """The bank's file or folder may not be written."""

    code = "read_only"
    usual_reason = "no permission to write"
    advice = "Allow this user to write to the data folder and its files, or choose another folder."


class DiskFullError(StorageError):
    """There is no space left; the bank stands as it did before the change."""

    code = "disk_full"
    usual_reason = "no space left on the disk"
    advice = "Free some space on the disk of the data folder and repeat the call."


class BusyError(StorageError):
    """Another writer held the bank longer than the busy timeout; the call may be repeated."""

    code = "busy"
    retryable = True
    usual_reason = "another writer held the bank too long"
    advice = "Repeat the call; if it happens often, write in fewer, larger batches."


class CorruptError(StorageError):
    """The bank's file is damaged."""

    code = "corrupt"
    usual_reason = "the file is damaged"
    advice = "Keep the file as it is and bring back the latest backup with pieria restore."


class ForeignFileError(StorageError):
    """The file is a database or something else, but not a bank."""

    code = "foreign_file"
    usual_reason = "the file is not a bank"
    advice = "Choose another bank name or data folder; the file was left untouched."


class NewerVersionError(StorageError):
    """The bank was written by a newer Pieria than this one."""

    code = "newer_version"
    usual_reason = "the bank was written by a newer version of Pieria"
    advice = "Upgrade Pieria; the bank was left untouched."


class SealedError(StorageError):
    """The bank is sealed, and its key is missing, or is another."""

    code = "sealed"
    usual_reason = "the bank is sealed, and there is no key that opens it"
    advice = "Set seal_key to where the key is. Without the key the bank cannot be read by anybody, ever."


class UnreachableError(StorageError):
    """The server of the banks cannot be reached, was lost in the middle, or has no connection free."""

    code = "unreachable"
    retryable = True
    usual_reason = "the server of the banks cannot be reached"
    advice = "Repeat the call; if it goes on, check that the server runs and that the address in data is right."


class RefusedError(StorageError):
    """The server of the banks does not let this user in, or not do this."""

    code = "refused"
    usual_reason = "the server does not allow it"
    advice = "Check user and password of the address in data, and what that user is allowed to do."


class UnsuitableError(StorageError):
    """The server of the banks, or the database there, lacks what a bank needs."""

    code = "unsuitable"
    usual_reason = "the server lacks what a bank needs"
    advice = "Banks need PostgreSQL 15 or newer with the extension pgvector 0.8, and a database in UTF8."
