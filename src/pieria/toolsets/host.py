"""The context of a tool call: the caller, its access, and the banks it can reach."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.errors import AccessError, ClosedError, InputError, NotFoundError, PieriaError, StorageError, TransferError
from pieria.record.address import check_length
from pieria.record.banks import USER_BANK, no_such_bank, same_bank
from pieria.record.job import IDLE
from pieria.record.trust import AGENT
from pieria.runtime.calls import Calls
from pieria.toolsets.registry import Access, Tool

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.jobs.worker import Worker
    from pieria.record.job import Job
    from pieria.record.job import Progress as JobProgress
    from pieria.workspace import Workspace


log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
Offers = Callable[[str, Callable[[], bool]], list[str]]

Told = Callable[[str, "Job", "JobProgress"], object]

KEPT = 64
"""How many banks stay open between calls; each entry belongs to one session."""


NAMED = 64
"""Longest part of a bank's name that a hint repeats, in characters."""
OUR_OWN = re.compile(
    r".*\.db(-.*)?|tokens\..*|(setup|offers)\.json|serve\.lock|model\.(lock|failed)|pieria\.(toml|sock.*)", re.DOTALL
)
"""Our own files in the data folder, in lower case: banks with SQLite's side files, tokens, settings, locks, the socket.
"""


class Author(NamedTuple):
    """The author of a caller's texts, and the channel that they share."""

    author: str | None = None
    author_type: str | None = None
    channel: str | None = None


NO_AUTHOR = Author()


class Banks:
    """The banks of a workspace, cached between calls. Thread-safe.

    A bank dropped from the cache closes after the last call that uses it.
    """

    def __init__(self, workspace: Workspace, who: str) -> None:
        self.workspace = workspace
        self._who = who
        self._lock = threading.Lock()
        self._at_work = ""
        self.calls = Calls()
        """The calls that use these banks: background work waits until they have ended."""
        self._open: OrderedDict[tuple[object, ...], Bank] = OrderedDict()

    def opened(
        self,
        name: str,
        session: str | None,
        *,
        user: bool = True,
        secrets: str | None = None,
        counts_uses: bool = True,
        via: str = AGENT,
        author: Author = NO_AUTHOR,
        create: bool = True,
    ) -> Bank:
        """Return the bank, from the cache if it is open.

        `user=False` hides memories in the user's scope. `secrets` applies only if the setting has its default.
        `counts_uses=False` records no use of what is found. `create=False` raises `NotFoundError` for a missing bank.
        """
        if not self.workspace.resolved.is_default("secrets"):
            secrets = None
        key = (same_bank(name), session, user, secrets, counts_uses, via, author)
        with self._lock:
            self._forget_those_that_ended()
            held = self._open.get(key)
        if held is None:
            # Open outside the lock: a schema migration must not block other banks.
            held = self.workspace.open(
                name,
                session=session,
                who=self._who,
                user=user,
                secrets=secrets,
                count_uses=None if counts_uses else False,
                via=via,
                **author._asdict(),
                create=create,
            )
        with self._lock:
            held = self._open.setdefault(key, held)
            self._open.move_to_end(key)
            while len(self._open) > KEPT:
                self._open.popitem(last=False)
            return held

    def names(self) -> list[str]:
        return self.workspace.banks()

    def there(self) -> list[str]:
        """Return the names of all banks, including the user's own."""
        return self.workspace.place.everything()

    def open_names(self) -> set[str]:
        """Return the names of the cached banks."""
        with self._lock:
            self._forget_those_that_ended()
            return {held.name for held in self._open.values()}

    def has(self, name: str) -> bool:
        """Return whether the bank exists. A cached bank answers without a look at the disk."""
        with self._lock:
            self._forget_those_that_ended()
            if any(open_name == same_bank(name) for open_name, *_ in self._open):
                return True
        place = self.workspace.place
        return place.has_user() if name == USER_BANK else place.at(name).is_there

    def _forget_those_that_ended(self) -> None:
        """Drop banks that were removed, also by another process."""
        for key in [key for key, held in self._open.items() if held.core.store.is_over]:
            del self._open[key]

    def worker(self, told: Told = lambda bank, job, progress: None, *, sleeps: bool = True) -> Worker:
        """Return a worker for the jobs of every cached bank; the caller closes it.

        `told` receives the bank's name, the job and its progress. With `sleeps`, banks that are due sleep automatically
        while no call runs.
        """
        from pieria.bank.jobs.handlers import HANDLERS
        from pieria.bank.jobs.worker import Worker

        return Worker(
            self._worked_on,
            HANDLERS,
            told=lambda job, progress: told(self._at_work, job, progress),
            sleeps=IDLE if sleeps else None,
            idle=self.calls.idle_seconds,
        )

    def work_on(self, names: Iterable[str]) -> None:
        """Open the named banks, so that the worker runs their jobs. Skip banks that do not exist."""
        for _ in self.still_there(names):
            pass

    def still_there(self, names: Iterable[str]) -> Iterator[Bank]:
        """Yield the named banks without a session. Skip removed ones; create none."""
        for name in names:
            try:
                bank = self.opened(name, None, create=False)
            except NotFoundError:
                continue
            yield bank

    def _worked_on(self) -> Iterator[Bank]:
        """Yield each cached bank once, without a session."""
        for name in sorted(self.open_names()):
            self._at_work = name
            try:
                yield from self.still_there([name])
            except ClosedError:
                return
            except PieriaError as problem:
                log.warning("no background work for bank %s: %s", name, problem.message)

    def renew(self) -> None:
        """Open the cached banks again, since a model was installed. Calls under way finish with the old ones."""
        names = self.open_names()
        with self._lock:
            self._open.clear()
        self.work_on(names)

    def close(self) -> None:
        with self._lock:
            self._open.clear()
        self.workspace.close()


def no_offers(bank: str, is_empty: Callable[[], bool]) -> list[str]:
    return []


def everything(name: str) -> bool:
    """Accept any bank."""
    return True


def out_of_reach(bank: str, opened: Sequence[str]) -> AccessError:
    """Return the error for a bank the caller may not reach. `opened` lists the banks of the caller's token, if any."""
    make = f"pieria token create NAME --banks {quote(','.join((*(opened or ('*',)), bank[:NAMED])))}"
    if opened:
        hint = f"The token opens {', '.join(opened)}. Create one that also names this bank: {make}."
    else:
        hint = f"Only a token that names the bank opens it: {make}. Once there is a token, every caller needs one."
    return AccessError("wrong_bank", hint=hint)


@dataclass(frozen=True)
class Host:
    """The caller of a tool and what it may reach.

    `covers` says which banks the caller may reach; `opened` is the token's own wording of that. `is_named` means the
    caller gave the bank's name. Such a name may be misspelt, so only tools with `begins` create the bank.
    """

    banks: Banks
    bank_name: str
    session: str | None
    paths: Paths
    access: Access = Access.admin
    is_named: bool = False
    begins: bool = True
    covers: Callable[[str], bool] = everything
    progress: Progress | None = None
    opened: tuple[str, ...] = ()
    secrets: str | None = None
    """How to treat secrets if the setting has its default."""
    via: str = AGENT
    """How texts come in. A tool call counts as an agent's."""
    author: Author = NO_AUTHOR
    counts_uses: bool = True
    """Whether results count as used, if the settings allow it. False for callers that only inspect results."""
    tells_places: bool = True
    """Whether the caller may know where banks are stored."""
    offers: Offers = no_offers
    """Returns what a person may import into this bank, given its name and how to see whether it is empty."""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was ever written to the bank. Create none."""
        return not self.banks.has(self.bank_name) or not self.bank.changes(limit=1)

    @property
    def bank(self) -> Bank:
        name = self.reached(self.bank_name)
        may_make = self.access is not Access.read and (self.begins or not self.is_named)
        return self._opened(name, create=may_make)

    @property
    def scope(self) -> str:
        """Return the default scope of memories for this bank."""
        return "user" if self.bank_name == USER_BANK else "bank"

    def other(self, name: str | None) -> Bank:
        """Return another existing bank, or the caller's own if `name` is None."""
        if name is None or same_bank(name) == same_bank(self.bank_name):
            return self.bank
        there = self.bank_names()
        if same_bank(self.reached(name)) not in map(same_bank, there):
            raise no_such_bank(name, there, self._nowhere)
        return self._opened(name, create=False)

    def bank_names(self) -> list[str]:
        """Return the banks the caller may reach, including its own."""
        own = [] if self.bank_name == USER_BANK else [self.bank_name]
        return sorted({*own, *(name for name in self.banks.names() if self.covers(name))})

    def allow(self, needed: Access) -> None:
        if self.access < needed:
            raise AccessError("not_admin" if self.access is Access.write else "read_only")

    def telling(self, error: PieriaError) -> PieriaError:
        """Return the error without paths that the caller may not know."""
        if isinstance(error, TransferError):
            return error.of(self.paths.told(Path(error.path)))
        if self.tells_places or not isinstance(error, StorageError):
            return error
        log.warning("%s", error.message)
        return error.placeless()

    def having(self, **changes: Any) -> Host:
        return replace(self, **changes)

    def _opened(self, name: str, *, create: bool) -> Bank:
        user = self.covers(USER_BANK)
        try:
            return self.banks.opened(
                name,
                self.session,
                user=user,
                secrets=self.secrets,
                counts_uses=self.counts_uses,
                via=self.via,
                author=self.author,
                create=create,
            )
        except NotFoundError as problem:
            # Suggest only banks that this caller may reach.
            raise no_such_bank(
                name, [other for other in self.banks.there() if self.covers(other)], self._nowhere
            ) from problem

    def reached(self, name: str) -> str:
        """Return the bank's name. Raise `AccessError` if the caller may not reach it."""
        if not self.covers(name):
            raise out_of_reach(name, self.opened)
        return name

    @property
    def _nowhere(self) -> str | None:
        """The folder of the banks, if it is missing and the caller may know it."""
        place = self.banks.workspace.place
        return str(place) if self.tells_places and not place.is_there else None


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, as the handler sees it."""

    host: Host
    tool: Tool

    @property
    def bank(self) -> Bank:
        return self.host.bank


@dataclass(frozen=True, slots=True)
class Paths:
    """The files tools may touch: those below `roots`, except Pieria's own files in `data`.

    Relative paths start at `base`.
    """

    base: Path
    roots: tuple[Path, ...]
    data: Path | None = None
    project: Path | None = None
    """The caller's project; None means `base`."""
    is_shared: bool = False
    """Whether callers share the folders but may not reach each other's banks."""

    def allowed(self, given: str, parameter: str) -> Path:
        """Return the absolute path with links resolved. Raise `InputError` if tools may not touch it."""
        if not given.strip() or "\0" in given:
            raise InputError(parameter, "the path of a file", given)
        check_length(given, parameter)
        try:
            path = Path(os.path.realpath(self.base / Path(given).expanduser()))
        except (RuntimeError, OSError, ValueError) as problem:
            raise InputError(parameter, "the path of a file", given) from problem
        check_length(str(path), parameter)
        if not any(path.is_relative_to(os.path.realpath(root)) for root in self.roots):
            folders = ", ".join(self._named(root) for root in self.roots)
            hint = "The setting paths allows further folders."
            raise InputError(parameter, f"a path under {folders}", given, hint=hint)
        if self._is_our_own(path):
            expected = "a path outside the banks, tokens and settings in the data folder"
            raise InputError(parameter, expected, given, hint="Choose another name or folder.")
        return path

    def told(self, path: Path) -> str:
        """Return an allowed path as shown to the caller. Remote callers see paths relative to the exchange folder."""
        base = os.path.realpath(self.base)
        return str(path.relative_to(base) if self.is_shared and path.is_relative_to(base) else path)

    def _named(self, root: Path) -> str:
        return root.name if self.is_shared and root == self.base else str(root)

    def _is_our_own(self, path: Path) -> bool:
        """Return whether the path is Pieria's own. Ignore case, because some file systems do."""
        if self.data is None:
            return False
        data = os.path.realpath(self.data).casefold()
        return any(
            str(inner.parent).casefold() == data and OUR_OWN.fullmatch(inner.name.casefold())
            for inner in (path, *path.parents)
        )


def on_this_machine(data: Path, project: Path | None, working: Path, home: Path | None, more: Sequence[Path]) -> Paths:
    """Return the paths for a local user: their own folders and those of the `paths` setting."""
    roots = [data, project or working, *([home] if home else []), *more]
    return Paths(working, tuple(dict.fromkeys(roots)), data, project)


def paths_of_user(workspace: Workspace) -> Paths:
    """Return the paths for the user who runs this process, with the current working folder."""
    project = workspace.resolved.project
    try:
        home = Path.home()
    except RuntimeError:
        home = None
    root = project.root if project is not None else None
    return on_this_machine(workspace.data, root, Path.cwd(), home, workspace.resolved.roots)


def over_the_network(data: Path, more: Sequence[Path]) -> Paths:
    """Return the paths for a remote caller: the exchange folder and those of the `paths` setting."""
    exports = data / "exports"
    return Paths(exports, (exports, *more), data, is_shared=True)
