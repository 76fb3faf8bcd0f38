"""Vectors follow the record: in the background or at once, for every writer, after every failure, without loss."""

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.bank.background_queue import rested
from tests.bank.embedding_server import Requests, Slow, letters, server, vector
from tests.waiting import SOON, soon

import pieria
from pieria import Bank, Workspace
from pieria.bank.embedding import threads as questioning
from pieria.bank.embedding.texts import PUT_AT_ONCE
from pieria.doors.mcp.stdio import Asked, Engine
from pieria.errors import AdapterError, InputError, ModelMissingError, UnavailableError
from pieria.language.passages import passages
from pieria.runtime.background import background
from pieria.workspace.open_stores import Held

__all__ = ["letters"]

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
SOURCE = Path(pieria.__file__).parents[1]
DIMENSION = len(vector(""))
APPLE = "an apple"


def other(texts: list[str]) -> list[list[float]]:
    return [vector(text)[:5] for text in texts]


class AtHand(Slow):
    """An embedding in this process."""

    is_at_hand = True


@contextmanager
def opened(folder: Path, embedder: object = letters, name: str = "b", **values: Any) -> Iterator[Bank]:
    with Workspace(folder, embedder=embedder) as workspace:
        yield workspace.open(name, **values)


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with opened(tmp_path) as bank:
        yield bank


def rows(bank: Bank) -> dict[str, int]:
    return {memory.text: memory.row for memory in bank.list(limit=1_000)}


def embedded(bank: Bank, what: Any = "passage") -> dict[str, int]:
    """Return the number of vectors of each text."""
    with bank.core.store.reading() as reader:
        found = {text: reader.vectors([row], what) for text, row in rows(bank).items()}
    return {text: len(vectors) for text, by_row in found.items() for vectors in by_row.values()}


def space(bank: Bank) -> str | None:
    with bank.core.store.reading() as reader:
        held = reader.space()
    return held.name if held else None


def finding(bank: Bank, check: str = "embedder") -> Any:
    [found] = [found for found in bank.doctor().findings if found.check == check]
    return found


def run(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a program with the installed model until it ends."""
    models = {"PIERIA_EMBEDDER": "local", "PIERIA_MODELS": str(INSTALLED), "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, env=os.environ | models, capture_output=True, text=True, timeout=60, check=False)


# --- when vectors come


def test_vectors_come_in_the_background_and_the_thread_ends(bank: Bank) -> None:
    rested()
    memory = bank.remember(APPLE)
    soon(lambda: embedded(bank) == {APPLE: 1})
    assert bank.stats().pending == {"vectors": 0}
    bank.update(memory.id, text="a pear")
    assert bank.sync(SOON)
    assert embedded(bank) == {"a pear": 1}
    soon(lambda: background._thread is None)


def test_memory_is_pending_while_the_model_works(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        memory = bank.remember(APPLE)
        bank.remember("a pear")
        assert slow.begun.wait(SOON)
        assert (bank.stats().pending, embedded(bank)) == ({"vectors": 2}, {})
        assert finding(bank, "vectors").detail == "vectors not yet made: 2"
        assert bank.sync(0.2) is False
        # What is purged while it is embedded leaves nothing.
        bank.purge(memory.id)
        slow.may_go.set()
        assert bank.sync(SOON)
        assert (bank.stats().pending, embedded(bank)) == ({"vectors": 0}, {"a pear": 1})
        with bank.core.store.reading() as reader:
            assert reader.vectors([memory.row]) == {}
        assert bank.doctor().well


def test_remember_many_returns_with_vectors_stored(bank: Bank, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    apples = [{"text": f"apple {n}", "session": "s1"} for n in range(150)]
    bank.remember_many(apples, progress=lambda *done: told.append(done))
    assert len(embedded(bank)) == len(embedded(bank, "window")) == 150
    assert bank.stats().pending == {"vectors": 0}
    assert told == sorted(told)
    assert (told[0], told[-1], len(told) > 3) == ((150, 300), (300, 300), True)
    # What belongs to the user is embedded in the user's bank.
    bank.remember_many([{"text": APPLE, "scope": "user"}, {"text": "a pear"}])
    assert embedded(bank)["a pear"] == 1
    with opened(tmp_path, name="@me") as own:
        assert embedded(own) == {APPLE: 1}


def test_nothing_is_pending_without_an_embedder(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path) as bank:
        bank.remember(APPLE)
        assert bank.sync(0)
        assert (bank.stats().pending, space(bank)) == ({}, None)
        assert finding(bank).detail.startswith("none")
        with pytest.raises(UnavailableError, match="embedder:"):
            bank.use_embedder()


def test_short_texts_are_embedded_before_long_ones(tmp_path: Path) -> None:
    """Even if the process ends early. The long one has a vector a passage, all put at once."""
    long = "\n\n".join(f"Paragraph {n}. " + "Apples and pears grow on trees. " * 24 for n in range(PUT_AT_ONCE + 40))
    with opened(tmp_path, "none") as before:
        before.remember_many([long, "a pear", APPLE])
    held = threading.Event()

    def reluctant(texts: list[str]) -> list[list[float]]:
        assert not any("Paragraph 100." in text for text in texts) or held.wait(SOON)
        return letters(texts)

    with opened(tmp_path, reluctant) as bank:
        bank.remember("a plum")
        soon(lambda: embedded(bank) == {"a pear": 1, APPLE: 1, "a plum": 1})
        held.set()
        assert bank.sync(SOON)
        assert embedded(bank)[long] == len(passages(long)) > PUT_AT_ONCE


# --- closing, dying


def test_closing_does_not_wait_for_a_slow_model(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        bank.remember(APPLE)
        assert slow.begun.wait(SOON)
    # The model would have waited, failed and been asked again.
    slow.begun.clear()
    slow.may_go.set()
    soon(lambda: slow.seen == [APPLE])
    assert not slow.begun.is_set()


def test_closing_embeds_what_a_quick_model_can_embed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Held.__module__], "CLOSING", SOON)
    with opened(tmp_path) as bank:
        bank.remember_many(["a pear"])
        bank.remember(APPLE)
    with pieria.open("b", data=tmp_path) as bank:
        assert embedded(bank) == {APPLE: 1, "a pear": 1}


def test_program_that_ends_at_once_loads_no_model(tmp_path: Path) -> None:
    code = """if True:
        import pieria, sys
        with pieria.open('b', data=sys.argv[1]) as bank: bank.remember('an apple')
        print([name for name in ('onnxruntime', 'numpy') if name in sys.modules])"""
    assert run(code, tmp_path).stdout == "[]\n"
    with opened(tmp_path) as bank:
        soon(lambda: embedded(bank) == {APPLE: 1})


@pytest.mark.slow
def test_program_that_ends_while_the_model_works_ends_well(tmp_path: Path) -> None:
    code = """if True:
        import pieria, sys, time
        bank = pieria.open('b', data=sys.argv[1])
        for n in range(300): bank.remember(f'apple {n} ' + 'and pears ' * 60)
        while not bank.core.embedding.is_loaded: time.sleep(0.01)"""
    ended = run(code, tmp_path)
    assert (ended.stderr, ended.returncode) == ("", 0)


# --- spaces


def test_bank_moves_from_the_fallback_to_a_real_model(tmp_path: Path) -> None:
    with opened(tmp_path, "auto") as bank:
        bank.remember_many([APPLE])
        assert str(space(bank)).startswith("hashing:384@")
        assert "models install" in finding(bank).remedy
        assert finding(bank).well
    with pieria.open("b", data=tmp_path, settings={"embedder": "auto", "models": INSTALLED}) as bank:
        soon(lambda: str(space(bank)).startswith("local:all-MiniLM-L6-v2@") and embedded(bank) == {APPLE: 1})
        assert finding(bank).remedy is None
    with opened(tmp_path, "auto") as bank:
        # A process that still has only the fallback embedder must not switch the bank back.
        bank.remember("a pear")
        assert bank.sync(SOON) is False
        assert embedded(bank) == {APPLE: 1}
        assert not finding(bank).well


def test_process_with_another_model_finds_by_words(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember_many([APPLE])
        before = space(bank)
    with opened(tmp_path, other) as bank:
        bank.remember_many(["a pear"])
        assert bank.sync(SOON) is False
        with bank.core.store.reading() as reader:
            standing = bank.core.embedding.readiness(reader)
        assert (standing.usable, standing.pending, standing.model) == (False, 1, before)
        assert not finding(bank).well
        assert "pieria models use" in finding(bank).remedy
        assert [hit.memory.text for hit in bank.recall("pear")] == ["a pear"]
        assert (space(bank), embedded(bank)) == (before, {APPLE: 1})
    with opened(tmp_path) as bank:
        soon(lambda: len(embedded(bank)) == 2)


# --- models that fail


def test_failing_endpoint_loses_nothing_and_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    requests = Requests()
    requests.failing.set()
    with server(requests) as (address, _):
        settings = {"embedder": "server:m", "embedder_url": address}
        with pieria.open("b", data=tmp_path, settings=settings) as bank:
            assert [memory.text for memory in bank.remember_many([APPLE])] == [APPLE]
            assert "out of order" in caplog.text and APPLE not in caplog.text
            assert bank.stats().pending == {"vectors": 1}
            assert "out of order" in finding(bank).detail and not finding(bank).well
            with pytest.raises(AdapterError, match="out of order"):
                bank.sync(SOON)
            with bank.core.store.reading() as reader:
                assert "it will be tried again" in str(bank.core.embedding.readiness(reader).reason)
            requests.failing.clear()
            soon(lambda: embedded(bank) == {APPLE: 1})
            soon(lambda: bool(finding(bank).well))


def test_words_answer_where_no_thread_can_be_started(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    bank.remember_many(["A heron nests by the mill."])
    with monkeypatch.context() as patched:
        patched.setattr(questioning, "_idle", [])
        patched.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        found = bank.recall("heron")
    assert [hit.memory.text for hit in found] == ["A heron nests by the mill."]
    assert "no thread could be started" in str(found.plan)


def test_missing_model_is_named_with_its_remedy(tmp_path: Path) -> None:
    with opened(tmp_path, "local") as bank:
        bank.remember(APPLE)
        with pytest.raises(ModelMissingError):
            bank.sync(SOON)
        assert finding(bank).remedy == "Run: pieria models install all-MiniLM-L6-v2" and not bank.doctor().well


# --- vectors that come along


def test_given_vectors_are_stored_with_their_passages(bank: Bank) -> None:
    text = "Apples and pears grow on trees. " * 60
    spans = passages(text)
    given = [[7.0 if n == m else 0.0 for n in range(DIMENSION)] for m in range(len(spans))]
    bank.remember(APPLE, vectors=[float(n + 1) for n in range(DIMENSION)])
    [memory] = bank.remember_many([{"text": text, "vectors": given}])
    assert embedded(bank) == {APPLE: 1, text: len(spans)}
    with bank.core.store.reading() as reader:
        for axis, (start, end) in zip(given, spans, strict=True):
            found = reader.similarities(axis, [memory.row])[memory.row]
            assert (found.start, found.stop) == (start, end)


def test_wrong_vectors_are_refused_and_nothing_is_kept(bank: Bank) -> None:
    one = [1.0] * DIMENSION
    wrong: list[Any] = [
        [1.0] * (DIMENSION + 1), [one, [1.0] * 3], [one, [*one, 1.0]], [math.nan] * DIMENSION, [*one[1:], math.inf],
        [1e300] * DIMENSION, [0.0] * DIMENSION, [one, [0.0] * DIMENSION], [], [[]], "vector", 7, ["a"] * DIMENSION,
        [[one]], [True] * DIMENSION,
    ]  # fmt: skip
    bank.remember_many(["a pear"])
    for given in wrong:
        for scope in ("bank", "user"):
            with pytest.raises(InputError) as caught:
                bank.remember(APPLE, vectors=given, scope=scope)
            assert caught.value.parameter == "vectors"
        with pytest.raises(InputError) as caught:
            bank.remember_many([{"text": "fine"}, {"text": APPLE, "vectors": given}])
        assert caught.value.parameter == "items[1].vectors"
    assert set(rows(bank)) == {"a pear"}


def test_given_vectors_begin_the_space_of_the_embedder(tmp_path: Path) -> None:
    for embedder, text in (("hashing:64", APPLE), ("none", "a pear")):
        with opened(tmp_path, embedder) as bank:
            bank.remember(text, vectors=[1.0] * 64)
            assert str(space(bank)).startswith("hashing:64@")
            assert embedded(bank)[text] == 1
    with opened(tmp_path, "none", "c") as bank, pytest.raises(UnavailableError, match="no vector space yet"):
        bank.remember("a pear", vectors=[1.0] * 64)


# --- the embedder of a workspace


def test_banks_share_one_embedder_for_a_setting(tmp_path: Path) -> None:
    settings = {"embedder": "local", "models": INSTALLED}
    with Workspace(tmp_path, settings) as one, Workspace(tmp_path, settings) as two:
        first, second = one.open("a").core.embedding, two.open("b").core.embedding
        assert first is not second
        assert first.embedder is second.embedder is not None
        assert one.open("a").core.store is two.open("a").core.store
        threads = Workspace(tmp_path, {**settings, "embedder_threads": 1})
        assert threads.open("a").core.embedding.embedder is not first.embedder
    with Workspace(tmp_path, embedder=letters) as one, Workspace(tmp_path, embedder=letters) as two:
        bank = one.open("a")
        assert bank.core.store is two.open("a").core.store
        assert bank.doctor().settings["embedder"] == ("function:tests.bank.embedding_server.letters", "argument")
        json.dumps(bank.doctor().as_dict())
    wrong: list[Any] = [7, "locl", [], object()]
    for embedder in wrong:
        with pytest.raises(InputError, match="embedder:"):
            Workspace(tmp_path / "data", embedder=embedder)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("kind", [AtHand, Slow])
def test_model_at_hand_is_loaded_where_questions_are_expected(tmp_path: Path, kind: type[Slow]) -> None:
    loads = kind is AtHand
    empty, first, second = AtHand(), kind(), kind()
    with opened(tmp_path, empty) as bank:
        bank.expect_questions()
    assert not empty.begun.is_set(), "a bank without vectors needs no model"
    first.may_go.set()
    with opened(tmp_path, first) as bank:
        bank.remember("tea")
        assert bank.sync(SOON)
    with opened(tmp_path, second) as bank:
        assert not second.begun.is_set()
        bank.expect_questions()
        assert not loads or second.begun.wait(SOON)
        second.may_go.set()
    # Closing the bank waits for the loading and starts no other call.
    assert bank.core.embedding.is_loaded is second.begun.is_set() is loads


def test_engine_over_stdio_expects_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    with opened(tmp_path) as bank:
        bank.remember("tea")
    monkeypatch.setattr(Bank, "expect_questions", lambda self: told.set())
    engine = Engine(Asked(str(tmp_path), {"bank": "b"}))
    engine.load()
    assert told.wait(SOON)
    engine.close()
