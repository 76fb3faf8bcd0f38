"""The local embedder: its vectors, its pieces, its threads, and its processes."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pieria.errors import InputError
from pieria.models import DEFAULT, Embedder, EmbeddingResponse
from pieria.models.embedders.local import LocalEmbedding

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text("utf-8"))
"""Vectors of another implementation of the model: BERT by hand, in NumPy, with 64-bit numbers."""
ODD = [
    *("", " ", "a", "!!!", "\0", "[SEP] and [MASK]", "x" * 300, "\u200b\ufffd\x1c", "e\u0301" * 40, "🙂" * 30),
    "word " * 700,
]


@pytest.fixture(scope="module")
def embedding(models: Path) -> LocalEmbedding:
    return LocalEmbedding(DEFAULT, models)


def test_vectors_are_those_of_another_implementation(local: Embedder) -> None:
    cosines = {text: local.query(text) @ vector / np.linalg.norm(vector) for text, vector in EXPECTED.items()}
    assert {text: cosine for text, cosine in cosines.items() if cosine < 0.9999} == {}


def test_vectors_have_length_one_and_ignore_their_batch(local: Embedder) -> None:
    texts = [*ODD, *EXPECTED]
    alone = np.stack([local.query(text) for text in texts])
    random.Random(7).shuffle(order := list(range(len(texts))))
    together = local.passages([texts[place] for place in order]).vectors
    assert np.einsum("ij,ij->i", together, alone[order]).min() >= 0.999999
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    assert together.dtype == np.float32
    assert local.passages([]).vectors.shape == (0, 384)


def test_long_text_is_read_in_part_and_marked(local: Embedder) -> None:
    fits, longer = "word " * 254, "word " * 255
    reply = local.passages([longer, fits, "short", "word " * 50_000])
    assert reply.truncated == (0, 3)
    np.testing.assert_allclose(reply.vectors[0], reply.vectors[1], atol=1e-5)
    np.testing.assert_allclose(reply.vectors[3], reply.vectors[1], atol=1e-5)


def test_exact_beginning_of_a_long_text_is_read(embedding: LocalEmbedding) -> None:
    pieces, draw = embedding.pieces, random.Random(3)
    words = ["to", "Straße", "e\u0301te\u0301", "東京", "don't", "x" * 120, "\x1cend", "\u3000", "a\u00a0b", "[SEP]"]
    for _ in range(6):
        text = draw.choice([" ", "\n", "  "]).join(draw.choices([*words, "\n\n", "…"], k=5_000))
        ids, truncated = pieces.ids(text)
        assert truncated
        assert ids[1:-1] == pieces._read(text).ids[:254]
    ids, truncated = pieces.ids("東" * 20_000)
    assert (len(ids), truncated) == (256, True)


def test_pieces_are_counted_and_found_in_the_text(local: Embedder) -> None:
    text = "Ünlike embeddings,\n東京!"
    found = [text[start:end] for start, end in local.pieces.offsets(text)]
    assert found == ["Ünlike", "em", "bed", "ding", "s", ",", "東", "京", "!"]
    assert local.pieces.count(text) == len(found)
    assert local.pieces.limit == 254


def test_reply_has_its_model_and_usage(embedding: LocalEmbedding) -> None:
    reply = embedding.embed_batch(["one two", "three"], {"model": "all-MiniLM-L6-v2"})
    assert isinstance(reply, EmbeddingResponse)
    assert reply.model == "local:all-MiniLM-L6-v2"
    assert reply.usage == {"input_tokens": 7}
    assert [len(vector) for vector in reply.vectors] == [384, 384]
    assert all(type(number) is float for number in reply.vectors[0])


@pytest.mark.parametrize("threads", [1, 2])
def test_runtime_uses_the_given_number_of_threads(models: Path, threads: int) -> None:
    embedding = LocalEmbedding(DEFAULT, models, threads=threads)
    before = _threads()
    embedding.embed("a text")
    # The runtime counts the calling thread among those it uses; Python's threads are not the runtime's.
    others = {thread.native_id for thread in threading.enumerate()}
    assert len(_threads() - before - others) == threads - 1


def test_threads_share_one_model(models: Path) -> None:
    embedding = LocalEmbedding(DEFAULT, models)
    texts = [text for text in EXPECTED if len(text) < 80]
    with ThreadPoolExecutor(6) as pool:
        vectors = list(pool.map(lambda text: embedding.embed(text).vectors[0], texts))
    for text, vector in zip(texts, vectors, strict=True):
        assert np.dot(vector, EXPECTED[text]) >= 0.9999


PROCESS = """
import os, sys
from pathlib import Path
from pieria.models import embedder

def local(threads):
    return embedder("local", models=Path(sys.argv[1]), options={"threads": threads})

local(1).query("a text")
assert os.listdir("/proc/self/task") == [str(os.getpid())], "something runs beside"
assert not list(Path.home().rglob("*Microsoft*")), "the runtime left its mark"

forked = local(2)
before = forked.query("a text")
for embeds in (True, False):
    child = os.fork()
    if child == 0 and embeds:
        sys.exit(0 if before @ forked.query("a text") > 0.9999 else "another vector")
    if child == 0:
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_process_reports_nothing_home_and_may_fork(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    subprocess.run([sys.executable, "-c", PROCESS, str(models)], check=True, timeout=60)


def test_wrong_threads_texts_and_options_are_refused(models: Path, embedding: LocalEmbedding) -> None:
    texts: list[Any] = ["a text", b"bytes", None, ["right", 3], ["half \ud800"]]
    numbers: list[Any] = [0, -1, True, 1.5, "2"]
    wrong: list[tuple[str, Callable[[], object]]] = [
        *(("threads", partial(LocalEmbedding, DEFAULT, models, threads=number)) for number in numbers),
        *(("texts", partial(embedding.embed_batch, given)) for given in texts),
        *(("opts", partial(embedding.embed, "a text", opts)) for opts in ({"model": "another"}, {"dimensions": 64})),
    ]
    for parameter, ask in wrong:
        with pytest.raises(InputError, match=parameter):
            ask()


def _threads() -> set[int]:
    return {int(task.name) for task in Path("/proc/self/task").iterdir()}
