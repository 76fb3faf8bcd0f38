"""Vectors follow the record: in the background or at once, for every writer, after every failure, without loss."""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import Requests, server, vector
from tests.bank.resting import rested

import pieria
from pieria import Bank, Workspace
from pieria.bank.embedding import threads as questioning
from pieria.bank.embedding.texts import PUT_AT_ONCE
from pieria.errors import AdapterError, InputError, ModelMissingError, UnavailableError
from pieria.language.passages import passages
from pieria.runtime.background import background
from pieria.workspace.open_stores import Held

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
SOURCE = Path(pieria.__file__).parents[1]
SOON = 15.0
DIMENSION = len(vector(""))


def letters(texts: list[str]) -> list[list[float]]:
    return [vector(text) for text in texts]


def other(texts: list[str]) -> list[list[float]]:
    return [vector(text)[:5] for text in texts]


class Slow:
    """An embedding that waits, as a large model does, and records its texts."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.begun, self.may_go = threading.Event(), threading.Event()

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> Any:
        return self.embed_batch([text])

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> Any:
        from pieria.models import EmbeddingResponse

        self.begun.set()
        assert self.may_go.wait(SOON)
        self.seen += texts
        return EmbeddingResponse(letters(list(texts)), "slow")


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
    there = rows(bank)
    with bank.core.store.reading() as reader:
        found = reader.vectors(list(there.values()), what)
    return {text: len(found[row]) for text, row in there.items() if row in found}


def space(bank: Bank) -> str | None:
    with bank.core.store.reading() as reader:
        held = reader.space()
    return held.name if held else None


def finding(bank: Bank, check: str = "embedder") -> Any:
    [found] = [found for found in bank.doctor().findings if found.check == check]
    return found


def soon(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < ends, "it did not come to pass"
        time.sleep(0.01)


def ran(code: str, *arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    given = {**os.environ, "PYTHONPATH": f"{SOURCE}:{Path(__file__).parents[2]}", **environment}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)


# --- when vectors come


def test_vectors_come_by_themselves(bank: Bank) -> None:
    bank.remember("an apple")
    soon(lambda: embedded(bank) == {"an apple": 1})
    assert bank.stats().pending == {"vectors": 0}


def test_what_is_written_is_pending_until_it_is_embedded(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        bank.remember("an apple")
        assert slow.begun.wait(SOON)
        assert (bank.stats().pending, embedded(bank)) == ({"vectors": 1}, {})
        assert finding(bank, "vectors").detail == "vectors not yet made: 1"
        slow.may_go.set()
        assert bank.sync(SOON)
        assert (bank.stats().pending, embedded(bank)) == ({"vectors": 0}, {"an apple": 1})


def test_remember_many_returns_with_vectors_stored(bank: Bank) -> None:
    told: list[tuple[int, int]] = []
    kept = bank.remember_many(
        [{"text": f"apple {n}", "session": "s1"} for n in range(150)], progress=lambda done, of: told.append((done, of))
    )
    assert len(embedded(bank)) == len(embedded(bank, "window")) == len(kept) == 150
    assert bank.stats().pending == {"vectors": 0}
    assert told == sorted(told)
    assert told[0] == (150, 300)
    assert told[-1] == (300, 300)
    assert len(told) > 3


def test_what_belongs_to_the_user_is_embedded_in_the_users_bank(bank: Bank, tmp_path: Path) -> None:
    bank.remember_many([{"text": "an apple", "scope": "user"}, {"text": "a pear"}])
    assert embedded(bank)["a pear"] == 1
    with opened(tmp_path, name="@me") as own:
        assert embedded(own) == {"an apple": 1}


def test_sync_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        bank.remember("an apple")
        assert slow.begun.wait(SOON)
        begun = time.monotonic()
        assert bank.sync(0.2) is False
        assert time.monotonic() - begun < 5
        slow.may_go.set()


def test_without_an_embedder_nothing_is_pending(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path) as bank:
        bank.remember("an apple")
        assert bank.sync(0)
        assert (bank.stats().pending, space(bank)) == ({}, None)
        assert finding(bank).detail.startswith("none")


def test_a_long_text_has_a_vector_a_passage(bank: Bank) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "Apples and pears grow on trees. " * 12 for n in range(9))
    bank.remember_many([{"text": text, "title": "Fruit"}])
    assert embedded(bank) == {text: len(passages(text))}
    assert len(passages(text)) > 3


def test_what_is_short_waits_for_nothing_that_is_long(tmp_path: Path) -> None:
    """Short texts are embedded before a long one, even if the process ends early. The long one is put all at once."""
    long = "\n\n".join(f"Paragraph {n}. " + "Apples and pears grow on trees. " * 24 for n in range(PUT_AT_ONCE + 40))
    with opened(tmp_path, "none") as before:
        before.remember(long)
        before.remember("a pear")
        before.remember("an apple")
    held = threading.Event()

    def reluctant(texts: list[str]) -> list[list[float]]:
        assert not any("Paragraph 100." in text for text in texts) or held.wait(SOON)
        return letters(texts)

    with opened(tmp_path, reluctant) as bank:
        bank.remember("a plum")
        soon(lambda: embedded(bank) == {"a pear": 1, "an apple": 1, "a plum": 1})
        held.set()
        assert bank.sync(SOON)
        assert embedded(bank)[long] == len(passages(long)) > PUT_AT_ONCE


def test_a_change_of_content_is_embedded_anew(bank: Bank) -> None:
    memory = bank.remember("an apple")
    bank.update(memory.id, text="a pear")
    assert bank.sync(SOON)
    assert embedded(bank) == {"a pear": 1}


# --- closing, dying


def test_a_bank_is_closed_in_time_and_the_rest_is_left_to_the_next(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        bank.remember("an apple")
        assert slow.begun.wait(SOON)
        begun = time.monotonic()
        bank.close()
        # The model waits `SOON` seconds, so closing did not wait for it.
        assert time.monotonic() - begun < SOON / 2
    slow.may_go.set()
    with opened(tmp_path) as bank:
        soon(lambda: embedded(bank) == {"an apple": 1})


def test_closing_embeds_what_is_pending_where_the_model_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[Held.__module__], "CLOSING", SOON)
    with opened(tmp_path) as bank:
        bank.remember_many([{"text": "a pear"}])
        bank.remember("an apple")
    with pieria.open("b", data=tmp_path) as bank:
        assert embedded(bank) == {"an apple": 1, "a pear": 1}


def test_a_program_that_ends_at_once_loads_no_model(tmp_path: Path) -> None:
    code = (
        "import pieria, sys\n"
        "with pieria.open('b', data=sys.argv[1]) as bank: bank.remember('an apple')\n"
        "print([name for name in ('onnxruntime', 'numpy') if name in sys.modules])"
    )
    done = ran(code, tmp_path, PIERIA_EMBEDDER="local", PIERIA_MODELS=str(INSTALLED))
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    with opened(tmp_path) as bank:
        soon(lambda: embedded(bank) == {"an apple": 1})


def test_a_program_that_ends_while_the_model_works_ends_well(tmp_path: Path) -> None:
    code = (
        "import pieria, sys, time\n"
        "bank = pieria.open('b', data=sys.argv[1])\n"
        "for n in range(300): bank.remember(f'apple {n} ' + 'and pears ' * 60)\n"
        "while not bank.core.embedding.is_loaded: time.sleep(0.01)\n"
    )
    done = ran(code, tmp_path, PIERIA_EMBEDDER="local", PIERIA_MODELS=str(INSTALLED), PIERIA_DURABILITY="off")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_kill_9_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    code = (
        "import pieria, sys, time\n"
        "from tests.bank.test_embedding import letters\n"
        "def slowly(texts):\n"
        "    time.sleep(0.05)\n"
        "    return letters(texts)\n"
        "slowly.__module__, slowly.__qualname__ = letters.__module__, letters.__qualname__\n"
        "bank = pieria.Workspace(sys.argv[1], embedder=slowly).open('b')\n"
        "for n in range(10_000):\n"
        "    bank.remember(f'apple {n}', session='s1')\n"
        "    print(n, flush=True)\n"
        "    time.sleep(0.004)\n"
    )
    given = {**os.environ, "PYTHONPATH": f"{SOURCE}:{Path(__file__).parents[2]}"}
    kept = -1
    for _ in range(3):
        command = [sys.executable, "-c", code, str(tmp_path)]
        with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            numbers = []
            for line in process.stdout:
                numbers.append(int(line))
                if len(numbers) == 150:
                    break
            process.send_signal(signal.SIGKILL)
        kept += len(numbers)
    with opened(tmp_path) as bank:
        assert bank.count() > kept
        # Some memories were embedded by then, and some were not.
        assert 0 < bank.stats().pending["vectors"] < 2 * bank.count()
        assert bank.sync(SOON)
        assert len(embedded(bank)) == len(embedded(bank, "window")) == len(set(rows(bank)))
        assert [found for found in bank.doctor().findings if not found.well] == []


def test_processes_see_each_others_vectors(bank: Bank, tmp_path: Path) -> None:
    bank.remember_many([{"text": "an apple"}])
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.bank.test_embedding import embedded, letters, opened\n"
        "sys.modules['__main__'].letters = letters\n"
        "with opened(Path(sys.argv[1])) as bank:\n"
        "    assert embedded(bank) == {'an apple': 1}\n"
        "    bank.remember_many([{'text': 'a pear'}])\n"
    )
    done = ran(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert embedded(bank) == {"an apple": 1, "a pear": 1}
    with bank.core.store.reading() as reader:
        near = reader.near(vector("a pear"), bank.core.filter(), 1).candidates
    assert [found.row for found in near] == [rows(bank)["a pear"]]


# --- spaces


def test_a_bank_moves_from_the_floor_to_a_real_model_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path, "auto") as bank:
        bank.remember_many([{"text": "an apple"}])
        assert str(space(bank)).startswith("hashing:384@")
        assert "models install" in finding(bank).remedy
        assert finding(bank).well
    settings = {"embedder": "auto", "models": INSTALLED}
    with pieria.open("b", data=tmp_path, settings=settings) as bank:
        soon(lambda: str(space(bank)).startswith("local:all-MiniLM-L6-v2@") and embedded(bank) == {"an apple": 1})
        assert finding(bank).remedy is None
    with opened(tmp_path, "auto") as bank:
        # A process that still has only the fallback embedder must not switch the bank back.
        bank.remember("a pear")
        assert bank.sync(SOON) is False
        assert embedded(bank) == {"an apple": 1}
        assert not finding(bank).well


def test_a_process_with_another_model_uses_words_and_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember_many([{"text": "an apple"}])
        before = space(bank)
    with opened(tmp_path, other) as bank:
        bank.remember_many([{"text": "a pear"}])
        assert bank.sync(SOON) is False
        with bank.core.store.reading() as reader:
            standing = bank.core.embedding.readiness(reader)
        assert (standing.usable, standing.pending, standing.model) == (False, 1, before)
        assert "this process embeds with" in str(standing.reason)
        assert not finding(bank).well
        assert "pieria models use" in finding(bank).remedy
        assert [hit.memory.text for hit in bank.recall("pear")] == ["a pear"]
        assert (space(bank), embedded(bank)) == (before, {"an apple": 1})
    with opened(tmp_path) as bank:
        soon(lambda: len(embedded(bank)) == 2)


@pytest.mark.slow
def test_a_bank_is_moved_to_another_model_while_words_are_found(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember_many([{"text": f"apple {n}"} for n in range(200)])
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        slow.may_go.set()
        bank.core.embedding.question("asked before, so that its dimension is known", SOON)
        slow.may_go.clear()
        assert bank.use_embedder() == space(bank)
        assert str(space(bank)).startswith("custom:Slow@")
        assert bank.stats().pending == {"vectors": 200}
        assert [hit.memory.text for hit in bank.recall("apple 7", k=1)] == ["apple 7"]
        slow.may_go.set()
        assert bank.sync(SOON)
        assert len(embedded(bank)) == 200
        soon(lambda: left_over(bank) == 0)


def left_over(bank: Bank) -> int:
    """Return the number of vectors of former spaces."""
    with bank.core.store.reading() as reader:
        assert hasattr(reader, "_session")
        held = reader.space()
        assert held is not None
        counted = reader._session.execute("SELECT count(*) FROM vector WHERE space <> ?", (held.number,)).fetchone()
    return int(counted[0])


def test_a_bank_cannot_be_moved_to_nothing(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path) as bank, pytest.raises(UnavailableError) as caught:
        bank.use_embedder()
    assert caught.value.parameter == "embedder"


# --- models that fail


def test_an_endpoint_that_fails_loses_nothing_and_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    requests = Requests()
    requests.failing.set()
    with server(requests) as (address, _):
        settings = {"embedder": "server:m", "embedder_url": address}
        with pieria.open("b", data=tmp_path, settings=settings) as bank:
            assert [memory.text for memory in bank.remember_many([{"text": "an apple"}])] == ["an apple"]
            assert "out of order" in caplog.text
            assert bank.stats().pending == {"vectors": 1}
            assert not finding(bank).well
            assert "out of order" in finding(bank).detail
            with pytest.raises(AdapterError, match="out of order"):
                bank.sync(SOON)
            with bank.core.store.reading() as reader:
                assert "it will be tried again" in str(bank.core.embedding.readiness(reader).reason)
            requests.failing.clear()
            soon(lambda: embedded(bank) == {"an apple": 1})
            soon(lambda: bool(finding(bank).well))


def test_an_embedding_that_breaks_is_logged_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = [True]

    def breaking(texts: list[str]) -> list[list[float]]:
        if broken:
            raise RuntimeError("no more memory")
        return letters(texts)

    with opened(tmp_path, breaking) as bank, caplog.at_level(logging.WARNING):
        bank.remember("an apple")
        soon(lambda: "the function failed with RuntimeError" in caplog.text)
        assert "an apple" not in caplog.text
        broken.clear()
        soon(lambda: embedded(bank) == {"an apple": 1})


def test_where_no_thread_is_to_be_had_to_ask_a_model_in_words_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Workspace(tmp_path, embedder=letters) as workspace:
        bank = workspace.open("b")
        bank.remember_many([{"text": "A heron nests by the mill."}])
        with monkeypatch.context() as patched:
            patched.setattr(questioning, "_idle", [])
            patched.setattr(threading.Thread, "start", start)
            found = bank.recall("heron")
        assert [hit.memory.text for hit in found] == ["A heron nests by the mill."]
        assert "no thread could be started" in str(found.plan)


def test_a_model_that_is_not_installed_is_told(tmp_path: Path) -> None:
    with opened(tmp_path, "local") as bank:
        bank.remember("an apple")
        with pytest.raises(ModelMissingError):
            bank.sync(SOON)
        assert finding(bank).remedy == "Run: pieria models install all-MiniLM-L6-v2"
        assert not bank.doctor().well


# --- purging


def test_what_is_purged_while_it_is_embedded_leaves_nothing(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as bank:
        memory = bank.remember("an apple")
        bank.remember("a pear")
        assert slow.begun.wait(SOON)
        bank.purge(memory.id)
        slow.may_go.set()
        assert bank.sync(SOON)
        assert embedded(bank) == {"a pear": 1}
        with bank.core.store.reading() as reader:
            assert reader.vectors([memory.row]) == {}
        assert [found for found in bank.doctor().findings if not found.well] == []


# --- vectors that come along


def test_a_vector_that_comes_along_is_stored_with_the_memory(bank: Bank) -> None:
    memory = bank.remember("an apple", vectors=[float(n + 1) for n in range(DIMENSION)])
    assert embedded(bank) == {"an apple": 1}
    with bank.core.store.reading() as reader:
        [(_, held)] = reader.vectors([memory.row])[memory.row]
    length = math.hypot(*range(1, DIMENSION + 1))
    assert held.tolist() == pytest.approx([(n + 1) / length for n in range(DIMENSION)], abs=1e-3)


def test_a_vector_for_each_passage_stands_for_it(bank: Bank) -> None:
    text = "Apples and pears grow on trees. " * 60
    spans = passages(text)
    given = [[1.0 if n == m else 0.0 for n in range(DIMENSION)] for m in range(len(spans))]
    memory = bank.remember_many([{"text": text, "vectors": given}])[0]
    with bank.core.store.reading() as reader:
        for vector, (start, end) in zip(given, spans, strict=True):
            found = reader.similarities(vector, [memory.row])[memory.row]
            assert (found.start, found.stop) == (start, end)


WRONG: list[Any] = [
    [1.0] * (DIMENSION + 1),
    [[1.0] * DIMENSION, [1.0] * 3],
    [[1.0] * DIMENSION, [1.0] * DIMENSION + [1.0]],
    [math.nan] * DIMENSION,
    [1.0] * (DIMENSION - 1) + [math.inf],
    [1e300] * DIMENSION,
    [0.0] * DIMENSION,
    [[1.0] * DIMENSION, [0.0] * DIMENSION],
    [],
    [[]],
    "vector",
    7,
    ["a"] * DIMENSION,
    [[[1.0] * DIMENSION]],
    [True] * DIMENSION,
]


@pytest.mark.parametrize("given", WRONG, ids=lambda given: repr(given)[:30])
def test_vectors_that_cannot_be_right_are_refused_and_nothing_is_kept(bank: Bank, given: Any) -> None:
    bank.remember_many([{"text": "a pear"}])
    with pytest.raises(InputError) as caught:
        bank.remember("an apple", vectors=given)
    assert caught.value.parameter == "vectors"
    with pytest.raises(InputError) as caught:
        bank.remember_many([{"text": "fine"}, {"text": "an apple", "vectors": given}])
    assert caught.value.parameter == "items[1].vectors"
    with pytest.raises(InputError):
        bank.remember("an apple", vectors=given, scope="user")
    assert set(rows(bank)) == {"a pear"}


def test_vectors_begin_the_space_of_the_embedder(tmp_path: Path) -> None:
    with opened(tmp_path, "hashing:64") as bank:
        bank.remember("an apple", vectors=[1.0] * 64)
        assert str(space(bank)).startswith("hashing:64@")
    with pieria.open("b", data=tmp_path) as bank:
        bank.remember("a pear", vectors=[1.0] * 64)
        assert embedded(bank) == {"an apple": 1, "a pear": 1}
    with pieria.open("c", data=tmp_path) as bank, pytest.raises(UnavailableError, match="no vector space yet"):
        bank.remember("a pear", vectors=[1.0] * 64)


# --- the embedder of a workspace


def test_banks_share_one_embedder_for_a_setting(tmp_path: Path) -> None:
    settings = {"embedder": "local", "models": INSTALLED}
    with Workspace(tmp_path, settings) as one, Workspace(tmp_path, settings) as two:
        first, second = one.open("a").core.embedding, two.open("b").core.embedding
        assert first is not second
        assert first.embedder is second.embedder is not None
        assert one.open("a").core.store is two.open("a").core.store
        assert (
            Workspace(tmp_path, {**settings, "embedder_threads": 1}).open("a").core.embedding.embedder
            is not first.embedder
        )
    with Workspace(tmp_path, embedder=letters) as one, Workspace(tmp_path, embedder=letters) as two:
        assert one.open("a").core.store is two.open("a").core.store


@pytest.mark.parametrize("wrong", [7, "locl", [], object()])
def test_what_is_no_embedder_is_refused(wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Workspace(tmp_path / "data", embedder=wrong)
    assert caught.value.parameter == "embedder"
    assert not (tmp_path / "data").exists()


def test_the_doctor_tells_whose_embedder_it_is(bank: Bank) -> None:
    assert bank.doctor().settings["embedder"] == ("function:tests.bank.test_embedding.letters", "argument")
    json.dumps(bank.doctor().as_dict())


def test_the_thread_ends_when_there_is_nothing_to_do(bank: Bank) -> None:
    rested()
    bank.remember("an apple")
    assert bank.sync(SOON)
    soon(lambda: background._thread is None)


class AtHand(Slow):
    """An embedding in this process."""

    is_at_hand = True


@pytest.mark.parametrize(("kind", "loads"), [(AtHand, True), (Slow, False)])
def test_a_model_at_hand_is_loaded_behind_where_questions_are_expected(
    tmp_path: Path, kind: type[Slow], loads: bool
) -> None:
    first = kind()
    first.may_go.set()
    with opened(tmp_path, first) as bank:
        bank.remember("tea")
        assert bank.sync(SOON)
    second = kind()
    with opened(tmp_path, second) as bank:
        assert not second.begun.wait(0.6)
        bank.expect_questions()
        assert second.begun.wait(SOON if loads else 0.6) is loads
        second.may_go.set()
    # Closing the bank waits for the loading and starts no other call.
    assert bank.core.embedding.is_loaded is loads


def test_no_model_is_loaded_for_a_bank_without_vectors_of_it(tmp_path: Path) -> None:
    model = AtHand()
    with opened(tmp_path, model) as bank:
        bank.expect_questions()
        assert not model.begun.wait(0.6)
        model.may_go.set()


def test_an_engine_over_stdio_expects_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pieria.doors.mcp.stdio import Asked, Engine

    told = threading.Event()
    with opened(tmp_path) as bank:
        bank.remember("tea")
    monkeypatch.setattr(Bank, "expect_questions", lambda self: told.set())
    engine = Engine(Asked(str(tmp_path), {"bank": "b"}))
    engine.load()
    assert told.wait(SOON)
    engine.close()
