"""What a page is made of, as plain data: its views, what each is asked, and what it answers.

A page's module says what it shows; how that is routed, let in, rendered and refused is `site`'s business, once for all.
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
    """The address of something of a bank. What is None or empty is left out; a list is named several times, each of its
    items as a form spells it."""
    from urllib.parse import quote

    kept = [(name, each) for name, value in query.items() for each in _each(value) if each not in (None, "")]
    asked = f"?{urlencode(kept, errors='replace')}" if kept else ""
    return f"{BANKS}/{quote(bank, safe='')}{path and '/' + path}{asked}"


def _each(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [str(value).lower()]
    return [*map(spelt, value)] if isinstance(value, list | tuple) else [value]


def day(description: str, stands_for: str = BEGIN, **more: Any) -> dict[str, Any]:
    """The schema of a field that takes a day: one of the page's zone, as `Asked.moments` has it."""
    return text(description, day=stands_for, **more)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read and checked: by whom, of which bank, and what was given."""

    host: Host
    caller: Caller
    given: Mapping[str, Any]
    tasks: Tasks
    registry: Registry
    """The tools of every toolset, for showing a memory as their agents see it."""
    witness: Witness
    """What the engine did lately, for whoever wants to see how."""
    door: Door
    """Who lets callers in, and by which tokens."""
    zone: Zone
    """By whose clocks the page goes."""
    moments: Mapping[str, datetime] = field(default_factory=dict)
    """What the days stand for that were given, as the engine takes it."""

    @property
    def bank(self) -> Bank:
        return self.host.bank

    @property
    def bank_name(self) -> str:
        return self.host.bank_name

    def may(self, access: str) -> bool:
        """Whether the caller may do what needs such an access: what they may not is not offered."""
        return self.caller.access >= Access[access]

    def telling(self, found: Told) -> Told:
        """What was found of the bank, as the caller is told of it: where it is kept is for administrators."""
        return found if self.may("admin") else found.placeless()

    @property
    def again(self) -> dict[str, Any]:
        """What was given, for an address of the same: whoever opens it means the same days, wherever they are."""
        return {**self.given, ZONE: self.zone.name} if self.moments else {**self.given}

    @property
    def today(self) -> date:
        return self.zone.day(self.bank.clock())

    def has_ended(self, memory: Memory) -> bool:
        """Whether it holds no longer."""
        return is_over(memory.valid_until, self.bank.clock())

    def may_name(self, session: str) -> bool:
        """Whether what was said in it is found by its name: a token that is no administrator's names its own alone."""
        return session.startswith(self.caller.mark)

    def path(self, path: str = "", /, **query: Any) -> str:
        return path_of(self.bank_name, path, **query)


@dataclass(frozen=True, slots=True)
class Shown:
    """A template with its values. A request for a part gets the block `part` alone, and nothing around it."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    part: str | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """Go on there: after a change, so that to load the page again changes nothing."""

    to: str


@dataclass(frozen=True, slots=True)
class Begun:
    """Work that lasts: the caller is led to where its progress is shown."""

    task: Task


@dataclass(frozen=True, slots=True)
class Sent:
    """Something else than a page: JSON for a drawing, a file to keep under a name."""

    body: bytes | AsyncIterator[bytes]
    kind: str
    name: str | None = None


Answer = Shown | Moved | Begun | Sent
Answering = Callable[[Asked], Answer]


@dataclass(frozen=True, slots=True)
class View:
    """`line` is a method and a path under the bank's, such as `GET memories`. `takes` are JSON schemas by name.

    A form of `POST` carries a token of this site; one without it is refused before `answer` is asked. `answer` runs in
    a thread. A bank that is not there comes to be by a view that `begins` one. `again` shows the form that was refused,
    with what was given as it came: nobody types twice.
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
        """Which of what it takes are days."""
        return {name for name, schema in self.takes.items() if "day" in schema}

    def moments(self, given: Mapping[str, Any], zone: Zone) -> Mapping[str, datetime]:
        """What the days stand for that were given. One that was cleared stands for none."""
        told = {name: given[name] for name in self.days & given.keys() if given[name]}
        return {name: zone.moment(value, name, self.takes[name]["day"]) for name, value in told.items()}

    @property
    def tool(self) -> Tool:
        """What the check of the arguments goes by."""
        schema = {"type": "object", "properties": self.takes, "required": [*self.needs], "additionalProperties": False}
        return Tool(self.line, "", schema, self.access, begins=self.begins)


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is the path of its first view and the folder of its templates; `g` and `key` lead to it."""

    name: str
    title: str
    key: str
    about: str
    """What one finds there, in a line: for the help."""
    views: tuple[View, ...]
    css: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    """Files of the page alone, such as `memories/memories.css`; modules are loaded after the page is shown."""
