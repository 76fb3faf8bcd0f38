"""The embedder around any embedding: what it accepts, what identifies a space, and how one is chosen."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria import Workspace
from pieria.errors import AdapterError, InputError
from pieria.graph import InMemoryBackend
from pieria.learning import Episode
from pieria.learning.retrieval import retrieve
from pieria.models import PROVIDERS, Embedder, Embedding, EmbeddingResponse, embedder
from pieria.models.contract import check_embedding
from pieria.models.embedders.fastembed import FastEmbedding
from pieria.models.embedders.hash_floor import HashingEmbedding
from pieria.models.embedders.local import LocalEmbedding
from pieria.models.embedders.openai import OpenAIEmbedding
from pieria.models.embedders.pieces import EstimatedPieces
from pieria.models.embedding import Space

NOWHERE = Path("nowhere")


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 4.0] for text in texts]


def hashed(text: str) -> list[float]:
    return HashingEmbedding().embed(text).vectors[0]


def test_vectors_have_length_one_and_one_dimension() -> None:
    made = embedder(lengths, models=NOWHERE)
    np.testing.assert_allclose(made.query("abc"), np.array([0.6, 0.8]), rtol=1e-6)
    np.testing.assert_allclose(made.passages(["abc", ""]).vectors, np.array([[0.6, 0.8], [0.0, 1.0]]), rtol=1e-6)
    odd = embedder(lambda texts: [[1.0] * len(text) for text in texts], models=NOWHERE, options={"name": "odd"})
    odd.query("abc")
    with pytest.raises(AdapterError, match="expected 3 dimensions, got 4"):
        odd.query("abcd")
    with pytest.raises(AdapterError, match="expected 3 dimensions, got 2"):
        odd.passages(["abc", "ab"])


def test_reply_without_a_vector_is_refused() -> None:
    replies: list[tuple[Any, str]] = [
        ([], "expected 1 vectors, got 0"), ([[1.0], [2.0]], "expected 1 vectors, got 2"), ([[]], "got 0"),
        ([[math.nan, 1.0]], "not finite"), ([[math.inf, 1.0]], "not finite"), ([[0.0, 0.0]], "all zeros"),
        (["ab"], "ValueError"), ([3], "TypeError"),
    ]  # fmt: skip
    for vectors, complaint in replies:
        made = embedder(lambda texts, vectors=vectors: vectors, models=NOWHERE, options={"name": "test"})
        with pytest.raises(AdapterError, match=complaint):
            made.query("a text")


def test_a_function_may_fail() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        raise OSError("the model is on another disk")

    with pytest.raises(AdapterError, match="OSError") as raised:
        embedder(broken, models=NOWHERE).query("a text")
    assert isinstance(raised.value.__cause__, OSError)
    with pytest.raises(InputError, match="the folder of installed models"):
        embedder("local")


class Lengths:
    def __call__(self, texts: list[str]) -> list[list[float]]:
        return lengths(texts)


def scaled(texts: list[str], scale: float = 1.0, model: str = "") -> list[list[float]]:
    return [[len(text) * scale, 4.0] for text in texts]


def test_any_function_has_a_space_that_knows_it_again() -> None:
    """A lambda and a partial share their name with others, so their words are part of the space."""
    names: dict[str, list[Any]] = {
        "lengths": [lengths, lengths],
        "Lengths": [Lengths(), Lengths()],
        "Lengths.__call__": [Lengths().__call__],
        "scaled": [scaled, partial(scaled, scale=2.0), partial(scaled, scale=3.0), partial(scaled, model="e5")],
        "test_any_function_has_a_space_that_knows_it_again.<locals>.<lambda>": [
            lambda texts: [lengths([text])[0] for text in texts], lambda given: [lengths([one])[0] for one in given],
            lambda texts: lengths(texts)[:], lambda texts: scaled(texts)[:], lambda texts: scaled(texts, model="e5"),
        ],
    }  # fmt: skip
    spaces = {name: [embedder(each).space for each in functions] for name, functions in names.items()}
    for name, found in spaces.items():
        assert {space.model for space in found} == {f"function:{__name__}.{name}"}
    different = {name: len({space.fingerprint for space in found}) for name, found in spaces.items()}
    assert list(different.values()) == [1, 1, 1, 4, 3]
    named = embedder(partial(scaled, scale=2.0), options={"name": "mine", "version": "2"}).space
    assert named == embedder(lengths, options={"name": "mine", "version": "2"}).space


def in_a_session(workspace: Workspace, id: str) -> None:
    workspace.append(id, "The gate is shut", "Rang")
    workspace.close_and_commit(id)


PLACES: dict[str, Callable[[Path, Any], object]] = {
    "workspace": lambda data, own: Workspace(data, embedder=own).open("notes").remember("a word"),
    "bank": lambda data, own: Workspace(data).open("notes", embedder=own).remember("a word"),
    "repository": lambda data, own: Workspace(data).open_repo("notes", embedding=own),
    "bank's session": lambda data, own: Workspace(data, embedder=own).open("notes").session("Get in", embedding=own),
    "episode": lambda data, own: Episode("Get in").append("The gate is shut", "Rang", embedding=own),
    "retrieval": lambda data, own: retrieve("Is it shut?", embedding=own, backend=InMemoryBackend()),
    "contract": lambda data, own: check_embedding(own),
}


def test_every_place_takes_a_function_without_a_name(tmp_path: Path) -> None:
    own: Any = lambda texts: [[float(letter in text) + 0.1 for letter in "abcdefgh"] for text in texts]  # noqa: E731
    for number, use in enumerate(PLACES.values()):
        use(tmp_path / str(number), own)
    with Workspace(tmp_path) as workspace:
        workspace.open_repo("shelf", backend=InMemoryBackend(), embedding=own)
        workspace.open_repo("plain", backend=InMemoryBackend())
        in_a_session(workspace, workspace.start_session("Get in", "shelf"))
        in_a_session(workspace, workspace.start_session("Get in", "plain", embedding=own))
        nodes = [node for id in ("shelf", "plain") for node in workspace.get_nodes_by_type(id, ["episodic"])]
    assert [len(node.embedding or ()) for node in nodes] == [8, 8]


def test_space_depends_on_all_that_decides_a_vector(models: Path) -> None:
    def of(chosen: object, **options: Any) -> Space:
        return embedder(chosen, models=models, options=options).space

    spaces = [
        of("local"), of("hashing"), of("hashing:256"), of(lengths), of(lengths, version="2"), of(lengths, name="other"),
        of(lengths, query_prefix="query: "), of("openai:m", dimensions=2), of("openai:n", dimensions=2),
    ]  # fmt: skip
    assert len({space.fingerprint for space in spaces}) == len(spaces)
    assert [space.is_floor for space in spaces] == [False, True, True] + [False] * 6
    assert of("local", threads=1) == spaces[0]
    assert of("server:m", base_url="http://localhost:1", dimensions=2) == spaces[7]
    fingerprint = spaces[0].fingerprint
    assert spaces[0].as_dict() == {"model": "local:all-MiniLM-L6-v2", "dimension": 384, "fingerprint": fingerprint}


def test_prefixes_mark_questions_and_passages() -> None:
    seen: list[str] = []

    def noting(texts: list[str]) -> list[list[float]]:
        seen.extend(texts)
        return [[1.0]] * len(texts)

    made = embedder(noting, models=NOWHERE, options={"query_prefix": "q: ", "passage_prefix": "p: "})
    made.query("a")
    made.passages(["b", "c"])
    assert seen == ["q: a", "p: b", "p: c"]


def test_calls_are_spans(heard: list[Any]) -> None:
    made = embedder("hashing", models=NOWHERE)
    made.query("abc")
    made.passages(["a", "b"])
    told = {event: about for event, _, about in heard}
    assert told["pieria.embedding.embed.stop"] == {"model": "hashing:384", "text_length": 3}
    assert told["pieria.embedding.embed_batch.stop"] == {"model": "hashing:384", "batch_size": 2}


def test_name_chooses_the_adapter() -> None:
    adapters = {
        "local": LocalEmbedding, "hashing": HashingEmbedding, "openai:x": OpenAIEmbedding, "ollama:x": OpenAIEmbedding,
        "fastembed:x": FastEmbedding, "Local : ALL-minilm-l6-v2": LocalEmbedding,
    }  # fmt: skip
    assert {name: type(embedder(name, models=NOWHERE)._embedding) for name in adapters} == adapters


def test_unknown_name_or_option_is_refused() -> None:
    hints: dict[Any, str] = {"opnai:x": "openai:x", "local:all-minilm-l6": "all-MiniLM-L6-v2"}
    for name, hint in (hints | dict.fromkeys(("", "hashing:x", 3, str), "")).items():
        with pytest.raises(InputError) as raised:
            embedder(name, models=NOWHERE)
        assert hint in str(raised.value.hint)
    for chosen in (lengths, *(f"{name}:{provider.example}" for name, provider in PROVIDERS.items())):
        with pytest.raises(InputError, match="options"):
            embedder(chosen, models=NOWHERE, options={"colour": "red"})


def test_default_is_the_installed_model_or_the_floor(models: Path) -> None:
    assert embedder(models=models).model == "local:all-MiniLM-L6-v2"
    assert embedder(models=models).note is None
    floor = embedder(models=NOWHERE)
    assert floor.space.is_floor
    assert "pieria models install" in str(floor.note)


def test_own_embedding_needs_two_methods_only() -> None:
    class Own:
        def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
            return self.embed_batch([text], opts)

        def embed_batch(self, texts: Sequence[str], opts: Any = None) -> EmbeddingResponse:
            return EmbeddingResponse([[3.0, 4.0] for _ in texts], "own")

    assert isinstance(Own(), Embedding)
    made = embedder(Own(), models=NOWHERE)
    assert made.space.dimension == 2
    assert made.pieces.count("one two three") >= 3


def test_fastembed_is_kept_off_the_network(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="fastembed") as raised:
        embedder("fastembed:BAAI/bge-small-en-v1.5", models=tmp_path).query("a text")
    assert "Download the model once" in str(raised.value.hint)
    with pytest.raises(AdapterError, match="knows no model"):
        embedder("fastembed:no/such", models=tmp_path).query("a text")


@given(st.text())
def test_floor_has_a_vector_for_every_text(text: str) -> None:
    assert math.isclose(math.fsum(number * number for number in hashed(text)), 1, rel_tol=1e-9)


def test_floor_does_not_depend_on_the_process() -> None:
    """Python's own hashes do."""
    assert [place for place, number in enumerate(hashed("JWT — 東京!")) if number][:6] == [17, 19, 32, 50, 67, 69]


def test_floor_finds_shared_words() -> None:
    for question, near, far in (
        ("authentication of APIs", "We authenticate every API with JWT.", "Maya adopted a dog in March."),
        ("会議はいつ", "東京の会議は三月に延期されました。", "明日は晴れです。"),
        ("перенос встречи", "Мы перенесли встречу на пятницу.", "Кошка спит на диване."),
    ):
        assert np.dot(hashed(question), hashed(near)) > np.dot(hashed(question), hashed(far)) + 0.05
    assert np.dot(hashed("what is the plan"), hashed("plan")) > 0.8, "common words weigh little"


@given(st.text())
def test_estimated_pieces_stand_in_the_text_in_order(text: str) -> None:
    found = EstimatedPieces(254).offsets(text)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] <= other[0] for one, other in pairwise(found))
    assert EstimatedPieces(254).count(text) == len(found)
    assert sum(len(text[start:end]) for start, end in found) == sum(not c.isspace() for c in text)


def test_estimate_is_seldom_below_the_count_of_a_model(local: Embedder) -> None:
    fox = "The quick brown fox jumps over the lazy dog, twice."
    for text in (fox, "東京の会議は三月に延期されました。", "x = f(y)[0]  # 3,141"):
        assert EstimatedPieces(254).count(text) >= local.pieces.count(text)
