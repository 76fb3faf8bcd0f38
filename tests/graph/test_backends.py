"""Check that the in-memory backend keeps the backend contract, with and without persistence."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from tests.graph.histories import fact, histories

from pieria import telemetry
from pieria.errors import BusyError, CorruptError, ForeignFileError, InputError, StorageError
from pieria.graph import Changeset, Edge, Graph, InMemoryBackend, Node, NodeMetadata, Tag
from pieria.graph.contract import check_backend


class Notebook:
    """A user-defined persistence."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.metadata: dict[str, NodeMetadata] = {}

    def load(self) -> tuple[Graph, dict[str, NodeMetadata]]:
        return self.graph, self.metadata

    def save(self, changeset: Changeset) -> None:
        self.graph = self.graph.apply_changeset(changeset)
        self.save_metadata(changeset.metadata)

    def delete(self, node_ids: Sequence[str]) -> None:
        self.graph = self.graph.without(node_ids)
        self.delete_metadata(node_ids)

    def save_metadata(self, entries: Mapping[str, NodeMetadata]) -> None:
        self.metadata |= entries

    def delete_metadata(self, node_ids: Sequence[str]) -> None:
        self.metadata = {id: entry for id, entry in self.metadata.items() if id not in node_ids}


def test_the_backend_in_memory_keeps_the_contract(tmp_path: Path) -> None:
    """Alone, with a file, and with a persistence of the user's own."""
    paths = (tmp_path / f"{number}.jsonl" for number in itertools.count())

    def reopened(backend: Any) -> InMemoryBackend:
        backend.close()
        return InMemoryBackend(backend.persistence.path)

    check_backend(InMemoryBackend)
    check_backend(lambda: InMemoryBackend(next(paths)), reopened=reopened)
    check_backend(lambda: InMemoryBackend(Notebook()), reopened=lambda old: InMemoryBackend(old.persistence))  # type: ignore[attr-defined]


class OneWay(InMemoryBackend):
    def get_node(self, node_id: str) -> Node | None:
        node = super().get_node(node_id)
        return node and replace(node, links={Edge.PROVENANCE: node.links[Edge.PROVENANCE] - {"fact"}})


class GivenNotLinked(InMemoryBackend):
    def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        return [self.graph.nodes[id] for id in node_ids if id in self.graph.nodes]


class Adding(InMemoryBackend):
    def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None:
        had = self.get_metadata(list(metadata)) if metadata else {}
        counts = {id: had[id].access_count + entry.access_count for id, entry in metadata.items()}
        super().update_metadata({id: replace(entry, access_count=counts[id]) for id, entry in metadata.items()})


class Leaving(InMemoryBackend):
    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        self.left = self.get_metadata(node_ids)
        super().delete_nodes(node_ids)

    def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        return {**super().get_metadata(node_ids), **getattr(self, "left", {})}


class Unmoved(InMemoryBackend):
    def find_candidates(
        self, node_types: Sequence[str], query_embedding: Sequence[float], *others: Any
    ) -> list[tuple[Node, float]]:
        return super().find_candidates(node_types, query_embedding, [], *others[1:])


class Halfway(InMemoryBackend):
    def apply_changeset(self, changeset: Changeset) -> None:
        for node in changeset.additions:
            super().apply_changeset(Changeset([node]))
        super().apply_changeset(changeset)


BROKEN: dict[Callable[[], InMemoryBackend], str] = {
    OneWay: "is on the end named second",
    GivenNotLinked: "returns the neighbours",
    Adding: "comes back as it was set",
    Leaving: "has no metadata",
    Unmoved: "the nearest of question and tags",
    Halfway: "of a refused changeset nothing is kept",
}


def test_the_contract_notices_a_backend_that_breaks_it() -> None:
    for broken, rule in BROKEN.items():
        with pytest.raises(AssertionError, match=rule):
            check_backend(broken)
    with pytest.raises(AssertionError, match="what was put is there"):
        check_backend(InMemoryBackend, reopened=lambda _: InMemoryBackend())


def grown(path: Path, history: list[Any]) -> list[tuple[Graph, Mapping[str, NodeMetadata], int]]:
    """Return the backend's content and the length of its file after each step."""
    backend = InMemoryBackend(path)
    held = [(backend.graph, backend.metadata, path.stat().st_size)]
    for step in history:
        if isinstance(step, Changeset):
            backend.apply_changeset(step)
        else:
            backend.delete_nodes(step)
        held.append((backend.graph, backend.metadata, path.stat().st_size))
    backend.close()
    return held


@settings(max_examples=15)
@given(histories)
def test_a_file_cut_off_anywhere_holds_what_was_acknowledged(history: list[Any]) -> None:
    path = Path("any.jsonl")
    path.unlink(missing_ok=True)
    held = grown(path, history)
    whole = path.read_bytes()
    for length in {size + more for *_, size in held for more in (-1, 0, 1) if 0 <= size + more <= len(whole)}:
        path.write_bytes(whole[:length])
        backend = InMemoryBackend(path)
        expected = [(graph, dict(metadata)) for graph, metadata, size in held if size <= length] or [(Graph(), {})]
        assert (backend.graph, dict(backend.metadata)) == expected[-1]
        backend.close()


def test_a_file_is_rewritten_when_most_of_it_is_outdated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.graph.persistence.SPARE_LINES", 10)
    path = tmp_path / "graph.jsonl"
    backend = InMemoryBackend(path)
    backend.apply_changeset(Changeset([fact("a"), Tag(id="t", label="tides")], [("t", "a", Edge.MEMBERSHIP)]))
    for number in range(20):
        backend.update_metadata({"a": NodeMetadata(access_count=number)})
    held = backend.graph, backend.metadata
    backend.close()
    again = InMemoryBackend(path)
    assert (again.graph, again.metadata) == held
    assert len(path.read_text().splitlines()) == 2
    again.apply_changeset(Changeset([fact("b")]))
    again.close()
    assert InMemoryBackend(path).graph.nodes.keys() == {"a", "b", "t"}


def test_a_file_is_refused_if_foreign_damaged_or_in_use(tmp_path: Path) -> None:
    for number, content in enumerate([b"my notes", b"my\nnotes", b"{}\n"]):
        path = tmp_path / f"{number}"
        path.write_bytes(content)
        with pytest.raises(ForeignFileError, match="not a graph"):
            InMemoryBackend(path).init()
        assert path.read_bytes() == content
    path = tmp_path / "damaged"
    for line in (b"{", b"[]", b'{"nodes":[{"type":"semantic","id":"a"}]}', b'{"nodes":[{"type":"song"}]}'):
        path.write_bytes(b'{"pieria_graph":1}\n' + line + b"\n")
        with pytest.raises(CorruptError, match="load"):
            InMemoryBackend(path).init()
    path = tmp_path / "new" / "graph.jsonl"
    code = f"from pieria.graph import InMemoryBackend; InMemoryBackend({str(path)!r}).init()"
    backend = InMemoryBackend(path)
    backend.init()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(BusyError, match="in use"):
        InMemoryBackend(path).init()
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "BusyError" in other.stderr
    backend.close()
    InMemoryBackend(path).init()


def test_a_change_that_cannot_be_saved_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notebook, "save", Mock(side_effect=StorageError("persist", "no space left")))
    backend = InMemoryBackend(Notebook())
    with pytest.raises(StorageError, match="no space"):
        backend.apply_changeset(Changeset([fact("a")]))
    assert backend.get_node("a") is None
    with pytest.raises(StorageError, match="cannot be written"):
        InMemoryBackend(tmp_path).init()
    path = tmp_path / "graph.jsonl"
    backend = InMemoryBackend(path)
    backend.apply_changeset(Changeset([fact("a")]))
    before = path.read_bytes()

    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(StorageError, match="no space left"):
        backend.apply_changeset(Changeset([fact("b")]))
    assert path.read_bytes() == before
    assert backend.get_node("b") is None


def test_options_name_a_persistence_and_nothing_unknown(tmp_path: Path) -> None:
    before, backend = InMemoryBackend(tmp_path / "graph.jsonl"), InMemoryBackend()
    before.apply_changeset(Changeset([fact("a")]))
    before.close()
    backend.apply_changeset(Changeset([fact("b")]))
    with pytest.raises(InputError, match="repo_id, persistence"):
        backend.init({"persistance": "graph.jsonl"})
    with pytest.raises(InputError, match="there are none"):
        backend.find_candidates(["semantic"], [1.0], [], None, {"limit": 3})
    with pytest.raises(InputError, match="load, save"):
        InMemoryBackend(3)  # type: ignore[arg-type]
    backend.init({"repo_id": "notes", "persistence": tmp_path / "graph.jsonl"})
    assert backend.graph.nodes.keys() == {"a"}


def test_a_node_is_found_by_the_vector_it_has_now() -> None:
    backend = InMemoryBackend()
    for nodes, near in (
        ([fact("a")], [1.0]),
        ([replace(fact("a"), embedding=[0.0, 1.0])], [0.0]),
        ([replace(fact("a"), embedding=[0.6, 0.8]), replace(fact("b"), embedding=None)], [0.6, 0.0]),
    ):
        backend.apply_changeset(Changeset(nodes))
        found = backend.find_candidates(["semantic"], [1.0, 0.0], [], {"params": {"semantic": {"base_floor": 1.0}}})
        assert [round(score, 3) for _, score in found] == near
    backend.delete_nodes(["a", "b"])
    assert backend.find_candidates(["semantic"], [1.0, 0.0]) == []
    backend.apply_changeset(Changeset([fact("a")]))
    with pytest.raises(InputError, match="as many numbers"):
        backend.find_candidates(["semantic"], [1.0, 0.0, 0.0])


def test_loading_and_saving_are_reported_as_spans(tmp_path: Path) -> None:
    told: list[tuple[str, Any]] = []
    detach = telemetry.attach(lambda event, _, metadata: told.append((".".join(event[1:]), metadata.get("repo_id"))))
    try:
        backend = InMemoryBackend(tmp_path / "graph.jsonl")
        backend.init({"repo_id": "notes"})
        backend.apply_changeset(Changeset([fact("a")]))
    finally:
        detach()
    stages = ["storage.load.start", "storage.load.stop", "storage.persist.start", "storage.persist.stop"]
    assert told == [(stage, "notes") for stage in stages]
