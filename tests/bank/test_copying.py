"""Answers of the verbs can be copied and pickled, and stay immutable."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import pieria
from pieria import Bank


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return one answer of each type, by the type's name."""
    folder = tmp_path_factory.mktemp("answers")
    with pieria.open("notes", data=folder) as bank:
        return {type(value).__name__: value for value in everything(bank, str(folder / "out"))}


def everything(bank: Bank, out: str) -> list[Any]:
    memory = bank.remember("heron", meta={"n": [1, {"deep": True}]}, body={"type": "bird"}, tags=["a"])
    gone = bank.remember("gone")
    link = bank.link(memory.id, pieria.Place("birds/grey"), meta={"why": "there"})
    fact = bank.facts.add("heron", "eats", "fish")
    found = bank.recall("heron")
    backup = bank.backup(out + ".backup")
    return [
        memory, link, link.source, fact, found, found[0], bank.list(), bank.neighbors(memory.id),
        bank.neighbors(memory.id)[0], bank.changes()[0], bank.touch(memory.id)[memory.id], bank.scratchpad.write("x"),
        bank.stats(), bank.doctor(), bank.facts.stats(), bank.purge(gone.id), bank.export(out + ".jsonl"),
        bank.import_(out + ".jsonl"), pieria.restore(backup, data=out), pieria.NewMemory("heron"),
    ]  # fmt: skip


def through_pickle(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - written a moment ago


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy, copy.copy])
def test_every_answer_survives_being_copied(answers: dict[str, Any], again: Callable[[Any], Any]) -> None:
    promised = {
        "Change",
        "Fact",
        "Hit",
        "Link",
        "Memory",
        "Neighbor",
        "NewMemory",
        "Page",
        "Recall",
        "Receipt",
        "Usage",
    }
    assert promised <= answers.keys()
    for name, value in answers.items():
        copied = again(value)
        assert type(copied) is type(value), name
        assert copied == value, name
        assert repr(copied) == repr(value), name


@pytest.mark.parametrize("again", [lambda value: value, through_pickle, copy.deepcopy])
def test_the_mappings_of_a_memory_cannot_be_changed(answers: dict[str, Any], again: Callable[[Any], Any]) -> None:
    meta = again(answers["Memory"]).meta
    for change in (
        lambda: meta.update(a=1), lambda: meta.pop("n"), lambda: meta.__setitem__("a", 1), meta.clear, meta.popitem,
        lambda: meta.__delitem__("n"), lambda: meta.setdefault("a", 1), lambda: meta.__ior__({"a": 1}),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert meta == {"n": [1, {"deep": True}]}
    assert meta | {"a": 1} == {"n": [1, {"deep": True}], "a": 1}
