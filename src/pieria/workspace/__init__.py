"""The workspace: resolves the settings, opens banks under them and hands everything down as values.

It knows which store a bank shares; where banks live is said in `places`, and what a bank does is the bank's business.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pieria.bank import Bank
from pieria.bank.facts.older_facts import state_old_facts
from pieria.bank.jobs.budget import Budgets
from pieria.bank.vault.location import VaultAt
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
from pieria.workspace.config import config_for_session, config_of, names_in, refuse_backend
from pieria.workspace.doubt import doubts_about as doubts_about
from pieria.workspace.doubt import finding_of, say_once
from pieria.workspace.doubt import is_data_doubted as is_data_doubted
from pieria.workspace.doubt import refuse_doubted as refuse_doubted
from pieria.workspace.found_data import offers
from pieria.workspace.graph_recall import Recalling
from pieria.workspace.graph_recall import recalled_as_seen as recalled_as_seen
from pieria.workspace.models import Handed, embedder_among, embedders, handed_over, rerankers, settled_thinker
from pieria.workspace.places import Place as Place
from pieria.workspace.places import Spot, Way, place_of
from pieria.workspace.places import not_there as not_there
from pieria.workspace.repositories import Repository, Serving
from pieria.workspace.seal_keys import seal_of
from pieria.workspace.sessions import nobody_told
from pieria.workspace.stores import Held, Key, stores
from pieria.workspace.user_bank import UserBank, close_both, give_back, nobody

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
) -> Bank:
    """Opens a bank, making it where there is none. Without a name: the one that settings and project choose.

    `data` is the folder of the banks, or the address of a server; `settings` are further settings by name; `who` is
    noted in the journal. `via` says how texts come in through this bank, and so how far they are believed: `person`
    for a program that hands on what a person says. Without `create` no bank is made: where there is none, that is
    `NotFoundError`.
    Raises `InputError` or `ConfigError` for what cannot be right, `StorageError` where the bank cannot be used.
    """
    named = {} if name is None else {"bank": check_bank_name(name, "name")}
    workspace = Workspace(data, {**_mapping(settings), **named}, clock=clock)
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
    """Brings back a backup file as a bank. Without a name: as the one that settings and project choose.

    A bank that is there already is not touched, unless `replace` is True: then it is kept beside the new one.
    """
    from pieria.transfer.file import given_path

    check.flag(replace, "replace")
    source = given_path(file, "file")
    named = {} if name is None else {"bank": check_bank_name(name, "name")}
    workspace = Workspace(data, named)
    spot = workspace.place.at(workspace.resolved.settings.bank)
    if replace and stores.hold(spot):
        raise ConflictError("the bank is open in this process", ids=(spot.name,), hint="Close it, then restore.")
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
    """Copies a whole bank, its past included, to another folder or server, and compares both before it is told of.

    `to` is a folder or an address as `data` is, `name` what the copy is called there. The bank stays as it is, and may
    be in use. Raises `ConflictError` where there is a bank of that name already.
    """
    from pieria.workspace.bank_copy import copy_bank

    given = dict(_mapping(settings))
    named = {} if bank is None else {"bank": check_bank_name(bank)}
    source = Workspace(data, {**given, **named})
    own = source.resolved.settings
    target = _elsewhere(to, given)
    kept = own.bank if name is None else check_bank_name(name, "name")
    way = Way(own.durability, own.busy_seconds, source.clock, seal=seal_of(source.resolved))
    spot = source.place.at(own.bank)
    refuse_doubted(source.resolved, spot)
    return copy_bank(spot, target.at(kept), way, progress)


def remove_bank(
    name: str, *, data: str | Path | None = None, settings: Mapping[str, Any] | None = None, dry_run: bool = False
) -> RemovalReport:
    """Removes a whole bank for good, as `Workspace.remove_bank` does."""
    with Workspace(data, settings) as workspace:
        return workspace.remove_bank(name, dry_run=dry_run)


def _elsewhere(to: str | Path, settings: Mapping[str, Any]) -> Place:
    """Raises what is wrong with it under the name by which it was given."""
    from pieria.settings import resolve

    try:
        return place_of(resolve({**settings, "data": to}).settings)
    except InputError as problem:
        raise problem.renamed("to") if problem.parameter == "data" else problem from problem


class Workspace(Recalling):
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
        from pieria.settings import resolve

        super().__init__()
        if clock is not None and not callable(clock):
            raise InputError("clock", "a function that returns the time", clock)
        given = {} if data is None else {"data": data}
        kept = config_of(config)
        named = names_in(kept, llm=llm is None, embedder=embedder is None)
        named |= {name: it for name, it in (("embedder", embedder), ("llm", llm)) if isinstance(it, str)}
        self.is_door: bool = check.flag(by_door, "by_door")
        self.resolved = resolve({**_mapping(settings), **given, **named}, environ=environ, cwd=folder, by_door=by_door)
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
        """The names of the banks there are, without the user's own."""
        return self.place.names()

    def is_sealed(self, name: str) -> bool:
        """Whether a bank's file is encrypted; nothing of it is opened. False where there is none, and on a server."""
        return self.place.at(check_bank_name(name, "name")).is_sealed

    def remove_bank(self, name: str, *, dry_run: bool = False) -> RemovalReport:
        """Removes a whole bank for good: all it holds, its past included. With `dry_run` it is only told what would go.

        It is closed first wherever this process has it open. There is no way back but a backup, and the report names
        what may still hold its words. Whoever opens the name again opens a new, empty bank.
        Raises `NotFoundError` where there is no such bank, `BusyError` where another process is in the way.
        """
        from pieria.workspace.removal import remove_bank

        check.flag(dry_run, "dry_run")
        if self._closed:
            raise ClosedError("workspace")
        settings = self.resolved.settings
        spot = self.place.at(check_bank_name(name, "name"))
        doubted = bool(doubts_about(self.resolved, spot))
        way = Way(settings.durability, settings.busy_seconds, self.clock, doubted, seal_of(self.resolved))
        return remove_bank(spot, way, dry_run=dry_run)

    def close(self, session_id: str | None = None) -> None:
        """Closes every bank and repository that was opened here, and has notifiers told what is left. Safe to call
        twice. With a session's id, closes the episode of that session and nothing else.
        """
        if session_id is not None:
            self.session(session_id).close()
            return
        self._close_repositories()
        with stores.lock:
            self._closed = True
            opened = list(self._banks)
            couriers = list(self._couriers)
        for bank in opened:
            bank.close()
        for courier in couriers:
            courier.close()

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
        if self._closed:
            raise ClosedError("workspace")
        check.name(who, "who")
        check.one_of(via, "via", GIVEN)
        settings = resolved.settings
        spot = self.place.at(settings.bank)
        handed = handed or self._handed
        embedder = embedder_among(handed, settings, self.models.folder)
        thinker = settled_thinker(handed, settings)
        budgets = Budgets(settings.budget_tokens_per_day, settings.budget_calls_per_day)
        doubts = doubts_about(self.resolved, spot)
        foreign = bool(doubts)
        for doubt in doubts:
            say_once(doubt)
        way = Way(settings.durability, settings.busy_seconds, self.clock, foreign, seal_of(resolved))
        offered = offers(self.data)
        if offered and not spot.is_there:
            log.warning("%s. %s", offered[0].detail, offered[0].remedy)
        held, leave = self._joined(spot, Key(spot.key, way, embedder, budgets), create)
        user = UserBank(partial(self._opened, resolved.having(bank=USER_BANK), who, handed, via=via), self.place)
        closing = partial(close_both, user, leave)
        try:
            bank = Bank(
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
                zone=settled_zone(settings.time_zone, self.clock, resolved.environ),
                count_uses=settings.count_uses and not foreign,
                foreign=foreign,
                fades=[kind for kind in settings.upkeep_fades.split(",") if kind],
                fading=settings.fading,
                habits=settings.habits,
                session_lease=settings.session_lease,
                accept_above=settings.accept_above,
                remarks=[*(finding_of(remark) for remark in (*resolved.remarks, *doubts)), *offered],
                me=user.bank if with_user else nobody,
                knows_user=self.place.keeps_user,
                vault=VaultAt(settings.vault, settings.vault_folder),
                origins=resolved.shown()
                | self._origins(spot.name, resolved, thinker, embedder if handed.embedder is not None else None),
                notify=None if handed.courier is None else handed.courier.tell,
                judging=partial(self._judges, spot.name, resolved, handed, held.meter),
                config=handed.config,
                on_close=closing,
            )
        except BaseException:
            leave()
            raise
        # A bank that is dropped without being closed gives its store back all the same.
        weakref.finalize(bank, give_back, closing)
        with stores.lock:
            late = self._closed
            self._banks.add(bank)
        if late:
            bank.close()
            raise ClosedError("workspace")
        if not foreign:
            state_old_facts(bank)
        return bank

    def _joined(self, spot: Spot, key: Key, create: bool) -> tuple[Held, Callable[[], None]]:
        """Of a place that has no such bank, nothing is opened without `create`: a server would get our schema."""
        if not (create or spot.is_there):
            raise not_there(spot.name, self.place)
        try:
            return stores.join(spot, key, create=create)
        except NotFoundError as gone:
            raise not_there(spot.name, self.place) from gone

    def _bank_under(self, id: str, own: Mapping[str, Any]) -> Repository:
        bank = self.open(id, **own)

        def serving() -> Serving:
            tally = Tally(bank.meter)
            mind = bank._thinker.mind(tally, bank._namer)
            tell = nobody_told if bank._notify is None else partial(bank._notify, bank.name)
            return Serving(mind, tally, bank._embedding.embedder, tell, bank._count_uses)

        graph = bank.graph
        return Repository(
            graph, graph.apply_changeset, bank, bank.close, nothing_told, lambda: bank._opened_sessions, serving
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
            # What chose the backend has done so.
            own = {**own, "config": replace(config, backend=None)}
        return backend, dict(own)

    def _judging(self, id: str, own: Mapping[str, Any]) -> Judging:
        courier = None if own.get("notifier") is None else self._courier(own["notifier"])
        resolved, handed = handed_over(self.resolved, self._handed, courier, own, prompts=own.get("prompts"))
        judging: Judging = partial(self._judges, id, resolved, handed, UNMETERED)
        # What cannot be right is told now, not when the first session begins.
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
        """Who serves a session: those of the repository, or its own."""
        from pieria.sessions.opened import Judges

        courier = None if own.get("notifier") is None else self._courier(own["notifier"])
        resolved, handed = handed_over(resolved, handed, courier, own)
        settings = resolved.settings
        embedder = embedder_among(handed, settings, self.models.folder)
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
        """What is in force in place of what the settings say by themselves."""
        found: dict[str, tuple[Any, str]] = {"bank": (name, resolved.origins["bank"])}
        if embedder is not None:
            found["embedder"] = (embedder.model, "argument")
        if thinker.llm is not None and thinker.is_own:
            found["llm"] = (thinker.llm.model, "argument")
        return found


def _mapping(settings: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise InputError("settings", "a mapping of settings by name", settings)
    return settings
