"""Contracts of every toolset: each parameter has an effect, each reply its promised keys, each handler fits its tool.

A toolset's `returns.toml` lists the keys of its replies. Its module `cases` has a call for every tool, and for every
parameter two calls that differ only in it.
"""

import inspect
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.outcome import Case, Run, outcome

from pieria.errors import InputError
from pieria.toolsets import Tool, Toolset, registry

HERE = Path(__file__).parent
TOOLSETS = list(registry().toolsets.values())
TOOLS = [pytest.param(toolset, tool, id=tool.name) for toolset, tool in registry()]
TESTED = sorted(path.parent.name for path in HERE.glob("*/returns.toml"))


def cases(folder: str) -> Any:
    return import_module(f"tests.toolsets.{folder}.cases")


def returns(folder: str) -> dict[str, list[str]]:
    return tomllib.loads((HERE / folder / "returns.toml").read_text())


def folder_of(toolset: Toolset) -> str:
    return toolset.package.rpartition(".")[2]


def fixed(tool: Tool) -> list[str]:
    """Return the parameters with one allowed value, which is also the default."""
    return [name for name, schema in tool.parameters.items() if schema.get("enum") == [schema.get("default")]]


def of_tested(what: str) -> list[Any]:
    """Return every (folder, tool, parameter) or (folder, tool) of the toolsets with cases here.

    `fixed` selects the parameters with one allowed value; otherwise the others are returned.
    """
    found: list[Any] = []
    for toolset, tool in registry():
        folder = folder_of(toolset)
        if folder in TESTED and what == "tools":
            found.append(pytest.param(folder, tool, id=tool.name))
        elif folder in TESTED:
            names = [name for name in tool.parameters if (name in fixed(tool)) is (what == "fixed")]
            found += [pytest.param(folder, tool, name, id=f"{tool.name}.{name}") for name in names]
    return found


def absent(reply: Any, path: str) -> str | None:
    """Return the place where the key path ends early, or None."""
    steps = [step for step in path.replace("[]", ".[]").split(".") if step]
    return _absent(reply, steps, "reply")


def _absent(reply: Any, steps: list[str], seen: str) -> str | None:
    if not steps:
        return None
    step, *rest = steps
    if step == "[]":
        if not isinstance(reply, list) or not reply:
            return f"{seen} is no list with an item"
        return next((fault for item in reply if (fault := _absent(item, rest, f"{seen}[]"))), None)
    if not isinstance(reply, dict) or step not in reply:
        return f"{seen} has no {step}"
    return _absent(reply[step], rest, f"{seen}.{step}")


@pytest.mark.parametrize(("folder", "tool", "parameter"), of_tested("parameters"))
def test_a_parameter_that_alone_is_changed_changes_the_reply_or_the_bank(
    folder: str, tool: Tool, parameter: str, tmp_path: Path
) -> None:
    case: Case | None = cases(folder).PARAMETERS.get((tool.name, parameter))
    assert case is not None, f"tests.toolsets.{folder}.cases has no case for {tool.name}.{parameter}"
    assert case.base.get(parameter) != case.changed.get(parameter)
    assert {**case.base, parameter: 0} == {**case.changed, parameter: 0}
    places = [tmp_path / name for name in ("once", "again", "changed")]
    for place in places:
        place.mkdir()
    once, again = (outcome(place, tool.name, case.base, case) for place in places[:2])
    assert once == again, "the same call comes to something else the next time, so that a difference tells nothing"
    assert outcome(places[2], tool.name, case.changed, case) != once


@pytest.mark.parametrize(("folder", "tool", "parameter"), of_tested("fixed"))
def test_a_parameter_that_can_be_one_thing_only_is_refused_as_anything_else(
    folder: str, tool: Tool, parameter: str, tmp_path: Path
) -> None:
    _, arguments, _ = cases(folder).REPLIES[tool.name]
    with Run(tmp_path) as run:
        error = run.call(tool.name, {**arguments, parameter: "something else"}).error
    assert isinstance(error, InputError)
    assert error.parameter == parameter


@pytest.mark.parametrize(("folder", "tool"), of_tested("tools"))
def test_a_reply_has_every_key_that_is_promised(folder: str, tool: Tool, tmp_path: Path) -> None:
    before, arguments, prepare = cases(folder).REPLIES[tool.name]
    with Run(tmp_path) as run:
        prepare(run)
        run.steps(before)
        reply = run.call(tool.name, arguments)
    assert reply.error is None, reply.text
    promised = [path.rstrip("?") for path in returns(folder)[tool.name]]
    assert [fault for path in promised if (fault := absent(reply.value, path))] == []


@pytest.mark.parametrize("folder", TESTED)
def test_the_facts_are_about_the_tools_there_are(folder: str) -> None:
    tools = {tool.name: tool for toolset, tool in registry() if folder_of(toolset) == folder}
    assert returns(folder).keys() == tools.keys()
    assert cases(folder).REPLIES.keys() == tools.keys()
    known = {(name, parameter) for name, tool in tools.items() for parameter in {*tool.parameters} - {*fixed(tool)}}
    assert cases(folder).PARAMETERS.keys() == known


@pytest.mark.parametrize(("toolset", "tool"), TOOLS)
def test_a_handler_takes_just_the_parameters_of_its_tool(toolset: Toolset, tool: Tool) -> None:
    _, *parameters = inspect.signature(toolset.handler(tool)).parameters.values()
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
    assert {parameter.name for parameter in parameters} == set(tool.parameters)
    given = {name for name, schema in tool.parameters.items() if "default" in schema}
    required = set(tool.input_schema.get("required", ()))
    needed = {parameter.name for parameter in parameters if parameter.default is parameter.empty}
    assert required <= needed <= required | given


@pytest.mark.parametrize(("toolset", "tool"), TOOLS)
def test_a_tool_and_its_parameters_are_described(toolset: Toolset, tool: Tool) -> None:
    assert tool.description
    assert all(schema.get("description") for schema in tool.parameters.values())
    assert set(tool.accepts.values()) <= set(tool.parameters)


@pytest.mark.parametrize("toolset", TOOLSETS, ids=lambda toolset: toolset.name)
def test_a_toolset_has_no_handler_without_a_tool(toolset: Toolset) -> None:
    modules = {import_module(f"{toolset.package}.{tool.module}") for tool in toolset.tools}
    public = [
        held
        for module in modules
        for name, held in inspect.getmembers(module, inspect.isfunction)
        if name[0] != "_" and held.__module__ == module.__name__
    ]
    handling = {held.__name__ for held in public if next(iter(inspect.signature(held).parameters), None) == "call"}
    assert handling == {toolset.handler_name(tool) for tool in toolset.tools}


def test_a_key_that_is_missing_is_noticed() -> None:
    assert absent({"a": [{"b": 1}, {}]}, "a[].b") == "reply.a[] has no b"
    assert absent({"a": [{"b": 1}]}, "a[].b") is None
    assert absent({"a": []}, "a[].b") == "reply.a is no list with an item"
