"""A toolset's page names every tool and every parameter, so that none can be added without documentation."""

import re
from pathlib import Path

import pytest

from pieria.toolsets import Toolset, registry

DOCS = Path(__file__).parents[2] / "docs" / "toolsets"
DOCUMENTED = [each for each in registry().toolsets.values() if (DOCS / f"{each.name}.md").is_file()]


def rows(toolset: Toolset) -> dict[str, set[str]]:
    """Return the code names of each table row that begins with a tool."""
    found = {}
    for line in (DOCS / f"{toolset.name}.md").read_text().splitlines():
        names = re.findall(r"`([^`]+)`", line)
        if line.startswith("| `") and names[0] in {tool.name for tool in toolset.tools}:
            found[names[0]] = set(names[1:])
    return found


@pytest.mark.parametrize("toolset", DOCUMENTED, ids=lambda toolset: toolset.name)
def test_page_of_a_toolset_has_its_tools_and_parameters(toolset: Toolset) -> None:
    found = rows(toolset)
    assert found.keys() == {tool.name for tool in toolset.tools}
    for tool in toolset.tools:
        assert found[tool.name] >= {*tool.parameters, *tool.accepts, *tool.aliases}, tool.name


def test_pages_are_of_toolsets_that_exist() -> None:
    assert {path.stem for path in DOCS.glob("*.md")} == {toolset.name for toolset in DOCUMENTED}
