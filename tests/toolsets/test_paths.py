"""Paths: files must lie under the roots, after links and `..` are followed, and be no longer than a system takes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pieria
from pieria.errors import InputError
from pieria.mining import mine
from pieria.record.address import LONGEST, LONGEST_PART
from pieria.toolsets import Paths
from pieria.toolsets.host import on_this_machine, over_the_network


@pytest.fixture
def roots(tmp_path: Path) -> Paths:
    for name in ("base", "more", "outside"):
        (tmp_path / name).mkdir()
    return Paths(tmp_path / "base", (tmp_path / "base", tmp_path / "more"))


def test_paths_count_from_the_base_and_do_not_leave_the_roots(roots: Paths) -> None:
    assert roots.allowed("a/b.json", "path") == roots.base / "a" / "b.json"
    assert roots.allowed("../more/b.json", "path") == roots.base.parent / "more" / "b.json"
    assert roots.allowed(str(roots.roots[1]), "path") == roots.roots[1]
    for path in ("..", "../outside/x", "a/../../outside/x", "/", "/etc/passwd", "../basement/x"):
        with pytest.raises(InputError) as caught:
            roots.allowed(path, "output_path")
        assert (caught.value.parameter, str(roots.base) in caught.value.expected) == ("output_path", True)
        assert "paths" in str(caught.value.hint)
    for path in ("", "  ", "a\0b", "~nobody-of-this-name/x"):
        with pytest.raises(InputError):
            roots.allowed(path, "path")


def test_links_are_followed_before_they_are_judged(roots: Paths, tmp_path: Path) -> None:
    outside = roots.base.parent / "outside"
    os.symlink(outside, roots.base / "out")
    os.symlink(roots.roots[1], roots.base / "in")
    os.symlink(outside / "file", roots.base / "file")
    for path in ("out/x", "out", "file", "in/../outside/x"):
        with pytest.raises(InputError):
            roots.allowed(path, "path")
    assert roots.allowed("in/x", "path") == roots.roots[1] / "x"
    os.symlink(roots.base / "b", roots.base / "a")
    os.symlink(roots.base / "a", roots.base / "b")
    assert roots.allowed("a", "path").is_relative_to(roots.base)
    os.symlink(roots.base, tmp_path / "root")
    assert Paths(tmp_path / "root", (tmp_path / "root",)).allowed("x", "path") == roots.base / "x"


def test_user_has_data_project_and_home(tmp_path: Path) -> None:
    data, project, work, home, more = (tmp_path / name for name in ("data", "project", "work", "home", "more"))
    assert on_this_machine(data, project, work, home, [more]) == Paths(work, (data, project, home, more), data, project)
    assert on_this_machine(data, None, work, None, [data]) == Paths(work, (data, work), data)
    own = Path.home()
    paths = on_this_machine(data, None, work, own, [])
    assert paths.allowed("~/out.json", "path") == Path(os.path.realpath(own)) / "out.json"


def test_network_has_one_folder_for_exchange_and_tells_names(tmp_path: Path) -> None:
    more = tmp_path / "more"
    here, elsewhere = on_this_machine(tmp_path, None, tmp_path, None, []), over_the_network(tmp_path, [more])
    assert elsewhere.allowed("x.json", "path") == Path(os.path.realpath(tmp_path)) / "exports" / "x.json"
    for path in ("../notes.db", str(tmp_path / "notes.db")):
        with pytest.raises(InputError):
            elsewhere.allowed(path, "path")
    for name, told in (("exports/a/b.json", str(Path("a", "b.json"))), ("more/c.json", str(more / "c.json"))):
        path = str(tmp_path / name)
        assert here.told(here.allowed(path, "path")) == os.path.realpath(path)
        assert elsewhere.told(elsewhere.allowed(path, "path")) == told


def test_files_of_the_data_folder_are_none_for_tools(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    os.symlink(data, tmp_path / "link")
    ours = (
        "notes.db",
        "NOTES.DB",
        "notes.db-wal",
        "new.db/out.jsonl",
        "tokens.json",
        "tokens.lock",
        "pieria.toml",
        "pieria.sock",
        "setup.json",
        "model.failed",
    )
    for paths in (on_this_machine(data, None, tmp_path, None, []), over_the_network(data, [data, tmp_path])):
        for name in ours:
            for folder in (data, tmp_path / "link"):
                with pytest.raises(InputError, match="data folder"):
                    paths.allowed(str(folder / name), "output_path")
            assert paths.allowed(str(data / "exports" / name), "output_path") == data / "exports" / name
        assert paths.allowed(str(data / "notes.jsonl"), "output_path") == data / "notes.jsonl"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "a", "out", "in", "more", "base", "~", "/", "", "outside", "é"])))
def test_allowed_paths_lie_inside(roots: Paths, parts: list[str]) -> None:
    for name, to in (("out", "outside"), ("in", "more")):
        if not (roots.base / name).is_symlink():
            os.symlink(roots.base.parent / to, roots.base / name)
    try:
        allowed = roots.allowed("/".join(parts), "path")
    except InputError:
        return
    assert any(allowed.is_relative_to(root) for root in roots.roots)
    assert os.path.realpath(allowed) == str(allowed)


LONG = ["x" * 70_000, "/".join(["a" * 100] * 700), "é" * LONGEST_PART, f"{'b' * 200}/" * (LONGEST // 200)]
VERBS: dict[str, Callable[[pieria.Bank, str], Any]] = {
    "export": lambda bank, path: bank.export(path),
    "import": lambda bank, path: bank.import_(path),
    "backup": lambda bank, path: bank.backup(path),
    "restore": lambda bank, path: pieria.restore(path, data=bank.data),
    "data": lambda bank, path: pieria.open("other", data=path),
    "vault": lambda bank, path: pieria.open("other", data=bank.data, settings={"vault": path}),
    "mine": mine,
    "tools": lambda bank, path: over_the_network(Path(bank.data), []).allowed(path, "output_path"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_too_long_path_is_wrong_input(bank: pieria.Bank, verb: str) -> None:
    for path in LONG:
        with pytest.raises(InputError, match="at most 4,000 bytes, each part of at most 255"):
            VERBS[verb](bank, path)
