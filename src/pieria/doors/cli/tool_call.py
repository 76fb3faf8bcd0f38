"""One call of a tool, or of the code that tools share, for a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pieria.doors.cli.call import Call, Progress

if TYPE_CHECKING:
    from pieria.toolsets import Host, Reply

WHO = "cli"


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
