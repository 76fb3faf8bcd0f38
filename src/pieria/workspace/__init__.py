"""The workspace: resolves the settings, opens banks with them and passes everything down as values.

It decides which store a bank shares. `places` knows where banks are stored.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from pieria.bank import Bank
from pieria.bank.core import Core
from pieria.bank.facts.older_facts import state_old_facts
from pieria.bank.jobs.budget import Budgets
from pieria.bank.vault.marks import VaultAt
from pieria.errors import ClosedError, ConflictError, InputError, NotFoundError
from pieria.models import Embedder, Library, language_model, pipeline
from pieria.models.meter import UNMETERED, Tally
from pieria.notifier import Courier, Event, Tell, nothing_told
from pieria.record import check
from pieria.record.banks import USER_BANK, check_bank_name
from pieria.record.filter import Viewer
from pieria.record.time import Clock, system_clock
from pieria.record.trust import AGENT, GIVEN
from pieria.record.zones import settled_zone
from pieria.runtime.fair_lock import Turns
from pieria.workspace.config import config_for_session, config_of, mapping_of, names_in, refuse_backend
from pieria.workspace.doubt import doubts_about as doubts_about
from pieria.workspace.doubt import finding_of, say_once
from pieria.workspace.doubt import is_data_doubted as is_data_doubted
from pieria.workspace.doubt import refuse_doubted as refuse_doubted
from pieria.workspace.found_data import offers
from pieria.workspace.graph_recall import Recalling
from pieria.workspace.graph_recall import recalled_as_seen as recalled_as_seen
from pieria.workspace.location_choice import check_token, opening, place_of
from pieria.workspace.locations import Place as Place
from pieria.workspace.locations import Spot, Way
from pieria.workspace.locations import not_there as not_there
from pieria.workspace.models import Handed, embedder_among, embedders, handed_over, rerankers, settled_thinker
from pieria.workspace.open_stores import Held, Key, stores
from pieria.workspace.repositories import Repository, Serving
from pieria.workspace.seal_keys import seal_of
from pieria.workspace.sessions import nobody_told
from pieria.workspace.user_bank import UserBank, close_both, give_back, nobody
from pieria.workspace.web import Web

if TYPE_CHECKING:
    from pieria.bank.results.transfer import CopyReport, RemovalReport, RestoreReport
    from pieria.config import Config
    from pieria.learning.models import Thinker
    from pieria.models.meter import Meter
    from pieria.models.minds.llm import Override, OwnPrompt
    from pieria.sessions.opened import Judges, Judging
    from pieria.settings import Resolved
    from pieria.store.protocol import Progress

log = logging.getLogger(__name__)


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
    via: str = AGENT,
    create: bool = True,
    token: str | None = None,
) -> Bank:
    """Open a bank, and create it if there is none. Without a name, settings and project choose it.

    `data` is the folder of the banks, or the address of a server; a `pieria serve` takes a `token`. `settings` are
    further settings by name. `who` is noted in the journal. `via` says how texts reach this bank, and so how far they
    are trusted: `person` for a program that passes on a person's words. Without `create`, a missing bank raises
    `NotFoundError`. Raise `InputError` or `ConfigError` for invalid arguments, and `StorageError` for an unusable bank.
    """
    data, named = opening(name, data, token)
    workspace = Workspace(data, {**mapping_of(settings), **named}, clock=clock)
    check_token(token, workspace.place)
    speaker = {"session": session, "channel": channel, "author": author, "author_type": author_type}
    check.flag(create, "create")
    return workspace._opened(workspace.resolved.having(**speaker), who, create=create, via=via)


def restore(
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
    from pieria.transfer.file import given_path

    check.flag(replace, "replace")
    source = given_path(file, "file")
    named = {} if name is None else {"bank": check_bank_name(name, "name")}
    workspace = Workspace(data, named)
    spot = workspace.place.at(workspace.resolved.settings.bank)
    if replace and stores.hold(spot):
        raise ConflictError("the bank is open in this process", ids=(spot.name,), hint="Close the bank, then restore.")
    return spot.restore(source, replace=replace, progress=progress, seal=seal_of(workspace.resolved))


def copy(
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
    from pieria.workspace.bank_copy import copy_bank

    given = dict(mapping_of(settings))
    named = {} if bank is None else {"bank": check_bank_name(bank)}
    source = Workspace(data, {**given, **named})
    own = source.resolved.settings
    kept = own.bank if name is None else check_bank_name(name, "name")
    way = Way(own.durability, own.busy_seconds, source.clock, seal=seal_of(source.resolved))
    spot = source.place.at(own.bank)
    refuse_doubted(source.resolved, spot)
    return copy_bank(spot, _elsewhere(to, given).at(kept), way, progress)


def remove_bank(
    name: str, *, data: str | Path | None = None, settings: Mapping[str, Any] | None = None, dry_run: bool = False
) -> RemovalReport:
    """Remove a whole bank for good. See `Workspace.remove_bank`."""
    with Workspace(data, settings) as workspace:
        return workspace.remove_bank(name, dry_run=dry_run)


def _elsewhere(to: str | Path, settings: Mapping[str, Any]) -> Place:
    """Return the target place. Errors name the parameter `to`."""
    from pieria.settings import resolve

    try:
        return place_of(resolve({**settings, "data": to}).settings)
    except InputError as problem:
        raise problem.renamed("to") if problem.parameter == "data" else problem from problem


class Workspace(Recalling):
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
        from pieria.settings import resolve

        super().__init__()
        if clock is not None and not callable(clock):
            raise InputError("clock", "a function that returns the time", clock)
        given = {} if data is None else {"data": data}
        kept = config_of(config)
        named = names_in(kept, llm=llm is None, embedder=embedder is None)
        named |= {name: it for name, it in (("embedder", embedder), ("llm", llm)) if isinstance(it, str)}
        self.is_door: bool = check.flag(by_door, "by_door")
        self.resolved = resolve(
            {**mapping_of(settings), **given, **named}, environ=environ, cwd=folder, by_door=by_door
        )
        for remark in self.resolved.ignored:
            say_once(remark)
        self.place: Place = place_of(self.resolved.settings)
        self.data: Path = self.place.folder
        self.models = Library(self.resolved.settings.models)
        own_embedder = None if "embedder" in named else embedder
        if own_embedder is not None:
            embedders.given(own_embedder, self.models.folder, kept)
        own_llm = None if "llm" in named or llm is None else language_model(llm)
        courier = None if notifier is None else Courier(notifier)
        self._handed = Handed(
            own_llm, courier=courier, config=kept, is_named=isinstance(llm, str), embedder=own_embedder
        )
        self._couriers: weakref.WeakSet[Courier] = weakref.WeakSet(() if courier is None else (courier,))
        self.clock = clock or system_clock
        self._banks: weakref.WeakSet[Bank] = weakref.WeakSet()
        self._closed = False

    def open(
        self,
        name: str | None = None,
        *,
        session: str | None = None,
        channel: str | None = None,
        author: str | None = None,
        author_type: str | None = None,
        who: str = "python",
        via: str = AGENT,
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
    ) -> Bank:
        """Open a bank, and create it if there is none. Missing arguments follow the settings.

        `llm` and `embedder` are this bank's own models: a name, an object or a function. `overrides` gives steps or
        groups another language model or further options, and `prompts` gives steps their own prompt. `notifier` gets
        the events of this bank, and `config` replaces the workspace's. Without `user`, the bank neither finds nor
        writes memories of the user. `secrets` is the setting of that name for texts written through this bank, and
        `count_uses` for results found through it. `via` says how texts reach the bank: `person` for a person's words,
        `agent`, `hearsay` or `outside`.

        Without `create`, a missing bank raises `NotFoundError`, with similar names.
        """
        bank = None if name is None else check_bank_name(name, "name")
        check.flag(user, "user")
        check.flag(create, "create")
        refuse_backend(config)
        speaking = self.resolved.having(
            bank=bank,
            session=session,
            channel=channel,
            author=author,
            author_type=author_type,
            secrets=secrets,
            count_uses=count_uses,
        )
        own = {"llm": llm, "embedder": embedder, "config": config}
        courier = None if notifier is None else self._courier(notifier)
        resolved, handed = handed_over(speaking, self._handed, courier, own, overrides, prompts)
        return self._opened(resolved, who, handed, user, create=create, via=via)

    def banks(self) -> list[str]:
        """Return the names of all banks except the user's own."""
        self._check_process()
        return self.place.names()

    def is_sealed(self, name: str) -> bool:
        """Return whether a bank's file is encrypted, without opening it. False if there is none, and on a server."""
        self._check_process()
        return self.place.at(check_bank_name(name, "name")).is_sealed

    def remove_bank(self, name: str, *, dry_run: bool = False) -> RemovalReport:
        """Remove a whole bank for good, with its history. With `dry_run`, only report what would be removed.

        This process closes the bank first. Only a backup can bring it back; the report lists what may still hold its
        text. Opening the name later creates an empty bank.

        Raise `NotFoundError` if there is no such bank, and `BusyError` if another process uses it.
        """
        from pieria.workspace.removal import remove_bank

        check.flag(dry_run, "dry_run")
        self._check_open()
        settings = self.resolved.settings
        spot = self.place.at(check_bank_name(name, "name"))
        doubted = bool(doubts_about(self.resolved, spot))
        way = Way(settings.durability, settings.busy_seconds, self.clock, doubted, seal_of(self.resolved))
        return remove_bank(spot, way, dry_run=dry_run)

    def close(self, session_id: str | EllipsisType = ...) -> None:
        """Close every bank and repository opened here and deliver the remaining notifications. Safe to call twice.

        With a session's id, close only that session's episode. None is no id, and raises `InputError`.
        """
        if session_id is not ...:
            self.session(session_id).close()
            return
        if self._is_inherited:
            self._closed = True
            return
        self._close_repositories()
        with stores.lock:
            self._closed = True
            closing: list[Bank | Courier] = [*self._banks, *self._couriers]
        for each in closing:
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _courier(self, notifier: object) -> Courier:
        courier = Courier(notifier)
        with stores.lock:
            self._couriers.add(courier)
        return courier

    def _opened(
        self,
        resolved: Resolved, who: str, handed: Handed | None = None, with_user: bool = True, create: bool = True,
        via: str = AGENT,
    ) -> Bank:  # fmt: skip
        self._check_open()
        check.name(who, "who")
        check.one_of(via, "via", GIVEN)
        settings = resolved.settings
        handed = handed or self._handed
        if isinstance(self.place, Web):
            own = handed != Handed()
            return self.place.opened(resolved, self.clock, self._banks.add, own, with_user, create, via)
        spot = self.place.at(settings.bank)
        embedder = embedder_among(handed, settings, self.models.folder, served_in=self.data if self.is_door else None)
        thinker = settled_thinker(handed, settings)
        budgets = Budgets(settings.budget_tokens_per_day, settings.budget_calls_per_day)
        doubts = doubts_about(self.resolved, spot)
        foreign = bool(doubts)
        for doubt in doubts:
            say_once(doubt)
        way = Way(settings.durability, settings.busy_seconds, self.clock, foreign, seal_of(resolved))
        if (offered := offers(self.data)) and not spot.is_there:
            log.warning("%s. %s", offered[0].detail, offered[0].remedy)
        held, leave = self._joined(spot, Key(spot.key, way, embedder, budgets), create)
        user = UserBank(partial(self._opened, resolved.having(bank=USER_BANK), who, handed, via=via), self.place)
        closing = partial(close_both, user, leave)
        try:
            core = Core(
                spot.name,
                held.store,
                embedding=held.embedding,
                uses=held.uses,
                meter=held.meter,
                thinker=thinker,
                reranker=rerankers.named(settings),
                namer=pipeline(settings.nlp),
                data=self.data,
                clock=self.clock,
                who=who,
                viewer=Viewer(settings.session, settings.channel),
                author=settings.author,
                author_type=settings.author_type,
                via=via,
                secrets=settings.secrets,
                text_budget=settings.text_budget,
                given_zone=settled_zone(settings.time_zone, self.clock, resolved.environ),
                count_uses=settings.count_uses and not foreign,
                is_foreign=foreign,
                sleep=settings.sleep,
                fades=tuple(kind for kind in settings.upkeep_fades.split(",") if kind),
                fading=settings.fading,
                habits=settings.habits,
                session_lease=settings.session_lease,
                accept_above=settings.accept_above,
                remarks=[*(finding_of(remark) for remark in (*resolved.remarks, *doubts)), *offered],
                user_core=user.core if with_user else nobody,
                knows_user=self.place.keeps_user,
                origins=resolved.shown()
                | self._origins(spot.name, resolved, thinker, embedder if handed.embedder is not None else None),
                notify=None if handed.courier is None else handed.courier.tell,
                judging=partial(self._judges, spot.name, resolved, handed, held.meter),
                config=handed.config,
                on_close=closing,
            )
            bank = Bank(core, vault=VaultAt(settings.vault, settings.vault_folder))
        except BaseException:
            leave()
            raise
        # A bank that is garbage-collected without `close` also releases its store.
        weakref.finalize(bank, give_back, closing)
        with stores.lock:
            late = self._closed
            self._banks.add(bank)
        if late:
            bank.close()
            raise ClosedError("workspace")
        if not foreign:
            state_old_facts(bank.core)
        return bank

    def _joined(self, spot: Spot, key: Key, create: bool) -> tuple[Held, Callable[[], None]]:
        """Return the store. Without `create`, do not open a missing bank: that would add our schema to a server."""
        if not (create or spot.is_there):
            raise not_there(spot.name, self.place)
        try:
            return stores.join(spot, key, create=create)
        except NotFoundError as gone:
            raise not_there(spot.name, self.place) from gone

    def _bank_under(self, id: str, own: Mapping[str, Any]) -> Repository:
        bank = self.open(id, **own)

        def serving() -> Serving:
            tally = Tally(bank.core.meter)
            mind = bank.core.thinker.mind(tally, bank.core.namer)
            tell = nobody_told if bank.core.notify is None else partial(bank.core.notify, bank.name)
            return Serving(mind, tally, bank.core.embedding.embedder, tell, bank.core.count_uses)

        graph = bank.graph
        return Repository(
            graph, graph.apply_changeset, bank, bank.close, nothing_told, lambda: bank.sessions.opened, serving, Turns()
        )

    def _config_of(self, own: object) -> Config | None:
        return config_of(own) or self._handed.config

    def _teller(self, id: str, notifier: object) -> Tell:
        courier = self._handed.courier if notifier is None else self._courier(notifier)
        if courier is None:
            return nothing_told
        return lambda name, **payload: courier.tell(id, Event(name, payload))

    def _backend_of(self, backend: object, own: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
        config = config_of(own.get("config"))
        found = config or self._handed.config
        if backend is None and found is not None and found.backend is not None:
            backend = found.backend
        if config is not None:
            # The configuration's backend is chosen; a bank would refuse it.
            own = {**own, "config": replace(config, backend=None)}
        return backend, dict(own)

    def _judging(self, id: str, own: Mapping[str, Any]) -> Judging:
        courier = None if own.get("notifier") is None else self._courier(own["notifier"])
        resolved, handed = handed_over(self.resolved, self._handed, courier, own, prompts=own.get("prompts"))
        judging: Judging = partial(self._judges, id, resolved, handed, UNMETERED)
        # Raise errors now, not when the first session begins.
        judging({})
        return judging

    def _serving(self, id: str, own: Mapping[str, Any]) -> Callable[[], Serving]:
        courier = None if own.get("notifier") is None else self._courier(own["notifier"])
        resolved, handed = handed_over(self.resolved, self._handed, courier, own, prompts=own.get("prompts"))

        def serving() -> Serving:
            tally = Tally()
            judges = self._judges(id, resolved, handed, tally, {})
            return Serving(judges.mind, tally, judges.embedder, judges.tell, resolved.settings.count_uses)

        return serving

    def _judges(self, id: str, resolved: Resolved, handed: Handed, meter: Meter, own: Mapping[str, Any]) -> Judges:
        """Return the models of a session: those of the repository, or its own."""
        from pieria.sessions.opened import Judges

        courier = None if own.get("notifier") is None else self._courier(own["notifier"])
        resolved, handed = handed_over(resolved, handed, courier, own)
        settings = resolved.settings
        embedder = embedder_among(handed, settings, self.models.folder, served_in=self.data if self.is_door else None)
        config, profile = config_for_session(handed.config, own)
        thinker = settled_thinker(handed, settings)
        if profile is not None:
            thinker = thinker.under(profile)
        tell = nobody_told if handed.courier is None else partial(handed.courier.tell, id)
        mind = thinker.mind(meter, pipeline(settings.nlp))
        counted = None if embedder is None else embedder.counted_by(meter)
        return Judges(mind, counted, config, tell, None if profile is None else asdict(profile))

    def _origins(
        self, name: str, resolved: Resolved, thinker: Thinker, embedder: Embedder | None
    ) -> dict[str, tuple[Any, str]]:
        """Return the settings that arguments override."""
        found: dict[str, tuple[Any, str]] = {"bank": (name, resolved.origins["bank"])}
        if embedder is not None:
            found["embedder"] = (embedder.model, "argument")
        if thinker.llm is not None and thinker.is_own:
            found["llm"] = (thinker.llm.model, "argument")
        return found
