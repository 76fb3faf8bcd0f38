"""Removing a bank while hooks capture for it: pending events go as well, and the rest is reported."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.capture.payloads import a_project, said, spooled

from pieria import Workspace
from pieria.capture.bank_removal import remove_bank
from pieria.capture.drain import Drain
from pieria.capture.spool import spool_of
from pieria.errors import NotFoundError


@pytest.fixture(params=["folder", "served"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    if request.param == "folder":
        return Workspace(tmp_path / "data")
    settings = {"user": "maya", "local": tmp_path / "local"}
    return Workspace(request.getfixturevalue("empty_database"), settings)


def test_pending_events_go_with_their_bank(workspace: Workspace, tmp_path: Path) -> None:
    app, other = a_project(tmp_path / "app", "app"), a_project(tmp_path / "other", "other")
    spool = spool_of(workspace)
    with workspace:
        workspace.open("app").remember("We chose JWT.")
        spooled(spool.folder, said("Why JWT?", "1", app), said("Why herons?", "2", other))
        told = remove_bank(workspace, "app", dry_run=True)
        assert told.erased["memories"] == 2
        spooled(spool.folder, said("And why cookies?", "3", app))
        report = remove_bank(workspace, "app")
        assert (report.erased["memories"], report.unreached) == (3, told.unreached)
        Drain(workspace).drain()
        assert workspace.banks() == ["other"]
        assert workspace.open("other", create=False).count() == 1


def test_events_out_of_reach_are_reported(tmp_path: Path) -> None:
    app = a_project(tmp_path / "app", "app")
    with Workspace(tmp_path / "data") as workspace:
        spool = spool_of(workspace)
        spooled(spool.folder, said("Which tokens?", "0", app))
        with pytest.raises(NotFoundError):
            remove_bank(workspace, "app")
        assert spool.is_waiting
        spooled(spool.folder, b"no event")
        Drain(workspace).drain()
        spooled(spool.folder, said("Why JWT?", "1", app))
        with closing(spool.claims()) as elsewhere:
            next(elsewhere)
            waits, aside = remove_bank(workspace, "app").unreached[-2:]
        assert "create it again" in waits
        assert "set aside (1)" in aside and "spool/refused.jsonl" in aside
        assert workspace.banks() == []
        Drain(workspace).drain()
        assert workspace.open("app", create=False).count() == 1
