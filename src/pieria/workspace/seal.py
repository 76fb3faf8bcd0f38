"""A whole bank sealed, unsealed, or given another key, where it lies; and the spool of hooks along with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.bank.results.transfer import SealReport
from pieria.errors import ConflictError, InputError, UnavailableError
from pieria.record.banks import check_bank_name
from pieria.record.key_places import checked_key_place
from pieria.workspace import Workspace, refuse_doubted
from pieria.workspace.places import FileSpot, Folder, not_there
from pieria.workspace.seal_keys import make_key, seal_at, seal_of
from pieria.workspace.spool_pair import drop, end, make
from pieria.workspace.stores import stores

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
    """Seals a bank with the key that the setting `seal_key` names, which is made where there is none yet.

    The report names what may still hold words of it in plain. Raises `ConflictError` where the bank is sealed already,
    and `BusyError` where another process has it open.
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
    """Makes a sealed bank a plain one again."""
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
    """Gives a sealed bank another key: that of the place `to`, spelt as the setting `seal_key`, and made where there is
    none. From then on `seal_key` has to name that place.
    """
    with Workspace(data, _given(name, settings)) as workspace:
        held = _named(workspace)
        place = checked_key_place(to, "to")
        if place == held.where:
            raise InputError("to", "another place than seal_key names", place)
        spot = _spot(workspace)
        is_new = make_key(place, workspace.resolved.environ)
        wanted = seal_at(place, workspace.resolved.environ)
        return _converted(workspace, spot, "rekey", held, wanted, is_new, progress)


def key_made(workspace: Workspace) -> tuple[Seal, bool]:
    """The key that the setting names, and whether it was made just now."""
    wanted = _named(workspace)
    is_new = make_key(wanted.where, workspace.resolved.environ)
    wanted.key()
    return wanted, is_new


def _given(name: str | None, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(settings or {}), **({} if name is None else {"bank": check_bank_name(name, "name")})}


def _named(workspace: Workspace) -> Seal:
    named = seal_of(workspace.resolved)
    if named is None:
        raise InputError("seal_key", "where the key is, as keyring: or file:PATH", None)
    return named


def _spot(workspace: Workspace) -> FileSpot:
    if not isinstance(workspace.place, Folder):
        hint = "Encrypt the server's disk; the backups that are taken of its banks are sealed with seal_key."
        raise UnavailableError("seal", "a server's banks are not sealed here", hint=hint)
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
        # Hooks seal from now on; what they wrote in plain waits for the next drain.
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
    """The spool is given up by a key once it opens no bank of the folder any more."""
    from pieria.store.sqlite.seal_driver import is_opened_by, is_sealed

    assert isinstance(workspace.place, Folder)
    paths = [workspace.place.at(name).path for name in workspace.place.everything()]
    sealed = [path for path in paths if is_sealed(path)]
    if not sealed and wanted is None:
        end(workspace.data)
    elif not any(is_opened_by(path, held) for path in sealed):
        drop(workspace.data, held)
