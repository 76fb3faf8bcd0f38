"""`pieria.aio` has what `pieria` has, under the same names and with the same parameters."""

import ast
import dataclasses
import inspect
import re
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.aio.stub import STUB, written

import pieria
from pieria import results
from pieria.aio.mirror import CLASSES, FUNCTIONS, MIRRORS
from pieria.bank import Bank
from pieria.bank.surface import public_verbs
from pieria.graph import GraphBackend


def test_every_verb_and_function_has_its_signature() -> None:
    for mirror in MIRRORS:
        originals, mirrored = public_verbs(mirror.original), public_verbs(CLASSES[mirror.original])
        assert mirrored.keys() == originals.keys()
        for name, original in originals.items():
            assert inspect.signature(mirrored[name]) == inspect.signature(original), name
        assert {*mirror.closes, *mirror.at_once} <= originals.keys()
    for function in FUNCTIONS:
        mirrored_function: Any = getattr(pieria.aio, function.__name__)
        assert inspect.signature(mirrored_function) == inspect.signature(function)
    assert inspect.signature(pieria.aio.Workspace) == inspect.signature(pieria.Workspace)


def test_every_public_attribute_is_in_the_table(tmp_path: Path) -> None:
    """Attributes that a constructor sets are seen only in an instance."""
    workspace = pieria.Workspace(tmp_path)
    with workspace, workspace.open("notes") as bank:
        found: list[Any] = [workspace, bank, bank.session("Bake bread"), bank.jobs.worker(), bank.sources.intake()]
        found += [getattr(bank, name) for mirror in MIRRORS if mirror.original is Bank for name in mirror.groups]
        living = {type(one): one for one in found}
        for mirror in MIRRORS:
            one = living[mirror.original]
            public = {*dir(mirror.original), *getattr(one, "__dict__", ())}
            told = [*public_verbs(mirror.original), *mirror.values, *mirror.reads, *mirror.groups, *mirror.apart]
            assert sorted(name for name in public if not name.startswith("_")) == sorted(told), (
                "its row in src/pieria/aio/table.py says of each public attribute what it is"
            )


def test_every_result_is_a_value_or_mirrored() -> None:
    """A returned object that acts on a bank would block the caller's loop unless the table mirrors it.

    A backend is the caller's own object.
    """
    for mirror in MIRRORS:
        for name, verb in public_verbs(mirror.original).items():
            for word in re.findall(r"\w+", str(verb.__annotations__["return"])):
                kind = named_in(inspect.getmodule(verb), word)
                where = f"{mirror.original.__name__}.{name} returns {word}: it wants a row in the table"
                assert kind in (None, GraphBackend) or kind in CLASSES or is_value(kind), where


def named_in(module: Any, word: str) -> type | None:
    found = getattr(module, word, None)
    if found is None:
        imported = re.search(rf"from (pieria[\w.]*) import [^\n(]*\b{word}\b", inspect.getsource(module))
        found = imported and getattr(__import__(imported[1], fromlist=[word]), word)
    return found if inspect.isclass(found) and found.__module__.startswith("pieria.") else None


def is_value(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or issubclass(kind, tuple | list | dict | Enum)


def test_stub_follows_the_table_and_the_signatures() -> None:
    assert STUB.read_text() == written(), "write it anew: PYTHONPATH=.:src python tests/aio/stub.py"
    kinds = ast.ClassDef | ast.AsyncFunctionDef | ast.FunctionDef
    defined = {node.name for node in ast.parse(STUB.read_text()).body if isinstance(node, kinds)}
    assert {*defined, "Opening"} == set(pieria.aio.__all__)


RIGHT = """
import pieria.aio
from pieria import Memory
from pieria.graph import GraphBackend

async def told(done: int, of: int) -> None: ...

async def main() -> None:
    async with pieria.aio.open("notes") as bank:
        kept: Memory = await bank.remember("a word", tags=["tag"])
        await bank.sync(progress=told)
        async for change in bank.follow(0):
            print(change.seq, kept.id)
    workspace = await pieria.aio.Workspace()
    bank = await workspace.open("notes")
    found: int = len(await bank.facts.query("Maya"))
    repository: pieria.aio.Bank | GraphBackend = await workspace.open_repo("notes")
    mended: int = (await workspace.repair_graph("notes"))["repaired_nodes"]
    merged: list[str] = (await bank.graph.consolidate())["deleted_ids"]
"""
WRONG = {
    "await bank.recall(5)": "arg-type",
    "await bank.remember('a word', tag=['tag'])": "call-arg",
    "bank.remember('a word').id": "attr-defined",
    "for change in bank.follow(0): pass": "attr-defined",
    "await (await bank.remember('a word'))": "misc",
    "pieria.aio.open('notes').name": "attr-defined",
    "(await bank.graph.repair())['mended']": "typeddict-item",
}


@pytest.mark.slow
def test_type_checker_accepts_right_calls_only(tmp_path: Path) -> None:
    from mypy import api

    sample = tmp_path / "sample.py"
    wrong = "".join(f"        {call}  # type: ignore[{code}]\n" for call, code in WRONG.items())
    sample.write_text(f"{RIGHT}    async with pieria.aio.open('notes') as bank:\n{wrong}")
    root = Path(__file__).parents[2]
    places = ["--config-file", str(root / "pyproject.toml"), "--cache-dir", str(root / ".mypy_cache")]
    said, trouble, status = api.run(["--strict", *places, str(sample)])
    assert (status, trouble) == (0, ""), said


def test_classes_in_signatures_can_be_imported() -> None:
    offered = {*pieria.__all__, *results.__all__, "Opening"}
    for line in ast.parse(STUB.read_text()).body:
        if isinstance(line, ast.ImportFrom) and str(line.module).startswith("pieria."):
            home = import_module(str(line.module))
            classes = [name.name for name in line.names if isinstance(getattr(home, name.name), type)]
            assert set(classes) <= offered, line.module


def test_results_have_their_names() -> None:
    assert sorted(results.__all__) == dir(results)
    assert all(isinstance(getattr(results, name), object) for name in results.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        results.Nothing  # type: ignore[attr-defined]  # noqa: B018
