"""The rights of an untrusted folder's settings file, setting by setting, and how a user's own bank is recognised."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.trust import trust_folder, trusted_project
from tests.unit.samples import samples
from tests.unit.test_settings import VALUES, toml

from pieria.errors import ConfigError
from pieria.project import innermost_project
from pieria.settings import Settings, resolve
from pieria.settings.source import TIGHTENS, is_stricter
from pieria.settings.trust import LARGEST, Trust, change, digest_at, identity_of, note_made

SAMPLES = samples("settings_trust")
REFUSED: dict[str, list[str]] = SAMPLES["refused"]
"""All other settings, by effect: what an untrusted file could do with them."""


def test_an_untrusted_file_sets_nothing(tmp_path: Path) -> None:
    refused = [name for names in REFUSED.values() for name in names]
    assert sorted([*refused, *TIGHTENS]) == sorted(Settings.model_fields)
    for name in Settings.model_fields.keys() - TIGHTENS:
        (tmp_path / ".pieria.toml").write_text(f"{name} = {toml(VALUES[name][0])}\n")
        found = resolve({}, environ={}, cwd=tmp_path)
        assert found.origins[name] == "default"
        [remark] = found.ignored
        assert f"not trusted: {name} ignored" in remark.what
    for value in ("[1]", '"\\u0000"', "{a = 1}", "-1", "nan"):
        lines = "".join(f"{name} = {value}\n" for name in Settings.model_fields)
        (tmp_path / ".pieria.toml").write_text(f"{lines}unknown = 1\n")
        assert set(resolve({}, environ={}, cwd=tmp_path).origins.values()) == {"default"}
    folder = tmp_path / "a\x1b[2Jb\nnote: all is well"
    folder.mkdir()
    (folder / ".pieria.toml").write_text('bank = "x"\n')
    [remark] = resolve({}, environ={}, cwd=folder).ignored
    assert remark.what.isprintable() and remark.remedy.isprintable()


def test_an_untrusted_file_can_only_be_stricter(tmp_path: Path) -> None:
    data, project = tmp_path / "data", tmp_path / "project"
    data.mkdir()
    project.mkdir()
    for name, held, said, then in SAMPLES["stricter"]:
        (data / "pieria.toml").write_text("" if held == "" else f"{name} = {toml(held)}\n")
        (project / ".pieria.toml").write_text(f"{name} = {toml(said)}\n")
        found = resolve({"data": data}, environ={}, cwd=project)
        assert getattr(found.settings, name) == then, (name, held, said)
        if name == "secrets":
            assert bool(found.ignored) == (then != said)
    assert not is_stricter("secrets", "hide", "flag")
    assert not is_stricter("secrets", None, "flag")
    assert not is_stricter("llm", "none", "none")
    (tmp_path / ".pieria.toml").write_text('secrets = "refuse"\n')
    assert resolve({}, environ={"PIERIA_SECRETS": "flag"}, cwd=tmp_path).settings.secrets == "flag"


def test_a_trusted_file_counts_until_a_byte_changes(tmp_path: Path) -> None:
    trusted_project(tmp_path, 'bank = "ours"\nsecrets = "flag"\n')
    found = resolve({}, environ={}, cwd=tmp_path)
    assert (found.settings.bank, found.ignored) == ("ours", ())
    trusted_project(tmp_path, 'bank = "ours"\n')
    for other in ('bank = "theirs"\n', 'bank = "ours" \n', ""):
        (tmp_path / ".pieria.toml").write_text(other)
        assert resolve({}, environ={}, cwd=tmp_path).settings.bank == "default"
    trusted_project(tmp_path, 'bank = "ours"\n')
    (tmp_path / ".pieria.toml").rename(tmp_path / "same")
    (tmp_path / "other").write_text('bank = "theirs"\n')
    (tmp_path / ".pieria.toml").symlink_to("other")
    assert resolve({}, environ={}, cwd=tmp_path).settings.bank == "default"
    (tmp_path / ".pieria.toml").unlink()
    (tmp_path / ".pieria.toml").symlink_to("same")
    assert resolve({}, environ={}, cwd=tmp_path).settings.bank == "ours"


def test_a_project_is_the_innermost_of_those_around(tmp_path: Path, home: Path) -> None:
    inner = tmp_path / "work" / "clone"
    (inner / ".git").mkdir(parents=True)
    (tmp_path / "work" / ".pieria.toml").touch()
    assert innermost_project(inner / ".mem", home) == inner
    assert innermost_project(inner.parent / "x", home) == inner.parent
    (tmp_path / ".git").symlink_to("nowhere")
    assert innermost_project(tmp_path / "data", home) == tmp_path
    (home / ".git").mkdir()
    assert innermost_project(home / "data", home) is None
    (home / ".pieria" / ".git").mkdir(parents=True)
    assert Trust.read().doubted_project(home / ".pieria") is None


def test_a_file_keeps_its_identity_and_its_successor_does_not(tmp_path: Path) -> None:
    file, times, seen = tmp_path / "file", 40, set()
    for _ in range(times):
        file.write_bytes(b"")
        seen.add(identity_of(file))
        file.unlink()
    assert len(seen) == times and None not in seen
    assert identity_of(file) is None
    file.write_bytes(b"1")
    before = identity_of(file)
    file.write_bytes(b"2")
    os.utime(file, (1, 1))
    file.rename(tmp_path / "renamed")
    assert identity_of(tmp_path / "renamed") == before


def test_records_are_private_and_trust_nothing_if_damaged(tmp_path: Path, home: Path) -> None:
    folders, record = [tmp_path / str(number) for number in range(20)], home / ".pieria" / "trust.json"
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(trust_folder, folders))
    assert len(Trust.read().folders) == len(folders)
    assert [path.stat().st_mode & 0o777 for path in (record, record.parent)] == [0o600, 0o700]
    for written in ("{", "[]", '{"folders": 1, "banks": {}}', '{"folders": {}, "banks": {"a": 1}}'):
        record.write_text(written)
        held = Trust.read()
        assert held.problem is not None and "damaged" in held.problem
        with pytest.raises(ConfigError, match="damaged"):
            trust_folder(tmp_path)
        assert record.read_text() == written


def test_banks_are_remembered_until_they_are_gone(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("one.db", "two.db"):
        (tmp_path / name).touch()
        note_made(tmp_path / name)
    (tmp_path / "one.db").unlink()
    (tmp_path / "three.db").touch()
    note_made(tmp_path / "three.db")
    banks = json.loads((home / ".pieria" / "trust.json").read_text())["banks"]
    assert sorted(Path(name).name for name in banks) == ["three.db", "two.db"]
    monkeypatch.setattr("pieria.settings.trust.identity_of", lambda path: None)
    (tmp_path / "notes.db").write_bytes(b"")
    note_made(tmp_path / "notes.db")
    assert Trust.read().doubted_bank(tmp_path / "notes.db") == tmp_path


def test_a_file_without_digest_or_read_trusts_nothing(tmp_path: Path) -> None:
    (tmp_path / "fits").write_bytes(b"#" * LARGEST)
    (tmp_path / "larger").write_bytes(b"#" * (LARGEST + 1))
    assert digest_at(tmp_path / "fits") and digest_at(tmp_path / "larger") is None
    os.mkfifo(tmp_path / "pipe")
    assert digest_at(tmp_path / "pipe") is None
    assert digest_at(tmp_path / "nowhere") == ""
    change(lambda held: held.having(tmp_path, {}))
    os.mkfifo(tmp_path / ".pieria.toml")
    assert Trust.read().project_around(tmp_path / "data") == tmp_path
    assert not Trust.read().covers(tmp_path)


def test_without_a_home_nothing_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted_project(tmp_path, 'bank = "ours"\n')
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError))
    found = resolve({"data": tmp_path / "data"}, environ={}, cwd=tmp_path)
    assert found.settings.bank == "default"
    with pytest.raises(ConfigError, match="home folder is unknown"):
        trust_folder(tmp_path)
