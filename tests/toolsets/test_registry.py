"""The tools of the registry, and the names that find them."""

import json
import subprocess
import sys

import pytest
from tests.toolsets.making import tool, toolset

from pieria.errors import InputError, NotFoundError
from pieria.toolsets import Access, Registry, registry
from pieria.toolsets.registry import toolset_in


def test_every_folder_with_tools_is_found_and_every_name_is_one_s_own() -> None:
    found = registry()
    assert "mnemosyne" in found.toolsets
    assert len(set(found.names)) == len(found.names)
    for _, each in found:
        for name in (each.name, *each.aliases):
            assert found.found(name)[1] is each


def test_two_tools_of_one_name_are_refused_aliases_included() -> None:
    one, other = toolset(tool("one_do"), name="one"), toolset(tool("two_do", aliases=("one_do",)), name="two")
    with pytest.raises(ValueError, match="two tools are called one_do"):
        Registry([one, other])


def test_an_unknown_name_is_told_of_the_nearest() -> None:
    with pytest.raises(NotFoundError) as caught:
        registry().found("mnemosyne_remeber")
    assert caught.value.hint == "Did you mean mnemosyne_remember?"
    with pytest.raises(NotFoundError) as caught:
        Registry([toolset(tool("made_do"))]).found("zzz")
    assert "made_do" in str(caught.value.hint)
    with pytest.raises(NotFoundError) as caught:
        Registry([toolset(tool("m" * 101))]).found("m" * 102)
    assert "There are 1" in str(caught.value.hint)


def test_some_toolsets_are_chosen_by_their_names() -> None:
    whole = Registry([toolset(tool("one_do"), name="one"), toolset(tool("two_do"), name="two")])
    assert whole.only("all") is whole
    assert whole.only("two, one").names == ["two_do", "one_do"]
    assert whole.only(["one", "one"]).names == ["one_do"]
    with pytest.raises(InputError) as caught:
        whole.only("ones")
    assert (caught.value.parameter, caught.value.hint) == ("toolset", "Did you mean one?")


def test_a_reading_tool_says_that_it_only_reads() -> None:
    for _, each in registry():
        reads = each.access is Access.read
        assert each.annotations["readOnlyHint"] is reads
        assert not (reads and each.annotations["destructiveHint"])


def test_a_handler_is_named_as_its_tool_without_the_prefix() -> None:
    made = toolset(tool("made_do-it"), tool("made_import"))
    assert [made.handler_name(each) for each in made.tools] == ["do_it", "import_"]


def test_what_is_shared_by_all_tools_and_what_is_one_s_own_is_spoken() -> None:
    tools = {each.name: each for each in toolset_in("pieria.toolsets.mnemosyne").tools}
    assert tools["mnemosyne_export"].speaks["text"] == "content"
    assert tools["mnemosyne_export"].speaks["path"] == "output_path"


def test_to_list_the_tools_loads_no_handler() -> None:
    program = (
        "import json, sys; from pieria.toolsets import registry; registry().names;"
        "ours = [name for name in sys.modules if name.startswith('pieria.toolsets') and name.count('.') > 2];"
        "print(json.dumps(ours + [name for name in ('mcp', 'jsonschema') if name in sys.modules]))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mem_find", "Did you mean mem-find?"),
        ("memory-find", "Did you mean mem-find?"),
        ("Mem-Find", "Did you mean mem-find?"),
        ("mem-search", "There are 10, such as "),
        ("mem-delete", "There are 10, such as "),
        ("mem-update", "There are 10, such as "),
        ("mempalace_search", "There are 10, such as "),
    ],
)
def test_no_name_is_guessed_for_what_only_its_family_is_alike(name: str, meant: str) -> None:
    """Agents call a suggested name: a search must never suggest a tool that writes."""
    with pytest.raises(NotFoundError) as caught:
        registry().only("open-mem").found(name)
    assert str(caught.value.hint).startswith(meant)
