"""The names that users import: the same for programs, for people and for static tools, and loaded late."""

import ast
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import pieria

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"click", "numpy", "pydantic", "rich", "sqlite3"}


def printed(code: str) -> set[str]:
    """Return the words that a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60)
    return set(done.stdout.split())


def offered_to_static_tools() -> dict[str, str]:
    """Return each name and its module, as a type checker reads the file."""
    tree = ast.parse((ROOT / "src" / "pieria" / "__init__.py").read_text())
    [guarded] = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    found = {}
    for node in guarded.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name, "only `X as X` offers a name again"
                found[alias.name] = str(node.module)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = "pieria"
    return found


def test_importing_and_plain_names_load_nothing_heavy() -> None:
    loaded = printed("import sys; before = set(sys.modules); import pieria; print(*set(sys.modules) - before)")
    assert {name for name in loaded if name.startswith("pieria")} == {"pieria"}
    assert loaded & HEAVY == set()
    names = sorted({*pieria.__all__} - {"Workspace", "open", "restore"})
    show = f"print(*(f'{{name}}:{{one}}' for one in {HEAVY - {'sqlite3'}} if one in sys.modules))"
    assert printed(f"import sys, pieria\nfor name in {names}: getattr(pieria, name); {show}") == set()
    assert printed("import sys, pieria; pieria.open; pieria.Workspace; print(*sys.modules)") & HEAVY <= {"sqlite3"}
    assert "pydantic" in printed("import sys, pieria; pieria.Workspace(); print(*sys.modules)")


def test_the_namespace_and_version_are_those_declared() -> None:
    assert len(pieria.__all__) == len(set(pieria.__all__))
    assert dir(pieria) == sorted([*pieria.__all__, "__version__"])
    at_first = printed("import pieria; print(*(name for name in vars(pieria) if name[0] != '_'))")
    assert at_first == {"TYPE_CHECKING"}
    imported = printed("from pieria import *; print(*(name for name in dir() if name[0] != '_'))")
    assert imported == set(pieria.__all__)
    offered = offered_to_static_tools()
    assert set(offered) == {*pieria.__all__, "__version__"}
    for name, home in offered.items():
        assert getattr(pieria, name) is getattr(import_module(home), name), name
    with pytest.raises(AttributeError, match="module 'pieria' has no attribute 'forget'"):
        pieria.forget  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError):
        exec("from pieria import forget", {})  # noqa: S102
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert pieria.__version__ == project["version"]
