"""Seal or unseal a whole bank in place, or change its key, together with the spool of the hooks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.bank.results.transfer import SealReport
from pieria.errors import ConflictError, InputError, UnavailableError
from pieria.record.address import checked_key_place
from pieria.record.banks import check_bank_name
from pieria.workspace import Workspace, refuse_doubted
from pieria.workspace.folders import FileSpot, Folder
from pieria.workspace.locations import not_there
from pieria.workspace.open_stores import stores
from pieria.workspace.seal_keys import make_key, seal_at, seal_of
from pieria.workspace.spool_pair import drop, end, make

if TYPE_CHECKING:
    from pieria.store.protocol import Progress
    from pieria.store.seal import Seal


def seal(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Seal a bank with the key of the setting `seal_key`, which is created if there is none.

    The report lists what may still hold plain text. Raise `ConflictError` if the bank is sealed already, and
    `BusyError` if another process has it open.
    """
    with Workspace(data, _given(name, settings)) as workspace:
        wanted, is_new = key_made(workspace)
        spot = _spot(workspace)
        return _converted(workspace, spot, "seal", None, wanted, is_new, progress)


def unseal(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Turn a sealed bank into a plain one."""
    with Workspace(data, _given(name, settings)) as workspace:
        return _converted(workspace, _spot(workspace), "unseal", _named(workspace), None, False, progress)


def rekey(
    name: str | None = None,
    *,
    to: str,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Give a sealed bank another key, that of the place `to`, spelled like `seal_key` and created if there is none.

    Then set `seal_key` to that place.
    """
    with Workspace(data, _given(name, settings)) as workspace:
        held = _named(workspace)
        place = checked_key_place(to, "to")
        if place == held.where:
            raise InputError("to", "a place other than that of seal_key", place)
        spot = _spot(workspace)
        is_new = make_key(place, workspace.resolved.environ)
        wanted = seal_at(place, workspace.resolved.environ)
        return _converted(workspace, spot, "rekey", held, wanted, is_new, progress)


def key_made(workspace: Workspace) -> tuple[Seal, bool]:
    """Return the key of the setting, and whether it was just created."""
    wanted = _named(workspace)
    is_new = make_key(wanted.where, workspace.resolved.environ)
    wanted.key()
    return wanted, is_new


def _given(name: str | None, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(settings or {}), **({} if name is None else {"bank": check_bank_name(name, "name")})}


def _named(workspace: Workspace) -> Seal:
    named = seal_of(workspace.resolved)
    if named is None:
        raise InputError("seal_key", "the place of the key, as keyring: or file:PATH", None)
    return named


def _spot(workspace: Workspace) -> FileSpot:
    if not isinstance(workspace.place, Folder):
        hint = "Encrypt the server's disk. Backups of its banks are sealed with seal_key."
        raise UnavailableError("seal", "banks on a server cannot be sealed", hint=hint)
    spot = workspace.place.at(workspace.resolved.settings.bank)
    if not spot.is_there:
        raise not_there(spot.name, workspace.place)
    refuse_doubted(workspace.resolved, spot)
    return spot


def _converted(
    workspace: Workspace,
    spot: FileSpot,
    operation: str,
    held: Seal | None,
    wanted: Seal | None,
    is_new: bool,
    progress: Progress | None,
) -> SealReport:
    from pieria.store.sqlite.conversion import convert
    from pieria.store.sqlite.folder import copies
    from pieria.store.sqlite.seal_driver import is_sealed

    if is_sealed(spot.path) != (held is not None):
        words = "is sealed already" if held is None else "is not sealed"
        raise ConflictError(f"the bank {words}", ids=(spot.name,))
    if wanted is not None:
        # Hooks seal from now on; earlier plain lines wait for the next drain.
        make(workspace.data, wanted, held)
    with stores.alone(spot):
        left = convert(spot.path, operation, held, wanted, progress)
    if held is not None:
        _let_go(workspace, held, wanted)
    plain = [] if wanted is None else [*left, *copies(spot.path, plain=True)]
    return SealReport(
        spot.name, str(spot), wanted is not None, None if wanted is None else wanted.where, is_new, tuple(plain)
    )


def _let_go(workspace: Workspace, held: Seal, wanted: Seal | None) -> None:
    """Remove the key from the spool once it opens no bank of the folder."""
    from pieria.store.sqlite.seal_driver import is_opened_by, is_sealed

    assert isinstance(workspace.place, Folder)
    paths = [workspace.place.at(name).path for name in workspace.place.everything()]
    sealed = [path for path in paths if is_sealed(path)]
    if not sealed and wanted is None:
        end(workspace.data)
    elif not any(is_opened_by(path, held) for path in sealed):
        drop(workspace.data, held)
