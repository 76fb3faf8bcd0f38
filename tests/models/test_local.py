"""The local embedder against a reference, and against itself."""

import json
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.models.reference import Reference

from pieria.errors import InputError
from pieria.models import DEFAULT, Embedder, EmbeddingResponse
from pieria.models.embedders.local import LocalEmbedding

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text("utf-8"))
ODD = [
    "",
    " ",
    "a",
    "!!!",
    "\0",
    "[SEP] and [MASK]",
    "x" * 300,
    "\u200b\ufffd\x1c",
    "e\u0301" * 40,
    "🙂" * 30,
    "word " * 700,
]


@pytest.fixture(scope="module")
def reference(models: Path) -> Reference:
    return Reference(models / DEFAULT.name)


@pytest.mark.parametrize("text", EXPECTED)
def test_a_text_has_the_expected_vector(local: Embedder, text: str) -> None:
    expected = np.array(EXPECTED[text])

    assert local.query(text) @ expected / np.linalg.norm(expected) >= 0.9999


def test_the_expected_vectors_are_those_of_the_reference(reference: Reference) -> None:
    for text, expected in EXPECTED.items():
        np.testing.assert_allclose(reference.vector(text), expected, atol=5.1e-5)


@pytest.mark.parametrize(
    "text", ["plain words, plainly put", "x" * 101, "word " * 300, "日本語" * 100, "naïve ﬁancé Ⅳ"]
)
def test_other_texts_agree_with_the_reference_too(local: Embedder, reference: Reference, text: str) -> None:
    assert local.query(text) @ reference.vector(text) >= 0.99999


def test_a_vector_does_not_depend_on_what_else_is_in_the_batch(local: Embedder) -> None:
    texts = [*EXPECTED, *ODD, *(f"{text} {'and so on ' * size}" for size, text in enumerate(EXPECTED))]
    alone = np.stack([local.query(text) for text in texts])
    random.Random(7).shuffle(order := list(range(len(texts))))

    together = local.passages([texts[place] for place in order]).vectors

    assert np.einsum("ij,ij->i", together, alone[order]).min() >= 0.999999


def test_every_text_has_a_vector_of_length_one(local: Embedder) -> None:
    vectors = local.passages(ODD).vectors

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors.dtype == np.float32


def test_a_long_text_is_read_in_part_and_said_so(local: Embedder) -> None:
    fits, longer = "word " * 254, "word " * 255

    reply = local.passages([longer, fits, "short", "word " * 50_000])

    assert reply.truncated == (0, 3)
    np.testing.assert_allclose(reply.vectors[0], reply.vectors[1], atol=1e-5)
    np.testing.assert_allclose(reply.vectors[3], reply.vectors[1], atol=1e-5)


def test_what_is_read_of_a_long_text_is_its_beginning_exactly(models: Path) -> None:
    pieces = LocalEmbedding(DEFAULT, models).pieces
    draw = random.Random(3)
    words = [
        "to",
        "Straße",
        "e\u0301te\u0301",
        "東京",
        "don't",
        "x" * 120,
        "\x1cend",
        "\u3000",
        "a\u00a0b",
        "[SEP]",
        "\n\n",
        "…",
    ]
    for _ in range(30):
        text = draw.choice([" ", "\n", "  "]).join(draw.choices(words, k=5_000))
        ids, truncated = pieces.ids(text)

        assert truncated
        assert ids[1:-1] == pieces._read(text).ids[:254]


def test_a_text_without_any_space_is_read_whole(models: Path) -> None:
    ids, truncated = LocalEmbedding(DEFAULT, models).pieces.ids("東" * 20_000)

    assert (len(ids), truncated) == (256, True)


def test_pieces_are_counted_and_found_in_the_text(local: Embedder) -> None:
    text = "Ünlike embeddings,\n東京!"

    found = [text[start:end] for start, end in local.pieces.offsets(text)]

    assert found == ["Ünlike", "em", "bed", "ding", "s", ",", "東", "京", "!"]
    assert local.pieces.count(text) == len(found)
    assert local.pieces.limit == 254


def test_the_reply_tells_model_and_pieces(models: Path) -> None:
    reply = LocalEmbedding(DEFAULT, models).embed_batch(["one two", "three"], {"model": "all-MiniLM-L6-v2"})

    assert isinstance(reply, EmbeddingResponse)
    assert reply.model == "local:all-MiniLM-L6-v2"
    assert reply.usage == {"input_tokens": 7}
    assert [len(vector) for vector in reply.vectors] == [384, 384]
    assert all(type(number) is float for number in reply.vectors[0])


def test_no_texts_have_no_vectors(local: Embedder) -> None:
    assert local.passages([]).vectors.shape == (0, 384)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_threads_are_the_runtime_s(models: Path, threads: int) -> None:
    embedding = LocalEmbedding(DEFAULT, models, threads=threads)
    before = _threads()

    embedding.embed("a text")

    # The runtime counts the calling thread among those it uses; Python's threads are not the runtime's.
    others = {thread.native_id for thread in threading.enumerate()}
    assert len(_threads() - before - others) == threads - 1


def test_threads_share_one_model(models: Path) -> None:
    embedding = LocalEmbedding(DEFAULT, models)
    texts = list(EXPECTED) * 3

    with ThreadPoolExecutor(6) as pool:
        vectors = list(pool.map(lambda text: embedding.embed(text).vectors[0], texts))

    for text, vector in zip(texts, vectors, strict=True):
        assert np.dot(vector, EXPECTED[text]) >= 0.9999


FORKS = """
import os, sys
from pathlib import Path
from pieria.models import embedder

local = embedder("local", models=Path(sys.argv[1]), options={"threads": 2})
before = local.query("a text")
child = os.fork()
if child == 0 and sys.argv[2] == "embeds":
    sys.exit(0 if before @ local.query("a text") > 0.9999 else "another vector")
if child == 0:
    sys.exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


SILENT = """
import os, sys
from pathlib import Path
from pieria.models import embedder

embedder("local", models=Path(sys.argv[1]), options={"threads": 1}).query("a text")
assert os.listdir("/proc/self/task") == [str(os.getpid())], "something runs beside"
assert not list(Path.home().rglob("*Microsoft*")), "the runtime left its mark"
"""


def test_the_runtime_does_not_report_home(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)

    subprocess.run([sys.executable, "-c", SILENT, str(models)], check=True, timeout=60)


@pytest.mark.parametrize("does", ["embeds", "ends"])
def test_a_forked_process_embeds_and_ends_as_any_other(models: Path, does: str) -> None:
    subprocess.run([sys.executable, "-c", FORKS, str(models), does], check=True, timeout=60)


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_a_wrong_number_of_threads_is_refused(models: Path, threads: int) -> None:
    with pytest.raises(InputError, match="threads"):
        LocalEmbedding(DEFAULT, models, threads=threads)


@pytest.mark.parametrize("texts", ["a text", b"bytes", None, ["right", 3], ["half \ud800"]])
def test_what_is_no_list_of_texts_is_refused(models: Path, texts: list[str]) -> None:
    with pytest.raises(InputError, match="texts"):
        LocalEmbedding(DEFAULT, models).embed_batch(texts)


@pytest.mark.parametrize("opts", [{"model": "another"}, {"dimensions": 64}])
def test_options_it_does_not_have_are_refused(models: Path, opts: dict[str, object]) -> None:
    with pytest.raises(InputError, match="opts"):
        LocalEmbedding(DEFAULT, models).embed("a text", opts)


def _threads() -> set[int]:
    return {int(task.name) for task in Path("/proc/self/task").iterdir()}
