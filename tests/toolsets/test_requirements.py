"""Every requirement of a toolset has a test, and every test names a written requirement."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.glob("*/requirements.toml"))
FIELDS = {"source", "behaviour"}


def written(folder: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads((folder / "requirements.toml").read_text())


def proven(folder: Path) -> Iterator[str]:
    """Yield the ids in decorators of test functions, read from the text: the choice of tests does not matter."""
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for call in node.decorator_list:
                    if isinstance(call, ast.Call) and getattr(call.func, "id", None) == "requirement":
                        assert node.name.startswith("test_")
                        yield from map(ast.literal_eval, call.args)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_requirements_and_tests_agree(folder: Path) -> None:
    needed, found = set(written(folder)), set(proven(folder))
    assert sorted(needed - found) == [], "no test proves these"
    assert sorted(found - needed) == [], "these are not written down"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_requirement_says_where_it_comes_from_and_a_divergence_why(folder: Path) -> None:
    for id, told in written(folder).items():
        assert told.keys() >= FIELDS, id
        assert told.keys() <= FIELDS | {"divergence", "why", "cases"}, id
        assert ("divergence" in told) == ("why" in told), id
        texts = [text for name, text in told.items() if name != "cases"]
        assert all(isinstance(text, str) and text.strip() for text in (*texts, *told.get("cases", ()))), id


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_cases_are_numbered_without_a_gap(folder: Path) -> None:
    cases = [case for told in written(folder).values() for case in told.get("cases", ())]
    numbers = sorted(int(case.partition(":")[0]) for case in cases)
    assert numbers == list(range(1, len(cases) + 1))
