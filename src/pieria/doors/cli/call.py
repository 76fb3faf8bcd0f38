"""One call of the command line: its shared options, its bank, and its answer.

Only the reader of the answer is decided here; `console` prints it for people.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pieria.doors.cli.console import Line, bar, inert, inert_json, show

if TYPE_CHECKING:
    import click
    from rich.console import RenderableType

    from pieria.bank import Bank
    from pieria.toolsets import Host, Reply
    from pieria.workspace import Workspace


Progress = Callable[[int, int], None]

WHO = "cli"


@dataclass
class Call:
    """The shared options as given; `speaker` holds session, channel and author if the command takes them."""

    bank: str | None = None
    data: str | None = None
    json: bool | None = None
    quiet: bool = False
    debug: bool = False
    speaker: dict[str, Any] = field(default_factory=dict)
    parameters: Sequence[click.Parameter] = ()
    """Parameters of the running command, so that messages can spell them as on the command line."""

    def workspace(self) -> Workspace:
        from pieria.doors.cli.log import listen
        from pieria.workspace import Workspace

        listen(self.note, everything=self.debug)
        return Workspace(self.data, {"bank": self.bank}, by_door=True)

    @contextmanager
    def opened(self, *, reading: bool = False, recalling: bool = False) -> Iterator[Bank]:
        """Yield the bank of this call. A reading command does not create a bank whose name was given: it may be
        misspelt. If the local model is missing, a writing or recalling command fetches it first.
        """
        from pieria.doors.cli.person import way_in

        with self.workspace() as workspace:
            self.drain(workspace)
            if reading:
                self.check_there(workspace)
            create = not (reading and _must_be_there(workspace))
            if recalling or not reading:
                self.add_model(workspace)
            with workspace.open(who="cli", via=way_in(), create=create, **self.speaker) as bank:
                self.distil(bank)
                yield bank

    def drain(self, workspace: Workspace) -> None:
        from pieria.doors.catching_up import drain

        drain(workspace, self.note)

    def distil(self, bank: Bank) -> None:
        from pieria.doors.catching_up import distil

        distil(bank, self.note)

    def check_there(self, workspace: Workspace) -> None:
        """Raise `NotFoundError` for a missing bank whose name was given; note any other missing bank."""
        from pieria.record.banks import MOST_OFFERED, USER_BANK
        from pieria.workspace import not_there

        name = workspace.resolved.settings.bank
        if name == USER_BANK or workspace.place.at(name).is_there:
            return
        if _must_be_there(workspace):
            raise not_there(name, workspace.place)
        there = workspace.banks()
        others = f" Other banks here: {', '.join(there[:MOST_OFFERED])}." if there else ""
        self.note(f"there was no bank {name} in {workspace.place}, so an empty one was created.{others}")

    def add_model(self, workspace: Workspace) -> None:
        """Fetch the local model if it is missing and a person waits. No program is kept waiting."""
        from pieria.doors.cli.person import is_person

        if not is_person():
            return
        if self.quiet or not sys.stderr.isatty():
            self._note_missing_model(workspace)
            return
        from pieria.workspace.model_fetch import fetch

        with self.progress("fetching the model") as report:
            outcome = fetch(workspace, self.note, report)
        if outcome == "busy":
            self.note("another process is fetching the local model; until then recall compares words")
        elif outcome == "unneeded":
            self._note_missing_model(workspace)

    def _note_missing_model(self, workspace: Workspace) -> None:
        """Say that a model is missing when a bank is created. Later, each recall says what it lacks."""
        settings, place = workspace.resolved.settings, workspace.place
        if settings.embedder != "auto" or place.is_shared or place.at(settings.bank).is_there:
            return
        if all(model.state == "missing" for model in workspace.models.list()):
            self.note("recall compares words until `pieria models install` has added a model that finds meanings")

    def reply(self, document: Any, people: Iterable[RenderableType | Line], ids: Iterable[str] = ()) -> None:
        """Print the answer on stdout: JSON for programs, only ids with `--quiet`, otherwise text for people."""
        if self.json or (self.json is None and not self.quiet and not sys.stdout.isatty()):
            self.print_json(document)
        elif self.quiet:
            terminal = sys.stdout.isatty()
            sys.stdout.writelines(f"{inert(id) if terminal else id}\n" for id in ids)
        else:
            show(people)

    def print_json(self, document: Any) -> None:
        """Print JSON on one line, or indented on a terminal."""
        sys.stdout.write(_as_json(document, 2 if sys.stdout.isatty() else None) + "\n")

    def lines(self, documents: Iterable[Any]) -> None:
        """Print one JSON object a line."""
        sys.stdout.writelines(f"{_as_json(document)}\n" for document in documents)

    def note_more(self, cursor: str | None) -> None:
        """Print the cursor on stderr, for answers that consist of lines only."""
        if cursor:
            self.note(f"there is more: --cursor {cursor}")

    def note(self, text: str) -> None:
        """Print a note on stderr."""
        if not self.quiet:
            sys.stderr.write(f"note: {inert(text, one_line=True)}\n")

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress | None]:
        """Yield a progress bar on stderr, or None if stderr is not a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        with bar(what) as report:
            yield report


def _must_be_there(workspace: Workspace) -> bool:
    """Return whether the bank must exist: its given name may be misspelt. The user's own bank is exempt."""
    from pieria.record.banks import USER_BANK

    return workspace.resolved.is_bank_named and workspace.resolved.settings.bank != USER_BANK


def _as_json(document: Any, indent: int | None = None) -> str:
    import json

    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return inert_json(json.dumps(document, ensure_ascii=not unicode, indent=indent))


def replied(call: Call, tool: str, arguments: Any, *, begins: bool = True) -> Reply:
    """Return a tool's reply, as an agent gets it. Raise `NotFoundError` for an unknown tool."""
    from pieria.toolsets import called, registry

    tools = registry()
    tools.found(tool)
    with ExitStack() as held, call.progress(tool) as report:
        return called(tools, tool, arguments, lambda: held.enter_context(hosted(call, report, begins=begins)))


def asked(call: Call, tool: str, *, begins: bool = False, **arguments: Any) -> Any:
    """Return the value of the reply, or raise its error. Arguments that are None are left out.

    A bank that was named must exist, unless the tool creates one.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    reply = replied(call, tool, given, begins=begins)
    if reply.error is not None:
        raise reply.error
    return reply.value


@contextmanager
def hosted(call: Call, report: Progress | None = None, *, begins: bool = False) -> Iterator[Host]:
    """Yield the host for this user's banks during the command."""
    from pieria.importers.offers import Once
    from pieria.toolsets import Banks, Host
    from pieria.toolsets.host import paths_of_user

    with call.workspace() as workspace:
        call.drain(workspace)
        resolved = workspace.resolved.having(**call.speaker)
        if resolved.is_bank_named and not begins:
            call.check_there(workspace)
        yield Host(
            Banks(workspace, WHO),
            resolved.settings.bank,
            resolved.settings.session,
            paths_of_user(workspace),
            is_named=resolved.is_bank_named,
            progress=report,
            offers=Once(workspace.data, offered=resolved.settings.offer_imports),
        )
