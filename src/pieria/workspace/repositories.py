"""Repositories: banks and graph backends that are open under their ids.

Code that works on nodes names a repository, and need not know what stores it. Without a backend, a bank stores the
graph.
"""

from __future__ import annotations

import os
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
from pieria.runtime import forks
from pieria.runtime.fair_lock import Turns
from pieria.workspace.behind import Callback, checked_callback, run_behind
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
    """What serves one question: the mind and its costs, the embedder if any, the notifier, and whether results count
    as used.
    """

    mind: Mind
    tally: Tally
    embedder: Embedder | None
    tell: Callable[[Event], object]
    counts_uses: bool


class Repository(NamedTuple):
    """What is open under an id: a bank, or a caller's backend; with its close function, notifier and configuration.

    A bank sends its own notifications.
    """

    backend: GraphBackend
    apply: Callable[[Changeset], None]
    bank: Bank | None
    close: Callable[[], None]
    tell: Tell
    sessions: Callable[[], OpenSessions]
    serving: Callable[[], Serving]
    writes: Turns
    """The queue of writes in the background."""
    id: str = ""
    config: Config | None = None

    @property
    def is_open(self) -> bool:
        """Return whether it is open. A caller may close the bank directly."""
        return self.bank is None or not self.bank.core.closed


class Repositories(GraphCare):
    """The workspace's functions that take a repository's id. Threads may share them."""

    _closed: bool

    def __init__(self) -> None:
        super().__init__()
        self._repositories: dict[str, Repository] = {}
        self._opening: set[str] = set()
        self._process = os.getpid()
        self._own_lock = threading.Lock()

    @property
    def _repositories_lock(self) -> threading.Lock:
        """The lock. Raises `ForkedError` in a forked child, where it may be locked for ever."""
        self._check_process()
        return self._own_lock

    @property
    def _is_inherited(self) -> bool:
        return self._process != os.getpid()

    def _check_process(self) -> None:
        forks.check(self._process, "workspace")

    def _check_open(self) -> None:
        self._check_process()
        if self._closed:
            raise ClosedError("workspace")

    def open_repo(
        self,
        repo_id: str,
        backend: GraphBackend | type[GraphBackend] | tuple[object, Mapping[str, Any]] | Mapping[str, Any] | None = None,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
        prompts: Mapping[str, OwnPrompt] | None = None,
    ) -> Bank | GraphBackend:
        """Open the bank of that name, create it if there is none, and return it.

        `backend` stores the graph instead of the bank, and is returned: an object, or a class or object with its
        options, as a pair or a mapping with `module` and `opts`. `config`, `llm`, `embedding` and `notifier` replace
        the workspace's, and `prompts` gives steps their own prompt. Raise `RepoError` if the repository is already
        open.
        """
        from pieria.graph.guard import original_of

        self._check_open()
        id = check.name(repo_id, "repo_id") if backend is not None else check_bank_name(repo_id, "repo_id")
        own = {"config": config, "llm": llm, "embedder": embedding, "notifier": notifier, "prompts": prompts}
        given = {name: value for name, value in own.items() if value is not None}
        chosen, given = self._backend_of(backend, given)
        with self._opened_once(id), telemetry.during("repo.open", repo_id=id):
            opened = self._bank_under(id, given) if chosen is None else self._backend_under(id, chosen, given)
            opened = opened._replace(id=id, config=self._config_of(config))
            with self._repositories_lock:
                self._repositories[id] = opened
        return original_of(opened.backend) if opened.bank is None else opened.bank

    def close_repo(self, repo_id: str) -> None:
        """Close the bank or backend. This and all following methods raise `NotFoundError` if it is not open."""
        with self._repositories_lock:
            closing = self._repositories.pop(repo_id, None) if isinstance(repo_id, str) else None
        if closing is None or not closing.is_open:
            raise _not_open(repo_id)
        _close(closing)

    def list_repos(self) -> list[str]:
        """Return the ids of open repositories, sorted."""
        with self._repositories_lock:
            return sorted(id for id, repository in self._repositories.items() if repository.is_open)

    def get_graph(self, repo_id: str) -> Graph:
        """Return the whole graph as a value."""
        from pieria.graph.backend import whole

        return whole(self._backend(repo_id))

    def get_node(self, repo_id: str, node_id: str) -> Node | None:
        return self._backend(repo_id).get_node(node_id)

    def get_nodes_by_type(self, repo_id: str, types: Sequence[str]) -> list[Node]:
        return list(self._backend(repo_id).get_nodes_by_type(types))

    def get_linked_nodes(self, repo_id: str, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        """Return the neighbours of these nodes, by ties of one type or of any."""
        return list(self._backend(repo_id).get_linked_nodes(node_ids, edge_type))

    def get_metadata(self, repo_id: str, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        return dict(self._backend(repo_id).get_metadata(node_ids))

    def latest(self, repo_id: str, top_k: int, types: Sequence[str] = KNOWLEDGE) -> list[tuple[Node, NodeMetadata]]:
        """Return the newest nodes with their metadata; nodes without metadata are left out."""
        from pieria.graph.backend import newest

        return newest(self._backend(repo_id), check.whole(top_k, "top_k"), types)

    def apply_changeset(self, repo_id: str, changeset: Changeset) -> None:
        """Apply the changeset. All of it is written when this returns."""
        self._repository(repo_id).apply(changeset)

    def ingest(self, repo_id: str, trajectory: Mapping[str, Any]) -> IngestReceipt:
        """Learn once from a finished episode. See `Bank.ingest`."""
        bank = self._repository(repo_id).bank
        if bank is None:
            raise UnavailableError("repo_id", "only banks keep receipts", hint="Open it without a backend.")
        return bank.sessions.ingest(trajectory)

    def apply_changeset_async(self, repo_id: str, changeset: Changeset, callback: Callback | None = None) -> None:
        """Apply in the background; the callback gets `applied`.

        Writes in the background are made in their order. `close`, `close_repo` and the end of the process wait for
        them, the last at most ten seconds.
        """
        self._write_behind(repo_id, "applied", lambda found: found.apply(changeset), callback)

    def delete_nodes(self, repo_id: str, node_ids: Sequence[str]) -> None:
        """Delete nodes with their metadata and ties."""
        _delete(self._repository(repo_id), _listed(node_ids))

    def delete_nodes_async(self, repo_id: str, node_ids: Sequence[str], callback: Callback | None = None) -> None:
        """Delete in the background, like `apply_changeset_async`; the callback gets `deleted`."""
        ids = _listed(node_ids)
        self._write_behind(repo_id, "deleted", lambda found: _delete(found, ids), callback)

    def _write_behind(
        self, repo_id: str, done: str, write: Callable[[Repository], None], callback: Callback | None
    ) -> None:
        checked_callback(callback)
        # Take the place in the queue before anybody can close the repository.
        with self._repositories_lock:
            found = self._found(repo_id)
            place = found.writes.take()

        def run() -> str:
            with found.writes.at(place):
                write(found)
            return done

        run_behind(f"a write to {repo_id}", run, callback, finish=True)

    def _backend(self, repo_id: str) -> GraphBackend:
        return self._repository(repo_id).backend

    def _repository(self, repo_id: str) -> Repository:
        with self._repositories_lock:
            return self._found(repo_id)

    def _found(self, repo_id: str) -> Repository:
        """Return the repository. The caller holds the lock."""
        found = self._repositories.get(repo_id) if isinstance(repo_id, str) else None
        if found is None or not found.is_open:
            raise _not_open(repo_id)
        return found

    @contextmanager
    def _opened_once(self, id: str) -> Iterator[None]:
        """Reserve the id while one thread opens it. A second thread gets `RepoError`."""
        with self._repositories_lock:
            held = self._repositories.get(id)
            if id in self._opening or (held is not None and held.is_open):
                hint = "Use the open repository, or close it first: close_repo."
                raise RepoError(id, "already_open", hint=hint)
            self._opening.add(id)
        try:
            yield
        finally:
            with self._repositories_lock:
                self._opening.discard(id)

    def _close_repositories(self) -> None:
        """Close all repositories in order, even if one raises."""
        with self._repositories_lock:
            closing = [repository for _, repository in sorted(self._repositories.items(), reverse=True)]
            self._repositories.clear()
        with ExitStack() as stack:
            for repository in closing:
                stack.callback(_close, repository)

    def _bank_under(self, id: str, own: Mapping[str, Any]) -> Repository:
        """Return the bank of that name, with its own models if given."""
        raise NotImplementedError

    def _judging(self, id: str, own: Mapping[str, Any]) -> Judging:
        """Return a function that gives a session its models."""
        raise NotImplementedError

    def _serving(self, id: str, own: Mapping[str, Any]) -> Callable[[], Serving]:
        """Return a function that gives each question its models."""
        raise NotImplementedError

    def _config_of(self, own: object) -> Config | None:
        """Return the repository's configuration, or the workspace's, if any."""
        raise NotImplementedError

    def _teller(self, id: str, notifier: object) -> Tell:
        """Return the function that calls the notifier, or the workspace's, if any."""
        raise NotImplementedError

    def _backend_of(self, backend: object, own: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
        """Return the backend and options: as given, or from the configuration."""
        raise NotImplementedError

    def _backend_under(self, id: str, backend: object, own: Mapping[str, Any]) -> Repository:
        """Open a backend. Its sessions end with the process, since nothing stores them."""
        from pieria.bank.graph.verbs import applying
        from pieria.graph.guard import guard, named_errors
        from pieria.sessions.log import MemoryLog
        from pieria.sessions.opened import OpenSessions

        tell = self._teller(id, own.get("notifier"))
        own_backend = _begun(id, backend)
        made = guard(own_backend)
        close = getattr(own_backend, "close", None)

        def apply(changeset: Changeset) -> None:
            # The event holds the backend's own exception.
            with named_errors(own_backend, "apply_changeset"), applying(id, tell, changeset):
                own_backend.apply_changeset(changeset)

        sessions = OpenSessions(id, made, MemoryLog(apply), self._judging(id, own))

        def close_all() -> None:
            sessions.close()
            if callable(close):
                close()

        return Repository(made, apply, None, close_all, tell, lambda: sessions, self._serving(id, own), Turns())


def _close(repository: Repository) -> None:
    """Close the repository after its writes in the background, unless another thread has closed its bank."""
    with repository.writes.at(repository.writes.take()):
        if repository.is_open:
            with telemetry.during("repo.close", repo_id=repository.id):
                repository.close()


def _listed(node_ids: Sequence[str]) -> list[str]:
    return [node_ids] if isinstance(node_ids, str) else list(node_ids)


def _delete(repository: Repository, ids: Sequence[str]) -> None:
    from pieria.graph.guard import named_errors, original_of

    backend = original_of(repository.backend)
    with (
        named_errors(backend, "delete_nodes"),
        telling(repository.tell, "delete_nodes", "nodes_deleted", node_ids=ids),
    ):
        backend.delete_nodes(ids)


def _begun(id: str, backend: object) -> GraphBackend:
    from pieria.graph import GraphBackend

    module, opts = _module_of(backend)
    made = module() if isinstance(module, type) else module
    lacking = [name for name in vars(GraphBackend) if name[0] != "_" and not callable(getattr(made, name, None))]
    if lacking:
        hint = "pieria.graph.GraphBackend documents each method."
        raise InputError("backend", f"an object with {', '.join(lacking)}", made, hint=hint)
    try:
        made.init({**opts, "repo_id": id})
    except PieriaError:
        raise
    except Exception as problem:
        raise RepoError(id, f"its backend could not start: {problem}") from problem
    begun: GraphBackend = made
    return begun


def _module_of(backend: object) -> tuple[Any, Mapping[str, Any]]:
    """Return the backend and its options."""
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
    return NotFoundError("repo", repo_id, hint="`open_repo` opens it, and `list_repos` lists the open ones.")
