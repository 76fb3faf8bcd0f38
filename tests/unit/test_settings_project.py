"""The project of a folder, and the bank of its repository. Real git makes the repositories if ours could be wrong."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.trust import trusted_project

from pieria.errors import ConfigError
from pieria.project import Project, find_project
from pieria.record.banks import check_bank_name
from pieria.settings import resolve


def repository(folder: Path) -> Path:
    """Make a minimal repository: a folder with `.git`."""
    (folder / ".git").mkdir(parents=True)
    return folder


def bank_of(folder: Path, home: Path) -> str | None:
    project = find_project(folder, home)
    return project.bank_name() if project else None


def git(folder: Path, *arguments: str) -> None:
    author = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_repository_has_one_bank_in_all_its_folders(tmp_path: Path, home: Path) -> None:
    assert find_project(home / "work", home) is None
    assert resolve({}, cwd=home / "work").settings.bank == "default"
    root = repository(tmp_path / "app")
    (root / "src" / "deep").mkdir(parents=True)
    name = bank_of(root, home)
    assert name is not None and name.startswith("app-")
    assert check_bank_name(name) == name
    assert bank_of(root / "src" / "deep", home) == name
    found = resolve({}, cwd=root / "src" / "deep")
    assert (found.settings.bank, found.origins["bank"]) == (name, "git repository")
    assert found.project == Project(root, None, root / ".git")
    (tmp_path / "elsewhere").symlink_to(root)
    assert bank_of(tmp_path / "elsewhere", home) == name
    assert bank_of(repository(tmp_path / "b" / "app"), home) != name
    for folder in ("日本語" * 20, "!!!", "con", "My App (2)"):
        name = bank_of(repository(tmp_path / folder), home)
        assert name is not None
        assert check_bank_name(name) == name


def test_worktrees_share_the_bank_of_their_repository(tmp_path: Path, home: Path) -> None:
    main, tree = tmp_path / "app", tmp_path / "trees" / "feature"
    main.mkdir()
    git(main, "init", "--quiet")
    git(main, "commit", "--quiet", "--allow-empty", "--message", "first")
    git(main, "worktree", "add", "--quiet", str(tree))
    name = bank_of(main, home)
    assert bank_of(tree, home) == name
    main.rename(tmp_path / "elsewhere")
    assert bank_of(tree, home) == name
    own, tree = tmp_path / "app.git" / "worktrees" / "feature", tmp_path / "feature"
    own.mkdir(parents=True)
    tree.mkdir()
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tree}/.git\n")
    (tree / ".git").write_text(f"gitdir: {own}\n")
    name = bank_of(tree, home)
    assert name is not None and re.fullmatch(r"app-[0-9a-f]{8}", name)


def test_a_pointer_or_submodule_opens_no_other_bank(tmp_path: Path, home: Path) -> None:
    secret, pointing = repository(tmp_path / "secret"), tmp_path / "pointing"
    pointing.mkdir()
    for inside in ("", "/worktrees/feature", "/modules/parts"):
        (pointing / ".git").write_text(f"gitdir: ../secret/.git{inside}\n")
        assert bank_of(pointing, home) != bank_of(secret, home)
        target = Path(f"{secret}/.git{inside}")
        target.mkdir(parents=True, exist_ok=True)
        (target / "commondir").write_text("../..\n")
        assert bank_of(pointing, home) != bank_of(secret, home)
        (target / "commondir").unlink()
    packed = repository(tmp_path / "packed")
    (packed / ".git" / "commondir").write_text("../../secret/.git\n")
    assert bank_of(packed, home) != bank_of(secret, home)
    above = repository(tmp_path / "app")
    (above / ".git" / "modules" / "parts").mkdir(parents=True)
    (above / "parts").mkdir()
    (above / "parts" / ".git").write_text("gitdir: ../.git/modules/parts\n")
    (above / ".git" / "modules" / "parts" / "config").write_text("[core]\n\tworktree = ../../../parts\n")
    name = bank_of(above / "parts", home)
    assert name is not None and name.startswith("parts-")
    assert name != bank_of(above, home)


def test_a_home_that_is_a_repository_is_no_project(tmp_path: Path, home: Path) -> None:
    repository(home)
    assert find_project(home / "work", home) is None
    assert find_project(home / "work", home / "work" / "user") is None
    assert resolve({}, cwd=home / "work").settings.bank == "default"
    assert find_project(home / "work", None) is not None
    (tmp_path / "link").symlink_to(home)
    assert find_project(home / "work", tmp_path / "link") is None
    assert bank_of(repository(home / "work" / "app"), home) is not None


def test_a_pointer_that_points_nowhere_is_named(tmp_path: Path) -> None:
    for text in ("", "nonsense", "gitdir:", "gitdir:   \n"):
        (tmp_path / ".git").write_text(text)
        with pytest.raises(ConfigError, match=r"\.git: expected `gitdir: FOLDER`") as caught:
            resolve({}, cwd=tmp_path)
        assert "PIERIA_BANK" in str(caught.value.hint)
        assert resolve({"bank": "mine"}, cwd=tmp_path).settings.bank == "mine"


def test_the_nearest_project_file_names_the_bank(tmp_path: Path, home: Path) -> None:
    root = repository(tmp_path / "app")
    (root / "sub").mkdir()
    trusted_project(root, 'secrets = "redact"\n')
    found = resolve({}, cwd=root)
    assert (found.settings.bank, found.settings.secrets) == (bank_of(root, home), "redact")
    trusted_project(root, 'bank = "shared"\n')
    found = resolve({}, cwd=root / "sub")
    assert (found.settings.bank, found.origins["bank"]) == ("shared", "project .pieria.toml")
    assert found.project == Project(root, root / ".pieria.toml", root / ".git")
    inner = repository(tmp_path / "outer" / "inner")
    trusted_project(tmp_path / "outer", 'bank = "outer"\nauthor = "outer"\n')
    assert resolve({}, cwd=inner).settings.bank == "outer"
    trusted_project(inner, 'bank = "inner"\n')
    found = resolve({}, cwd=inner)
    assert (found.settings.bank, found.settings.author) == ("inner", None)
    assert resolve({}, cwd=inner.parent).settings.bank == "outer"
