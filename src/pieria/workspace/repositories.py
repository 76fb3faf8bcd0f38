"""Repositories: banks and backends that are open under their ids, and the graph of each.

Exists so that whoever speaks of nodes names a repository and need not know what keeps it. What a graph can do is the
backend's business, and a bank is the backend where none is given.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.bank import Bank
from pieria.errors import ClosedError, InputError, NotFoundError, PieriaError, RepoError, UnavailableError
from pieria.notifier import Tell, telling
from pieria.record import check
from pieria.record.banks import check_bank_name
from pieria.workspace.graph_care import GraphCare

if TYPE_CHECKING:
    from pieria.bank.results.general import IngestReceipt
    from pieria.config import Config
    from pieria.graph import Changeset, Edge, Graph, GraphBackend, Node, NodeMetadata
    from pieria.models import Embedder
    from pieria.models.meter import Tally
    from pieria.models.mind import Mind
    from pieria.models.minds.llm import OwnPrompt
    from pieria.notifier import Event
    from pieria.sessions.opened import Judging, OpenSessions

KNOWLEDGE = ("semantic", "procedural")


class Serving(NamedTuple):
    """Who serves one question: who judges, and what that costs; who embeds, if anybody does; who hears of it; and
    whether what is found counts as used.
    """

    mind: Mind
    tally: Tally
    embedder: Embedder | None
    tell: Callable[[Event], object]
    counts_uses: bool


class Repository(NamedTuple):
    """What is open under an id: a bank, or a backend of the caller's; how it is closed, whom its writes are told, and
    what it is configured by.

    A bank tells of what is written to it by itself.
    """

    backend: GraphBackend
    apply: Callable[[Changeset], None]
    bank: Bank | None
    close: Callable[[], None]
    tell: Tell
    sessions: Callable[[], OpenSessions]
    serving: Callable[[], Serving]
    id: str = ""
    config: Config | None = None

    @property
    def is_open(self) -> bool:
        """A bank may be closed by whoever it was handed to."""
        return self.bank is None or not self.bank._closed


class Repositories(GraphCare):
    """The functions of a workspace that take a repository's id. Threads may share them."""

    _closed: bool

    def __init__(self) -> None:
        super().__init__()
        self._repositories: dict[str, Repository] = {}
        self._opening: set[str] = set()
        self._repositories_lock = threading.Lock()

    def open_repo(
        self,
        repo_id: str,
        backend: object = None,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
        prompts: Mapping[str, OwnPrompt] | None = None,
    ) -> object:
        """Opens the bank of that name, making it where there is none, and returns it.

        `backend` keeps the graph in the bank's place, and is what is returned: an object, or a class or object with
        its options, as a pair or a mapping with `module` and `opts`. `config`, `llm`, `embedding` and `notifier` are
        those of this repository, where they are not the workspace's, and `prompts` gives steps a prompt of your own.
        Raises `RepoError` where it is open already.
        """
        if self._closed:
            raise ClosedError("workspace")
        id = check.name(repo_id, "repo_id") if backend is not None else check_bank_name(repo_id, "repo_id")
        own = {"config": config, "llm": llm, "embedder": embedding, "notifier": notifier, "prompts": prompts}
        given = {name: value for name, value in own.items() if value is not None}
        backend, given = self._backend_of(backend, given)
        with self._opened_once(id), telemetry.during("repo.open", repo_id=id):
            opened = self._bank_under(id, given) if backend is None else self._backend_under(id, backend, given)
            opened = opened._replace(id=id, config=self._config_of(config))
            with self._repositories_lock:
                self._repositories[id] = opened
        return opened.backend if opened.bank is None else opened.bank

    def close_repo(self, repo_id: str) -> None:
        """Closes its bank or backend. Raises `NotFoundError` where it is not open, as all that follow do."""
        with self._repositories_lock:
            closing = self._repositories.pop(repo_id, None) if isinstance(repo_id, str) else None
        if closing is None or not closing.is_open:
            raise _not_open(repo_id)
        _close(closing)

    def list_repos(self) -> list[str]:
        """The ids of those that are open, in their order."""
        with self._repositories_lock:
            return sorted(id for id, repository in self._repositories.items() if repository.is_open)

    def get_graph(self, repo_id: str) -> Graph:
        """All of it, as a value."""
        from pieria.graph.callback_reads import whole

        return whole(self._backend(repo_id))

    def get_node(self, repo_id: str, node_id: str) -> Node | None:
        return self._backend(repo_id).get_node(node_id)

    def get_nodes_by_type(self, repo_id: str, types: Sequence[str]) -> list[Node]:
        return list(self._backend(repo_id).get_nodes_by_type(types))

    def get_linked_nodes(self, repo_id: str, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        """The neighbours of these nodes, by ties of that type or of any."""
        return list(self._backend(repo_id).get_linked_nodes(node_ids, edge_type))

    def get_metadata(self, repo_id: str, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        return dict(self._backend(repo_id).get_metadata(node_ids))

    def latest(self, repo_id: str, top_k: int, types: Sequence[str] = KNOWLEDGE) -> list[tuple[Node, NodeMetadata]]:
        """The nodes that came in last, with their metadata; what has none is left out."""
        from pieria.graph.callback_reads import newest

        return newest(self._backend(repo_id), check.whole(top_k, "top_k"), types)

    def apply_changeset(self, repo_id: str, changeset: Changeset) -> None:
        """When this returns, all of it is written."""
        self._repository(repo_id).apply(changeset)

    def ingest(self, repo_id: str, trajectory: Mapping[str, Any]) -> IngestReceipt:
        """Learns from what was lived through elsewhere, as `Bank.ingest` does: once, with a receipt."""
        bank = self._repository(repo_id).bank
        if bank is None:
            raise UnavailableError("repo_id", "receipts are kept by banks alone", hint="Open it without a backend.")
        return bank.ingest(trajectory)

    def delete_nodes(self, repo_id: str, node_ids: Sequence[str]) -> None:
        """With their metadata and every tie to them."""
        found = self._repository(repo_id)
        ids = [node_ids] if isinstance(node_ids, str) else list(node_ids)
        with telling(found.tell, "delete_nodes", "nodes_deleted", node_ids=ids):
            found.backend.delete_nodes(ids)

    def _backend(self, repo_id: str) -> GraphBackend:
        return self._repository(repo_id).backend

    def _repository(self, repo_id: str) -> Repository:
        with self._repositories_lock:
            found = self._repositories.get(repo_id) if isinstance(repo_id, str) else None
        if found is None or not found.is_open:
            raise _not_open(repo_id)
        return found

    @contextmanager
    def _opened_once(self, id: str) -> Iterator[None]:
        """While one thread opens it, another finds it open already."""
        with self._repositories_lock:
            held = self._repositories.get(id)
            if id in self._opening or (held is not None and held.is_open):
                hint = "Use it as it is, or close it first: close_repo."
                raise RepoError(id, "already_open", hint=hint)
            self._opening.add(id)
        try:
            yield
        finally:
            with self._repositories_lock:
                self._opening.discard(id)

    def _close_repositories(self) -> None:
        """All of them, in their order, whatever one of them raises when it is closed."""
        with self._repositories_lock:
            closing = [repository for _, repository in sorted(self._repositories.items(), reverse=True)]
            self._repositories.clear()
        with ExitStack() as stack:
            for repository in closing:
                stack.callback(_close, repository)

    def _bank_under(self, id: str, own: Mapping[str, Any]) -> Repository:
        """The bank of that name, with models of its own where they are given."""
        raise NotImplementedError

    def _judging(self, id: str, own: Mapping[str, Any]) -> Judging:
        """What gives a session of the repository those who serve it."""
        raise NotImplementedError

    def _serving(self, id: str, own: Mapping[str, Any]) -> Callable[[], Serving]:
        """What gives each question to the repository those who serve it."""
        raise NotImplementedError

    def _config_of(self, own: object) -> Config | None:
        """A repository's own configuration, or else that of the workspace, if there is one."""
        raise NotImplementedError

    def _teller(self, id: str, notifier: object) -> Tell:
        """What tells the notifier, or else that of the workspace, if there is one."""
        raise NotImplementedError

    def _backend_of(self, backend: object, own: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
        """What keeps the graph: as it is given, or else as the configuration has it."""
        raise NotImplementedError

    def _backend_under(self, id: str, backend: object, own: Mapping[str, Any]) -> Repository:
        """With sessions that end with the process, for nobody else knows of them."""
        from pieria.bank.graph.verbs import applying
        from pieria.sessions.log import MemoryLog
        from pieria.sessions.opened import OpenSessions

        tell = self._teller(id, own.get("notifier"))
        made = _begun(id, backend)
        close = getattr(made, "close", None)

        def apply(changeset: Changeset) -> None:
            with applying(id, tell, changeset):
                made.apply_changeset(changeset)

        sessions = OpenSessions(id, made, MemoryLog(apply), self._judging(id, own))

        def close_all() -> None:
            sessions.close()
            if callable(close):
                close()

        return Repository(made, apply, None, close_all, tell, lambda: sessions, self._serving(id, own))


def _close(repository: Repository) -> None:
    """Another thread may have closed its bank meanwhile."""
    if not repository.is_open:
        return
    with telemetry.during("repo.close", repo_id=repository.id):
        repository.close()


def _begun(id: str, backend: object) -> GraphBackend:
    from pieria.graph import GraphBackend

    module, opts = _module_of(backend)
    made = module() if isinstance(module, type) else module
    lacking = [name for name in vars(GraphBackend) if name[0] != "_" and not callable(getattr(made, name, None))]
    if lacking:
        hint = "pieria.graph.GraphBackend says what each is to do."
        raise InputError("backend", f"an object with {', '.join(lacking)}", made, hint=hint)
    try:
        made.init({**opts, "repo_id": id})
    except PieriaError:
        raise
    except Exception as problem:
        raise RepoError(id, f"its backend could not begin: {problem}") from problem
    begun: GraphBackend = made
    return begun


def _module_of(backend: object) -> tuple[Any, Mapping[str, Any]]:
    """What keeps the graph, and its options."""
    if isinstance(backend, Mapping):
        unknown = backend.keys() - {"module", "opts"}
        if unknown or "module" not in backend:
            raise InputError("backend", "a mapping with module and opts", sorted(map(str, backend)))
        module, opts = backend["module"], backend.get("opts") or {}
    elif isinstance(backend, tuple | list):
        if len(backend) != 2:
            raise InputError("backend", "a class or object and its options", backend)
        module, opts = backend
    else:
        return backend, {}
    if not isinstance(opts, Mapping):
        raise InputError("backend", "options by name", opts)
    return module, opts


def _not_open(repo_id: object) -> NotFoundError:
    return NotFoundError("repo", repo_id, hint="`open_repo` opens it, and `list_repos` names those that are open.")
