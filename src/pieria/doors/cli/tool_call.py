"""One call of a tool, or of what tools stand on, on behalf of whoever types a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pieria.doors.cli.call import Call, Progress

if TYPE_CHECKING:
    from pieria.toolsets import Host, Reply

WHO = "cli"


def replied(call: Call, tool: str, arguments: Any, *, begins: bool = True) -> Reply:
    """As an agent would be answered. Raises `NotFoundError` for a tool that is not there."""
    from pieria.toolsets import called, registry

    tools = registry()
    tools.found(tool)
    with ExitStack() as held, call.progress(tool) as report:
        return called(tools, tool, arguments, lambda: held.enter_context(hosted(call, report, begins=begins)))


def asked(call: Call, tool: str, *, begins: bool = False, **arguments: Any) -> Any:
    """The value of the reply; its error is raised. What is None is left out.

    A bank that somebody named has to be there, unless the tool begins one.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    reply = replied(call, tool, given, begins=begins)
    if reply.error is not None:
        raise reply.error
    return reply.value


@contextmanager
def hosted(call: Call, report: Progress | None = None, *, begins: bool = False) -> Iterator[Host]:
    """The banks as this user reaches them, until the command is over."""
    from pieria.toolsets import Banks, Host
    from pieria.toolsets.paths import paths_of_user

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
        )
