"""Paths: files must lie under the roots, after links and `..` are followed."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pieria.errors import InputError
from pieria.toolsets import Paths
from pieria.toolsets.host import on_this_machine, over_the_network


@pytest.fixture
def roots(tmp_path: Path) -> Paths:
    for name in ("base", "more", "outside"):
        (tmp_path / name).mkdir()
    return Paths(tmp_path / "base", (tmp_path / "base", tmp_path / "more"))


def test_a_path_counts_from_the_base(roots: Paths) -> None:
    assert roots.allowed("a/b.json", "path") == roots.base / "a" / "b.json"
    assert roots.allowed("../more/b.json", "path") == roots.base.parent / "more" / "b.json"
    assert roots.allowed(str(roots.roots[1]), "path") == roots.roots[1]


@pytest.mark.parametrize("given", ["..", "../outside/x", "a/../../outside/x", "/", "/etc/passwd", "../basement/x"])
def test_what_leads_elsewhere_is_refused_with_where_it_may_lead(roots: Paths, given: str) -> None:
    with pytest.raises(InputError) as caught:
        roots.allowed(given, "output_path")
    assert caught.value.parameter == "output_path"
    assert str(roots.base) in caught.value.expected
    assert "paths" in str(caught.value.hint)


def test_a_link_is_followed_before_it_is_judged(roots: Paths) -> None:
    outside = roots.base.parent / "outside"
    os.symlink(outside, roots.base / "out")
    os.symlink(roots.roots[1], roots.base / "in")
    os.symlink(outside / "file", roots.base / "file")
    for path in ("out/x", "out", "file", "in/../outside/x"):
        with pytest.raises(InputError):
            roots.allowed(path, "path")
    assert roots.allowed("in/x", "path") == roots.roots[1] / "x"


def test_a_root_may_itself_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    paths = Paths(tmp_path / "link", (tmp_path / "link",))
    assert paths.allowed("x", "path") == tmp_path / "real" / "x"


def test_a_link_in_a_circle_is_refused_or_stays_inside(roots: Paths) -> None:
    os.symlink(roots.base / "b", roots.base / "a")
    os.symlink(roots.base / "a", roots.base / "b")
    assert roots.allowed("a", "path").is_relative_to(roots.base)


@pytest.mark.parametrize("given", ["", "  ", "a\0b", "~nobody-of-this-name/x"])
def test_what_is_no_path_is_refused(roots: Paths, given: str) -> None:
    with pytest.raises(InputError):
        roots.allowed(given, "path")


def test_the_home_folder_may_be_spelt_short(tmp_path: Path, home: Path) -> None:
    paths = on_this_machine(tmp_path / "data", None, tmp_path / "work", home, [])
    assert paths.allowed("~/out.json", "path") == Path(os.path.realpath(home)) / "out.json"


def test_a_user_of_this_machine_has_data_project_and_home(tmp_path: Path) -> None:
    data, project, work, home, more = (tmp_path / name for name in ("data", "project", "work", "home", "more"))
    assert on_this_machine(data, project, work, home, [more]) == Paths(work, (data, project, home, more), data, project)
    assert on_this_machine(data, None, work, None, [data]) == Paths(work, (data, work), data)


def test_over_the_network_there_is_one_folder_for_exchange(tmp_path: Path) -> None:
    paths = over_the_network(tmp_path, [])
    assert paths.allowed("x.json", "path") == Path(os.path.realpath(tmp_path)) / "exports" / "x.json"
    for path in ("../notes.db", str(tmp_path / "notes.db")):
        with pytest.raises(InputError):
            paths.allowed(path, "path")


def test_a_path_is_told_whole_to_a_user_of_this_machine_and_by_its_name_over_the_network(tmp_path: Path) -> None:
    more = tmp_path / "more"
    here, elsewhere = on_this_machine(tmp_path, None, tmp_path, None, []), over_the_network(tmp_path, [more])
    for name, told in (("exports/a/b.json", str(Path("a", "b.json"))), ("more/c.json", str(more / "c.json"))):
        path = tmp_path / name
        assert here.told(here.allowed(str(path), "path")) == os.path.realpath(path)
        assert elsewhere.told(elsewhere.allowed(str(path), "path")) == told


@pytest.mark.parametrize(
    "name", ["notes.db", "NOTES.DB", "notes.db-wal", "new.db/out.jsonl", "tokens.json", "tokens.lock", "pieria.toml"]
)
def test_what_the_data_folder_lives_on_is_no_file_for_tools(tmp_path: Path, name: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    os.symlink(data, tmp_path / "link")
    for paths in (on_this_machine(data, None, tmp_path, None, []), over_the_network(data, [data, tmp_path])):
        for folder in (data, tmp_path / "link"):
            with pytest.raises(InputError, match="data folder"):
                paths.allowed(str(folder / name), "output_path")
        assert paths.allowed(str(data / "exports" / name), "output_path") == data / "exports" / name
        assert paths.allowed(str(data / "notes.jsonl"), "output_path") == data / "notes.jsonl"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "a", "out", "in", "more", "base", "~", "/", "", "outside", "é"])))
def test_nothing_that_is_allowed_lies_outside(roots: Paths, parts: list[str]) -> None:
    for name, to in (("out", "outside"), ("in", "more")):
        if not (roots.base / name).is_symlink():
            os.symlink(roots.base.parent / to, roots.base / name)
    try:
        allowed = roots.allowed("/".join(parts), "path")
    except InputError:
        return
    assert any(allowed.is_relative_to(root) for root in roots.roots)
    assert os.path.realpath(allowed) == str(allowed)
