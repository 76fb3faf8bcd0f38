"""Contracts of toolsets: parameters have effects, replies their keys, tools their handlers, and requirements tests.

A toolset's `returns.toml` lists the keys of its replies, its `cases.toml` a call for every tool and every parameter.
`Run.call` holds each reply against its tool's output schema.
"""

import ast
import inspect
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.toolsets.outcome import Case, Run, cases, outcome

from pieria.errors import NotFoundError
from pieria.toolsets import Tool, Toolset, called, registry

HERE = Path(__file__).parent
TESTED = sorted(path.parent.name for path in HERE.glob("*/returns.toml"))
TOOLSETS = {toolset.package.rpartition(".")[2]: toolset for toolset in registry().toolsets.values()}
TOOLS = [pytest.param(folder, tool, id=tool.name) for folder in TESTED for tool in TOOLSETS[folder].tools]
SHARED = HERE / "test_across.py"
FOLDERS = sorted(path.parent for path in HERE.glob("*/requirements.toml"))
FIELDS = {"source", "behaviour"}
BEGINNING = {
    "mempalace": {f"mempalace_{verb}" for verb in ("add_drawer", "diary_write", "kg_add")},
    "mnemosyne": {f"mnemosyne_{verb}" for verb in ("remember", "triple_add", "scratchpad_write", "import")},
    "pieria": {"remember", "state_fact"},
}
"""The tools that make a missing bank, though its name may be misspelt."""


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: hundreds of banks are made here, and none outlives its test."""
    monkeypatch.setattr("os.fsync", lambda file: None)


def fixed(tool: Tool) -> set[str]:
    """Return the parameters with one allowed value, which is also the default."""
    return {name for name, schema in tool.parameters.items() if schema.get("enum") == [schema.get("default")]}


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


def parameters(folder: str, tool: Tool) -> dict[str, Case]:
    return {name: case for name, case in cases(folder)[tool.name].items() if name != "reply"}


def without_references(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, with any value in the place of one that an earlier reply would give."""
    return {name: "x" if str(value).startswith("$") else value for name, value in call.items()}


@pytest.mark.parametrize(("folder", "tool"), TOOLS)
def test_each_parameter_changes_the_reply_or_the_bank(folder: str, tool: Tool, tmp_path: Path) -> None:
    assert parameters(folder, tool).keys() == set(tool.parameters) - fixed(tool), "cases.toml has other parameters"
    plain: dict[str, str] = {}
    for name, case in parameters(folder, tool).items():
        key = repr((case.call, case.prepare, case.before, case.after, case.settings))
        if key not in plain:
            plain[key] = outcome(tmp_path / str(len(plain)), tool.name, case)
        assert outcome(tmp_path / name, tool.name, case, **{name: case.to}) != plain[key], name


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "tool"), TOOLS)
def test_same_call_has_the_same_outcome(folder: str, tool: Tool, tmp_path: Path) -> None:
    """Otherwise a difference would prove nothing about a parameter."""
    for name, case in parameters(folder, tool).items():
        once, again = (outcome(tmp_path / f"{name} {time}", tool.name, case) for time in ("once", "again"))
        assert once == again, name


@pytest.mark.parametrize("folder", TESTED)
def test_replies_have_every_promised_key(folder: str, tmp_path: Path) -> None:
    returns = tomllib.loads((HERE / folder / "returns.toml").read_text())
    assert returns.keys() == cases(folder).keys() == {tool.name for tool in TOOLSETS[folder].tools}
    missing = {}
    for tool, found in cases(folder).items():
        (tmp_path / tool).mkdir()
        with Run(tmp_path / tool) as run:
            found["reply"].prepare(run)
            run.steps(found["reply"].before)
            reply = run.call(tool, found["reply"].call)
        assert reply.error is None, reply.text
        missing[tool] = [fault for path in returns[tool] if (fault := absent(reply.value, path.rstrip("?")))]
    assert missing == {tool: [] for tool in returns}
    assert absent({"a": [{"b": 1}, {}]}, "a[].b") == "reply.a[] has no b"
    assert absent({"a": []}, "a[].b") == "reply.a is no list with an item"


@pytest.mark.parametrize("folder", BEGINNING)
def test_only_tools_that_begin_something_make_a_bank(folder: str, tmp_path: Path) -> None:
    with Run(tmp_path) as run:
        run.host.bank.remember("Something.")
        if hasattr(prepared := import_module(f"tests.toolsets.{folder}.cases"), "files"):
            prepared.files(run)
        for tool, found in cases(folder).items():
            call = without_references(found["reply"].call)
            begins = tool in BEGINNING[folder]
            at = run.host.having(bank_name=f"by-{tool}" if begins else "noets", is_named=True)
            reply = called(registry(), tool, call, at)
            if begins or tool == "mempalace_get_aaak_spec":
                assert reply.error is None, reply.text
            else:
                assert isinstance(reply.error, NotFoundError), tool
                assert str(reply.error.hint).startswith("Did you mean notes?")
        assert set(run.workspace.banks()) == {"notes", *(f"by-{tool}" for tool in BEGINNING[folder])}


def test_tools_are_described_and_their_handlers_fit() -> None:
    for toolset, tool in registry():
        assert tool.description
        is_told = [bool(schema.get("description")) for schema in tool.parameters.values()]
        # A lean toolset describes only parameters that a client would not understand by their names.
        assert all(is_told) or toolset.is_lean, tool.name
        assert tool.output_schema is not None
        Draft202012Validator.check_schema(tool.output_schema)
        assert set(tool.accepts.values()) <= set(tool.parameters)
        _, *taken = inspect.signature(toolset.handler(tool)).parameters.values()
        assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in taken)
        assert {parameter.name for parameter in taken} == set(tool.parameters), tool.name
        given = {name for name, schema in tool.parameters.items() if "default" in schema}
        required = set(tool.input_schema.get("required", ()))
        needed = {parameter.name for parameter in taken if parameter.default is parameter.empty}
        assert required <= needed <= required | given, tool.name


@pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=lambda toolset: toolset.name)
def test_every_handler_has_a_tool(toolset: Toolset) -> None:
    modules = {import_module(f"{toolset.package}.{tool.module}") for tool in toolset.tools}
    functions = [held for module in modules for _, held in inspect.getmembers(module, inspect.isfunction)]
    own = [held for held in functions if held.__name__[0] != "_" and held.__module__ in {it.__name__ for it in modules}]
    handling = {held.__name__ for held in own if next(iter(inspect.signature(held).parameters), None) == "call"}
    assert handling == {toolset.handler_name(tool) for tool in toolset.tools}


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
