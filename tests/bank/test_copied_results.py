"""Answers of the verbs can be copied and pickled, and stay immutable."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank


def everything(bank: Bank, out: str) -> dict[str, Any]:
    """Return one answer of each type, by the type's name."""
    memory = bank.remember("heron", meta={"n": [1, {"deep": True}]}, body={"type": "bird"}, tags=["a"])
    gone = bank.remember("gone")
    link = bank.link(memory.id, pieria.Place("birds/grey"), meta={"why": "there"})
    fact = bank.facts.add("heron", "eats", "fish")
    found = bank.recall("heron")
    backup = bank.backup(out + ".backup")
    answers = [
        memory, link, link.source, fact, found, found[0], bank.list(), bank.neighbors(memory.id),
        bank.neighbors(memory.id)[0], bank.changes()[0], bank.touch(memory.id)[memory.id], bank.scratchpad.write("x"),
        bank.stats(), bank.doctor(), bank.facts.stats(), bank.purge(gone.id), bank.export(out + ".jsonl"),
        bank.import_(out + ".jsonl"), pieria.restore(backup, data=out), pieria.NewMemory("heron"),
    ]  # fmt: skip
    return {type(value).__name__: value for value in answers}


def through_pickle(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - written a moment ago


def test_copies_of_answers_are_equal_and_cannot_be_changed(bank: Bank, tmp_path: Path) -> None:
    answers = everything(bank, str(tmp_path / "out"))
    promised = "Change Fact Hit Link Memory Neighbor NewMemory Page Recall Receipt Usage"
    assert set(promised.split()) <= answers.keys()
    for again in (through_pickle, copy.deepcopy, copy.copy):
        for value in answers.values():
            copied = again(value)
            assert (type(copied), copied, repr(copied)) == (type(value), value, repr(value))
        meta = again(answers["Memory"]).meta
        changes: list[Callable[[Any], object]] = [
            lambda meta: meta.update(a=1), lambda meta: meta.pop("n"), lambda meta: meta.__setitem__("a", 1),
            lambda meta: meta.clear(), lambda meta: meta.popitem(), lambda meta: meta.__delitem__("n"),
            lambda meta: meta.setdefault("a", 1), lambda meta: meta.__ior__({"a": 1}),
        ]  # fmt: skip
        for change in changes:
            with pytest.raises(TypeError, match="cannot be changed"):
                change(meta)
        assert meta == {"n": [1, {"deep": True}]}
        assert meta | {"a": 1} == {"n": [1, {"deep": True}], "a": 1}
