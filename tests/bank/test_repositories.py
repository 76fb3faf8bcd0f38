"""A workspace's repositories: banks and backends under their ids, opened once, found, and closed."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from tests.waiting import soon

import pieria
from pieria import Bank, Event, Workspace, telemetry
from pieria.errors import BusyError, ClosedError, InputError, NotFoundError, RepoError, StorageError
from pieria.graph import Changeset, Edge, InMemoryBackend, NodeMetadata, Procedural, Semantic, Tag

FERRY = Semantic(id="fact", proposition="The ferry leaves at nine.")
Keeper = Callable[[], Any]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path) as opened:
        yield opened


CALLBACKS = """
    init apply_changeset delete_nodes find_candidates get_node get_linked_nodes get_nodes_by_type get_metadata
    update_metadata delete_metadata
"""


class Spare:
    """A backend with the ten callbacks and nothing else."""

    def __init__(self) -> None:
        kept = InMemoryBackend()
        for name in CALLBACKS.split():
            setattr(self, name, getattr(kept, name))


KEEPERS: dict[str, Keeper] = {"bank": lambda: None, "memory": InMemoryBackend, "spare": Spare}
"""The ways to keep a repository: a bank, and backends of the caller."""


def test_repository_is_opened_once_listed_and_closed(workspace: Workspace) -> None:
    for name, keeper in KEEPERS.items():
        workspace.open_repo(name, backend=keeper())
        with pytest.raises(RepoError, match="open already") as refused:
            workspace.open_repo(name, backend=keeper())
        assert (refused.value.repo_id, refused.value.reason) == (name, "already_open")
    workspace.apply_changeset("memory", Changeset([FERRY]))
    assert [bool(workspace.get_node(name, "fact")) for name in KEEPERS] == [False, True, False]
    assert workspace.list_repos() == sorted(KEEPERS)
    for name, keeper in KEEPERS.items():
        workspace.close_repo(name)
        assert name not in workspace.list_repos()
        workspace.open_repo(name, backend=keeper())


class Told(InMemoryBackend):
    """A backend that reports when it is closed."""

    def __init__(self, name: str, closed: Callable[[str], object]) -> None:
        super().__init__()
        self.name = name
        self.closed = closed

    def close(self) -> None:
        self.closed(self.name)


def test_repository_closed_by_another_stops_no_closing(tmp_path: Path) -> None:
    closed: list[str] = []
    workspace = Workspace(tmp_path)
    for name in ("alpha", "beta", "gamma"):
        workspace.open_repo(name, backend=Told(name, closed.append))

    def close_another(event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        if event[1:] == ("repo", "close", "start") and about["repo_id"] == "alpha":
            with suppress(NotFoundError):
                workspace.close_repo("beta")

    detach = telemetry.attach(close_another)
    workspace.close()
    detach()
    assert sorted(closed) == ["alpha", "beta", "gamma"]


def test_repository_that_cannot_be_closed_leaves_no_other_open(tmp_path: Path) -> None:
    closed: list[str] = []

    def close(name: str) -> None:
        if name == "alpha":
            raise OSError("alpha is stuck")
        closed.append(name)

    workspace = Workspace(tmp_path)
    bank = workspace.open("beside")
    for name in ("alpha", "beta", "gamma"):
        workspace.open_repo(name, backend=Told(name, close))
    with pytest.raises(OSError, match="alpha is stuck"):
        workspace.close()
    assert closed == ["beta", "gamma"]
    workspace.close()
    with pytest.raises(ClosedError):
        bank.count()


USES: dict[str, tuple[Any, ...]] = {
    "close_repo": (), "get_graph": (), "get_node": ("n",), "get_nodes_by_type": (["tag"],), "latest": (3,),
    "get_linked_nodes": (["n"],), "get_metadata": (["n"],), "apply_changeset": (Changeset(),), "delete_nodes": (["n"],),
    "apply_changeset_async": (Changeset(),), "delete_nodes_async": (["n"],),
}  # fmt: skip


def test_repository_that_is_not_open_is_not_found(workspace: Workspace) -> None:
    for is_closed in (False, True):
        if is_closed:
            workspace.open_repo("gone")
            workspace.close_repo("gone")
        for use, given in USES.items():
            with pytest.raises(NotFoundError) as never:
                getattr(workspace, use)("gone", *given)
            assert (never.value.resource, never.value.id) == ("repo", "gone"), use


def test_repository_without_a_backend_is_the_bank_of_its_name(workspace: Workspace, tmp_path: Path) -> None:
    bank = workspace.open_repo("notes")
    assert isinstance(bank, Bank)
    workspace.apply_changeset("notes", Changeset([FERRY]))
    with pieria.open("notes", data=tmp_path) as same:
        assert same.recall("when does the ferry leave?", kinds="semantic")[0].memory.id == "fact"
        same.remember("Ring twice.", id="ring", kind="procedural")
    assert [node.id for node in workspace.get_nodes_by_type("notes", ["procedural"])] == ["ring"]
    with pytest.raises(InputError, match="repo_id"):
        workspace.open_repo("no/bank")
    # A bank that was closed by itself is open no more.
    bank.close()
    assert workspace.list_repos() == []
    with pytest.raises(NotFoundError):
        workspace.get_node("notes", "n")
    assert workspace.open_repo("notes") is not bank


def test_one_of_many_threads_opens_it(workspace: Workspace) -> None:
    with ThreadPoolExecutor(6) as threads:
        tried = [threads.submit(workspace.open_repo, "notes") for _ in range(6)]
    failed = [one.exception() for one in tried if one.exception()]
    assert [type(problem) for problem in failed] == [RepoError] * 5


def test_file_keeps_a_repository_and_is_held_while_open(tmp_path: Path) -> None:
    path = tmp_path / "graph.jsonl"
    given = (InMemoryBackend, {"persistence": path})
    with Workspace(tmp_path) as first:
        bank: Any = first.open_repo("notes")
        first.open_repo("kept", backend=given)
        first.apply_changeset("kept", Changeset([FERRY]))
        with pytest.raises(BusyError, match="in use"):
            InMemoryBackend(path).init()
        with Workspace(tmp_path / "other") as other:
            with pytest.raises(BusyError):
                other.open_repo("kept", backend=given)
            first.close_repo("kept")
            other.open_repo("kept", backend=given)
            assert other.get_node("kept", "fact") is not None
    assert first.list_repos() == []
    with pytest.raises(ClosedError):
        bank.count()
    InMemoryBackend(path).init()
    for keeper in KEEPERS.values():
        with pytest.raises(ClosedError, match="workspace"):
            first.open_repo("late", backend=keeper())


class Shelf(InMemoryBackend):
    """A backend that records its options."""

    def init(self, opts: Mapping[str, Any] | None = None) -> None:
        self.begun = dict(opts or {})


def test_backend_may_be_a_class_or_object_with_options(workspace: Workspace) -> None:
    opts = {"table": "nodes"}
    plain: list[Any] = [Shelf, {"module": Shelf}, Shelf()]
    for number, given in enumerate([(Shelf, opts), {"module": Shelf, "opts": opts}, *plain]):
        backend = workspace.open_repo(f"notes{number}", backend=given)
        assert isinstance(backend, Shelf)
        assert backend.begun == {**({} if given in plain else opts), "repo_id": f"notes{number}"}


def test_bad_backends_are_refused(workspace: Workspace) -> None:
    class Broken(Shelf):
        def init(self, opts: Mapping[str, Any] | None = None) -> None:
            raise ZeroDivisionError("no table")

    bad: dict[str, Any] = {
        "init, apply_changeset": 3, "get_node": object, "a class or object and its options": (Shelf,),
        "module and opts": {"opts": {}}, "options by name": (Shelf, [1]),
    }  # fmt: skip
    for wrong, given in bad.items():
        with pytest.raises(InputError, match=wrong):
            workspace.open_repo("notes", backend=given)
    with pytest.raises(RepoError, match="no table") as refused:
        workspace.open_repo("notes", backend=Broken())
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    assert workspace.list_repos() == []


@pytest.mark.parametrize("keeper", KEEPERS)
def test_functions_of_the_graph_reach_every_keeper(workspace: Workspace, keeper: str) -> None:
    workspace.open_repo("notes", backend=KEEPERS[keeper]())
    tag = Tag(id="tag", label="Ferries")
    changeset = Changeset([FERRY, tag], [("tag", "fact", Edge.MEMBERSHIP)], {"fact": NodeMetadata(access_count=2)})
    workspace.apply_changeset("notes", changeset)
    held = workspace.get_node("notes", "fact")
    assert isinstance(held, Semantic) and held.links[Edge.MEMBERSHIP] == {"tag"}
    assert [node.id for node in workspace.get_nodes_by_type("notes", ["tag"])] == ["tag"]
    assert [node.id for node in workspace.get_linked_nodes("notes", ["tag"])] == ["fact"]
    assert workspace.get_linked_nodes("notes", ["tag"], Edge.SIBLING) == []
    assert workspace.get_metadata("notes", ["fact"])["fact"].access_count == 2
    assert workspace.get_graph("notes").by_tag == {"ferries": {"tag"}}
    workspace.delete_nodes("notes", ["fact"])
    assert workspace.get_node("notes", "fact") is None
    assert workspace.get_graph("notes").nodes.keys() == {"tag"}
    # The latest knowledge comes first. Tags are no knowledge.
    for node in (FERRY, Procedural(id="b", instruction="Ring twice."), Tag(id="t", label="tides")):
        workspace.apply_changeset("notes", Changeset([node], [], {node.id: NodeMetadata()}))
    assert [node.id for node, _ in workspace.latest("notes", 2)] == ["b", "fact"]
    assert [node.id for node, _ in workspace.latest("notes", 1, ["tag"])] == ["t"]
    assert isinstance(workspace.latest("notes", 1)[0][1], NodeMetadata)
    with pytest.raises(InputError, match="top_k"):
        workspace.latest("notes", -1)


class Noting(InMemoryBackend):
    """A backend that notes its writes and its end. It writes when the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []
        self.gate = threading.Event()

    def apply_changeset(self, changeset: Changeset) -> None:
        assert self.gate.wait(30)
        super().apply_changeset(changeset)
        self.noted += changeset.nodes()

    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        self.noted += [f"-{id}" for id in node_ids]

    def close(self) -> None:
        self.noted.append("closed")


def test_writes_behind_keep_their_order_and_closing_waits(workspace: Workspace) -> None:
    outcomes: SimpleQueue[Any] = SimpleQueue()
    backend = Noting()
    workspace.open_repo("notes", backend=backend)
    for number in range(20):
        node = Tag(id=f"{number}", label="tides")
        workspace.apply_changeset_async("notes", Changeset([node]), outcomes.put)
        workspace.delete_nodes_async("notes", node.id, outcomes.put)
    closing = threading.Thread(target=workspace.close_repo, args=("notes",))
    closing.start()
    soon(lambda: workspace.list_repos() == [])
    backend.gate.set()
    closing.join()
    assert backend.noted == [*(f"{sign}{number}" for number in range(20) for sign in ("", "-")), "closed"]
    told = [outcomes.get(timeout=30) for _ in range(40)]
    assert sorted(told) == ["applied"] * 20 + ["deleted"] * 20


ENDS = """
import sys, pieria
from pieria.graph import Changeset, Tag
workspace = pieria.Workspace(sys.argv[1])
workspace.open_repo("notes")
for number in range(100):
    workspace.apply_changeset_async("notes", Changeset([Tag(id=f"t{number}", label=f"tide {number}")]))
"""


@pytest.mark.slow
def test_program_that_ends_unclosed_makes_its_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", ENDS, str(tmp_path)], check=True, timeout=60)
    with Workspace(tmp_path) as later:
        later.open_repo("notes")
        assert len(later.get_graph("notes").nodes) == 100


@pytest.mark.parametrize("keeper", KEEPERS)
def test_writes_behind_reach_every_keeper_or_report_why_not(workspace: Workspace, keeper: str) -> None:
    outcomes: SimpleQueue[Any] = SimpleQueue()
    workspace.open_repo("notes", backend=KEEPERS[keeper]())
    tags = Changeset([FERRY, Tag(id="tag", label="tides")])
    given: list[tuple[Callable[..., None], Any]] = [
        (workspace.apply_changeset_async, tags), (workspace.delete_nodes_async, ["tag"]),
        (workspace.apply_changeset_async, Changeset(["no node"])),  # type: ignore[list-item]
    ]  # fmt: skip
    told = []
    for write, what in given:
        write("notes", what, outcomes.put)
        told.append(outcomes.get(timeout=30))
        with pytest.raises(InputError, match="callback"):
            write("notes", what, "no function")
    assert (told[:2], type(told[2])) == (["applied", "deleted"], InputError)
    assert workspace.get_graph("notes").nodes.keys() == {"fact"}


def test_repository_may_have_models_of_its_own(workspace: Workspace) -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    own: Any = workspace.open_repo("own", llm=lambda messages, schema: "thought", embedding=lengths)
    usual: Any = workspace.open_repo("usual")
    workspace.apply_changeset("own", Changeset([FERRY]))
    assert own.sync()
    held = workspace.get_node("own", "fact")
    assert held is not None and held.embedding is not None and len(held.embedding) == 2
    assert (type(own.mind).__name__, type(usual.mind).__name__) == ("LLMMind", "RuleMind")
    workspace.close_repo("own")
    with pytest.raises(ClosedError):
        own.count()


def test_opening_writing_and_closing_are_spans_of_telemetry(workspace: Workspace) -> None:
    told: list[tuple[str, Any, Any, Any]] = []

    def listen(event: tuple[str, ...], measured: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        if event[-1] == "stop" and event[1] in ("repo", "graph"):
            counts = measured.get("nodes_added"), measured.get("links_added")
            told.append((".".join(event[1:-1]), metadata["repo_id"], *counts))

    detach = telemetry.attach(listen)
    workspace.open_repo("notes")
    tag = Tag(id="t", label="tides")
    workspace.apply_changeset("notes", Changeset([FERRY, tag], [("t", "fact", Edge.MEMBERSHIP)]))
    workspace.close_repo("notes")
    detach()
    changeset = ("graph.apply_changeset", "notes", 2, 1)
    assert told == [("repo.open", "notes", None, None), changeset, ("repo.close", "notes", None, None)]


class Listening:
    def __init__(self) -> None:
        self.heard: list[tuple[str, Event]] = []

    def notify(self, repo_id: str, event: Event) -> None:
        self.heard.append((repo_id, event))


class Torn(InMemoryBackend):
    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        raise ZeroDivisionError("torn")


@pytest.mark.parametrize("keeper", ["bank", "memory"])
def test_notifier_hears_of_each_write_once_and_of_refusals(tmp_path: Path, keeper: str) -> None:
    wrong: Any = Changeset(["no node"])  # type: ignore[list-item]
    with Workspace(tmp_path, notifier=(listening := Listening())) as opened:
        opened.open_repo("notes", backend=KEEPERS[keeper]())
        opened.apply_changeset("notes", changeset := Changeset([FERRY]))
        opened.delete_nodes("notes", ["fact"])
        with pytest.raises(InputError) as refused:
            opened.apply_changeset("notes", wrong)
    assert [(id, event.name, event.payload) for id, event in listening.heard] == [
        ("notes", "changeset_applied", {"changeset": changeset}),
        ("notes", "nodes_deleted", {"node_ids": ["fact"]}),
        ("notes", "write_failed", {"operation": "apply_changeset", "reason": refused.value}),
    ]


def test_repository_may_have_a_notifier_of_its_own(tmp_path: Path) -> None:
    shared, own = Listening(), Listening()
    with Workspace(tmp_path, notifier=shared) as opened:
        for id, keeper in (("bank", None), ("torn", Torn())):
            opened.open_repo(id, backend=keeper, notifier=own)
            opened.apply_changeset(id, Changeset([FERRY]))
        with pytest.raises(StorageError, match="the backend Torn failed with ZeroDivisionError") as failed:
            opened.delete_nodes("torn", ["fact"])
        assert (failed.value.operation, type(failed.value.__cause__)) == ("delete_nodes", ZeroDivisionError)
        assert shared.heard == []
        opened.open("notes").graph.apply_changeset(Changeset([FERRY]))
    assert [event.name for _, event in shared.heard] == ["changeset_applied"]
    heard = sorted(f"{id} {event.name}" for id, event in own.heard)
    assert heard == ["bank changeset_applied", "torn changeset_applied", "torn write_crashed"]
