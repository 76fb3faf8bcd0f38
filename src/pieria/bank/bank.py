"""The bank: one isolated memory with all its verbs. Each calls a function of the room that it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from io import BufferedIOBase
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from pieria.bank.delete.purge import purge
from pieria.bank.delete.quarantine import lift, quarantine
from pieria.bank.delete.remove import forget, remove, restore
from pieria.bank.delete.undo import undo
from pieria.bank.facts.extraction import extract
from pieria.bank.health import use_embedder
from pieria.bank.jobs.handlers import HANDLERS
from pieria.bank.jobs.queue import Jobs
from pieria.bank.read.links import link, touch, unlink
from pieria.bank.reads import BankReads
from pieria.bank.spans import reported
from pieria.bank.vault.marks import NOWHERE
from pieria.bank.write.remember import remember, remember_many
from pieria.bank.write.update import invalidate, pin, revise, update, widen
from pieria.record.draft import NewMemory
from pieria.record.memory import nothing
from pieria.runtime.lazy import cached_property

if TYPE_CHECKING:
    from pieria.bank.capture.distill import DistilledSessions, Observed
    from pieria.bank.capture.hooks import Hooks
    from pieria.bank.capture.sources import Sources
    from pieria.bank.core import Core
    from pieria.bank.facts.extracted import Extracted
    from pieria.bank.facts.text_analysis import BankText
    from pieria.bank.facts.verbs import Facts
    from pieria.bank.graph.verbs import BankGraph
    from pieria.bank.jobs.handlers import Handlers
    from pieria.bank.places import Places
    from pieria.bank.results.general import Forgotten, Lifted, Quarantine, Receipt
    from pieria.bank.results.transfer import ImportReport
    from pieria.bank.rules import BankRules
    from pieria.bank.scratchpad import Scratchpad
    from pieria.bank.sessions.verbs import BankSessions
    from pieria.bank.upkeep.verbs import Upkeep
    from pieria.bank.vault.marks import VaultAt
    from pieria.bank.vault.verbs import Vault
    from pieria.bank.write.update import Changes, Revised
    from pieria.record.changeset import Change
    from pieria.record.draft import Instant
    from pieria.record.event import AgentEvent
    from pieria.record.link import End, Link
    from pieria.record.memory import Memory
    from pieria.record.usage import Usage
    from pieria.sessions.session import Session
    from pieria.store.protocol import Progress

LOOKING = 1.0
"""Most seconds of a recall for changed notes of the vault; half of a shorter deadline."""


@reported()
class Bank(BankReads):
    """One isolated memory of an agent, a user or a project, with all its verbs.

        with pieria.open("notes") as bank:
            bank.remember("We chose JWT for all new APIs.")
            hits = bank.recall("how do APIs authenticate?")

    `pieria.open` or a `Workspace` opens it, and `with` closes it. Threads may share it; a forked child opens its own.
    """

    def __init__(self, core: Core, *, handlers: Handlers = HANDLERS, vault: VaultAt = NOWHERE) -> None:
        super().__init__(core)
        self.jobs = Jobs(self, handlers)
        self._vault_at = vault

    # Groups of verbs are imported at first use, because most processes need few of them.

    @cached_property
    def facts(self) -> Facts:
        from pieria.bank.facts.verbs import Facts

        return Facts(self.core)

    @cached_property
    def hooks(self) -> Hooks:
        from pieria.bank.capture.hooks import Hooks

        return Hooks(self.core)

    @cached_property
    def places(self) -> Places:
        from pieria.bank.places import Places

        return Places(self.core)

    @cached_property
    def rules(self) -> BankRules:
        """The standing rules for agents, and those that wait for a person."""
        from pieria.bank.rules import BankRules

        return BankRules(self)

    @cached_property
    def scratchpad(self) -> Scratchpad:
        from pieria.bank.scratchpad import Scratchpad

        return Scratchpad(self.core)

    @cached_property
    def sources(self) -> Sources:
        from pieria.bank.capture.sources import Sources

        return Sources(self)

    @cached_property
    def upkeep(self) -> Upkeep:
        from pieria.bank.upkeep.verbs import Upkeep

        return Upkeep(self)

    @cached_property
    def vault(self) -> Vault:
        from pieria.bank.vault.verbs import Vault

        return Vault(self, self._vault_at)

    def _look(self, deadline_ms: int | None) -> str | None:
        if self._vault_at.root is None:
            return None
        # Recall refuses a deadline of another type.
        seconds = min(LOOKING, max(0, deadline_ms) / 2_000) if isinstance(deadline_ms, int) else LOOKING
        return self.vault.look(seconds=seconds, begins=False)

    @cached_property
    def graph(self) -> BankGraph:
        """Experience and knowledge as nodes and edges."""
        from pieria.bank.graph.verbs import BankGraph

        return BankGraph(self)

    @cached_property
    def sessions(self) -> BankSessions:
        from pieria.bank.sessions.verbs import BankSessions

        return BankSessions(self)

    @cached_property
    def text(self) -> BankText:
        from pieria.bank.facts.text_analysis import BankText

        return BankText(self.core)

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
    ) -> Session:
        """Begin a session, which collects steps towards the goal.

        Arguments replace the bank's settings for this session; `profile` and `auto_commit` replace only that part of
        the configuration. As a context manager the session extracts and commits at the end; on an exception it keeps
        the steps, uncommitted.
        """
        self.core.check_open()
        own = {"config": config, "llm": llm, "embedder": embedding, "notifier": notifier}
        own |= {"profile": profile, "auto_commit": auto_commit}
        return self.sessions.opened.begin(goal, {name: value for name, value in own.items() if value is not None})

    def remember(
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
        new = NewMemory(
            text, id, title, kind, nothing() if body is None else body, tags, entities, files, importance, confidence,
            strength, scope, source, context, author, author_type, channel, session, sequence, place, at, valid_from,
            valid_until, pinned, nothing() if meta is None else meta, vectors, unless_exists, extract, via,
        )  # fmt: skip
        return remember(self.core, new)

    def remember_many(
        self, items: Iterable[str | Mapping[str, Any] | NewMemory], progress: Progress | None = None
    ) -> list[Memory]:
        """Remember many texts, in batches of one transaction each. All items are checked before the first is written.

        One error reports all problems, as in `items[3].importance`. When this returns, the vectors are stored too. If
        the model fails, the error is logged and the texts are embedded later. `progress` counts writes and embeddings.
        """
        return remember_many(self.core, items, progress)

    def observe(self, events: Iterable[AgentEvent | Mapping[str, Any]]) -> Observed:
        """Take in events. When this returns they are on the disk; repeated events change nothing.

        Private parts are cut and secrets removed, even if the bank's settings allow them. A job distills the session at
        its end or when its context is compacted. It also runs after many events, or after ten idle minutes.
        """
        from pieria.bank.capture.distill import observed

        return observed(self.core, events)

    def distil(self, session: str | None = None, *, progress: Progress | None = None) -> DistilledSessions:
        """Distil the raw events of all sessions or of one, unfinished tasks included."""
        from pieria.bank.capture.distill import distilled_sessions

        return distilled_sessions(self.core, session, progress)

    def extract(self, id: str, *, entities: bool = True, statements: bool = True) -> Extracted:
        """Record as facts what a memory names (`id mentions name`) and what it states.

        Rules do it at once; with a language model it is a job. The same text again adds nothing. After a change of the
        text, facts that it no longer states are removed.
        """
        return extract(self.core, id, entities=entities, statements=statements)

    def update(
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
        return update(self.core, id, reason=reason, unless_changed_since=unless_changed_since, via=via, **changes)

    def widen(
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
        return widen(self.core, id, importance=importance, scope=scope, valid_until=valid_until, reason=reason)

    def revise(
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
        return revise(
            self.core, id, author=author, author_type=author_type, at=at, reason=reason,
            unless_changed_since=unless_changed_since, **changes,
        )  # fmt: skip

    def invalidate(
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
        return invalidate(
            self.core, id, at=at, replacement=replacement, reason=reason, unless_changed_since=unless_changed_since
        )

    def pin(self, id: str, pinned: bool = True) -> Memory:
        """Pin a memory so that upkeep never forgets it; `pinned=False` unpins it."""
        return pin(self.core, id, pinned)

    def link(
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
        return link(self.core, source, target, relation, weight=weight, label=label, meta=meta)

    def unlink(self, source: str | End, target: str | End | None = None, relation: str | None = None) -> list[Link]:
        """Remove one link by its id, or all links between two ends, optionally of one relation."""
        return unlink(self.core, source, target, relation)

    def touch(
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
        return touch(
            self.core, ids, accesses=accesses, reviews=reviews, crossings=crossings, reward=reward, boost=boost
        )

    def remove(self, id: str, *, reason: str | None = None, unless_changed_since: Instant | None = None) -> Memory:
        """Remove a memory from every answer. Its versions and history stay; `restore` brings it back."""
        return remove(self.core, id, reason=reason, unless_changed_since=unless_changed_since)

    def restore(self, id: str) -> Memory:
        """Restore a removed memory. A derived memory needs its sources to exist."""
        return restore(self.core, id)

    def purge(
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
        return purge(self.core, ids, dry_run=dry_run, unless_changed_since=unless_changed_since, as_told=as_told)

    def forget(
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
        return forget(
            self.core, source=source, session=session, purge=purge, reason=reason, dry_run=dry_run, as_told=as_told
        )

    def quarantine(
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
        asked = {"source": source, "session": session, "author": author, "channel": channel}
        asked_then: dict[str, str | Instant | None] = {**asked, "via": via, "since": since, "until": until}
        return quarantine(self.core, asked_then, ids=ids, reason=reason, dry_run=dry_run)

    def lift(self, number: int) -> Lifted:
        """End a quarantine: all that it holds is readable again. `number` is that of its change.

        Raise `NotFoundError` if there is no such quarantine.
        """
        return lift(self.core, number)

    def undo(self, seq: int) -> Change:
        """Undo a change of this bank. Evidence stays: memories that it added are removed, not erased."""
        return undo(self.core, seq)

    def import_(
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
        from pieria.bank.transfer.files import imported

        return imported(
            self.core, path, mode=mode, dry_run=dry_run, force=force, on_error=on_error, trusted=trusted,
            progress=progress,
        )  # fmt: skip

    def use_embedder(self) -> str:
        """Move the bank to the embedder of this process: all texts are embedded again in the background; see `sync`.

        Until then recall uses the existing vectors, and the words of all memories. Return the name of the new space.
        """
        return use_embedder(self.core)

    def close(self) -> None:
        if self._core.is_inherited:
            self._core.closed = True
            return
        if "sessions" in self.__dict__:
            self.sessions.close()
        # While the bank is open, so that a job that is nearly done can finish.
        self.jobs._close()
        self.core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
