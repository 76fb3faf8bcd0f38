"""`pieria` for asyncio: the same classes, verbs and functions, each to be awaited.

Written by `python tests/aio/stub.py` from the signatures of the originals.
"""

import builtins
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from datetime import tzinfo
from io import BufferedIOBase
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import Any, Self, Unpack

from pieria.aio.mirror import Opening as Opening
from pieria.bank.capture.distill import DistilledSessions, Observed
from pieria.bank.capture.hooks import Checkpoint, HookSettings
from pieria.bank.capture.sources import Mark, Past, Taken
from pieria.bank.facts.extracted import Extracted
from pieria.bank.facts.text_analysis import Analysis, Enriched
from pieria.bank.filters import Filters, ListFilters, Names
from pieria.bank.graph.verbs import NodePage
from pieria.bank.jobs.handlers import Handlers
from pieria.bank.jobs.queue import JobList
from pieria.bank.jobs.run import WorkerTimes
from pieria.bank.places import PlaceSummary
from pieria.bank.read.similar import Likeness
from pieria.bank.results.general import (
    Around,
    Diagnosis,
    Forgotten,
    IngestReceipt,
    Lifted,
    Neighborhood,
    Page,
    Quarantine,
    Receipt,
    ScratchpadEntry,
    Sessions,
    Stats,
    Trace,
)
from pieria.bank.results.lessons import Decided, DecidedRules, Learnt, Proposals, Rule, Rules
from pieria.bank.results.sleeps import SleepLog
from pieria.bank.results.transfer import (
    CopyReport,
    ExportReport,
    ImportReport,
    RemovalReport,
    RestoreReport,
    SealReport,
    Synced,
    VaultPromoted,
    VaultStatus,
)
from pieria.bank.results.upkeep import (
    Clusters,
    Collected,
    Compacted,
    Duplicates,
    Merged,
    Promoted,
    Related,
    Slept,
    Storage,
    Validated,
)
from pieria.bank.sessions.drafts import SessionDraft, SessionStatus, SessionStatuses
from pieria.bank.upkeep.review import Reinforced
from pieria.bank.write.update import Changes, Revised
from pieria.config import Config
from pieria.errors import PieriaError
from pieria.facts.predicates import Predicate
from pieria.facts.query import Conflict, Entity, FactStats, StatedFact
from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node, Tag
from pieria.language.grammar import Named
from pieria.learning.experience import Experience
from pieria.learning.recalled import RecallResult
from pieria.learning.steps import EpisodeTrace, Step
from pieria.learning.upkeep import GraphCleanup, GraphRepair, GraphValidation
from pieria.models.minds.llm.request import Override, OwnPrompt
from pieria.recall.answer import Context, Recall
from pieria.record.changeset import Change
from pieria.record.draft import Instant, NewMemory
from pieria.record.event import AgentEvent
from pieria.record.fact import Fact
from pieria.record.job import Job
from pieria.record.link import Link
from pieria.record.memory import End, Memory
from pieria.record.time import Clock
from pieria.record.usage import Usage
from pieria.sessions.log import UnfinishedSession
from pieria.sessions.opened import SessionSummary
from pieria.sessions.queue import Callback as Callback_of_queue
from pieria.sessions.session import Progress as Progress_of_session
from pieria.sessions.state import SessionState
from pieria.store.protocol import Progress
from pieria.upkeep.review import Curve, Retained
from pieria.workspace.behind import Callback

__all__ = [
    "Bank",
    "BankGraph",
    "BankRules",
    "BankSessions",
    "BankText",
    "Facts",
    "Hooks",
    "Intake",
    "Jobs",
    "Opening",
    "Places",
    "Scratchpad",
    "Session",
    "Sources",
    "Upkeep",
    "Vault",
    "Worker",
    "Workspace",
    "copy",
    "open",
    "rekey",
    "remove_bank",
    "restore",
    "seal",
    "unseal",
]

class Workspace:
    """Shared settings and the banks opened with them; a context manager that closes them.

    Threads may share it. A forked child makes its own. An opened bank may be closed alone.
    """
    def __init__(
        self,
        data: str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        llm: object = None,
        embedder: object = None,
        notifier: object = None,
        config: object = None,
        *,
        clock: Clock | None = None,
        folder: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
        by_door: bool = False,
    ) -> None:
        """`folder` and `environ` are the caller's, if they differ from those of this process.

        `by_door` says that the calling program did not choose `data`. A data folder inside a project is then trusted
        only if the project is, as when `data` comes from settings.
        """
    def __await__(self) -> Generator[Any, None, Self]: ...
    @property
    def data(self) -> Path: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def is_door(self) -> bool: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...
    async def append(self, session_id: str, observation: str, action: str) -> None:
        """Append an observation and an action, and wait until the step is stored. A model that fails loses no step."""
    async def append_async(
        self, session_id: str, observation: str, action: str, callback: Callback | None = None
    ) -> None:
        """Append in the background; the callback gets `appended`."""
    async def apply_changeset(self, repo_id: str, changeset: Changeset) -> None:
        """Apply the changeset. All of it is written when this returns."""
    async def apply_changeset_async(self, repo_id: str, changeset: Changeset, callback: Callback | None = None) -> None:
        """Apply in the background; the callback gets `applied`.

        Writes in the background are made in their order. `close`, `close_repo` and the end of the process wait for
        them, the last at most ten seconds.
        """
    async def banks(self) -> builtins.list[str]:
        """Return the names of all banks except the user's own."""
    async def close(self, session_id: str | EllipsisType = ...) -> None:
        """Close every bank and repository opened here and deliver the remaining notifications. Safe to call twice.

        With a session's id, close only that session's episode. None is no id, and raises `InputError`.
        """
    async def close_and_commit(
        self, session_id: str, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50
    ) -> None:
        """Close the episode, wait for extraction and commit it, with retries.

        With these defaults it waits for as long as the model answers, otherwise up to `max_polls` times `poll_interval`
        milliseconds for each try. Raise `PipelineError` if all fail.
        """
    async def close_async(self, session_id: str, callback: Callback | None = None) -> None:
        """Close in the background; the callback gets `closed`."""
    async def close_repo(self, repo_id: str) -> None:
        """Close the bank or backend. This and all following methods raise `NotFoundError` if it is not open."""
    async def commit(self, session_id: str) -> None:
        """Write the extracted knowledge to the graph. May be repeated after a failure."""
    async def commit_async(self, session_id: str, callback: Callback | None = None) -> None:
        """Commit in the background; the callback gets `committed`."""
    async def consolidate_semantics(
        self, repo_id: str, threshold: float = 0.85, *, dry_run: bool = False, progress: Progress | None = None
    ) -> GraphCleanup:
        """Merge facts that share a tag, and procedures that share an intent, if they say nearly the same.

        The summary has `checked`, `deleted`, `deleted_ids` and `skipped`.
        """
    async def consolidate_semantics_async(
        self, repo_id: str, threshold: float = 0.85, callback: Callback | None = None, *, dry_run: bool = False
    ) -> None:
        """Do the same in the background."""
    async def decay_nodes(
        self,
        repo_id: str,
        threshold: float = 0.1,
        node_types: Sequence[str] = ...,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> GraphCleanup:
        """Archive nodes of low value: `checked`, `deleted`, `deleted_ids`."""
    async def decay_nodes_async(
        self,
        repo_id: str,
        threshold: float = 0.1,
        node_types: Sequence[str] = ...,
        callback: Callback | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        """Do the same in the background."""
    async def delete_nodes(self, repo_id: str, node_ids: Sequence[str]) -> None:
        """Delete nodes with their metadata and ties."""
    async def delete_nodes_async(self, repo_id: str, node_ids: Sequence[str], callback: Callback | None = None) -> None:
        """Delete in the background, like `apply_changeset_async`; the callback gets `deleted`."""
    async def discard(self, session_id: str) -> None:
        """Drop the steps and the extracted knowledge."""
    async def discard_async(self, session_id: str, callback: Callback | None = None) -> None:
        """Discard in the background; the callback gets `discarded`."""
    async def get_graph(self, repo_id: str) -> Graph:
        """Return the whole graph as a value."""
    async def get_linked_nodes(
        self, repo_id: str, node_ids: Sequence[str], edge_type: Edge | None = None
    ) -> builtins.list[Node]:
        """Return the neighbours of these nodes, by ties of one type or of any."""
    async def get_metadata(self, repo_id: str, node_ids: Sequence[str]) -> dict[str, NodeMetadata]: ...
    async def get_node(self, repo_id: str, node_id: str) -> Node | None: ...
    async def get_nodes_by_type(self, repo_id: str, types: Sequence[str]) -> builtins.list[Node]: ...
    async def ingest(self, repo_id: str, trajectory: Mapping[str, Any]) -> IngestReceipt:
        """Learn once from a finished episode. See `Bank.ingest`."""
    async def is_sealed(self, name: str) -> bool:
        """Return whether a bank's file is encrypted, without opening it. False if there is none, and on a server."""
    async def latest(
        self, repo_id: str, top_k: int, types: Sequence[str] = ...
    ) -> builtins.list[tuple[Node, NodeMetadata]]:
        """Return the newest nodes with their metadata; nodes without metadata are left out."""
    async def list_repos(self) -> builtins.list[str]:
        """Return the ids of open repositories, sorted."""
    def open(
        self,
        name: str | None = None,
        *,
        session: str | None = None,
        channel: str | None = None,
        author: str | None = None,
        author_type: str | None = None,
        who: str = "python",
        via: str = "agent",
        llm: object = None,
        embedder: object = None,
        overrides: Mapping[str, Override] | None = None,
        prompts: Mapping[str, OwnPrompt] | None = None,
        notifier: object = None,
        config: object = None,
        user: bool = True,
        secrets: str | None = None,
        count_uses: bool | None = None,
        create: bool = True,
    ) -> Opening[Bank]:
        """Open a bank, and create it if there is none. Missing arguments follow the settings.

        `llm` and `embedder` are this bank's own models: a name, an object or a function. `overrides` gives steps or
        groups another language model or further options, and `prompts` gives steps their own prompt. `notifier` gets
        the events of this bank, and `config` replaces the workspace's. Without `user`, the bank neither finds nor
        writes memories of the user. `secrets` is the setting of that name for texts written through this bank, and
        `count_uses` for results found through it. `via` says how texts reach the bank: `person` for a person's words,
        `agent`, `hearsay` or `outside`.

        Without `create`, a missing bank raises `NotFoundError`, with similar names.
        """
    async def open_repo(
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
    async def recall(self, repo_id: str, query: str, max_hops: int = 2) -> RecallResult:
        """Return what the repository knows about a question, by node type, as text and as nodes.

        The search starts near the question and follows tags and intents for up to `max_hops` hops. If a model fails,
        its part is skipped and the trace says so. Raise `NotFoundError` for a repository that is not open, and
        `AdapterError` if the question cannot be embedded and the backend cannot search by words.
        """
    async def recall_in_context(self, repo_id: str, session_id: str, query: str, max_hops: int = 2) -> RecallResult:
        """Recall for a question of a session, with its goal and last steps.

        Without such a session, or without steps in it, the question is asked alone.
        """
    async def remove_bank(self, name: str, *, dry_run: bool = False) -> RemovalReport:
        """Remove a whole bank for good, with its history. With `dry_run`, only report what would be removed.

        This process closes the bank first. Only a backup can bring it back; the report lists what may still hold its
        text. Opening the name later creates an empty bank.

        Raise `NotFoundError` if there is no such bank, and `BusyError` if another process uses it.
        """
    async def repair_graph(
        self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None
    ) -> GraphRepair:
        """Remove dangling ties: `checked`, `repaired_nodes`, `dangling_refs`, `orphans_deleted`, `orphan_ids`."""
    async def repair_graph_async(
        self, repo_id: str, callback: Callback | None = None, *, dry_run: bool = False
    ) -> None:
        """Do the same in the background."""
    def resume(
        self,
        session_id: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
    ) -> Opening[Session]:
        """Resume a session that its process left, with its own models.

        Raise `SessionError` with the reason `held_elsewhere` if it is open.
        """
    def session(self, session_id: str) -> Opening[Session]:
        """Return the session, resumed if it was left."""
    async def session_state(self, session_id: str) -> SessionState: ...
    async def sessions(self, repo_id: str) -> builtins.list[SessionSummary]:
        """Return the unfinished sessions of a repository, including those open elsewhere."""
    async def start_episode(self, session_id: str, goal: str) -> None:
        """Start the next episode in an idle session."""
    async def start_episode_async(self, session_id: str, goal: str, callback: Callback | None = None) -> None:
        """Start an episode in the background; the callback gets `started`."""
    async def start_session(
        self,
        goal: str,
        repo: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
        *,
        profile: object = None,
        auto_commit: bool | None = None,
    ) -> str:
        """Start a session in an open repository and return its id; it then collects steps.

        `config`, `llm`, `embedding` and `notifier` replace the repository's. `profile` and `auto_commit` replace
        single values of the repository's configuration.
        """
    async def validate_episodic(
        self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None
    ) -> GraphValidation:
        """Lower the reward of knowledge that has no sources or differs from them: `checked`, `grounded`, `penalized`,
        `orphaned`.
        """
    async def validate_episodic_async(
        self, repo_id: str, callback: Callback | None = None, *, dry_run: bool = False
    ) -> None:
        """Do the same in the background."""

class Bank:
    """One isolated memory of an agent, a user or a project, with all its verbs.

        with pieria.open("notes") as bank:
            bank.remember("We chose JWT for all new APIs.")
            hits = bank.recall("how do APIs authenticate?")

    `pieria.open` or a `Workspace` opens it, and `with` closes it. Threads may share it; a forked child opens its own.
    """
    @property
    def name(self) -> str: ...
    @property
    def data(self) -> Path: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def zone(self) -> tzinfo: ...
    @property
    def who(self) -> str: ...
    @property
    def author(self) -> str | None: ...
    @property
    def author_type(self) -> str | None: ...
    @property
    def via(self) -> str: ...
    @property
    def secrets(self) -> str: ...
    @property
    def is_user_bank(self) -> bool: ...
    @property
    def is_foreign(self) -> bool: ...
    @property
    def is_remote(self) -> bool: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def graph(self) -> BankGraph: ...
    @property
    def hooks(self) -> Hooks: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def places(self) -> Places: ...
    @property
    def rules(self) -> BankRules: ...
    @property
    def scratchpad(self) -> Scratchpad: ...
    @property
    def sessions(self) -> BankSessions: ...
    @property
    def sources(self) -> Sources: ...
    @property
    def text(self) -> BankText: ...
    @property
    def upkeep(self) -> Upkeep: ...
    @property
    def vault(self) -> Vault: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...
    async def around(
        self,
        id: str,
        *,
        before: int = 5,
        after: int = 5,
        kinds: Names | None = None,
        session: str | None = None,
        scope: Names | None = None,
    ) -> Around:
        """Return what was said just before and after a memory, up to the given numbers.

        A revised id leads to its newest.
        """
    async def backup(self, path: str | Path, *, progress: Progress | None = None) -> Path:
        """Copy the bank's store to a file, while other processes read and write. `pieria.restore` brings it back.

        An older backup of that name is replaced when the new one is complete. A folder gets a file named after the bank
        and the time. `progress` counts pages.
        """
    async def changes(
        self, since: int = 0, limit: int | None = None, *, last: int | None = None, of: str | None = None
    ) -> tuple[Change, ...]:
        """Return the journal after a sequence number, oldest first; with `last`, only the newest entries.

        With `of`, return only the changes of this memory or fact. Those of the user's own memory are changes of `@me`.
        """
    async def close(self) -> None: ...
    async def context(
        self,
        query: str | None = None,
        *,
        files: Names = (),
        place: str | End | None = None,
        session: str | None = None,
        budget_tokens: int = 2000,
        known_at: Instant | None = None,
        keep: bool = False,
        anew: bool = False,
        deadline_ms: int | None = None,
    ) -> Context:
        """Return what an agent should know before it asks: standing rules, pinned memories and open ends.

        An index of the most important memories follows, with as many full texts as fit the budget. All text is fenced
        as data. With a query or files the context is about these, as of now. Without them it is as of `known_at`, or
        the session's kept moment, or now. `keep` keeps the moment for the session unless one is kept already. `anew`
        ignores the kept moment, and with `keep` replaces it. `deadline_ms` limits recall for the query; it answers with
        the hits found by then.
        """
    async def count(self, *, by: str | None = None, **filters: Unpack[ListFilters]) -> Any:
        """Return the number of memories; with `by`, the number for each kind, place, tag and so on, most first."""
    async def distil(self, session: str | None = None, *, progress: Progress | None = None) -> DistilledSessions:
        """Distil the raw events of all sessions or of one, unfinished tasks included."""
    async def doctor(
        self, *, repair: bool = False, up_to: int | None = None, progress: Progress | None = None
    ) -> Diagnosis:
        """Check the file, record rules, projections, disk and settings. `repair` rebuilds damaged projections.

        A full check reads the whole bank. If the bank has more than `up_to` versions, only quick checks run and the
        diagnosis is not `thorough`. `progress` gets the number of finished checks and their total.
        """
    async def embedded(self, ids: str | Iterable[str]) -> builtins.set[str]:
        """Return the ids that have a vector."""
    def expect_questions(self) -> None:
        """Load in the background what the first query needs."""
    async def export(self, path: str | Path, *, progress: Progress | None = None) -> ExportReport:
        """Write the whole bank with its history to a file of JSON lines: `docs/export-format.md`.

        An older export of that name is replaced when the new one is complete; other files are never replaced. A folder
        gets a file named after the bank and the time. `progress` counts versions and changes.
        """
    async def extract(self, id: str, *, entities: bool = True, statements: bool = True) -> Extracted:
        """Record as facts what a memory names (`id mentions name`) and what it states.

        Rules do it at once; with a language model it is a job. The same text again adds nothing. After a change of the
        text, facts that it no longer states are removed.
        """
    def follow(self, since: int | None = None, *, seconds: float | None = None) -> AsyncGenerator[Change]:
        """Yield the changes after a sequence number (default: now), oldest first, then each new one.

        It ends when the bank closes or after `seconds`. After a retryable error no change is lost: follow from the last
        one received.
        """
    async def forget(
        self,
        *,
        source: str | None = None,
        session: str | None = None,
        purge: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        as_told: str | None = None,
    ) -> Forgotten:
        """Remove all memories from a source or session, and those derived from nothing else, in one change.

        Quarantined memories are included. `undo` reverts the change. With `purge` all is erased for good, with
        everything derived from it and the facts of the source. With `dry_run` nothing is written. `as_told` takes the
        `digest` of a dry run: raise `ConflictError` if the memories have changed since. Raise `NotFoundError` if the
        source or session has none.
        """
    async def get(
        self,
        reference: str,
        *,
        version: int | None = None,
        known_at: Instant | None = None,
        include_removed: bool = False,
    ) -> Memory | None:
        """Return the memory or fact under an id, of any status, or None. `id@version` gives that version.

        An existing id that ends like a version takes precedence. With `version`, the whole reference is the id.
        """
    async def history(self, id: str, *, revisions: bool = False) -> tuple[Memory, ...]:
        """Return every interval of known time of a memory, oldest first: its versions, and each change of its status.

        With `revisions`, also those of earlier and later revisions.
        """
    async def identical(
        self, text: str, *, kinds: Names | None = None, scope: Names | None = None
    ) -> tuple[Memory, ...]:
        """Return the memories with exactly this text after screening, oldest first.

        With scope `user` alone, the user's own.
        """
    async def import_(
        self,
        path: str | Path | BufferedIOBase,
        *,
        mode: str = "skip",
        dry_run: bool = False,
        force: bool = False,
        on_error: str = "stop",
        trusted: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import an export, all of it or nothing. A bank without history becomes the exported bank.

        `mode` decides about existing ids: `skip` keeps them, `merge` takes the later version, `replace` the file's.
        Removed memories stay removed and purged ones stay away, unless `force`. With `on_error="skip"` broken lines are
        left out and reported; otherwise raise `TransferError` and write nothing. `dry_run` reports without writing.
        `progress` counts bytes; the file is read twice. `path` may be a seekable stream of bytes. Imported text is
        hearsay, unless `trusted`: use that only for an export of your own that no other person could change.
        """
    async def invalidate(
        self,
        id: str,
        *,
        at: Instant | None = None,
        replacement: str | None = None,
        reason: str | None = None,
        unless_changed_since: Instant | None = None,
    ) -> Memory:
        """End a memory's validity, from `at` on (default: now).

        It stays on record; recall finds it for earlier times.
        """
    async def lift(self, number: int) -> Lifted:
        """End a quarantine: all that it holds is readable again. `number` is that of its change.

        Raise `NotFoundError` if there is no such quarantine.
        """
    async def link(
        self,
        source: str | End,
        target: str | End,
        relation: str = "related",
        *,
        weight: float = 1.0,
        label: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Link:
        """Link two memories, or a memory and a `Place`. Linking again changes only weight, label and meta."""
    async def links(self, end: str | End | None = None, *, relation: str | None = None) -> Sequence[Link]:
        """Return all links, or those of one end, oldest first."""
    async def list(
        self,
        *,
        order: str = "newest",
        limit: int = 50,
        offset: int = 0,
        cursor: str | None = None,
        **filters: Unpack[ListFilters],
    ) -> Page:
        """Return memories of this bank in order; with scope `user` alone, the user's own.

        `cursor` continues a page of the same order and filters, unaffected by later writes. `offset` skips a number of
        current memories.
        """
    async def list_each(
        self,
        by: str,
        values: str | End | Iterable[str | End],
        *,
        order: str = "newest",
        limit: int = 50,
        **filters: Unpack[ListFilters],
    ) -> dict[str | End, Page]:
        """Return the `list` for each of these values, by the given values, from one read. `limit` applies to each.

        `list` continues from each cursor. `by` is `tags`, `entities`, `files`, or `place` with places written
        wing/room.
        """
    async def neighbors(
        self, id: str | End, *, relation: str | None = None, direction: str = "both", hops: int = 1, limit: int = 50
    ) -> Neighborhood:
        """Return what the links of a memory or place lead to, nearest first, each once.

        `truncated` says that `limit` cut it.
        """
    async def neighbors_each(
        self,
        ids: str | End | Iterable[str | End],
        *,
        relation: str | None = None,
        direction: str = "both",
        hops: int = 1,
        limit: int = 50,
    ) -> dict[str | End, Neighborhood]:
        """Return the `neighbors` of each end, by the given values, from one read. `limit` applies to each."""
    async def observe(self, events: Iterable[AgentEvent | Mapping[str, Any]]) -> Observed:
        """Take in events. When this returns they are on the disk; repeated events change nothing.

        Private parts are cut and secrets removed, even if the bank's settings allow them. A job distills the session at
        its end or when its context is compacted. It also runs after many events, or after ten idle minutes.
        """
    async def pin(self, id: str, pinned: bool = True) -> Memory:
        """Pin a memory so that upkeep never forgets it; `pinned=False` unpins it."""
    async def purge(
        self,
        ids: str | Iterable[str],
        *,
        dry_run: bool = False,
        unless_changed_since: Instant | None = None,
        as_told: str | None = None,
    ) -> Receipt:
        """Erase memories everywhere: every version and revision, index, links, usage, and memories derived from them.

        Sources and subgoals of steps go too, and tags and intents that no other node has. Only the ids are remembered,
        so that nothing imports the memories again unasked. There is no undo. Memories that another session derived are
        erased as well, and are counted but not named. With `dry_run` nothing is erased. `as_told` takes the `digest` of
        a dry run's receipt: raise `ConflictError` if the memories to erase have changed since.
        """
    async def quarantine(
        self,
        *,
        source: str | None = None,
        session: str | None = None,
        author: str | None = None,
        channel: str | None = None,
        via: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        ids: str | Iterable[str] = (),
        reason: str | None = None,
        dry_run: bool = False,
    ) -> Quarantine:
        """Hide the memories that match every selector, and everything derived from them, in one change.

        `ids` names further memories. While the quarantine lasts, new writes that match or derive from it join it.
        `lift` ends it and restores exactly what was there. Raise `NotFoundError` if nothing is selected, and
        `AccessError` if an agent would hide a person's rule.
        """
    async def quarantines(self) -> tuple[Quarantine, ...]:
        """Return every quarantine in force, oldest first, with what it holds now."""
    async def recall(
        self,
        query: str,
        *,
        k: int = 10,
        min_score: float | None = None,
        min_confidence: float | None = None,
        least_retention: float | None = None,
        review: bool | float = False,
        cursor: str | None = None,
        policy: str | Callable[..., float] = "hybrid",
        weights: Mapping[str, float] | None = None,
        deadline_ms: int | None = None,
        budget_tokens: int | None = None,
        time_zone: str | None = None,
        by_meaning: bool = True,
        matching: bool = False,
        counted: bool = True,
        **filters: Unpack[Filters],
    ) -> Recall:
        """Return what this bank and the user's bank hold on a query: best first, each with its reasons.

        Lists match any of their values. `valid_at` selects memories valid at a time, `known_at` those known then. Any
        text is a query; an empty one finds nothing. With `review`, a share of the `k` answers are memories about to be
        forgotten. `matching` leaves out neighbours of matches that do not match the query themselves. `time_zone` sets
        the days of "yesterday" and "last week". With `counted=False` the recall is no use of the memories. With
        `min_confidence`, return nothing if the answer is less sure, and no hit worth less than half of the best.
        Changed notes of a vault are read first; `plan["left_out"]["vault"]` says if some were not.
        """
    async def remember(
        self,
        text: str,
        *,
        id: str | None = None,
        title: str | None = None,
        kind: str = "note",
        body: Mapping[str, Any] | None = None,
        tags: Collection[str] = (),
        entities: Collection[str] = (),
        files: Collection[str] = (),
        importance: float = 0.5,
        confidence: float | None = None,
        strength: float = 1.0,
        scope: str = "bank",
        source: str | None = None,
        context: str | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        sequence: int | None = None,
        place: str | End | None = None,
        at: Instant | None = None,
        valid_from: Instant | None = None,
        valid_until: Instant | None = None,
        pinned: bool = False,
        meta: Mapping[str, Any] | None = None,
        vectors: object = None,
        unless_exists: str | None = None,
        extract: bool = False,
        via: str | None = None,
    ) -> Memory:
        """Remember one text. When this returns it is on the disk and can be recalled.

        The same text twice makes two memories, unless `unless_exists` is `id` or `text`: then return the existing one.
        `vectors` are supplied in the bank's space: one list of numbers, or several for passages. `extract` runs the
        verb of that name on the written memory. `via` says how the text came in (`person`, `agent`, `hearsay` or
        `outside`); the default is the bank's `via`.
        """
    async def remember_many(
        self, items: Iterable[str | Mapping[str, Any] | NewMemory], progress: Progress | None = None
    ) -> builtins.list[Memory]:
        """Remember many texts, in batches of one transaction each. All items are checked before the first is written.

        One error reports all problems, as in `items[3].importance`. When this returns, the vectors are stored too. If
        the model fails, the error is logged and the texts are embedded later. `progress` counts writes and embeddings.
        """
    async def remove(
        self, id: str, *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> Memory:
        """Remove a memory from every answer. Its versions and history stay; `restore` brings it back."""
    async def restore(self, id: str) -> Memory:
        """Restore a removed memory. A derived memory needs its sources to exist."""
    async def revise(
        self,
        id: str,
        *,
        author: str | None = None,
        author_type: str | None = None,
        at: Instant | None = None,
        reason: str | None = None,
        unless_changed_since: Instant | None = None,
        **changes: Unpack[Revised],
    ) -> Memory:
        """Replace a memory by a new one with a new id, linked to it. An older revision leads to the newest.

        Its time is now, or `at`. Its author is the given one, or else the author of the bank.
        """
    def session(
        self,
        goal: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
        *,
        profile: object = None,
        auto_commit: bool | None = None,
    ) -> Opening[Session]:
        """Begin a session, which collects steps towards the goal.

        Arguments replace the bank's settings for this session; `profile` and `auto_commit` replace only that part of
        the configuration. As a context manager the session extracts and commits at the end; on an exception it keeps
        the steps, uncommitted.
        """
    async def similar(self, text: str, *, k: int = 5, least: float = 0.0) -> Sequence[Likeness]:
        """Return the memories of this bank most similar to the whole of a text, nearest first.

        An equal text has 1. Comparing counts no use.
        """
    async def stats(self) -> Stats:
        """Return counts by kind and status, and the sizes of the store."""
    async def sync(self, timeout: float | None = None, progress: Progress | None = None) -> bool:
        """Wait until every projection has caught up with the record, and return True if they have.

        The text index is written with the record, so this waits for vectors; without an embedder there are none.
        Pending usage counts are written too, and the user's bank is included. Return False on timeout, if the bank's
        vectors are of another model, or if another process holds the lock. Raise `AdapterError` if the model fails.
        `progress` gets the number of embedded texts and their total.
        """
    async def touch(
        self,
        ids: str | Iterable[str],
        *,
        accesses: int = 1,
        reviews: int = 0,
        crossings: int = 0,
        reward: float | None = None,
        boost: bool = False,
    ) -> dict[str, Usage]:
        """Count a use: accesses, reviews, uses in a foreign context, and a reward from -1 to 1 if given.

        A boost makes the memories stronger by the setting `crossing_boost`.
        """
    async def trace(
        self, id: str | None = None, *, source: str | None = None, session: str | None = None, limit: int = 200
    ) -> Trace:
        """Return what was derived from a memory, a source or a session, and which sessions were shown any of it.

        Ended and quarantined memories are included. Raise `NotFoundError` if there is nothing.
        """
    async def undo(self, seq: int) -> Change:
        """Undo a change of this bank. Evidence stays: memories that it added are removed, not erased."""
    async def unlink(
        self, source: str | End, target: str | End | None = None, relation: str | None = None
    ) -> builtins.list[Link]:
        """Remove one link by its id, or all links between two ends, optionally of one relation."""
    async def update(
        self,
        id: str,
        *,
        reason: str | None = None,
        unless_changed_since: Instant | None = None,
        via: str | None = None,
        **changes: Unpack[Changes],
    ) -> Memory:
        """Change the given fields and keep the others. Changed content becomes the next version under the same id.

        The author stays. New wording gets at most the trust of `via`, which says how it came in; the default is the
        bank's `via`. `unless_changed_since` takes the `known_from` of the version that was read: raise `ConflictError`
        if the memory has changed since.
        """
    async def usage(self, ids: str | Iterable[str]) -> dict[str, Usage]:
        """Return the usage of memories, with zeros for an unused one."""
    async def use_embedder(self) -> str:
        """Move the bank to the embedder of this process: all texts are embedded again in the background; see `sync`.

        Until then recall uses the existing vectors, and the words of all memories. Return the name of the new space.
        """
    async def wait(self, since: int, seconds: float) -> bool:
        """Wait for a change after a sequence number, by any process. Return False on timeout."""
    async def widen(
        self,
        id: str,
        *,
        importance: float | None = None,
        scope: str | None = None,
        valid_until: Instant | None = None,
        reason: str | None = None,
    ) -> Memory:
        """Raise importance, widen the scope or extend the validity of a memory. Lower values are ignored.

        With concurrent calls, the highest requested value wins.
        """

class Session:
    """The steps of an agent towards a goal, with knowledge extracted from them. Threads may share a session.

    An operation that the state does not allow raises `SessionError`. Methods that end in `_async` do not wait: they
    call `callback` once, with the word for the result or with the error.

    As a context manager a session closes and commits at the end. After an exception its steps stay, uncommitted.
    """
    @property
    def id(self) -> str: ...
    @property
    def state(self) -> SessionState: ...
    @property
    def goal(self) -> str: ...
    @property
    def steps(self) -> tuple[Step, ...]: ...
    @property
    def node_ids(self) -> tuple[str, ...]: ...
    @property
    def fault(self) -> PieriaError | None: ...
    @property
    def is_over(self) -> bool: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...
    async def append(self, observation: str, action: str) -> None:
        """Keep a step: what was observed, and what was done about it.

        A model judges it at once, or later together with others; rules judge it where the model fails. Raises if the
        step cannot be stored; then nothing of it is kept.
        """
    async def append_async(self, observation: str, action: str, callback: Callback_of_queue | None = None) -> None:
        """Append a step without waiting; the word is `appended`. Steps keep the order of the calls."""
    async def close(self) -> None:
        """Close the episode and return while extraction of the remaining steps goes on. No step can follow."""
    async def close_and_commit(self, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50) -> None:
        """Close, wait for extraction and commit. A failed extraction is retried `max_retries` times.

        A retry after which less is missing does not count, since each asks only for what is missing.
        By default it waits for as long as the model answers. With another number of polls or another interval, each
        try may take `max_polls` times `poll_interval` milliseconds. Raises `PipelineError` with `extraction_failed`
        when no retry is left or a retry cannot help, and with `extraction_timeout` when a try takes too long.
        """
    async def close_and_wait(self, seconds: float, progress: Progress_of_session | None = None) -> SessionState:
        """Close and return the state after extraction: `idle` if all is committed, or `ready`, or `failed`.

        Raises `PipelineError` if closing or extraction takes longer than `seconds`.
        """
    async def close_async(self, callback: Callback_of_queue | None = None) -> None:
        """Close without waiting; the word is `closed`."""
    async def commit(self) -> None:
        """Commit extracted knowledge: when this returns it is in the graph and can be recalled.

        After a failed extraction, start another one instead.
        """
    async def commit_async(self, callback: Callback_of_queue | None = None) -> None:
        """Commit without waiting; the word is `committed`."""
    async def discard(self) -> None:
        """Delete uncommitted knowledge and the steps. Knowledge committed before stays."""
    async def discard_async(self, callback: Callback_of_queue | None = None) -> None:
        """Discard without waiting; the word is `discarded`."""
    async def get_context(self) -> dict[str, Any] | None:
        """Return the `goal` and the `recent_steps`, one line each; None if there is no current episode."""
    async def start_episode(self, goal: str) -> None:
        """Start the next episode of an idle session."""
    async def start_episode_async(self, goal: str, callback: Callback_of_queue | None = None) -> None:
        """Start an episode without waiting; the word is `started`."""
    async def take(self, observation: str, action: str) -> EpisodeTrace:
        """Do as `append` does, and return how the step was judged."""
    async def wait(self, seconds: float, progress: Progress_of_session | None = None) -> SessionState:
        """Return the state once extraction is over. `progress` gets the number of extracted steps meanwhile."""

class Facts:
    """The facts of one bank."""
    async def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: Instant | None = None,
        valid_until: Instant | None = None,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> Fact:
        """State a fact. A known fact is confirmed, extended or made surer, and never duplicated.

        For a single-valued predicate, other values end or move to make room.
        """
    async def alias(self, name: str, of: str) -> Entity:
        """Make both names one entity in every look-up, also for existing facts."""
    async def aliases(self) -> dict[str, str]:
        """Return the entity of each alias."""
    async def conflicts(self, subject: str | None = None, predicate: str | None = None) -> builtins.list[Conflict]:
        """Return facts of a single-valued predicate that are valid at the same time with different objects."""
    async def declare(self, predicate: str, single_valued: bool = True) -> builtins.list[Conflict]:
        """Declare whether a predicate has one value at a time. Change no fact; return the conflicts."""
    async def entities(self, prefix: str = "") -> builtins.list[Entity]:
        """Return every subject and object with its aliases, if one of its names begins with `prefix`."""
    async def history(self, fact_id: str) -> builtins.list[Fact]:
        """Return every version of a fact, oldest first, removed ones included."""
    async def invalidate(
        self, subject: str, predicate: str, object: str, *, at: Instant | None = None, reason: str | None = None
    ) -> builtins.list[Fact]:
        """End a fact at `at` (default: now). A day includes that day. A time before it began is refused."""
    async def predicates(self) -> builtins.list[Predicate]:
        """Return the predicates in use and those declared, by name."""
    async def purge(
        self, fact_ids: str | Iterable[str], *, dry_run: bool = False, as_told: str | None = None
    ) -> Receipt:
        """Erase every version of facts for good. Only ids are remembered, so that no import brings the facts back.

        The receipt names what says the same and stays: the source memory and other facts. With `dry_run` nothing is
        erased. `as_told` takes the `digest` of a dry run: raise `ConflictError` if a fact has changed since.
        """
    async def query(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        *,
        entity: str | None = None,
        direction: str = "both",
        memory: str | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        history: bool = False,
        limit: int | None = None,
    ) -> builtins.list[Fact]:
        """Return the facts that match all arguments, in order of their beginning. With `memory`, those it states.

        They are valid at `valid_at` (default: now) or, with `history`, at any time. A day means its end in the bank's
        time zone. With `limit`, only the last ones.
        """
    async def query_each(
        self,
        entities: str | Iterable[str],
        *,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        history: bool = False,
        limit: int | None = None,
    ) -> dict[str, builtins.list[Fact]]:
        """Return the `query` of each entity, by the given names, from one read. `limit` applies to each."""
    async def remove(self, fact_id: str, *, reason: str | None = None) -> Fact:
        """Remove a fact that should not have been stated from every answer. It stays on record."""
    async def state(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: Instant | None = None,
        valid_until: Instant | None = None,
        supersede: bool = False,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> StatedFact:
        """State a fact as `add` does, and return also the values that end and those that hold beside it.

        With `supersede` all other values end when it begins, as `supersede` does.
        """
    async def stats(self) -> FactStats: ...
    async def supersede(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        replaces: str | None = None,
        at: Instant | None = None,
        valid_until: Instant | None = None,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> Fact:
        """End the other values of the subject and predicate at `at` (default: now), and state this one from then on.

        With `replaces` only that value ends; if it is not valid then, nothing is written.
        """
    async def timeline(
        self, entity: str | None = None, *, known_at: Instant | None = None, limit: int | None = None
    ) -> builtins.list[Fact]:
        """Return the facts of all times in order of their beginning; with `limit`, only the last ones."""
    async def unalias(self, name: str) -> Entity:
        """Remove an alias: the name is an entity of its own again."""

class BankGraph:
    """The graph backend over a bank. A call that raises changes nothing."""
    @property
    def graph(self) -> Coroutine[Any, Any, Graph]: ...
    @property
    def everything(self) -> BankGraph: ...
    async def apply_changeset(self, changeset: Changeset) -> None:
        """Write nodes, then edges between existing nodes, then metadata, as one change of the bank.

        A node with an existing id becomes its next version. `created_at` in metadata is ignored: the bank has its own
        known times.
        """
    async def consolidate(
        self,
        threshold: float = 0.85,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> GraphCleanup:
        """Merge facts with a common tag, and procedures with a common intent, that say nearly the same.

        The best one stays; the others are archived.
        """
    async def delete_metadata(self, node_ids: Sequence[str]) -> None: ...
    async def delete_nodes(self, node_ids: Sequence[str]) -> None:
        """Remove the memories of these nodes; `restore` brings them back."""
    async def find_candidates(
        self,
        node_types: Sequence[str],
        query_embedding: Sequence[float],
        tag_embeddings: Sequence[Sequence[float]] = (),
        value_fn_config: Mapping[str, Any] | None = None,
        opts: Mapping[str, Any] | None = None,
    ) -> builtins.list[tuple[Node, float]]:
        """Score the nearest nodes of each type: ten times the requested number, and at least 200."""
    async def find_equal(self, changeset: Changeset, node_ids: Sequence[str]) -> dict[str, builtins.list[Node]]:
        """Return the nodes of the bank that these new nodes of the changeset would repeat, oldest first.

        They have the same type and text, and the same readers, validity and trust.
        """
    async def find_tags(self, labels: Sequence[str]) -> builtins.list[Tag]:
        """Return the tags with the same labels as these, oldest first."""
    async def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> builtins.list[Node]: ...
    async def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        """Return the metadata of every existing node. A node that was never used has counts of 0."""
    async def get_node(self, node_id: str) -> Node | None: ...
    async def get_nodes_by_type(self, node_types: Sequence[str]) -> builtins.list[Node]: ...
    async def init(self, opts: Mapping[str, Any] | None = None) -> None:
        """Check the options. An open bank needs no setup."""
    async def latest(self, top_k: int, types: Sequence[str]) -> builtins.list[tuple[Node, NodeMetadata]]:
        """Return the nodes that were added or changed last."""
    async def page(self, types: Sequence[str], limit: int = 20, cursor: str | None = None) -> NodePage:
        """Return nodes of these types, oldest first. `cursor` continues after a page of the same types.

        Nodes added meanwhile appear on a later page, and no node is skipped.
        """
    async def prune(
        self,
        threshold: float = 0.1,
        node_types: Sequence[str] = ...,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> GraphCleanup:
        """Archive nodes of little value, and tags and intents without edges."""
    async def repair(self, *, dry_run: bool = False, progress: Progress | None = None) -> GraphRepair:
        """Remove edges to missing nodes, and archive tags and intents without edges."""
    async def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None: ...
    async def validate(
        self, *, config: Config | None = None, dry_run: bool = False, progress: Progress | None = None
    ) -> GraphValidation:
        """Lower the rewards of knowledge without sources or far from them, for as long as this lasts."""

class Hooks:
    async def checkpoint(self, messages: int) -> Checkpoint:
        """Record that this many messages of the bank's session are saved now."""
    async def last(self) -> Checkpoint | None:
        """Return the latest checkpoint of any session."""
    async def set(self, *, silent_save: bool | None = None, desktop_toast: bool | None = None) -> HookSettings:
        """Change the given settings, and return all of them."""
    async def settings(self) -> HookSettings: ...

class Jobs:
    async def add(
        self,
        kind: str,
        payload: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        about: str | None = None,
        priority: int = 0,
        due: Instant | None = None,
        tries: int | None = None,
    ) -> Job:
        """Queue a job, or return the queued or running one of the same kind and key.

        `payload` says what to do, and names memories by id instead of quoting them. `about` is the `id@version` it is
        for: once that has changed, the job ends as stale. Without a key, equal payloads are one job.
        """
    async def cancel(self, ids: str | Iterable[str]) -> tuple[Job, ...]:
        """Cancel jobs: all of them, or none.

        A running handler is notified within about a second, and its effect is dropped.
        """
    async def counts(self) -> dict[str, int]:
        """Return the number of jobs in each state."""
    async def get(self, id: str) -> Job: ...
    async def list(
        self, *, states: str | Iterable[str] | None = None, kinds: str | Iterable[str] | None = None, limit: int = 50
    ) -> JobList:
        """Return jobs of these states and kinds, newest first."""
    async def replay(self, ids: str | Iterable[str]) -> tuple[Job, ...]:
        """Queue dead or cancelled jobs again with all their tries: all of them, or none."""
    async def worker(
        self,
        handlers: Handlers | None = None,
        *,
        kinds: str | Iterable[str] | None = None,
        rules: WorkerTimes | None = None,
    ) -> Worker:
        """Return a worker for this bank, with further handlers by kind. It is closed with the bank."""

class Worker:
    """Runs the jobs of some banks, one at a time. `banks` is called again for every round.

    `run` works in the calling thread, `start` in a thread of its own. Closing the worker, or a bank it works on, ends
    it within two seconds. A handler that takes longer has no effect, and its job goes back to the queue.

    `sleeps` names this worker as the one who queues a sleep for a bank that is due; without it, none is queued. `idle`
    is for the worker of a server.
    """
    @property
    def name(self) -> str: ...
    @property
    def tally(self) -> Counter[str]: ...
    @property
    def problem(self) -> Exception | None: ...
    @property
    def stopping(self) -> bool: ...
    async def close(self) -> None:
        """End the worker, and return an unfinished job to the queue. Safe to call twice."""
    async def run(self, *, once: bool = False, idle: float | None = None, seconds: float | None = None) -> Counter[str]:
        """Work until closed; with `once`, until nothing is due; with `idle`, until nothing was due for `idle` seconds.

        After `seconds` no further job begins. Return the tally. A failing bank is skipped for a while; with `once` its
        error is raised.
        """
    async def start(self, *, once: bool = False, idle: float | None = None) -> None:
        """Run in the background. An error is in `problem` after the end."""
    def stop(self) -> None:
        """Ask the worker to end soon: no further job begins, and the running handler is notified."""
    async def wait(self, seconds: float | None = None) -> bool:
        """Wait until the worker has ended. Return False if it still runs."""

class Places:
    """The places of one bank as its viewer sees them. Thread-safe."""
    async def all(self) -> dict[str, PlaceSummary]:
        """Return every place with memories that recall may return, by its name `wing/room`."""
    async def counts(self) -> dict[str, int]:
        """Return the number of memories in each place."""
    async def entities(self, places: str | Iterable[str]) -> dict[str, int]:
        """Return the `entities` of the memories in these places, with the number of memories for each, most first."""
    async def naming(self, entity: str) -> dict[str, int]:
        """Return the places with memories that name this entity, and the number of these memories."""
    async def relink(self, place: str | End, to: str | End) -> int:
        """Move the links of a place to another place; its memories stay. Return the number of links."""
    async def rename(self, place: str | End, to: str | End) -> int:
        """Rename a place: its memories and every link to it. Return the number of memories.

        If a place of the new name exists, the two are merged.
        """
    async def shared(self, places: str | Iterable[str] | None = None, *, most: int = 20) -> dict[str, dict[str, int]]:
        """Return the entities named in several places: by name, the places and their number of memories.

        With `places`, only entities named in one of these. Entities named in more than `most` places are left out,
        because they say little about any two.
        """

class BankRules:
    async def accept(
        self, ids: str | Iterable[str], *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> DecidedRules:
        """Make these memories rules for agents. Raise `AccessError` unless a person asks.

        `unless_changed_since` takes the latest `known_from` of the versions that were read: if any memory has changed
        since, raise `ConflictError` and decide on none.
        """
    async def decline(
        self, ids: str | Iterable[str], *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> DecidedRules:
        """Stop giving these rules to agents, and do not ask about them again until their wording changes.

        `unless_changed_since` works as in `accept`.
        """
    async def explain(self, id: str) -> Rule:
        """Return one rule and why it is given to agents or waits. Raise `NotFoundError` if no memory has the id."""
    async def list(self, state: Names = ..., *, via: Names = ..., limit: int = 100) -> Rules:
        """Return the standing rules in these states. Waiting rules are included only if they came in by `via`."""

class Scratchpad:
    """The entries of one session, or those without a session."""
    async def clear(self) -> int:
        """Delete every entry of the session, and return their number."""
    async def read(self) -> builtins.list[ScratchpadEntry]:
        """Return the entries, newest first."""
    async def update(self, id: str, content: str) -> ScratchpadEntry: ...
    async def write(self, content: str) -> ScratchpadEntry: ...

class BankSessions:
    async def close(self) -> None:
        """Close the sessions that this bank opened."""
    async def draft(self, id: str) -> SessionDraft | None:
        """Return what the session would write if it were committed now, or None if it is over. No model is asked."""
    async def ingest(self, trajectory: Experience | Mapping[str, Any]) -> IngestReceipt:
        """Learn from an experience: `source_id`, `goal`, `steps` of observation and action, and `metadata`.

        Return when all of it is on disk. The same payload again returns the same receipt without model calls or writes,
        and waits if it is in progress. Raise `ConflictError` for another payload under the same `source_id`.
        """
    async def ingest_many(
        self, trajectories: Iterable[Experience | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> tuple[IngestReceipt, ...]:
        """Ingest several experiences, one after the other. All problems are raised before the first begins."""
    async def list(
        self,
        *,
        limit: int = 20,
        cursor: str | None = None,
        session: str | None = None,
        kinds: Names | None = None,
        scope: Names | None = None,
    ) -> Sessions:
        """Return the sessions of visible memories, latest beginning first. Memories outside any session count as one.

        With scope `user` alone, the sessions of the user's own memories. Sessions without remaining memories are left
        out. In the others, revised and removed memories still count for beginning and end. `cursor` continues a page of
        the same filters from a snapshot at the first page: new memories may have any time.
        """
    async def load(self, id: str) -> tuple[UnfinishedSession, tuple[Step, ...]] | None:
        """Return an unfinished session with its steps, even if another process holds it, or None."""
    async def receipt(self, source_id: str) -> IngestReceipt | None:
        """Return the receipt of an ingested experience, or None."""
    async def status(self, id: str) -> SessionStatus | None:
        """Return the status of one session, or None if it is over."""
    async def statuses(self, limit: int = 20, offset: int = 0, state: str | None = None) -> SessionStatuses:
        """Return the status of unfinished sessions, last changed first, of all or of those in a state."""
    async def unfinished(self) -> tuple[UnfinishedSession, ...]:
        """Return all unfinished sessions, without their steps."""

class Sources:
    async def ids(self, source: str) -> builtins.list[str]:
        """Return the ids of all memories from a source that were not removed, expired ones included."""
    async def intake(
        self,
        *,
        force: bool = False,
        dry_run: bool = False,
        via: str | None = None,
        follows: Sequence[str] = ...,
        what: str = "mine",
        keeps_corrections: bool = False,
    ) -> Intake:
        """Return an `Intake` that reads many sources one after the other.

        `via` says how the text came in; the default is the bank's `via`. Purged memories, and memories that a user
        removed, stay away unless `force`. With `dry_run` nothing is written. `follows` names the fields that are
        overwritten when the source changes; the bank owns the others. `what` names the verb in the journal. With
        `keeps_corrections` a memory that was corrected here stays so even if its source changes, unless `force`.
        """
    async def known(self, prefix: str = "") -> dict[str, dict[str, Any]]:
        """Return the marks of all sources whose names begin with `prefix`."""

class BankText:
    """What the bank's rules and models read in a text, without keeping it."""
    async def analyze(self, message: str) -> Analysis:
        """Judge whether a message should be kept, looked up, or neither, with reasons."""
    async def enrich(
        self, text: str, *, entities: Iterable[str] | None = None, strength: float | None = None
    ) -> Enriched:
        """Return entities and strength for a text: the given ones, or read from it if the setting `enrich` allows."""
    async def names(self, text: str) -> builtins.list[Named]:
        """Return what a text names, each once and in order, by the configured namer or by rules."""

class Intake:
    """One run over sources. It remembers across calls what it has seen. Use it from one thread."""
    async def take(
        self,
        items: Sequence[NewMemory],
        *,
        gone: Mapping[str, str] | None = None,
        hide: bool = True,
        marks: Mapping[str, Mark | None] | None = None,
        pasts: Mapping[str, Past] | None = None,
    ) -> Taken:
        """Add new items, update changed ones, and return the outcome of each.

        Every item needs an id derived from its source. `gone` maps ids that their source no longer has to the reason.
        With `hide` these memories expire; otherwise only the reason is recorded. `marks` are set after the writes: in
        the same transaction if no memory changed. A mark of None is deleted. `pasts` gives new memories, by id, a
        status, a tier and a usage.
        """
    async def unknown(self, ids: Iterable[str]) -> builtins.set[str]:
        """Return the ids that the bank does not hold, so that the caller can skip the others."""

class Upkeep:
    async def accept(self, ids: str | Iterable[str], *, reason: str | None = None) -> Decided:
        """Make proposals normal memories, and end rules that contradict them. `undo` reverts it."""
    async def archive(
        self,
        *,
        dry_run: bool = False,
        threshold: float | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Collected:
        """Archive fading memories: `include="archived"` shows them, and `update` makes them active again.

        The default threshold is twice the setting `forget_threshold`.
        """
    async def clusters(
        self,
        *,
        by: str = "similarity",
        least: float | None = None,
        most: int | None = None,
        kinds: Names | None = None,
        limit: int = 10000,
        keep: bool = False,
    ) -> Clusters:
        """Return clusters of memories: by `similarity` of their text, or by their `tags` or `entities`.

        By default only of kinds that may fade, because these can be merged. With `keep` the clusters keep their ids
        despite later writes. `least` and `most` default to settings.
        """
    async def compact(self) -> Compacted:
        """Free the space of erased and replaced data, and empty the log. Every version stays."""
    async def curve(self, id: str) -> Curve:
        """Return how a memory has faded and will fade without use: when a review is due, and when it is forgotten."""
    async def decline(self, ids: str | Iterable[str], *, reason: str | None = None) -> Decided:
        """Decline proposals, or revoke accepted ones. They wait again only if they are seen again."""
    async def due(self, k: int = 20) -> tuple[Retained, ...]:
        """Return the memories about to be forgotten, most urgent first; `review` counts that they were reviewed."""
    async def duplicates(
        self, *, least: float | None = None, kinds: Names | None = None, limit: int = 10000, most: int = 100
    ) -> Duplicates:
        """Return pairs with nearly the same text, most similar first; by default of every kind except summaries."""
    async def gc(
        self,
        *,
        dry_run: bool = True,
        archive: bool = False,
        threshold: float | None = None,
        status: Names | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Collected:
        """Remove faded memories, the weakest first; with `archive`, archive them instead. A dry run by default.

        `restore` brings removed memories back. The default threshold is the setting `forget_threshold`. Archived
        memories are removed too, unless `status` is `active`.
        """
    async def is_summed_up(self, session: str) -> bool:
        """Return whether the session has a summary that is up to date."""
    async def members(self, cluster: str) -> tuple[str, ...]:
        """Return the ids of a cluster that was found with `keep`, or that `clusters` finds now."""
    async def merge(self, ids: Iterable[str], *, text: str | None = None, dry_run: bool = False) -> Merged:
        """Merge memories that say the same into one.

        The originals are archived; the new memory links to them, and `undo` reverts it. The mind words the new text,
        unless `text` is given.
        """
    async def promote(self, ids: str | Iterable[str] | None = None, *, dry_run: bool = False) -> Promoted:
        """Promote memories: the named ones, or by default all that were used enough."""
    async def proposals(self, state: Names = "proposed", *, type: Names | None = None, limit: int = 100) -> Proposals:
        """Return lessons, highest confidence first; by default those that wait for a decision."""
    async def propose(self, session: str | None = None, *, dry_run: bool = False) -> Learnt:
        """Distill the raw events of all sessions or of one, and return the lessons.

        Distilling also happens in the background; this does it at once. With `dry_run` the lessons are only shown.
        """
    async def ranked(
        self,
        *,
        k: int = 10,
        tags: Names | None = None,
        status: Names | None = None,
        place: str | End | None = None,
        used_since: Instant | None = None,
        least: float = 0.0,
    ) -> builtins.list[Retained]:
        """Return the memories with the highest retention, of any listed kind, the user's own included.

        Among equals, the last used comes first.
        """
    async def reinforce(
        self, ids: str | Iterable[str], *, context_tags: Iterable[str] = (), boost: bool = False
    ) -> Reinforced:
        """Count that memories were useful in an answer: an access and a review each, written at once.

        A memory useful in a context with other tags than its own becomes stronger; with `boost`, every one does. A
        missing memory is reported and not counted. With the setting `reinforce` off nothing changes.
        """
    async def relate(self, ids: Iterable[str], *, dry_run: bool = False) -> Related:
        """Link every two of the memories as `related`, unless they are already; the weight is their similarity."""
    async def repair(self, *, dry_run: bool = False) -> Validated:
        """Remove broken links, archive derived memories without sources, and rebuild projections."""
    async def retained(self, ids: str | Iterable[str]) -> dict[str, Retained]:
        """Return the retention of each memory, of any status."""
    async def review(self, ids: str | Iterable[str]) -> Reinforced:
        """Count a review of these memories: an access and a review each, regardless of the setting `reinforce`."""
    async def sleep(
        self, *, dry_run: bool = False, force: bool = False, limit: int = 100000, progress: Progress | None = None
    ) -> Slept:
        """Summarize old memories, settle proven ones, and shorten aged summaries.

        Due are memories older than a day, and the oldest of more than five hundred; with `force`, all. Source texts are
        neither changed nor forgotten. Summaries link to their sources and rank behind them. A failed group is due
        again. `stopped` says why a sleep ended early; the next one continues there.
        """
    async def sleep_later(self) -> Job | None:
        """Queue a sleep as the end of a session does; None if the bank does not sleep automatically, or one waits."""
    async def sleep_log(self, limit: int = 50) -> SleepLog:
        """Return the last sleeps, newest first, and when the bank sleeps automatically. Dry runs are not logged."""
    async def storage(self) -> Storage:
        """Return the size of the bank, and how much of it `compact` would free."""
    async def summarize(self, session: str) -> Memory | None:
        """Return the summary of a session, made again if the session has changed since.

        Return None if there is nothing to summarize, or if the summary was removed. Private memories are left out.
        """
    async def summarize_later(self, session: str) -> Job:
        """Queue a summary as a job: at most one per minute or, with a model, one per ten minutes."""
    async def validate(self) -> Validated:
        """Check the store, the targets of links, and the sources of derived memories."""

class Vault:
    @property
    def is_set(self) -> bool: ...
    async def by_hand(self) -> frozenset[str]:
        """Return the ids of memories from handwritten notes."""
    async def look(self, *, seconds: float = 1.0, begins: bool = True) -> str | None:
        """Take in the notes that changed since the last look or sync. Return what was not read and why, or None.

        Look at most once a second, and read for at most `seconds`; the next look continues. Write no note. Without
        `begins`, skip a bank that never read the vault. Without a vault, do nothing.
        """
    async def path_of(self, id: str) -> str | None:
        """Return the path of a memory's note within the vault, or None."""
    async def paths(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the paths by id, of all memories with a note or of these."""
    async def promote(
        self, ids: str | Iterable[str] | None = None, *, target: str = "obsidian", dry_run: bool = False
    ) -> VaultPromoted:
        """Promote memories and write a note for each: the named ones, or by default all that were used enough.

        Existing notes stay. `target` is the link style.
        """
    async def status(self) -> VaultStatus:
        """Return what is in the vault, and what has changed there since the last sync."""
    async def sync(self, *, dry_run: bool = False, force: bool = False, progress: Progress | None = None) -> Synced:
        """Synchronize the vault and the bank, and return what changed on either side.

        The vault's changes are notes written, edited, moved or deleted by hand; the bank's are memories promoted,
        changed or removed. Handwritten notes are never changed. If both sides have changed, the note wins, and the
        memory's wording stays as the previous version. `dry_run` only reports. `progress` counts notes. Raise
        `ConflictError` if all of several notes are gone, unless `force` confirms it.
        """

def open(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    session: str | None = None,
    channel: str | None = None,
    author: str | None = None,
    author_type: str | None = None,
    settings: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    who: str = "python",
    via: str = "agent",
    create: bool = True,
    token: str | None = None,
) -> Opening[Bank]:
    """Open a bank, and create it if there is none. Without a name, settings and project choose it.

    `data` is the folder of the banks, or the address of a server; a `pieria serve` takes a `token`. `settings` are
    further settings by name. `who` is noted in the journal. `via` says how texts reach this bank, and so how far they
    are trusted: `person` for a program that passes on a person's words. Without `create`, a missing bank raises
    `NotFoundError`. Raise `InputError` or `ConfigError` for invalid arguments, and `StorageError` for an unusable bank.
    """

async def restore(
    file: str | Path,
    data: str | Path | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> RestoreReport:
    """Restore a backup file as a bank. Without a name, settings and project choose it.

    An existing bank is not touched, unless `replace` is True: then it is kept beside the new one.
    """

async def copy(
    bank: str | None = None,
    *,
    to: str | Path,
    data: str | Path | None = None,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> CopyReport:
    """Copy a whole bank with its history to another folder or server, and compare both before returning.

    `to` is a folder or an address, like `data`; `name` is the name of the copy. The source does not change and may be
    in use. Raise `ConflictError` if the target has a bank of that name.
    """

async def remove_bank(
    name: str, *, data: str | Path | None = None, settings: Mapping[str, Any] | None = None, dry_run: bool = False
) -> RemovalReport:
    """Remove a whole bank for good. See `Workspace.remove_bank`."""

async def seal(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Seal a bank with the key of the setting `seal_key`, which is created if there is none.

    The report lists what may still hold plain text. Raise `ConflictError` if the bank is sealed already, and
    `BusyError` if another process has it open.
    """

async def unseal(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Turn a sealed bank into a plain one."""

async def rekey(
    name: str | None = None,
    *,
    to: str,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Give a sealed bank another key, that of the place `to`, spelled like `seal_key` and created if there is none.

    Then set `seal_key` to that place.
    """
