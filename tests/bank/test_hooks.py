"""The settings for programs that save automatically, and their last save."""

from pathlib import Path

import pytest
from tests.contract.making import HandClock

import pieria
from pieria.errors import InputError


def test_settings_are_the_bank_s_and_last(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        assert bank.hooks.settings().as_dict() == {"silent_save": True, "desktop_toast": False}
        assert bank.hooks.set(desktop_toast=True).as_dict() == {"silent_save": True, "desktop_toast": True}
        before = bank.changes()
        bank.hooks.set(silent_save=True, desktop_toast=True)
        assert bank.changes() == before
        with pytest.raises(InputError):
            bank.hooks.set()
        with pytest.raises(InputError):
            bank.hooks.set(silent_save="yes")  # type: ignore[arg-type]
    with pieria.open("notes", data=tmp_path) as bank:
        assert bank.hooks.settings().desktop_toast


def test_the_latest_checkpoint_is_told_as_often_as_it_is_asked_for(tmp_path: Path) -> None:
    clock = HandClock()
    with pieria.Workspace(tmp_path, clock=clock) as workspace:
        one, two = workspace.open("notes", session="one"), workspace.open("notes", session="two")
        assert one.hooks.last() is None
        one.hooks.checkpoint(15)
        clock.move(hours=1)
        said = two.hooks.checkpoint(3)
        assert one.hooks.last() == one.hooks.last() == said
        clock.move(hours=1)
        one.hooks.checkpoint(30)
        last = two.hooks.last()
        assert last is not None
        assert (last.session, last.messages, last.at) == ("one", 30, "2026-03-01T14:00:00Z")
        assert "one" not in str(one.changes()[-1].ids)
