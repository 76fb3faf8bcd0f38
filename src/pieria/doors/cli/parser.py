"""How every command reads its line: the options that all share may stand anywhere, before or after the command.

What the options of one command are is said beside that command.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pieria.doors.cli.call import Call

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])

_HELP = ("-h", "--help")
SHARED_IN_SHORT = (
    "Anywhere on the line: --bank NAME, --data FOLDER, --json / --no-json, -q / --quiet, --debug, -h / --help. "
    "`pieria --help` explains them."
)


def _noted(ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    """Kept for the whole call. The last one on the line counts; one that was not given changes nothing."""
    if value is not None and (value is not False or parameter.name == "json"):
        setattr(ctx.ensure_object(Call), str(parameter.name), value)


def _banks(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The banks there are, for the shell to complete; none where the data folder cannot be read."""
    from click.shell_completion import CompletionItem

    from pieria.errors import PieriaError

    try:
        with ctx.ensure_object(Call).workspace() as workspace:
            names = workspace.banks()
    except PieriaError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _shared(*names: str, **attributes: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_noted, **attributes)


SHARED = (
    _shared("--bank", metavar="NAME", shell_complete=_banks,
            help="The bank to use; otherwise the project's, or `default`."),
    _shared("--data", metavar="FOLDER", help="The folder of the banks, or a server's address; otherwise ~/.pieria."),
    _shared("--json/--no-json", default=None,
            help="Print JSON, or tables for people. Without either: tables on a terminal, JSON into pipes."),
    _shared("-q", "--quiet", is_flag=True, help="Print ids alone; no notes and no progress."),
    _shared("--debug", is_flag=True, help="Show the traceback of an error, and what the library logs."),
)  # fmt: skip


def _write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """A command's own options in full; those that all share only where there is no command above."""
    everything = ctx.parent is None
    aside = () if everything else (*SHARED, command.get_help_option(ctx))
    rows = [
        record
        for parameter in command.get_params(ctx)
        if isinstance(parameter, click.Option)
        and parameter not in aside
        and (record := parameter.get_help_record(ctx)) is not None
    ]
    if rows:
        with formatter.section("Options"):
            formatter.write_dl(rows)
    if not everything:
        formatter.write_paragraph()
        formatter.write_text(SHARED_IN_SHORT)


class _Helped:
    """Help is asked for by the same words whoever asks: click keeps for good those that the first context brings."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return list(_HELP)


class Apart(_Helped, click.Command):
    """A command without the shared options: it works on banks of its own."""


class Command(_Helped, click.Command):
    """A command with the shared options beside its own."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params.extend(SHARED)

    def invoke(self, ctx: click.Context) -> Any:
        ctx.ensure_object(Call).parameters = self.params
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_options(self, ctx, formatter)


class ApartGroup(_Helped, click.Group):
    """A group of commands without the shared options."""

    command_class = Apart


class Group(_Helped, click.Group):
    """A group of commands, which takes the shared options too."""

    command_class = Command

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params.extend(SHARED)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, there = args[0], self.list_commands(ctx)
        if name not in there and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, there, 1)
            offer = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"there is no command {name!r}.{offer}", ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def _spoken(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Call).speaker[str(parameter.name)] = value


def _speaker(function: Function, *options: tuple[str, str, str]) -> Function:
    for name, metavar, help in reversed(options):
        option = click.option(name, metavar=metavar, help=help, expose_value=False, callback=_spoken)
        function = option(function)
    return function


def speaking(function: Function) -> Function:
    """The options that say which session and channel is speaking: it sees what others do not."""
    return _speaker(
        function,
        ("--session", "ID", "The session that is speaking; it sees what it said to itself."),
        ("--channel", "NAME", "The channel that is spoken in; its sessions share what they say to themselves."),
    )


def expecting(function: Function) -> Function:
    """The option that says which version is decided on."""
    from pieria.doors.cli.values import TIME

    told = "Refuse where it was changed later; known_from of what was read."
    return click.option("--unless-changed-since", type=TIME, help=told)(function)


def signing(function: Function) -> Function:
    """The options that say who writes."""
    return _speaker(
        function,
        ("--author", "NAME", "Who says it."),
        ("--author-type", "human|agent|system", "What the author is said to be; a claim."),
    )
