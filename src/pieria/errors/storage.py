"""Errors of a store that could not read or write."""

from __future__ import annotations

from typing import ClassVar, Self, Unpack

from pieria.errors.root import Framework, More


class StorageError(Framework):
    """The store could not read or write; no part of the change was kept."""

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
        return type(self)(self.operation, hint=self.advice or "See the server's log for details.")


class ReadOnlyError(StorageError):
    """There is no permission to write the bank's file or folder."""

    code = "read_only"
    usual_reason = "no permission to write"
    advice = "Allow this user to write to the data folder and its files, or choose another folder."


class DiskFullError(StorageError):
    """The disk is full; the bank is unchanged."""

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
    advice = "Do not change the file. Restore the latest backup with pieria restore."


class ForeignFileError(StorageError):
    """The file is not a bank."""

    code = "foreign_file"
    usual_reason = "the file is not a bank"
    advice = "Choose another bank name or data folder; the file was left untouched."


class NewerVersionError(StorageError):
    """A newer version of Pieria wrote the bank."""

    code = "newer_version"
    usual_reason = "the bank was written by a newer version of Pieria"
    advice = "Upgrade Pieria; the bank was left untouched."


class SealedError(StorageError):
    """The bank is sealed, and its key is missing or wrong."""

    code = "sealed"
    usual_reason = "the bank is sealed, and its key is missing or wrong"
    advice = "Set seal_key to the place of the key. Without the key, the bank can never be read."


class UnreachableError(StorageError):
    """The database server cannot be reached, closed the connection, or has no free connection."""

    code = "unreachable"
    retryable = True
    usual_reason = "the database server cannot be reached"
    advice = "Repeat the call. If it still fails, check that the server runs and that the address in data is right."


class RefusedError(StorageError):
    """The database server refuses this user, or this operation."""

    code = "refused"
    usual_reason = "the database server does not allow it"
    advice = "Check the user and password in data, and that user's rights."


class UnsuitableError(StorageError):
    """The database server or its database does not meet the requirements of a bank."""

    code = "unsuitable"
    usual_reason = "the database server does not meet the requirements of a bank"
    advice = "A bank needs PostgreSQL 15 or newer, the extension pgvector 0.8, and a database in UTF8."
