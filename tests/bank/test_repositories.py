"""A workspace's repositories: banks and backends under their ids, opened once, found, and closed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank, Event, Workspace, telemetry
from pieria.errors import BusyError, ClosedError, InputError, NotFoundError, RepoError
from pieria.graph import Changeset, Edge, InMemoryBackend, Node, NodeMetadata, Procedural, Semantic, Tag


def fact(id: str = "fact", text: str = "The ferry leaves at nine.") -> Semantic:
    return Semantic(id=id, proposition=text)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path, {"durability": "off"}) as opened:
        yield opened


KEEPERS: list[Callable[[], Any]] = [lambda: None, InMemoryBackend]
"""The two ways to keep a repository: a bank, and a caller's backend."""


# --- opening and closing


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_repository_is_opened_once_listed_and_closed(workspace: Workspace, keeper: Callable[[], Any]) -> None:
    workspace.open_repo("beta", backend=keeper())
    workspace.open_repo("alpha", backend=keeper())
    assert workspace.list_repos() == ["alpha", "beta"]
    with pytest.raises(RepoError, match="open already") as refused:
        workspace.open_repo("beta", backend=keeper())
    assert (refused.value.repo_id, refused.value.reason) == ("beta", "already_open")
    workspace.close_repo("beta")
    assert workspace.list_repos() == ["alpha"]
    workspace.open_repo("beta", backend=keeper())


class Told(InMemoryBackend):
    """A backend that reports when it is closed."""

    def __init__(self, name: str, closed: Callable[[str], object]) -> None:
        super().__init__()
        self.name = name
        self.closed = closed

    def close(self) -> None:
        self.closed(self.name)


def test_a_repository_that_another_closes_while_the_workspace_does_ends_that_for_no_other(tmp_path: Path) -> None:
    closed: list[str] = []
    workspace = Workspace(tmp_path, {"durability": "off"})
    for name in ("alpha", "beta", "gamma"):
        workspace.open_repo(name, backend=Told(name, closed.append))

    def close_another(event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        if event[1:] == ("repo", "close", "start") and about["repo_id"] == "alpha":
            with suppress(NotFoundError):
                workspace.close_repo("beta")

    detach = telemetry.attach(close_another)
    try:
        workspace.close()
    finally:
        detach()
    assert sorted(closed) == ["alpha", "beta", "gamma"]


def test_a_repository_that_cannot_be_closed_leaves_no_other_open(tmp_path: Path) -> None:
    closed: list[str] = []

    def close(name: str) -> None:
        if name == "alpha":
            raise OSError("alpha is stuck")
        closed.append(name)

    workspace = Workspace(tmp_path, {"durability": "off"})
    bank = workspace.open("beside")
    for name in ("alpha", "beta", "gamma"):
        workspace.open_repo(name, backend=Told(name, close))
    with pytest.raises(OSError, match="alpha is stuck"):
        workspace.close()
    assert closed == ["beta", "gamma"]
    workspace.close()
    with pytest.raises(ClosedError):
        bank.count()


USES: dict[str, Callable[[Workspace], object]] = {
    "close_repo": lambda w: w.close_repo("gone"),
    "get_graph": lambda w: w.get_graph("gone"),
    "get_node": lambda w: w.get_node("gone", "n"),
    "get_nodes_by_type": lambda w: w.get_nodes_by_type("gone", ["tag"]),
    "get_linked_nodes": lambda w: w.get_linked_nodes("gone", ["n"]),
    "get_metadata": lambda w: w.get_metadata("gone", ["n"]),
    "latest": lambda w: w.latest("gone", 3),
    "apply_changeset": lambda w: w.apply_changeset("gone", Changeset()),
    "delete_nodes": lambda w: w.delete_nodes("gone", ["n"]),
}


@pytest.mark.parametrize("use", USES)
def test_a_repository_that_is_not_open_is_not_found(workspace: Workspace, use: str) -> None:
    with pytest.raises(NotFoundError) as never:
        USES[use](workspace)
    assert (never.value.resource, never.value.id) == ("repo", "gone")
    workspace.open_repo("gone")
    workspace.close_repo("gone")
    with pytest.raises(NotFoundError):
        USES[use](workspace)


def test_a_repository_without_a_backend_is_the_bank_of_that_name(workspace: Workspace, tmp_path: Path) -> None:
    bank = workspace.open_repo("notes")
    assert isinstance(bank, Bank)
    workspace.apply_changeset("notes", Changeset([fact()]))
    with pieria.open("notes", data=tmp_path) as same:
        assert same.recall("when does the ferry leave?", kinds="semantic")[0].memory.id == "fact"
        same.remember("Ring twice.", id="ring", kind="procedural")
    assert [node.id for node in workspace.get_nodes_by_type("notes", ["procedural"])] == ["ring"]
    with pytest.raises(InputError, match="repo_id"):
        workspace.open_repo("no/bank")


def test_a_bank_that_was_closed_by_itself_is_open_no_more(workspace: Workspace) -> None:
    bank: Any = workspace.open_repo("notes")
    bank.close()
    assert workspace.list_repos() == []
    with pytest.raises(NotFoundError):
        workspace.get_node("notes", "n")
    assert workspace.open_repo("notes") is not bank


def test_of_many_threads_that_open_it_one_does(workspace: Workspace) -> None:
    def tried(_: int) -> bool:
        try:
            workspace.open_repo("notes")
        except RepoError:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(tried, range(6))) == 1


def test_closing_the_workspace_closes_them_all_and_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "graph.jsonl"
    with Workspace(tmp_path) as first:
        bank: Any = first.open_repo("notes")
        first.open_repo("kept", backend=InMemoryBackend(path))
        with pytest.raises(BusyError, match="in use"):
            InMemoryBackend(path).init()
    assert first.list_repos() == []
    with pytest.raises(ClosedError):
        bank.count()
    InMemoryBackend(path).init()
    for keeper in KEEPERS:
        with pytest.raises(ClosedError, match="workspace"):
            first.open_repo("late", backend=keeper())


def test_what_could_not_be_opened_may_be_tried_again(workspace: Workspace, tmp_path: Path) -> None:
    held = InMemoryBackend(tmp_path / "graph.jsonl")
    held.init()
    with pytest.raises(BusyError):
        workspace.open_repo("kept", backend=InMemoryBackend(tmp_path / "graph.jsonl"))
    held.close()
    workspace.open_repo("kept", backend=InMemoryBackend(tmp_path / "graph.jsonl"))


def test_repositories_and_workspaces_know_nothing_of_each_other(workspace: Workspace, tmp_path: Path) -> None:
    for id, keeper in (("a", None), ("b", None), ("c", InMemoryBackend()), ("d", InMemoryBackend())):
        workspace.open_repo(id, backend=keeper)
    workspace.apply_changeset("a", Changeset([fact()]))
    workspace.apply_changeset("c", Changeset([fact()]))
    assert [bool(workspace.get_node(id, "fact")) for id in "abcd"] == [True, False, True, False]
    with Workspace(tmp_path / "other") as other:
        other.open_repo("a")
        assert other.get_node("a", "fact") is None


# --- backends of the caller's


class Shelf(InMemoryBackend):
    """A backend that records its options."""

    def init(self, opts: Mapping[str, Any] | None = None) -> None:
        self.begun = dict(opts or {})


class Spare:
    """A backend with the ten callbacks and nothing else."""

    def __init__(self) -> None:
        self._kept = InMemoryBackend()
        for name in ("init", "apply_changeset", "delete_nodes", "find_candidates", "get_node", "get_linked_nodes"):
            setattr(self, name, getattr(self._kept, name))
        for name in ("get_nodes_by_type", "get_metadata", "update_metadata", "delete_metadata"):
            setattr(self, name, getattr(self._kept, name))


@pytest.mark.parametrize("given", [(Shelf, {"table": "nodes"}), {"module": Shelf, "opts": {"table": "nodes"}}])
def test_a_backend_may_be_a_class_with_its_options(workspace: Workspace, given: Any) -> None:
    backend = workspace.open_repo("notes", backend=given)
    assert isinstance(backend, Shelf)
    assert backend.begun == {"table": "nodes", "repo_id": "notes"}


@pytest.mark.parametrize("given", [Shelf, {"module": Shelf}, Shelf()])
def test_a_backend_may_come_without_options(workspace: Workspace, given: Any) -> None:
    backend = workspace.open_repo("notes", backend=given)
    assert isinstance(backend, Shelf)
    assert backend.begun == {"repo_id": "notes"}


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (3, "init, apply_changeset"),
        (object, "get_node"),
        ((Shelf,), "a class or object and its options"),
        ({"opts": {}}, "module and opts"),
        ((Shelf, [1]), "options by name"),
    ],
)
def test_what_is_no_backend_is_refused(workspace: Workspace, given: Any, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        workspace.open_repo("notes", backend=given)
    assert workspace.list_repos() == []


def test_a_backend_that_breaks_off_as_it_begins_leaves_nothing_open(workspace: Workspace) -> None:
    class Broken(Shelf):
        def init(self, opts: Mapping[str, Any] | None = None) -> None:
            raise ZeroDivisionError("no table")

    with pytest.raises(RepoError, match="no table") as refused:
        workspace.open_repo("notes", backend=Broken())
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    assert workspace.list_repos() == []


def test_a_file_keeps_a_repository_from_one_opening_to_the_next(workspace: Workspace, tmp_path: Path) -> None:
    given = (InMemoryBackend, {"persistence": tmp_path / "alpha.jsonl"})
    workspace.open_repo("alpha", backend=given)
    workspace.apply_changeset("alpha", Changeset([fact()]))
    workspace.close_repo("alpha")
    workspace.open_repo("alpha", backend=given)
    assert workspace.get_node("alpha", "fact") is not None


# --- the graph of a repository


@pytest.mark.parametrize("keeper", [*KEEPERS, Spare])
def test_the_functions_of_the_graph_reach_whatever_keeps_it(workspace: Workspace, keeper: Callable[[], Any]) -> None:
    workspace.open_repo("notes", backend=keeper())
    tag = Tag(id="tag", label="Ferries")
    changeset = Changeset([fact(), tag], [("tag", "fact", Edge.MEMBERSHIP)], {"fact": NodeMetadata(access_count=2)})
    workspace.apply_changeset("notes", changeset)
    held = workspace.get_node("notes", "fact")
    assert isinstance(held, Semantic)
    assert held.links[Edge.MEMBERSHIP] == {"tag"}
    assert [node.id for node in workspace.get_nodes_by_type("notes", ["tag"])] == ["tag"]
    assert [node.id for node in workspace.get_linked_nodes("notes", ["tag"])] == ["fact"]
    assert workspace.get_linked_nodes("notes", ["tag"], Edge.SIBLING) == []
    assert workspace.get_metadata("notes", ["fact"])["fact"].access_count == 2
    assert workspace.get_graph("notes").by_tag == {"ferries": {"tag"}}
    workspace.delete_nodes("notes", ["fact"])
    assert workspace.get_node("notes", "fact") is None
    assert workspace.get_graph("notes").nodes.keys() == {"tag"}


@pytest.mark.parametrize("keeper", [*KEEPERS, Spare])
def test_the_latest_knowledge_comes_first_and_steps_are_no_knowledge(
    workspace: Workspace, keeper: Callable[[], Any]
) -> None:
    workspace.open_repo("notes", backend=keeper())
    nodes: Sequence[Node] = [fact("a"), Procedural(id="b", instruction="Ring twice."), Tag(id="t", label="tides")]
    for node in (*nodes, fact("c")):
        workspace.apply_changeset("notes", Changeset([node], [], {node.id: NodeMetadata()}))
    assert [node.id for node, _ in workspace.latest("notes", 2)] == ["c", "b"]
    assert [node.id for node, _ in workspace.latest("notes", 9, ["tag"])] == ["t"]
    assert isinstance(workspace.latest("notes", 1)[0][1], NodeMetadata)
    with pytest.raises(InputError, match="top_k"):
        workspace.latest("notes", -1)


def thinking(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
    return "thought"


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def test_a_repository_may_have_models_of_its_own(workspace: Workspace) -> None:
    own: Any = workspace.open_repo("own", llm=thinking, embedding=lengths)
    usual: Any = workspace.open_repo("usual")
    workspace.apply_changeset("own", Changeset([fact()]))
    assert own.sync()
    held = workspace.get_node("own", "fact")
    assert held is not None
    assert held.embedding is not None
    assert len(held.embedding) == 2
    assert (type(own.mind).__name__, type(usual.mind).__name__) == ("LLMMind", "RuleMind")
    workspace.close_repo("own")
    with pytest.raises(ClosedError):
        own.count()


def test_opening_writing_and_closing_are_told_as_spans(workspace: Workspace) -> None:
    told: list[tuple[str, Any, Any]] = []

    def listen(event: tuple[str, ...], measured: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        if event[-1] == "stop" and event[1] in ("repo", "graph"):
            told.append((".".join(event[1:-1]), metadata["repo_id"], measured.get("nodes_added")))
            assert event[1] != "graph" or measured["links_added"] == 1

    detach = telemetry.attach(listen)
    try:
        workspace.open_repo("notes")
        changeset = Changeset([fact("a"), fact("b")], [("a", "b", Edge.SIBLING)])
        workspace.apply_changeset("notes", changeset)
        workspace.close_repo("notes")
    finally:
        detach()
    assert told == [("repo.open", "notes", None), ("graph.apply_changeset", "notes", 2), ("repo.close", "notes", None)]


# --- its events


class Listening:
    def __init__(self) -> None:
        self.heard: list[tuple[str, Event]] = []

    def notify(self, repo_id: str, event: Event) -> None:
        self.heard.append((repo_id, event))


class Torn(InMemoryBackend):
    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        raise ZeroDivisionError("torn")


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_notifier_is_told_of_each_write_once_and_of_what_was_refused(
    tmp_path: Path, keeper: Callable[[], Any]
) -> None:
    wrong: Any = Changeset(["no node"])  # type: ignore[list-item]
    with Workspace(tmp_path, notifier=(listening := Listening())) as opened:
        opened.open_repo("notes", backend=keeper())
        opened.apply_changeset("notes", changeset := Changeset([fact()]))
        opened.delete_nodes("notes", ["fact"])
        with pytest.raises(InputError) as refused:
            opened.apply_changeset("notes", wrong)
    assert [(id, event.name, event.payload) for id, event in listening.heard] == [
        ("notes", "changeset_applied", {"changeset": changeset}),
        ("notes", "nodes_deleted", {"node_ids": ["fact"]}),
        ("notes", "write_failed", {"operation": "apply_changeset", "reason": refused.value}),
    ]


def test_a_repository_may_have_a_notifier_of_its_own(tmp_path: Path) -> None:
    shared, own = Listening(), Listening()
    with Workspace(tmp_path, notifier=shared) as opened:
        for id, keeper in (("bank", None), ("torn", Torn())):
            opened.open_repo(id, backend=keeper, notifier=own)
            opened.apply_changeset(id, Changeset([fact()]))
        with pytest.raises(ZeroDivisionError):
            opened.delete_nodes("torn", ["fact"])
    assert [event.name for _, event in shared.heard] == []
    assert sorted((id, event.name) for id, event in own.heard) == [
        ("bank", "changeset_applied"),
        ("torn", "changeset_applied"),
        ("torn", "write_crashed"),
    ]


def test_what_is_written_through_the_graph_of_a_bank_is_told_as_well(tmp_path: Path) -> None:
    with Workspace(tmp_path, notifier=(listening := Listening())) as opened:
        opened.open("notes").graph.apply_changeset(Changeset([fact()]))
    assert [event.name for _, event in listening.heard] == ["changeset_applied"]
