"""Every requirement of a toolset has a test, and every test names a written requirement."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SHARED = HERE / "test_across.py"
FOLDERS = sorted(path.parent for path in HERE.glob("*/requirements.toml"))
FIELDS = {"source", "behaviour"}


def written(folder: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads((folder / "requirements.toml").read_text())


def proven(path: Path) -> set[str]:
    """Return the ids in decorators of test functions, read from the text: the choice of tests does not matter."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and getattr(call.func, "id", None) == "requirement":
                    assert node.name.startswith("test_")
                    found |= {ast.literal_eval(argument) for argument in call.args}
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_requirements_are_proven_and_explained(folder: Path) -> None:
    needed, own = written(folder), {id for path in folder.glob("test_*.py") for id in proven(path)}
    assert sorted(needed.keys() - own - proven(SHARED)) == [], "no test proves these"
    assert sorted(own - needed.keys()) == [], "these are not written down"
    for id, told in needed.items():
        assert told.keys() >= FIELDS, id
        assert told.keys() <= FIELDS | {"divergence", "why", "cases"}, id
        assert ("divergence" in told) == ("why" in told), id
        texts = [text for name, text in told.items() if name != "cases"]
        assert all(isinstance(text, str) and text.strip() for text in (*texts, *told.get("cases", ()))), id
    numbers = sorted(int(case.partition(":")[0]) for told in needed.values() for case in told.get("cases", ()))
    assert numbers == list(range(1, len(numbers) + 1))


def test_requirements_of_shared_tests_are_written() -> None:
    assert proven(SHARED) <= {id for folder in FOLDERS for id in written(folder)}
