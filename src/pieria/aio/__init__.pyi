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
from types import TracebackType
from typing import Any, Self

from pieria.aio.mirror import Opening as Opening
from pieria.bank.capture.distill import DistilledSessions, Observed
from pieria.bank.capture.hooks import Checkpoint, HookSettings
from pieria.bank.capture.sources import Mark, Taken
from pieria.bank.facts.extraction import Extracted
from pieria.bank.facts.text_analysis import Analysis, Enriched
from pieria.bank.filters import Names
from pieria.bank.graph.verbs import NodePage
from pieria.bank.jobs.handlers import Handlers
from pieria.bank.jobs.queue import JobList
from pieria.bank.jobs.run import Rules
from pieria.bank.places import Kept as Kept_of_places
from pieria.bank.read.similar import Likeness
from pieria.bank.results.clusters import Clusters, Duplicates, Merged, Related
from pieria.bank.results.general import (
    Around,
    Diagnosis,
    Forgotten,
    IngestReceipt,
    Neighborhood,
    Page,
    Receipt,
    ScratchpadEntry,
    Sessions,
    Stats,
)
from pieria.bank.results.lessons import Decided, Learnt, Proposals
from pieria.bank.results.quarantine import Lifted, Quarantine, Trace
from pieria.bank.results.rules import DecidedRules, Rule
from pieria.bank.results.rules import Rules as Rules_of_replies_rules
from pieria.bank.results.transfer import (
    CopyReport,
    ExportReport,
    ImportReport,
    RemovalReport,
    RestoreReport,
    SealReport,
)
from pieria.bank.results.upkeep import Collected, Compacted, Promoted, Slept, Storage, Validated
from pieria.bank.results.vault import Synced, VaultPromoted, VaultStatus
from pieria.bank.sessions.drafts import SessionDraft, SessionStanding, SessionStandings
from pieria.bank.upkeep.review import Reinforced
from pieria.bank.write.update import Keep
from pieria.config import Config
from pieria.errors import PieriaError
from pieria.facts.predicates import Predicate
from pieria.facts.summary import Conflict, Entity, FactStats
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node, Tag
from pieria.learning.experience import Experience
from pieria.learning.recalled import RecallResult
from pieria.learning.steps import Step
from pieria.learning.traces import EpisodeTrace
from pieria.models.mind import Named
from pieria.models.minds.llm.custom_prompts import OwnPrompt
from pieria.models.minds.llm.request import Override
from pieria.recall.answer import Recall
from pieria.recall.context.answer import Context
from pieria.record.change import Change
from pieria.record.draft import Instant, NewMemory
from pieria.record.end import End
from pieria.record.event import Event
from pieria.record.fact import Fact
from pieria.record.job import Job
from pieria.record.link import Link
from pieria.record.memory import Memory
from pieria.record.time import Clock
from pieria.record.usage import Usage
from pieria.sessions.log import Kept
from pieria.sessions.opened import Standing
from pieria.sessions.queue import Callback as Callback_of_queue
from pieria.sessions.session import Progress as Progress_of_session
from pieria.sessions.state import SessionState
from pieria.store.protocol import Progress
from pieria.upkeep.review import Curve, Retained
from pieria.workspace.graph_care import Callback as Callback_of_graph_care
from pieria.workspace.graph_care import Summary
from pieria.workspace.sessions import Callback

__all__ = [
    "Bank",
    "BankGraph",
    "BankRules",
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
    """Shared settings and the banks opened under them; a context manager that closes them.

    Threads may share it, and it outlives a fork. An opened bank may be closed alone.
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
        """`folder` and `environ` are those of whoever it works for, where that is not this process.

        `by_door` says that `data` was not chosen by the program that calls: then a data folder inside a project is
        believed only if the project is trusted, as it is where `data` comes from settings.
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
        """What was observed, and what was done about it. Returns when the step is judged and kept."""
    async def append_async(
        self, session_id: str, observation: str, action: str, callback: Callback | None = None
    ) -> None:
        """The word is `appended`."""
    async def apply_changeset(self, repo_id: str, changeset: Changeset) -> None:
        """When this returns, all of it is written."""
    async def banks(self) -> builtins.list[str]:
        """The names of the banks there are, without the user's own."""
    async def close(self, session_id: str | None = None) -> None:
        """Closes every bank and repository that was opened here, and has notifiers told what is left. Safe to call
        twice. With a session's id, closes the episode of that session and nothing else.
        """
    async def close_and_commit(
        self, session_id: str, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50
    ) -> None:
        """Closes the episode, waits until knowledge is drawn, and commits it; where that fails, it is tried again.

        Each try is waited for `max_polls` times `poll_interval` milliseconds. Raises `PipelineError`.
        """
    async def close_async(self, session_id: str, callback: Callback | None = None) -> None:
        """The word is `closed`."""
    async def close_repo(self, repo_id: str) -> None:
        """Closes its bank or backend. Raises `NotFoundError` where it is not open, as all that follow do."""
    async def commit(self, session_id: str) -> None:
        """What was drawn is in the graph when this returns. After a failure: another try."""
    async def commit_async(self, session_id: str, callback: Callback | None = None) -> None:
        """The word is `committed`."""
    async def consolidate_semantics(
        self, repo_id: str, threshold: float = 0.85, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Summary:
        """Has the best of the facts that share a tag and say nearly the same stand for all: `checked`, `deleted`,
        `deleted_ids`.
        """
    async def consolidate_semantics_async(
        self,
        repo_id: str,
        threshold: float = 0.85,
        callback: Callback_of_graph_care | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        """The same behind the caller's back."""
    async def decay_nodes(
        self,
        repo_id: str,
        threshold: float = 0.1,
        node_types: Sequence[str] = ...,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Summary:
        """Puts away what is worth little by itself: `checked`, `deleted`, `deleted_ids`."""
    async def decay_nodes_async(
        self,
        repo_id: str,
        threshold: float = 0.1,
        node_types: Sequence[str] = ...,
        callback: Callback_of_graph_care | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        """The same behind the caller's back."""
    async def delete_nodes(self, repo_id: str, node_ids: Sequence[str]) -> None:
        """With their metadata and every tie to them."""
    async def discard(self, session_id: str) -> None:
        """What was drawn, or could not be, goes, and the steps with it."""
    async def discard_async(self, session_id: str, callback: Callback | None = None) -> None:
        """The word is `discarded`."""
    async def get_graph(self, repo_id: str) -> Graph:
        """All of it, as a value."""
    async def get_linked_nodes(
        self, repo_id: str, node_ids: Sequence[str], edge_type: Edge | None = None
    ) -> builtins.list[Node]:
        """The neighbours of these nodes, by ties of that type or of any."""
    async def get_metadata(self, repo_id: str, node_ids: Sequence[str]) -> dict[str, NodeMetadata]: ...
    async def get_node(self, repo_id: str, node_id: str) -> Node | None: ...
    async def get_nodes_by_type(self, repo_id: str, types: Sequence[str]) -> builtins.list[Node]: ...
    async def ingest(self, repo_id: str, trajectory: Mapping[str, Any]) -> IngestReceipt:
        """Learns from what was lived through elsewhere, as `Bank.ingest` does: once, with a receipt."""
    async def is_sealed(self, name: str) -> bool:
        """Whether a bank's file is encrypted; nothing of it is opened. False where there is none, and on a server."""
    async def latest(
        self, repo_id: str, top_k: int, types: Sequence[str] = ...
    ) -> builtins.list[tuple[Node, NodeMetadata]]:
        """The nodes that came in last, with their metadata; what has none is left out."""
    async def list_repos(self) -> builtins.list[str]:
        """The ids of those that are open, in their order."""
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
        """Opens a bank, making it where there is none. What is not given is as the settings say.

        `llm` and `embedder` are this bank's own models, each a name, an object or a function; `overrides` gives single
        steps, or groups of them, another language model or further options, and `prompts` gives steps a prompt of your
        own. `notifier` is told of what happens through
        this bank, and `config` is its own, in place of the workspace's. Without `user`, nothing of what belongs to the
        user is found through it or written. `secrets` is the setting of that name, for what is written through it, and
        `count_uses` for what is found through it. `via` says how texts come in through it: `person` for what a person
        says, `agent`, `hearsay` or `outside`.
        Without `create` no bank is made: where there is none, that is `NotFoundError`, with names that may be meant.
        """
    async def open_repo(
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
    async def recall(self, repo_id: str, query: str, max_hops: int = 2) -> RecallResult:
        """What the repository holds on a question, by type of node, in words and as nodes.

        From what is near the question it goes on over tags and intents, up to `max_hops` times. What a model fails at
        is done without and told in the trace. Raises `NotFoundError` for a repository that is not open, and
        `AdapterError` where the question cannot be embedded and there is nothing else to find it by.
        """
    async def recall_in_context(self, repo_id: str, session_id: str, query: str, max_hops: int = 2) -> RecallResult:
        """The same for a question that belongs to a session: asked with its goal and its last steps.

        Where there is no such session, or nothing has happened in it, the question stands alone.
        """
    async def remove_bank(self, name: str, *, dry_run: bool = False) -> RemovalReport:
        """Removes a whole bank for good: all it holds, its past included. With `dry_run` it is only told what would go.

        It is closed first wherever this process has it open. There is no way back but a backup, and the report names
        what may still hold its words. Whoever opens the name again opens a new, empty bank.
        Raises `NotFoundError` where there is no such bank, `BusyError` where another process is in the way.
        """
    async def repair_graph(self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None) -> Summary:
        """Unties what leads nowhere: `checked`, `repaired_nodes`, `dangling_refs`, `orphans_deleted`, `orphan_ids`."""
    async def repair_graph_async(
        self, repo_id: str, callback: Callback_of_graph_care | None = None, *, dry_run: bool = False
    ) -> None:
        """The same behind the caller's back."""
    def resume(
        self,
        session_id: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
    ) -> Opening[Session]:
        """Takes up a session that was left, by a process that was lost or that ended, with what is its own.

        Raises `SessionError`, reason `held_elsewhere`, where it is open.
        """
    def session(self, session_id: str) -> Opening[Session]:
        """The session itself, taken up again where it was left."""
    async def session_state(self, session_id: str) -> SessionState: ...
    async def sessions(self, repo_id: str) -> builtins.list[Standing]:
        """Those of a repository that are not over, whoever has them open."""
    async def start_episode(self, session_id: str, goal: str) -> None:
        """The next one, in a session that is idle."""
    async def start_episode_async(self, session_id: str, goal: str, callback: Callback | None = None) -> None:
        """The word is `started`."""
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
        """Begins a session in a repository that is open, and returns its id; it collects steps from then on.

        `config`, `llm`, `embedding` and `notifier` are its own, in place of the repository's; a configuration as a
        whole. `profile` and `auto_commit` are so much of one that is as the repository's otherwise.
        """
    async def validate_episodic(
        self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Summary:
        """Takes of the rewards of knowledge that has no sources, or strays from them: `checked`, `grounded`,
        `penalized`, `orphaned`.
        """
    async def validate_episodic_async(
        self, repo_id: str, callback: Callback_of_graph_care | None = None, *, dry_run: bool = False
    ) -> None:
        """The same behind the caller's back."""

class Bank:
    """Made by `pieria.open` or a `Workspace`; a context manager that closes it."""
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
    def sources(self) -> Sources: ...
    @property
    def upkeep(self) -> Upkeep: ...
    @property
    def vault(self) -> Vault: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...
    async def alike(self, text: str, *, k: int = 5, least: float = 0.0) -> builtins.list[Likeness]:
        """The memories of this bank that say most nearly the same as the whole of a text, the nearest first.

        One that says exactly this has 1. To compare is no use of a memory: nothing is counted.
        """
    async def analyze(self, message: str) -> Analysis:
        """Whether a message should be kept, looked up, or neither, each with its reasons."""
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
        """What was said just before and after a memory, up to so many of each. A revised one leads to its newest."""
    async def backup(self, path: str | Path, *, progress: Progress | None = None) -> Path:
        """Copies the bank's store as it is now, while others read and write on. `pieria.restore` brings it back.

        An older backup of that name is replaced once the new one is whole; a folder gets a file named after the bank
        and the time. `progress` counts pages.
        """
    async def changes(self, since: int = 0, limit: int | None = None, *, last: int | None = None) -> tuple[Change, ...]:
        """The journal after a sequence number, oldest first; with `last`, only so many of its newest entries."""
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
        """What to tell an agent before it asks: standing rules, what is pinned and what was left open, then an index
        of what matters most, and as much of it in full as there is room for. All of it is fenced as data.

        With a query or files it is about these, and as of now. Without them it is as of `known_at`, or of the moment
        that is kept for the session, or of now. `keep` keeps the moment for the session, unless one is kept already;
        `anew` does not look at what is kept, and with `keep` puts the present moment in its place. `deadline_ms` is
        what recall may take for the query; it then answers from what it has.
        """
    async def count(
        self,
        *,
        by: str | None = None,
        include: Names = (),
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        pinned: bool | None = None,
    ) -> Any:
        """How many there are; with `by`, how many of each kind, place, tag and so on, most first."""
    async def distil(self, session: str | None = None, *, progress: Progress | None = None) -> DistilledSessions:
        """Distils what is still raw, of all sessions or of one, with what is still being worked on."""
    async def doctor(
        self, *, repair: bool = False, up_to: int | None = None, progress: Progress | None = None
    ) -> Diagnosis:
        """Checks file, rules of the record, projections, disk and settings. `repair` mends projections.

        All of the bank is read for that. Where it has more than `up_to` versions it is not, and the diagnosis is not
        `thorough`: it has only what is told at a glance. `progress` is told how many of how many checks are done.
        """
    async def embedded(self, ids: str | Iterable[str]) -> builtins.set[str]:
        """Which of these have a vector by now."""
    async def enriched(
        self, text: str, *, entities: Iterable[str] | None = None, strength: float | None = None
    ) -> Enriched:
        """Entities and strength for a text: as given, or else read from it, if the setting `enrich` allows."""
    def expect_questions(self) -> None:
        """For a process that is there to be asked: what the first question would wait for is loaded behind."""
    async def export(self, path: str | Path, *, progress: Progress | None = None) -> ExportReport:
        """Writes the whole bank, its past included, to one file of JSON lines: `docs/export-format.md`.

        An older export of that name is replaced once the new one is whole, and no other file is; a folder gets a file
        named after the bank and the time. `progress` counts versions and changes.
        """
    async def extract(self, id: str, *, entities: bool = True, statements: bool = True) -> Extracted:
        """Writes down as facts what a memory names (`id mentions name`) and what it states.

        By rules at once; where a language model is set, a job asks it. The same text twice adds nothing; of a text that
        has changed, what it does not say any more is taken back.
        """
    def follow(self, since: int | None = None, *, seconds: float | None = None) -> AsyncGenerator[Change]:
        """The changes after a sequence number, oldest first, and then each as it comes; without one, from now on.

        Goes on until the bank is closed, or so many seconds are over. Where it ends with an error that may be tried
        again, nothing was missed: follow on from the last change that came.
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
        """Removes all that came from a source or in a session, and what was drawn from nothing else, as one change.
        What is in quarantine goes with it.

        `undo` of that change brings it back. With `purge` it is erased for good, and so is everything that was drawn
        from it, and what is known as facts from there. With `dry_run` it is only told. With `as_told`, the
        `digest` of what was told, nothing goes where anything of it was added, changed or taken away since. Raises
        `NotFoundError` where there is nothing from there.
        """
    async def get(
        self,
        reference: str,
        *,
        version: int | None = None,
        known_at: Instant | None = None,
        include_removed: bool = False,
    ) -> Memory | None:
        """The memory under an id, whatever its status; `id@version` opens that version. None if there is none.

        An id that itself ends like a version comes before the version; with `version` the whole reference is the id.
        """
    async def history(self, id: str, *, revisions: bool = False) -> tuple[Memory, ...]:
        """Every stretch of known time of a memory, oldest first: its versions, and each change of its standing.

        With `revisions`, those of the memories it revised and was revised as, too.
        """
    async def import_(
        self,
        path: str | Path | BufferedIOBase,
        *,
        mode: str = "skip",
        dry_run: bool = False,
        force: bool = False,
        on_error: str = "stop",
        system: str | None = None,
        trusted: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Brings an export in, all of it or nothing. A bank without a past becomes the one that was exported.

        `mode` decides about what is here already: `skip` leaves it, `merge` takes the later, `replace` the file's.
        What was removed here stays removed, and what was purged stays away, unless `force`. With `on_error="skip"`
        broken lines are left out and reported; otherwise they are a `TransferError` and nothing is written.
        `dry_run` reports without writing. `progress` counts bytes; the file is read twice. It may also be given open,
        for reading bytes at any place, such as one that stands in memory alone. `system` names another system whose
        store is at the path: `mnemex`. What comes in is hearsay, whatever the file says of it, unless `trusted`: for an
        export of one's own that was in no other hands.
        """
    async def ingest(self, trajectory: Experience | Mapping[str, Any]) -> IngestReceipt:
        """Learns from what was lived through: `source_id`, `goal`, `steps` of observation and action, and `metadata`.

        Returns when all of it is kept. The same payload again gets the same receipt, and nothing is written or asked;
        one that is under way is waited for. Raises `ConflictError` for another payload under the same `source_id`.
        """
    async def ingest_many(
        self, trajectories: Iterable[Experience | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[IngestReceipt]:
        """The same for several, one after the other. What is wrong with any of them is told before the first begins."""
    async def invalidate(
        self,
        id: str,
        *,
        at: Instant | None = None,
        replacement: str | None = None,
        reason: str | None = None,
        unless_changed_since: Instant | None = None,
    ) -> Memory:
        """Says that it no longer holds, from `at` on (now). It stays on record, and is recalled for times before."""
    async def lift(self, number: int) -> Lifted:
        """End a quarantine: everything that it holds is read again as before. Its number is that of its change.

        Raise `NotFoundError` where there is none of this number.
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
        """Ties two memories, or a memory and a `Place`. The same tie again changes its weight, label and meta only."""
    async def links(self, end: str | End | None = None, *, relation: str | None = None) -> builtins.list[Link]:
        """The links there are, or those of one end, in the order in which they were written."""
    async def list(
        self,
        *,
        order: str = "newest",
        limit: int = 50,
        offset: int = 0,
        cursor: str | None = None,
        include: Names = (),
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        pinned: bool | None = None,
    ) -> Page:
        """Memories of this bank in order; with scope `user` alone, the user's own.

        `cursor` goes on where a page of the same order and filters ended, whatever came since; `offset` passes over
        so many, whatever they are by now.
        """
    async def list_each(
        self,
        by: str,
        values: str | End | Iterable[str | End],
        *,
        order: str = "newest",
        limit: int = 50,
        include: Names = (),
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        pinned: bool | None = None,
    ) -> dict[str | End, Page]:
        """The `list` of each of these, under what was given for it, in one look; `limit` is of each, and `list` goes on
        from its cursor. `by` is `tags`, `entities`, `files`, or `place` with places spelt wing/room.
        """
    async def named(self, text: str) -> builtins.list[Named]:
        """What a text names, each thing once and in its order: by the pipeline that is set, or by rules."""
    async def neighbors(
        self, id: str | End, *, relation: str | None = None, direction: str = "both", hops: int = 1, limit: int = 50
    ) -> Neighborhood:
        """What the links of a memory or place lead to, nearest first, each once. It says where `limit` cut it short."""
    async def neighbors_each(
        self,
        ids: str | End | Iterable[str | End],
        *,
        relation: str | None = None,
        direction: str = "both",
        hops: int = 1,
        limit: int = 50,
    ) -> dict[str | End, Neighborhood]:
        """The `neighbors` of each of these, under what was given for it, in one look; `limit` is of each."""
    async def observe(self, events: Iterable[Event | Mapping[str, Any]]) -> Observed:
        """Takes in what happened. When this returns it is on the disk; what was told before changes nothing.

        What is marked private is cut and secrets are taken out, whatever else is set for the bank. A job distils the
        session at its end, when its context is compacted, when much has come together, or after ten minutes of silence.
        """
    async def pin(self, id: str, pinned: bool = True) -> Memory:
        """Keeps upkeep from ever forgetting it; `pinned=False` lets go again."""
    async def purge(
        self,
        ids: str | Iterable[str],
        *,
        dry_run: bool = False,
        unless_changed_since: Instant | None = None,
        as_told: str | None = None,
    ) -> Receipt:
        """Erases memories everywhere: every version and revision, index, links, usage, and what was drawn from them.

        Sources and subgoals of steps go with them, and tags and intents that nothing else has. Only the ids are
        remembered, so that nothing brings them back unasked. There is no way back. What another session drew from them
        goes as well, and is counted but not named. With `dry_run` it is only told. With `as_told`, the `digest` of a
        receipt that told it, nothing is erased where anything of it was added, changed or taken away since.
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
        """Take what these select, and all that was drawn from it, out of everything that reads, as one change.

        What is selected must match every selector; memories named by `ids` are taken besides. While the quarantine
        lasts, what is written from there joins it, whoever writes it. `lift` ends it and brings back exactly what was
        there. Raise `NotFoundError` where nothing is selected, and `AccessError` where an agent would hide a rule of a
        person.
        """
    async def quarantines(self) -> tuple[Quarantine, ...]:
        """Return every quarantine that lasts, the oldest first, with what it holds by now."""
    async def recall(
        self,
        query: str,
        *,
        k: int = 10,
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
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
    ) -> Recall:
        """What the bank, and the user's own, hold on a question: best first, each with its reasons.

        Lists mean any of theirs. `valid_at` asks what held at a time, `known_at` answers from what was known then.
        Any text is a question; an empty one finds nothing. With `review`, memories that are about to be forgotten come
        with the `k` answers, a share of these. `matching` leaves out what holds nothing of the question itself, and
        only stands beside what does. `time_zone` says whose days "yesterday" and "last week" are. What is not `counted`
        is no use of what it finds. With `min_confidence` only what answers comes: nothing where it is less sure than
        that, and nothing that is worth less than half of the best.
        """
    async def receipt(self, source_id: str) -> IngestReceipt | None:
        """Of what was taken in under this name; None for nothing."""
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
        """Keeps one thing. When this returns it is on the disk and can be recalled.

        The same text twice is two memories, unless `unless_exists` is `id` or `text`; then the one there is comes back.
        `vectors` are its own, of the bank's space: one list of numbers, or several for its passages. `extract` is the
        verb of that name, once the text is kept. `via` says how the text came in (`person`, `agent`, `hearsay` or
        `outside`), where that is not how the bank was opened.
        """
    async def remember_many(
        self, items: Iterable[Mapping[str, Any] | NewMemory], progress: Progress | None = None
    ) -> builtins.list[Memory]:
        """Keeps many, in batches of one transaction each. Everything is checked before the first is written.

        What is wrong with any of them is told at once, as `items[3].importance`. When this returns, their vectors are
        there too; where the model fails, that is logged, and they are embedded later. `progress` is told of both.
        """
    async def remove(
        self, id: str, *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> Memory:
        """Takes it out of every answer from now on. Its versions and its past stay; `restore` brings it back."""
    async def restore(self, id: str) -> Memory:
        """Brings back what `remove` took away, as it stood. What was drawn from others needs those to stand on."""
    async def revise(
        self,
        id: str,
        *,
        text: str | Keep = ...,
        title: str | Keep | None = ...,
        body: Mapping[str, Any] | Keep = ...,
        tags: Collection[str] | Keep = ...,
        entities: Collection[str] | Keep = ...,
        files: Collection[str] | Keep = ...,
        context: str | Keep | None = ...,
        meta: Mapping[str, Any] | Keep = ...,
        importance: float | Keep = ...,
        confidence: float | Keep | None = ...,
        place: str | End | Keep = ...,
        valid_from: Instant | Keep | None = ...,
        valid_until: Instant | Keep | None = ...,
        author: str | None = None,
        author_type: str | None = None,
        at: Instant | None = None,
        reason: str | None = None,
        unless_changed_since: Instant | None = None,
    ) -> Memory:
        """A new memory in this one's place, under a new id, linked to it. An older revision leads to the newest.

        It is said now, unless `at` tells otherwise, by the author who is given or for whom the bank was opened.
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
        """Begins a session, which collects steps towards the goal. What is given is its own, in place of the bank's.

        `profile` and `auto_commit` are so much of a configuration that is as the bank's otherwise.
        As a context manager it extracts and commits at the end; on an exception it keeps the steps, uncommitted.
        """
    async def session_draft(self, id: str) -> SessionDraft | None:
        """What it would write if it were committed now. No model is asked; None where the session is over."""
    async def session_kept(self, id: str) -> tuple[Kept, builtins.list[Step]] | None:
        """What is kept of a session that is not over, with its steps, whoever has it open; None where there is none."""
    async def session_standing(self, id: str) -> SessionStanding | None:
        """The same of one; None where it is over."""
    async def session_standings(self, limit: int = 20, offset: int = 0, state: str | None = None) -> SessionStandings:
        """Where they stand, the last changed first: so many after the first `offset`, of all or of those in a state."""
    async def sessions(
        self,
        *,
        limit: int = 20,
        cursor: str | None = None,
        session: str | None = None,
        kinds: Names | None = None,
        scope: Names | None = None,
    ) -> Sessions:
        """The sessions of what may be seen here, that which began last first. What was said outside of any is one.
        With scope `user` alone they are those of the user's own memories. One of which nothing is left is not among
        them; of the others, what was revised or removed still counts for when they began and ended.

        `cursor` goes on where a page of the same filters ended, with the sessions as they were at the first page:
        what comes in since may be of any time, and would move them.
        """
    async def sessions_kept(self) -> builtins.list[Kept]:
        """The same of all of them, without their steps."""
    async def stats(self) -> Stats:
        """Counts of what there is, by kind and standing, and the store's sizes."""
    async def sync(self, timeout: float | None = None, progress: Progress | None = None) -> bool:
        """Waits until every projection has caught up with the record; True when they have.

        The text index is written with the record, so what is waited for is vectors: none without an embedder. What was
        read is counted as well. False where time runs out, the bank's vectors are of another model, or another process
        keeps the bank locked. Raises `AdapterError` where the model fails. What belongs to the user counts too.
        `progress` is told how many of how many are embedded.
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
        """Counts a use: accesses, reviews, uses in a foreign context, and a reward from -1 to 1 if there was one. A
        boost makes them stronger by the setting `crossing_boost`.
        """
    async def trace(
        self, id: str | None = None, *, source: str | None = None, session: str | None = None, limit: int = 200
    ) -> Trace:
        """Return what was drawn from a memory, a source or a session, and which sessions were told any of it.

        It shows what ended and what is in quarantine as well. Raise `NotFoundError` where there is nothing.
        """
    async def twins(self, text: str, *, kinds: Names | None = None, scope: Names | None = None) -> tuple[Memory, ...]:
        """The memories of this bank that say exactly this, without what is private; the first kept first. With scope
        `user` alone those of the user's own.
        """
    async def undo(self, seq: int) -> Change:
        """Puts back what a change of this bank did. Evidence stays: what it remembered is removed, not erased."""
    async def unlink(
        self, source: str | End, target: str | End | None = None, relation: str | None = None
    ) -> builtins.list[Link]:
        """Unties: one link by its id, or all between two ends, of one relation if it is named."""
    async def update(
        self,
        id: str,
        *,
        text: str | Keep = ...,
        title: str | Keep | None = ...,
        body: Mapping[str, Any] | Keep = ...,
        tags: Collection[str] | Keep = ...,
        entities: Collection[str] | Keep = ...,
        files: Collection[str] | Keep = ...,
        context: str | Keep | None = ...,
        meta: Mapping[str, Any] | Keep = ...,
        importance: float | Keep = ...,
        confidence: float | Keep | None = ...,
        strength: float | Keep = ...,
        place: str | End | Keep = ...,
        scope: str | Keep = ...,
        status: str | Keep = ...,
        tier: str | Keep = ...,
        at: Instant | Keep = ...,
        valid_from: Instant | Keep | None = ...,
        valid_until: Instant | Keep | None = ...,
        reason: str | None = None,
        unless_changed_since: Instant | None = None,
        via: str | None = None,
    ) -> Memory:
        """Changes what is given and keeps the rest. Changed content becomes the next version under the same id.

        Its author stays. New wording is trusted no more than the way in through which this bank was opened.
        With `unless_changed_since`, the `known_from` of what was read, nothing is changed where something else stands
        by now: that is a `ConflictError`. `via` says how the new wording came in, where not as the bank was opened.
        """
    async def usage(self, ids: str | Iterable[str]) -> dict[str, Usage]:
        """How memories have been used; one that was never used is there with zeros."""
    async def use_embedder(self) -> str:
        """Moves the bank over to the embedder of this process: all is embedded anew, in the background; see `sync`.

        Until that is done, recall uses the vectors there are, and the words of all. Returns the name of the space.
        """
    async def wait(self, since: int, seconds: float) -> bool:
        """Waits until there is a change after a sequence number, whoever writes it; False where time is over first."""
    async def widen(
        self,
        id: str,
        *,
        importance: float | None = None,
        scope: str | None = None,
        valid_until: Instant | None = None,
        reason: str | None = None,
    ) -> Memory:
        """Gives it more importance, more readers or a later end than it has. What would be less stays as it is.

        However many do so at once, the most that was asked for is what stands in the end.
        """

class Session:
    """An agent's run towards a goal, step by step, from which knowledge is drawn. Threads may share it.

    What its state does not allow raises `SessionError`. The forms that end in `_async` do not wait: they call
    `callback`, once, with the word for what was done, or with the error.

    As a context manager it closes and commits at the end; after an exception its steps are kept, uncommitted.
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
        """What was observed, and what was done about it. Returns when the step is judged and kept.

        A step that cannot be judged raises, and nothing of it stays.
        """
    async def append_async(self, observation: str, action: str, callback: Callback_of_queue | None = None) -> None:
        """The word is `appended`. Steps are taken in in the order in which they were appended."""
    async def close(self) -> None:
        """No step follows; knowledge is drawn from all that nothing was drawn from yet, while this returns."""
    async def close_and_commit(self, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50) -> None:
        """Closes, waits until knowledge is drawn, and commits it. Where drawing fails it is tried again, so often.

        Each try is waited for `max_polls` times `poll_interval` milliseconds. Raises `PipelineError`: with
        `extraction_failed` when no try is left, with `extraction_timeout` when that was not long enough.
        """
    async def close_and_wait(self, seconds: float, progress: Progress_of_session | None = None) -> SessionState:
        """Closes, once what is under way lets it, and returns when nothing is being drawn any more: `idle` where all is
        committed, `ready` where it waits to be, or `failed`. Raises `PipelineError` where that takes longer.
        """
    async def close_async(self, callback: Callback_of_queue | None = None) -> None:
        """The word is `closed`."""
    async def commit(self) -> None:
        """What was drawn is in the graph when this returns, and can be recalled. After a failure: another try."""
    async def commit_async(self, callback: Callback_of_queue | None = None) -> None:
        """The word is `committed`."""
    async def discard(self) -> None:
        """What was drawn, or could not be, goes, and the steps with it. What was committed before stays."""
    async def discard_async(self, callback: Callback_of_queue | None = None) -> None:
        """The word is `discarded`."""
    async def get_context(self) -> dict[str, Any] | None:
        """The `goal` and the `recent_steps`, each in a line; None where no episode is under way."""
    async def start_episode(self, goal: str) -> None:
        """The next one, in a session that is idle."""
    async def start_episode_async(self, goal: str, callback: Callback_of_queue | None = None) -> None:
        """The word is `started`."""
    async def take(self, observation: str, action: str) -> EpisodeTrace:
        """The same, for whoever wants to know how the step was judged."""
    async def wait(self, seconds: float, progress: Progress_of_session | None = None) -> SessionState:
        """Its state once nothing is being drawn any more. `progress` is told of how many steps knowledge was drawn."""

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
        """States that something holds. What is known already is confirmed, widened or made surer, and never doubled.

        For a predicate declared single-valued, other values end or move to make room.
        """
    async def alias(self, name: str, of: str) -> Entity:
        """Makes both names one entity in every look-up, whichever of them a fact was written with."""
    async def aliases(self) -> dict[str, str]:
        """Each alias and the entity it stands for."""
    async def conflicts(self, subject: str | None = None, predicate: str | None = None) -> builtins.list[Conflict]:
        """Where facts of a single-valued predicate hold at the same time with different objects."""
    async def declare(self, predicate: str, single_valued: bool = True) -> builtins.list[Conflict]:
        """Says that a predicate has one value at a time, or any number. Changes no fact; returns what is against it."""
    async def entities(self, prefix: str = "") -> builtins.list[Entity]:
        """Every name that stands as subject or object, with its aliases; those one of whose names begins like this."""
    async def history(self, fact_id: str) -> builtins.list[Fact]:
        """Every version of a fact as it was written, oldest first, those included in which it was removed."""
    async def invalidate(
        self, subject: str, predicate: str, object: str, *, at: Instant | None = None, reason: str | None = None
    ) -> builtins.list[Fact]:
        """Ends a fact at that moment (now); one that began only then or later never held, and is removed."""
    async def predicates(self) -> builtins.list[Predicate]:
        """The predicates in use and those declared, by name."""
    async def purge(
        self, fact_ids: str | Iterable[str], *, dry_run: bool = False, as_told: str | None = None
    ) -> Receipt:
        """Erases facts for good, every version of them. Only ids are remembered, so that no import brings them back.

        What else says the same is named in the receipt and stays: the memory that a fact was drawn from, other facts.
        With `dry_run` it is only told. With `as_told`, the `digest` of a receipt that told it, nothing is erased where
        any of the facts was changed since.
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
        """Facts that match everything given, in the order in which they began to hold; of a memory, those it states.

        Those that hold at `valid_at` (now) or, with `history`, those of all times. Of more than `limit` the last.
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
        """The `query` of each of these entities, under what was given for it, in one look; `limit` is of each."""
    async def remove(self, fact_id: str, *, reason: str | None = None) -> Fact:
        """Takes a fact out of every answer, as one that should not have been stated. It stays on record."""
    async def stats(self) -> FactStats: ...
    async def supersede(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        replaces: str | None = None,
        at: Instant | None = None,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> Fact:
        """Ends what else holds for the subject and predicate at that moment (now), and states this from then on.

        With `replaces` only that value ends; where it does not hold then, nothing is written.
        """
    async def timeline(
        self, entity: str | None = None, *, known_at: Instant | None = None, limit: int | None = None
    ) -> builtins.list[Fact]:
        """The facts of all times in the order in which they began to hold; of more than `limit` the last."""
    async def unalias(self, name: str) -> Entity:
        """Takes an alias back: the name is an entity of its own again."""

class BankGraph:
    """A graph backend. What it cannot do it refuses, and then nothing is changed."""
    @property
    def graph(self) -> Coroutine[Any, Any, Graph]: ...
    @property
    def everything(self) -> BankGraph: ...
    async def apply_changeset(self, changeset: Changeset) -> None:
        """Nodes, then ties between what is there, then metadata, as one change of the bank.

        A node under an id that is taken becomes its next version. `created_at` in metadata says nothing here: the bank
        itself knows since when it knows.
        """
    async def consolidate(
        self,
        threshold: float = 0.85,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Has the best of the facts that share a tag and say nearly the same stand for all; the others are archived."""
    async def decay(
        self,
        threshold: float = 0.1,
        node_types: Sequence[str] = ...,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Archives what is worth little by itself, and the tags and intents that nothing is tied to."""
    async def delete_metadata(self, node_ids: Sequence[str]) -> None: ...
    async def delete_nodes(self, node_ids: Sequence[str]) -> None:
        """Removes their memories: out of every answer, and `restore` brings them back."""
    async def find_candidates(
        self,
        node_types: Sequence[str],
        query_embedding: Sequence[float],
        tag_embeddings: Sequence[Sequence[float]] = (),
        value_fn_config: Mapping[str, Any] | None = None,
        opts: Mapping[str, Any] | None = None,
    ) -> builtins.list[tuple[Node, float]]:
        """Of each type the nearest are valued, ten times as many as are wanted and at least 200."""
    async def find_tags(self, labels: Sequence[str]) -> builtins.list[Tag]:
        """Those whose labels mean the same as one of these, the oldest first, whatever else the bank holds."""
    async def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> builtins.list[Node]: ...
    async def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        """Of every node that is there: one that was never used has counts of 0."""
    async def get_node(self, node_id: str) -> Node | None: ...
    async def get_nodes_by_type(self, node_types: Sequence[str]) -> builtins.list[Node]: ...
    async def init(self, opts: Mapping[str, Any] | None = None) -> None:
        """An open bank has nothing left to begin."""
    async def latest(self, top_k: int, types: Sequence[str]) -> builtins.list[tuple[Node, NodeMetadata]]:
        """What came in, or was changed, last."""
    async def page(self, types: Sequence[str], limit: int = 20, cursor: str | None = None) -> NodePage:
        """Nodes of these types, the oldest first. `cursor` goes on where a page of the same types ended.

        What comes in meanwhile stands on a later page, and nothing is passed over for it.
        """
    async def repair(self, *, dry_run: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Unties what is tied to what is not there, and archives the tags and intents that nothing is tied to."""
    async def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None: ...
    async def validate(
        self, *, config: Config | None = None, dry_run: bool = False, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Takes of the rewards of knowledge that has no sources, or strays from them, for as long as it does."""

class Hooks:
    async def checkpoint(self, messages: int) -> Checkpoint:
        """Says that so many messages of this bank's session are saved now."""
    async def last(self) -> Checkpoint | None:
        """The latest checkpoint, of whichever session."""
    async def set(self, *, silent_save: bool | None = None, desktop_toast: bool | None = None) -> HookSettings:
        """Changes what is given, and returns what holds now."""
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
        """Queues a job, or gives back the one of the same kind and key that is queued or running.

        `payload` says what is to be done, and names memories by id instead of quoting them. `about` is the `id@version`
        that it is for: once that has changed, the job ends as stale. Without a key, the same payload is the same job.
        """
    async def cancel(self, ids: str | Iterable[str]) -> tuple[Job, ...]:
        """Calls jobs off: all of them, or none. A running one is told within a second or so, and has no effect more."""
    async def counts(self) -> dict[str, int]:
        """How many there are in each state."""
    async def get(self, id: str) -> Job: ...
    async def list(
        self, *, states: str | Iterable[str] | None = None, kinds: str | Iterable[str] | None = None, limit: int = 50
    ) -> JobList:
        """Newest first: of any of these states and kinds."""
    async def replay(self, ids: str | Iterable[str]) -> tuple[Job, ...]:
        """Queues dead or cancelled jobs again, as if they had never been tried: all of them, or none."""
    async def worker(
        self, handlers: Handlers | None = None, *, kinds: str | Iterable[str] | None = None, rules: Rules | None = None
    ) -> Worker:
        """A worker for this bank, with further handlers by kind. It is closed with the bank."""

class Worker:
    """Does the jobs of some banks, one at a time. `banks` is asked anew for every round.

    `run` works in the thread that calls it, `start` in one of its own. Closing it, or a bank it works on, ends it
    within two seconds: a handler that takes longer goes on to no effect, and its job is given back.
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
        """Ends it, and gives back the job that is not done by then. Safe to call twice."""
    async def run(self, *, once: bool = False, idle: float | None = None, seconds: float | None = None) -> Counter[str]:
        """Works until it is closed; with `once`, until nothing is due; with `idle`, until so many seconds later. After
        so many `seconds` it begins no further job.

        Returns the tally. A bank that cannot be worked on is left alone for a while, or with `once` raises.
        """
    async def start(self, *, once: bool = False, idle: float | None = None) -> None:
        """The same in the background. What it raises is in `problem` when it has ended."""
    def stop(self) -> None:
        """Asks it to end soon: no further job is begun, and the handler at work is told."""
    async def wait(self, seconds: float | None = None) -> bool:
        """Waits until it works no more. False where it still does."""

class Places:
    """The places of one bank, as whoever opened it sees them. Threads may share it."""
    async def all(self) -> dict[str, Kept_of_places]:
        """Every place that holds a memory which answers questions, by its name `wing/room`."""
    async def counts(self) -> dict[str, int]:
        """How many memories each place holds."""
    async def entities(self, places: str | Iterable[str]) -> dict[str, int]:
        """What the memories there name as `entities`, and in how many of them, most first."""
    async def naming(self, entity: str) -> dict[str, int]:
        """The places with memories that name this entity, and how many of them do."""
    async def relink(self, place: str | End, to: str | End) -> int:
        """Makes the links of a place those of another one; what is kept there stays. Returns how many they are."""
    async def rename(self, place: str | End, to: str | End) -> int:
        """Calls a place by another name: what is kept there, and every link to it. Returns how many memories that are.

        Where there is a place of that name already, the two become one.
        """
    async def shared(self, places: str | Iterable[str] | None = None, *, most: int = 20) -> dict[str, dict[str, int]]:
        """What is named in several places: by name, those places and how many memories of each name it.

        With `places` only what is named in one of these. What is named in more than `most` is left out: it tells
        nothing of any two of them.
        """

class BankRules:
    async def accept(
        self, ids: str | Iterable[str], *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> DecidedRules:
        """Make these memories rules that agents are told. Raise `AccessError` where nobody but an agent asks.

        With `unless_changed_since`, the latest `known_from` of what was read, raise `ConflictError` where one of them
        changed since, and decide on none.
        """
    async def decline(
        self, ids: str | Iterable[str], *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> DecidedRules:
        """Tell these as rules no more, and ask about them no more until their wording changes.

        `unless_changed_since` is that of `accept`.
        """
    async def explain(self, id: str) -> Rule:
        """Return one rule with why it is told or waits. Raise `NotFoundError` for an id that no memory has."""
    async def list(self, state: Names = ..., *, via: Names = ..., limit: int = 100) -> Rules_of_replies_rules:
        """Return the standing rules in these states. Of those that wait, only the ones that came in by these ways."""

class Scratchpad:
    """The entries of one session; without a session, those of nobody in particular."""
    async def clear(self) -> int:
        """Deletes every entry of the session, and says how many there were."""
    async def read(self) -> builtins.list[ScratchpadEntry]:
        """Newest first."""
    async def update(self, id: str, content: str) -> ScratchpadEntry: ...
    async def write(self, content: str) -> ScratchpadEntry: ...

class Sources:
    async def ids(self, source: str) -> builtins.list[str]:
        """Everything that came from a source and was not removed, whether it still holds or not."""
    async def intake(
        self, *, force: bool = False, dry_run: bool = False, via: str | None = None, follows: Sequence[str] = ...
    ) -> Intake:
        """Takes in what sources say, many of them one after the other. `via` says how that came in, where
        not as the bank was opened.

        What was purged, or removed by somebody, stays away unless `force`. With `dry_run` nothing is written. `follows`
        names what of a memory is as its source says, whenever that says something else; the rest is the bank's.
        """
    async def known(self, prefix: str = "") -> dict[str, dict[str, Any]]:
        """The marks of all sources whose names begin like this."""

class Intake:
    """One reading of sources: remembers across them what was seen. For one thread."""
    async def take(
        self,
        items: Sequence[NewMemory],
        *,
        gone: Mapping[str, str] | None = None,
        hide: bool = True,
        marks: Mapping[str, Mark | None] | None = None,
    ) -> Taken:
        """Keeps what is new, brings up to date what has changed, and says what became of each item.

        Every item has an id that follows from its source. `gone` are ids that their source has no more, each with the
        reason: with `hide` they hold no longer, otherwise the reason alone is noted. `marks` are set when all that is
        done, with it in one transaction where nothing has changed; a mark of None is taken away.
        """
    async def unknown(self, ids: Iterable[str]) -> builtins.set[str]:
        """Those of the ids that are not here, so that nobody need find out much about the others."""

class Upkeep:
    async def accept(self, ids: str | Iterable[str], *, reason: str | None = None) -> Decided:
        """Makes proposals memories like any other, and ends rules that say the opposite. `undo` takes it back."""
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
        """What lies together: by `similarity` of what it says, or by its `tags` or `entities`.

        Of kinds that may be forgotten, unless others are named: such as can be merged. With `keep` the clusters are
        known by their ids from then on, whatever is written meanwhile. `least` and `most` are settings by default.
        """
    async def compact(self) -> Compacted:
        """Gives back the room of what was erased or replaced, and empties the log. Every version stays."""
    async def curve(self, id: str) -> Curve:
        """How a memory has faded, and will if nobody uses it: when a review is due, and when it is forgotten."""
    async def decay(
        self,
        *,
        dry_run: bool = False,
        threshold: float | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Collected:
        """Puts away what is about to fade: `include="archived"` shows it, and `update` makes it active again. The
        threshold is twice the setting `forget_threshold`.
        """
    async def decline(self, ids: str | Iterable[str], *, reason: str | None = None) -> Decided:
        """Puts proposals aside, or takes back what was accepted. They wait again only where they are seen anew."""
    async def due(self, k: int = 20) -> tuple[Retained, ...]:
        """What is about to be forgotten, the most urgent first; `review` counts that it was met again."""
    async def duplicates(
        self, *, least: float | None = None, kinds: Names | None = None, limit: int = 10000, most: int = 100
    ) -> Duplicates:
        """Pairs that say nearly the same, the most alike first; of every kind but summaries, unless some are named."""
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
        """Removes what has faded, the least retained first; with `archive` it is put away instead. A dry run unless
        told otherwise; `restore` brings back what was removed. The threshold is the setting `forget_threshold`.

        What was put away before is removed as well, unless `status` is `active`.
        """
    async def is_summed_up(self, session: str) -> bool:
        """Whether it has a summary, and that tells of the session as it is now."""
    async def members(self, cluster: str) -> tuple[str, ...]:
        """The ids of a cluster that was found with `keep`, or is found now as `clusters` finds it by itself."""
    async def merge(self, ids: Iterable[str], *, text: str | None = None, dry_run: bool = False) -> Merged:
        """One memory for several that say the same. They are put away; it leads to them, and `undo` takes it back.

        Worded by the mind, unless `text` is what to say.
        """
    async def promote(self, ids: str | Iterable[str] | None = None, *, dry_run: bool = False) -> Promoted:
        """Makes memories lasting: those named or, where none are, all that were used enough."""
    async def proposals(self, state: Names = "proposed", *, type: Names | None = None, limit: int = 100) -> Proposals:
        """What sessions taught, the surest first: what waits for a decision, unless other states are named."""
    async def propose(self, session: str | None = None, *, dry_run: bool = False) -> Learnt:
        """Draws what is to be learnt from what was captured and is still raw, of all sessions or of one.

        That is done by itself with `distil`; here it is done at once, and with `dry_run` only shown.
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
        """The memories of which most is left, of any kind that answers, the user's own among them; of equals the last
        used first.
        """
    async def reinforce(
        self, ids: str | Iterable[str], *, context_tags: Iterable[str] = (), boost: bool = False
    ) -> Reinforced:
        """Counts that memories were of use in an answer: an access and a review each, at once with what follows.

        One that was of use where the tags are others than its own has crossed over, and becomes stronger; with `boost`
        each does. What is not there is told and not counted. With the setting `reinforce` off nothing is changed.
        """
    async def relate(self, ids: Iterable[str], *, dry_run: bool = False) -> Related:
        """Ties each two of them as `related`, where they are not yet; the weight is how alike they all are."""
    async def repair(self, *, dry_run: bool = False) -> Validated:
        """Unties what leads nowhere, puts away what has nothing left to stand on, and makes projections anew."""
    async def retained(self, ids: str | Iterable[str]) -> dict[str, Retained]:
        """How much is left of each of these, whatever their standing."""
    async def review(self, ids: str | Iterable[str]) -> Reinforced:
        """Counts that somebody went over these: an access and a review each, whatever the setting `reinforce` says."""
    async def sleep(
        self, *, dry_run: bool = False, force: bool = False, limit: int = 5000, progress: Progress | None = None
    ) -> Slept:
        """Sums up what has come to rest, settles what has proven itself, and shortens summaries that have aged.

        Due is what is older than a day and, of more than five hundred, the oldest; with `force`, everything. Nothing
        that was said is changed or forgotten: summaries lead to their sources, and stand behind them in every answer.
        A group that fails is due again; `stopped` says why a sleep ended early, and the next one goes on from there.
        """
    async def storage(self) -> Storage:
        """What the bank takes up, and how much of that `compact` would give back."""
    async def summarize(self, session: str) -> Memory | None:
        """The summary of a session, made or made anew where something was said, changed or taken back since.

        None where there is nothing to sum up, or where its summary was removed. Only what everybody sees goes into it.
        """
    async def summarize_later(self, session: str) -> Job:
        """The same as a job: once for all that is said in a minute or, where a model is asked, in ten."""
    async def validate(self) -> Validated:
        """Whether the store is sound, links lead somewhere, and what was drawn from others still has some of them."""

class Vault:
    @property
    def is_set(self) -> bool: ...
    async def by_hand(self) -> frozenset[str]:
        """The ids of the memories of notes that somebody wrote."""
    async def path_of(self, id: str) -> str | None:
        """Where the note of a memory lies, from the vault; None where it has none."""
    async def paths(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """The same by id: of all memories that have a note, or of these."""
    async def promote(
        self, ids: str | Iterable[str] | None = None, *, target: str = "obsidian", dry_run: bool = False
    ) -> VaultPromoted:
        """Makes memories lasting and writes a note of each: of those named or, where none are, of all that were used
        enough. What has a note already keeps it. `target` is how links are written.
        """
    async def status(self) -> VaultStatus:
        """What is in the vault, and what has changed there since the last sync."""
    async def sync(self, *, dry_run: bool = False, force: bool = False, progress: Progress | None = None) -> Synced:
        """Brings the vault and the bank to say the same: notes that were written, edited, moved or deleted by hand,
        and memories that were promoted, changed or taken away here.

        No note that somebody else wrote is ever written to. Where both sides were changed, the note wins, and the
        memory's own wording is the version before. `dry_run` tells what would be done. `progress` counts notes.
        A vault in which all of many notes are gone is refused, unless `force` says that they were meant to go.
        """
    async def unread(self) -> str | None:
        """Why nothing of the vault that is set is found; None where it was synced, or none is set."""

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
) -> Opening[Bank]:
    """Opens a bank, making it where there is none. Without a name: the one that settings and project choose.

    `data` is the folder of the banks, or the address of a server; `settings` are further settings by name; `who` is
    noted in the journal. `via` says how texts come in through this bank, and so how far they are believed: `person`
    for a program that hands on what a person says. Without `create` no bank is made: where there is none, that is
    `NotFoundError`.
    Raises `InputError` or `ConfigError` for what cannot be right, `StorageError` where the bank cannot be used.
    """

async def restore(
    file: str | Path,
    data: str | Path | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> RestoreReport:
    """Brings back a backup file as a bank. Without a name: as the one that settings and project choose.

    A bank that is there already is not touched, unless `replace` is True: then it is kept beside the new one.
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
    """Copies a whole bank, its past included, to another folder or server, and compares both before it is told of.

    `to` is a folder or an address as `data` is, `name` what the copy is called there. The bank stays as it is, and may
    be in use. Raises `ConflictError` where there is a bank of that name already.
    """

async def remove_bank(
    name: str, *, data: str | Path | None = None, settings: Mapping[str, Any] | None = None, dry_run: bool = False
) -> RemovalReport:
    """Removes a whole bank for good, as `Workspace.remove_bank` does."""

async def seal(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Seals a bank with the key that the setting `seal_key` names, which is made where there is none yet.

    The report names what may still hold words of it in plain. Raises `ConflictError` where the bank is sealed already,
    and `BusyError` where another process has it open.
    """

async def unseal(
    name: str | None = None,
    *,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Makes a sealed bank a plain one again."""

async def rekey(
    name: str | None = None,
    *,
    to: str,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> SealReport:
    """Gives a sealed bank another key: that of the place `to`, spelt as the setting `seal_key`, and made where there is
    none. From then on `seal_key` has to name that place.
    """
