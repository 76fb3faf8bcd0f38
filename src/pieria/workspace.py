"""The workspace: resolves the settings, opens banks under them and hands everything down as values.

It knows where a bank's file lies and which store it shares; what a bank does with either is the bank's business.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pieria.bank import Bank
from pieria.bank.background import background
from pieria.bank.embedding import Embedding
from pieria.bank.metering import Budgets
from pieria.bank.using import Uses
from pieria.errors import ClosedError, ConflictError, InputError, StorageError, UnavailableError
from pieria.models import NONE, PROVIDERS, Chat, Embedder, Library, language_model, provider_of, settled
from pieria.models import embedder as made_of
from pieria.record import check
from pieria.record.banks import USER_BANK, check_bank_name, same_bank
from pieria.record.filter import Viewer
from pieria.record.time import Clock, system_clock
from pieria.store.sqlite import SQLiteStore

if TYPE_CHECKING:
    from pieria.bank.replies_transfer import RestoreReport
    from pieria.settings import Resolved, Settings
    from pieria.store.protocol import Progress

log = logging.getLogger(__name__)

ENDING = ".db"
CLOSING = 1.5
"""Seconds that closing waits for what is still to be embedded or counted, and for a step under way."""


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
) -> Bank:
    """Opens a bank, making it where there is none. Without a name: the one that settings and project choose.

    `data` is the folder of the banks; `settings` are further settings by name; `who` is noted in the journal.
    Raises `InputError` or `ConfigError` for what cannot be right, `StorageError` where the file cannot be used.
    """
    named = {} if name is None else {"bank": check_bank_name(name, "name")}
    workspace = Workspace(data, {**_mapping(settings), **named}, clock=clock)
    speaker = {"session": session, "channel": channel, "author": author, "author_type": author_type}
    return workspace._opened(workspace.resolved.having(**speaker), who)


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
    from pieria.bank.transfer import restore_file
    from pieria.transfer.file import given_path

    check.flag(replace, "replace")
    source = given_path(file, "file")
    named = {} if name is None else {"bank": check_bank_name(name, "name")}
    workspace = Workspace(data, named)
    kept, path = workspace._located(workspace.resolved.settings.bank)
    if replace and _stores.hold(path):
        raise ConflictError("the bank is open in this process", ids=(kept,), hint="Close it, then restore.")
    return restore_file(source, path, replace=replace, progress=progress)


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
    ) -> None:
        from pieria.settings import resolve

        later = {"notifier": notifier, "config": config}
        for parameter, value in later.items():
            if value is not None:
                raise UnavailableError(parameter, "it has no effect in this version")
        if clock is not None and not callable(clock):
            raise InputError("clock", "a function that returns the time", clock)
        given = {} if data is None else {"data": data}
        named = {name: it for name, it in (("embedder", embedder), ("llm", llm)) if isinstance(it, str)}
        self.resolved = resolve({**_mapping(settings), **given, **named})
        self.data = self.resolved.settings.data
        self.models = Library(self.resolved.settings.models)
        own = None if "embedder" in named else embedder
        self._embedder = None if own is None else _embedders.given(own, self.models.folder)
        self._llm = None if "llm" in named or llm is None else language_model(llm)
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
    ) -> Bank:
        """Opens a bank, making it where there is none. What is not given is as the settings say."""
        bank = None if name is None else check_bank_name(name, "name")
        return self._opened(
            self.resolved.having(bank=bank, session=session, channel=channel, author=author, author_type=author_type),
            who,
        )

    def banks(self) -> list[str]:
        """The names of the banks in the data folder, without the user's own."""
        return sorted(name for name in self._files() if name != USER_BANK)

    def close(self) -> None:
        """Closes every bank that was opened here. Safe to call twice."""
        with _stores.lock:
            self._closed = True
            opened = list(self._banks)
        for bank in opened:
            bank.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self, resolved: Resolved, who: str) -> Bank:
        if self._closed:
            raise ClosedError("workspace")
        check.name(who, "who")
        settings = resolved.settings
        name, path = self._located(settings.bank)
        embedder, llm = self._embedder or _embedders.named(settings), self._llm or _llms.named(settings)
        key = _Key(os.path.realpath(path), settings.durability, settings.busy_seconds, self.clock, embedder)
        held, leave = _stores.join(path, key)
        user = _User(partial(self._opened, resolved.having(bank=USER_BANK), who), self.data)
        closing = partial(_closed, user, leave)
        try:
            bank = Bank(
                name,
                held.store,
                embedding=held.embedding,
                uses=held.uses,
                llm=llm,
                data=self.data,
                clock=self.clock,
                who=who,
                viewer=Viewer(settings.session, settings.channel),
                author=settings.author,
                author_type=settings.author_type,
                secrets=settings.secrets,
                text_budget=settings.text_budget,
                count_uses=settings.count_uses,
                fades=[kind for kind in settings.upkeep_fades.split(",") if kind],
                budgets=Budgets(settings.budget_tokens_per_day, settings.budget_calls_per_day),
                me=user.bank,
                origins=resolved.shown() | self._origins(name, resolved),
                on_close=closing,
            )
        except BaseException:
            leave()
            raise
        # A bank that is dropped without being closed gives its store back all the same.
        weakref.finalize(bank, _given_back, closing)
        with _stores.lock:
            late = self._closed
            self._banks.add(bank)
        if late:
            bank.close()
            raise ClosedError("workspace")
        return bank

    def _origins(self, name: str, resolved: Resolved) -> dict[str, tuple[Any, str]]:
        """What is in force in place of what the settings say by themselves."""
        found: dict[str, tuple[Any, str]] = {"bank": (name, resolved.origins["bank"])}
        if self._embedder is not None:
            found["embedder"] = (self._embedder.model, "argument")
        if self._llm is not None:
            found["llm"] = (self._llm.model, "argument")
        return found

    def _located(self, name: str) -> tuple[str, Path]:
        """The bank's name as it was first spelt, and its file.

        Where there is a bank whose name differs in case alone, it is that one: on some file systems the two would
        share a file, so they mean the same bank on all.
        """
        files = self._files()
        alike = sorted(there for there in files if same_bank(there) == same_bank(name))
        spelt = name if name in files or not alike else alike[0]
        return spelt, files.get(spelt, self.data / f"{name}{ENDING}")

    def _files(self) -> dict[str, Path]:
        try:
            found = [Path(entry.path) for entry in os.scandir(self.data) if entry.name.endswith(ENDING)]
        except FileNotFoundError:
            return {}
        except OSError as problem:
            raise StorageError("open", f"{self.data} cannot be read ({problem.strerror})") from problem
        return {name: path for path in found if (name := _name_of(path))}


class _User:
    """The user's own bank as one bank sees it: opened when it is needed, read only where there is one."""

    def __init__(self, open_bank: Callable[[], Bank], data: Path) -> None:
        self._open_bank = open_bank
        self._path = data / f"{USER_BANK}{ENDING}"
        self._opened: dict[str, Bank] = {}

    def bank(self, create: bool) -> Bank | None:
        if not self._opened and (create or self._path.exists()):
            opened = self._open_bank()
            # Another thread may have been quicker; its bank is then the one in use.
            if self._opened.setdefault(USER_BANK, opened) is not opened:
                opened.close()
        return self._opened.get(USER_BANK)

    def close(self) -> None:
        for bank in list(self._opened.values()):
            bank.close()


class _Key(NamedTuple):
    path: str
    durability: str
    busy_seconds: float
    clock: Clock
    embedder: Embedder | None


class _Held:
    """A store, its vectors and the uses of its memories; the file it is of, which may be replaced; and who uses it."""

    def __init__(self, path: Path, key: _Key) -> None:
        self.key = key
        self.store = _store(path, key.durability, key.busy_seconds, key.clock)
        self.embedding = Embedding(self.store, key.embedder, background)
        self.uses = Uses(self.store, key.clock, background)
        self.file = _file_of(key.path)
        self.users: set[object] = set()

    @property
    def in_place(self) -> bool:
        return self.file is not None and self.file == _file_of(self.key.path)

    def close(self) -> None:
        deadline = time.monotonic() + CLOSING
        self.uses.hurry()
        self.embedding.close(CLOSING)
        self.uses.close(max(0.0, deadline - time.monotonic()))
        self.store.close()


class _Stores:
    """The stores of this process: banks on one file, under the same settings, share one until the last is closed.

    A store is opened and closed outside the lock, since both may wait for another process. The lock guards what
    workspaces note about their banks, too.
    """

    def __init__(self) -> None:
        self._held: dict[_Key, _Held] = {}
        self.start_anew()

    def start_anew(self) -> None:
        """After a fork the lock may be held by a thread that does not exist here."""
        self.lock = threading.RLock()

    def join(self, path: Path, key: _Key) -> tuple[_Held, Callable[[], None]]:
        """The store of a file, and what to call, once or more often, when it is needed no longer."""
        user = object()
        held = self._entered(key, user)
        if held is None:
            opened = _Held(path, key)
            with self.lock:
                held = self._entered(key, user)
                if held is None:
                    held = self._held[key] = opened
                    held.users.add(user)
            if held is not opened:
                opened.close()
        return held, partial(self._leave, held, user)

    def hold(self, path: Path) -> bool:
        """Whether a bank of this process is open on the file."""
        real = os.path.realpath(path)
        with self.lock:
            return any(key.path == real for key in self._held)

    def _entered(self, key: _Key, user: object) -> _Held | None:
        with self.lock:
            held = self._held.get(key)
            if held is None or not held.in_place:
                return None
            held.users.add(user)
            return held

    def _leave(self, held: _Held, user: object) -> None:
        with self.lock:
            held.users.discard(user)
            if held.users:
                return
            if self._held.get(held.key) is held:
                del self._held[held.key]
        held.close()


class _Embedders:
    """The embedders of this process: one for each setting, since a loaded model is large, and one for each object."""

    def __init__(self) -> None:
        self._named: dict[tuple[object, ...], Embedder] = {}
        self._given: weakref.WeakValueDictionary[int, Embedder] = weakref.WeakValueDictionary()

    def named(self, settings: Settings) -> Embedder | None:
        """Of the settings. What `auto` means is settled anew each time, for a model may have been installed."""
        name = settled(settings.embedder, settings.models)
        if name == NONE:
            return None
        key = settings.embedder_key
        told = {
            "threads": settings.embedder_threads,
            "base_url": settings.embedder_url,
            "api_key": None if key is None else key.get_secret_value(),
        }
        provider = PROVIDERS[name.partition(":")[0]]
        options = {option: value for option, value in told.items() if value is not None and option in provider.options}
        if "base_url" in provider.options and provider.address is None and "base_url" not in options:
            raise _no_address("embedder_url")
        mark = (name, settings.models, *sorted(options.items()))
        with _stores.lock:
            return self._named.setdefault(mark, made_of(name, models=settings.models, options=options))

    def given(self, embedder: object, models: Path) -> Embedder:
        # An embedder holds the object it was made of, so that no other can have its number meanwhile.
        with _stores.lock:
            made = self._given.get(id(embedder))
            if made is None:
                made = self._given[id(embedder)] = made_of(embedder, models=models)
            return made


class _LLMs:
    """The language models of this process: one for each setting, so that banks share connections."""

    def __init__(self) -> None:
        self._named: dict[tuple[object, ...], Chat] = {}

    def named(self, settings: Settings) -> Chat | None:
        name = settings.llm
        if name == NONE:
            return None
        provider = provider_of(name)
        if settings.llm_url is None and provider is not None and provider.address is None:
            raise _no_address("llm_url")
        key = settings.llm_key
        told = {
            "base_url": settings.llm_url,
            "api_key": None if key is None else key.get_secret_value(),
            "seconds": settings.llm_seconds,
        }
        options = {option: value for option, value in told.items() if value is not None}
        mark = (name, *sorted(options.items()))
        with _stores.lock:
            return self._named.setdefault(mark, language_model(name, options=options))


_stores = _Stores()
_embedders = _Embedders()
_llms = _LLMs()
os.register_at_fork(after_in_child=_stores.start_anew)


def _store(path: Path, durability: str, busy_seconds: float, clock: Clock) -> SQLiteStore:
    told = partial(log.warning, "%s was brought to a new schema; as it was: %s", path)
    return SQLiteStore(path, durability=durability, busy_seconds=busy_seconds, clock=clock, on_migration=told)


def _given_back(closing: Callable[[], None]) -> None:
    """Whatever thread happens to find that a bank was dropped: it may be in the middle of anything."""
    if not background.afterwards(closing):
        closing()


def _closed(user: _User, leave: Callable[[], None]) -> None:
    user.close()
    leave()


def _name_of(path: Path) -> str | None:
    """The bank that a file holds by its name; file systems may spell an accent in two ways."""
    try:
        return check_bank_name(path.name.removesuffix(ENDING))
    except InputError:
        return None


def _file_of(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _no_address(setting: str) -> InputError:
    return InputError(setting, "the address of the server", None, hint="Such as http://localhost:8000/v1")


def _mapping(settings: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise InputError("settings", "a mapping of settings by name", settings)
    return settings
