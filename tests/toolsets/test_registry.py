"""The tools of the registry, the names that find them, and the pages that describe them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.toolsets.made_toolsets import tool, toolset

from pieria.errors import InputError, NotFoundError
from pieria.toolsets import Access, Registry, Toolset, registry
from pieria.toolsets.registry import toolset_in


def test_every_tool_and_alias_is_found_by_its_own_name() -> None:
    found = registry()
    assert "mnemosyne" in found.toolsets
    assert len(set(found.names)) == len(found.names)
    for _, each in found:
        for name in (each.name, *each.aliases):
            assert found.found(name)[1] is each
    one, other = toolset(tool("one_do"), name="one"), toolset(tool("two_do", aliases=("one_do",)), name="two")
    with pytest.raises(ValueError, match="two tools are called one_do"):
        Registry([one, other])


def test_unknown_tool_gets_a_hint_of_its_name_only() -> None:
    """Agents call a suggested name: a search must never suggest a tool that writes."""

    def hint(tools: Registry, name: str) -> str:
        with pytest.raises(NotFoundError) as caught:
            tools.found(name)
        return str(caught.value.hint)

    assert hint(registry(), "mnemosyne_remeber") == "Did you mean mnemosyne_remember?"
    assert "made_do" in hint(Registry([toolset(tool("made_do"))]), "zzz")
    assert "There are 1" in hint(Registry([toolset(tool("m" * 101))]), "m" * 102)
    open_mem = registry().only("open-mem")
    for name in ("mem_find", "memory-find", "Mem-Find"):
        assert hint(open_mem, name) == "Did you mean mem-find?"
    for name in ("mem-search", "mem-delete", "mem-update", "mempalace_search"):
        assert hint(open_mem, name).startswith("There are 10, such as ")


def test_toolsets_are_chosen_by_their_names() -> None:
    whole = Registry([toolset(tool("one_do"), name="one"), toolset(tool("two_do"), name="two")])
    assert whole.only("all") is whole
    assert whole.only("two, one").names == ["two_do", "one_do"]
    assert whole.only(["one", "one"]).names == ["one_do"]
    with pytest.raises(InputError) as caught:
        whole.only("ones")
    assert (caught.value.parameter, caught.value.hint) == ("toolset", "Did you mean one?")


def test_tools_say_what_they_do_by_name_and_annotation() -> None:
    for _, each in registry():
        reads = each.access is Access.read
        assert each.annotations.get("readOnlyHint", False) is reads
        assert not (reads and each.annotations.get("destructiveHint"))
        # A client assumes the worst of a tool that writes and does not say so, and asks before each call.
        assert reads or {"destructiveHint", "openWorldHint"} <= each.annotations.keys()
    made = toolset(tool("made_do-it"), tool("made_import"))
    assert [made.handler_name(each) for each in made.tools] == ["do_it", "import_"]
    tools = {each.name: each for each in toolset_in("pieria.toolsets.mnemosyne").tools}
    assert tools["mnemosyne_export"].speaks["text"] == "content"
    assert tools["mnemosyne_export"].speaks["path"] == "output_path"


def test_listing_tools_loads_no_handler() -> None:
    program = (
        "import json, sys; from pieria.toolsets import registry; registry().names;"
        "ours = [name for name in sys.modules if name.startswith('pieria.toolsets') and name.count('.') > 2];"
        "print(json.dumps(ours + [name for name in ('mcp', 'jsonschema') if name in sys.modules]))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == []


DOCS = Path(__file__).parents[2] / "docs" / "toolsets"


def rows(toolset: Toolset) -> dict[str, set[str]]:
    """Return the code names of each table row that begins with a tool."""
    found = {}
    for line in (DOCS / f"{toolset.name}.md").read_text().splitlines():
        names = re.findall(r"`([^`]+)`", line)
        if line.startswith("| `") and names[0] in {tool.name for tool in toolset.tools}:
            found[names[0]] = set(names[1:])
    return found


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md")))
def test_page_of_a_toolset_has_its_tools_and_parameters(page: str) -> None:
    toolset = registry().toolsets[page]
    found = rows(toolset)
    assert found.keys() == {tool.name for tool in toolset.tools}
    for each in toolset.tools:
        assert found[each.name] >= {*each.parameters, *each.accepts, *each.aliases}, each.name
