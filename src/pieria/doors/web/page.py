"""The parts of a page, as plain data: its views, their arguments and their answers.

A page's module only decides its content; `site` does routing, access, rendering and errors for all pages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Set
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.schemas import text
from pieria.doors.web.forms import spelt
from pieria.doors.web.zones import BEGIN, ZONE, Zone
from pieria.record.time import is_over
from pieria.toolsets import Access, Host, Registry, Tool

if TYPE_CHECKING:
    from pieria import Memory
    from pieria.bank import Bank
    from pieria.bank.results.general import Diagnosis, Stats
    from pieria.doors.web.tasks import Task, Tasks
    from pieria.doors.web.witness import Witness

BANKS = "/banks"
Told = TypeVar("Told", "Stats", "Diagnosis")


def path_of(bank: str, path: str = "", /, **query: Any) -> str:
    """Return the address of a path in a bank. Empty values are left out; each item of a list is a parameter of its
    own.
    """
    from urllib.parse import quote

    kept = [(name, each) for name, value in query.items() for each in _each(value) if each not in (None, "")]
    asked = f"?{urlencode(kept, errors='replace')}" if kept else ""
    return f"{BANKS}/{quote(bank, safe='')}{path and '/' + path}{asked}"


def _each(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [str(value).lower()]
    return [*map(spelt, value)] if isinstance(value, list | tuple) else [value]


def day(description: str, stands_for: str = BEGIN, **more: Any) -> dict[str, Any]:
    """Return the schema of a field with a day in the page's zone, which `Asked.moments` resolves."""
    return text(description, day=stands_for, **more)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read and checked: its caller, its bank and its arguments."""

    host: Host
    caller: Caller
    given: Mapping[str, Any]
    tasks: Tasks
    registry: Registry
    """The tools of every toolset, for showing a memory as their agents see it."""
    witness: Witness
    """What the engine did lately."""
    door: Door
    """Checks callers and holds their tokens."""
    zone: Zone
    """The page's zone."""
    moments: Mapping[str, datetime] = field(default_factory=dict)
    """The moments that the given days mean, by argument."""

    @property
    def bank(self) -> Bank:
        return self.host.bank

    @property
    def bank_name(self) -> str:
        return self.host.bank_name

    def may(self, access: str) -> bool:
        """Return whether the caller has this access. Pages hide what the caller may not do."""
        return self.caller.access >= Access[access]

    def telling(self, found: Told) -> Told:
        """Return a report as the caller may see it: only administrators see where the bank is kept."""
        return found if self.may("admin") else found.placeless()

    @property
    def again(self) -> dict[str, Any]:
        """Return the arguments for a link to the same view. The zone is included, so that days keep their meaning."""
        return {**self.given, ZONE: self.zone.name} if self.moments else {**self.given}

    @property
    def today(self) -> date:
        return self.zone.day(self.bank.clock())

    def has_ended(self, memory: Memory) -> bool:
        """Return whether the memory's validity has ended."""
        return is_over(memory.valid_until, self.bank.clock())

    def may_name(self, session: str) -> bool:
        """Return whether the caller may name this session: a token without admin access names only its own."""
        return session.startswith(self.caller.mark)

    def path(self, path: str = "", /, **query: Any) -> str:
        return path_of(self.bank_name, path, **query)


@dataclass(frozen=True, slots=True)
class Shown:
    """A template with its values. A request for a part renders only the block `part`."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    part: str | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect after a change, so that reloading the page does not repeat it."""

    to: str


@dataclass(frozen=True, slots=True)
class Begun:
    """A task that was begun: the caller is redirected to its progress."""

    task: Task


@dataclass(frozen=True, slots=True)
class Sent:
    """A response other than a page: JSON for a drawing, or a file to download under a name."""

    body: bytes | AsyncIterator[bytes]
    kind: str
    name: str | None = None


Answer = Shown | Moved | Begun | Sent
Answering = Callable[[Asked], Answer]


@dataclass(frozen=True, slots=True)
class View:
    """`line` is a method and a path under the bank's, such as `GET memories`. `takes` are JSON schemas by name.

    A form of `POST` carries a token of this site; one without it is refused before `answer` is called. `answer` runs in
    a thread. Only a view that `begins` a bank may create it. `again` shows a refused form with its values, so that
    users need not type twice.
    """

    line: str
    answer: Answering
    takes: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    access: Access = Access.read
    begins: bool = False
    again: Callable[[Asked], Shown] | None = None

    @property
    def method(self) -> str:
        return self.line.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.line.partition(" ")[2]

    @property
    def days(self) -> Set[str]:
        """The names of the arguments that are days."""
        return {name for name, schema in self.takes.items() if "day" in schema}

    def moments(self, given: Mapping[str, Any], zone: Zone) -> Mapping[str, datetime]:
        """Return the moments that the given days mean. Empty days are left out."""
        told = {name: given[name] for name in self.days & given.keys() if given[name]}
        return {name: zone.moment(value, name, self.takes[name]["day"]) for name, value in told.items()}

    @property
    def tool(self) -> Tool:
        """The arguments as a tool, for the check."""
        schema = {"type": "object", "properties": self.takes, "required": [*self.needs], "additionalProperties": False}
        return Tool(self.line, "", schema, self.access, begins=self.begins)


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is the path of its first view and the folder of its templates; `g` and `key` lead to it."""

    name: str
    title: str
    key: str
    about: str
    """What the page offers, in one line for the help."""
    views: tuple[View, ...]
    css: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    """Files of the page alone, such as `memories/memories.css`; modules are loaded after the page is shown."""
