"""Where tools are called: the banks they reach, on whose behalf, and what that allows."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pieria.errors import AccessError, ClosedError, NotFoundError, PieriaError, StorageError, TransferError
from pieria.record.banks import USER_BANK, no_such_bank, same_bank
from pieria.record.trust import AGENT
from pieria.toolsets.paths import Paths
from pieria.toolsets.tool import Access, Tool

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.jobs.worker import Worker
    from pieria.record.job import Job
    from pieria.record.job import Progress as JobProgress
    from pieria.workspace import Workspace

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]

Told = Callable[[str, "Job", "JobProgress"], object]

KEPT = 64
"""Banks that stay open between calls, each for one session."""


NAMED = 64
"""Characters of a bank's name that a hint repeats."""


class Banks:
    """The banks of a workspace, kept open between calls. Threads may share it.

    One that is let go of is closed when the last call that uses it is over.
    """

    def __init__(self, workspace: Workspace, who: str) -> None:
        self.workspace = workspace
        self._who = who
        self._lock = threading.Lock()
        self._at_work = ""
        self._open: OrderedDict[tuple[str, str | None, bool, str | None, bool, str], Bank] = OrderedDict()

    def opened(
        self,
        name: str,
        session: str | None,
        *,
        user: bool = True,
        secrets: str | None = None,
        counts_uses: bool = True,
        via: str = AGENT,
        create: bool = True,
    ) -> Bank:
        """Without `user`, what belongs to the user is not reached. `secrets` counts where nobody set that. Without
        `counts_uses`, nothing that is found through it counts as used. Without `create` it raises `NotFoundError` where
        there is no such bank."""
        if not self.workspace.resolved.is_default("secrets"):
            secrets = None
        key = (same_bank(name), session, user, secrets, counts_uses, via)
        with self._lock:
            self._forget_those_that_ended()
            held = self._open.get(key)
        if held is None:
            # Without the lock: one that is brought to a new schema must not hold up the others.
            held = self.workspace.open(
                name,
                session=session,
                who=self._who,
                user=user,
                secrets=secrets,
                count_uses=None if counts_uses else False,
                via=via,
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
        """All of them, the user's own as well."""
        return self.workspace.place.everything()

    def open_names(self) -> set[str]:
        """Those that are open now, between calls or in one."""
        with self._lock:
            self._forget_those_that_ended()
            return {held.name for held in self._open.values()}

    def has(self, name: str) -> bool:
        """Without asking where it is open: it says by itself that it was removed."""
        with self._lock:
            self._forget_those_that_ended()
            if any(open_name == same_bank(name) for open_name, *_ in self._open):
                return True
        place = self.workspace.place
        return place.has_user() if name == USER_BANK else place.at(name).is_there

    def _forget_those_that_ended(self) -> None:
        """Those that were removed, be it by another process."""
        for key in [key for key, held in self._open.items() if held.store.is_over]:
            del self._open[key]

    def worker(self, told: Told = lambda bank, job, progress: None) -> Worker:
        """One that does what is to be done behind, in every bank that was reached. It is for the caller to close.

        `told` hears how far a job is, and in which bank.
        """
        from pieria.bank.jobs.handlers import HANDLERS
        from pieria.bank.jobs.worker import Worker

        return Worker(self._worked_on, HANDLERS, told=lambda job, progress: told(self._at_work, job, progress))

    def work_on(self, names: Iterable[str]) -> None:
        """Lets its worker do what is to be done in these as well, as far as they are there."""
        for _ in self.still_there(names):
            pass

    def still_there(self, names: Iterable[str]) -> Iterator[Bank]:
        """These, on behalf of no session, but for those that were removed: none is made anew."""
        for name in names:
            try:
                bank = self.opened(name, None, create=False)
            except NotFoundError:
                continue
            yield bank

    def _worked_on(self) -> Iterator[Bank]:
        """Each bank once, on behalf of no session."""
        for name in sorted(self.open_names()):
            self._at_work = name
            try:
                yield from self.still_there([name])
            except ClosedError:
                return
            except PieriaError as problem:
                log.warning("bank %s is not worked on: %s", name, problem.message)

    def close(self) -> None:
        with self._lock:
            self._open.clear()
        self.workspace.close()


def everything(name: str) -> bool:
    """Any bank at all."""
    return True


def out_of_reach(bank: str, opened: Sequence[str]) -> AccessError:
    """What to raise where a bank is not open to a caller; `opened` are those that its token names, if it has one."""
    make = f"pieria token create NAME --banks {quote(','.join((*(opened or ('*',)), bank[:NAMED])))}"
    if opened:
        hint = f"The token opens {', '.join(opened)}. Make one that names this bank, too: {make}."
    else:
        hint = f"Only a token that names it opens it: {make}. Once there is a token, every caller needs one."
    return AccessError("wrong_bank", hint=hint)


@dataclass(frozen=True)
class Host:
    """On whose behalf tools are called. `covers` says which banks that caller may reach, `opened` how that was put.

    `is_named` says that somebody gave the bank's name, which may be misspelt: then only what `begins` one makes it.
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
    """What becomes of secrets, where nobody set that."""
    via: str = AGENT
    """How texts come in: a tool call is an agent's, whoever makes it."""
    counts_uses: bool = True
    """Whether what is found counts as used, where the settings say so: not for who only looks at what is answered."""
    tells_places: bool = True
    """Whether whoever calls may know where banks are kept."""

    @property
    def bank(self) -> Bank:
        name = self.reached(self.bank_name)
        may_make = self.access is not Access.read and (self.begins or not self.is_named)
        return self._opened(name, create=may_make)

    @property
    def scope(self) -> str:
        """Where memories go and come from unless a call says otherwise."""
        return "user" if self.bank_name == USER_BANK else "bank"

    def other(self, name: str | None) -> Bank:
        """Another bank that is there; without a name, the caller's own."""
        if name is None or same_bank(name) == same_bank(self.bank_name):
            return self.bank
        there = self.bank_names()
        if same_bank(self.reached(name)) not in map(same_bank, there):
            raise no_such_bank(name, there, self._nowhere)
        return self._opened(name, create=False)

    def bank_names(self) -> list[str]:
        """The banks that the caller may reach, their own among them."""
        own = [] if self.bank_name == USER_BANK else [self.bank_name]
        return sorted({*own, *(name for name in self.banks.names() if self.covers(name))})

    def allow(self, needed: Access) -> None:
        if self.access < needed:
            raise AccessError("not_admin" if self.access is Access.write else "read_only")

    def telling(self, error: PieriaError) -> PieriaError:
        """The error as whoever calls is told of it."""
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
                create=create,
            )
        except NotFoundError as problem:
            # Of those that are there, this caller is told only what they may reach.
            raise no_such_bank(
                name, [other for other in self.banks.there() if self.covers(other)], self._nowhere
            ) from problem

    def reached(self, name: str) -> str:
        """The name of a bank that the caller may reach. Raises `AccessError` for another."""
        if not self.covers(name):
            raise out_of_reach(name, self.opened)
        return name

    @property
    def _nowhere(self) -> str | None:
        """The folder of the banks, where it is missing and the caller may know of it."""
        place = self.banks.workspace.place
        return str(place) if self.tells_places and not place.is_there else None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, as its handler sees it."""

    host: Host
    tool: Tool

    @property
    def bank(self) -> Bank:
        return self.host.bank
