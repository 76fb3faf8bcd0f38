"""How every command parses its line: shared options may come before or after the command.

The options of a single command are beside that command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pieria.doors.cli.call import Call

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])

_HELP = ("-h", "--help")
SHARED_IN_SHORT = (
    "Every command takes: --bank NAME, --data FOLDER, --json / --no-json, -q / --quiet, --debug, -h / --help. "
    "`pieria --help` explains them."
)


def _noted(ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    """Store a shared option for the whole call. The last one counts; an option that was not given changes nothing."""
    if value is not None and (value is not False or parameter.name == "json"):
        setattr(ctx.ensure_object(Call), str(parameter.name), value)


def _banks(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return existing banks for completion, or none if the data folder cannot be read."""
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
            help="The bank to use. Default: the project's bank, or `default`."),
    _shared("--data", metavar="FOLDER", help="The folder of the banks, or a server's address. Default: ~/.pieria."),
    _shared("--json/--no-json", default=None,
            help="Print JSON, or tables for people. Default: tables on a terminal, JSON into a pipe."),
    _shared("-q", "--quiet", is_flag=True, help="Print only ids, without notes and progress."),
    _shared("--debug", is_flag=True, help="Show the tracebacks of errors, and the library's log."),
)  # fmt: skip


def _write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write a command's own options in full; shared ones only for the top command."""
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
    """Gives every context the same help options: click caches those of the first context for good."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return list(_HELP)


class Apart(_Helped, click.Command):
    """A command without the shared options: it uses banks of its own."""


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
    """A group of commands that also takes the shared options."""

    command_class = Command
    aliases: Mapping[str, tuple[str, ...]] = {}
    """Other words for a command, with what they stand for."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params.extend(SHARED)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = [*self.aliases.get(args[0], args[:1]), *args[1:]]
        name, there = args[0], self.list_commands(ctx)
        if name not in there and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, [*there, *self.aliases], 1)
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
    """Add the options for the speaking session and channel, which also see their own memories."""
    return _speaker(
        function,
        ("--session", "ID", "Act as this session; it also sees its own private memories."),
        ("--channel", "NAME", "Act in this channel; its sessions share their private memories."),
    )


def expecting(function: Function) -> Function:
    """Add the option for the expected version."""
    from pieria.doors.cli.values import TIME

    told = "Refuse if the memory has changed since this time: the known_from that you read."
    return click.option("--unless-changed-since", type=TIME, help=told)(function)


def signing(function: Function) -> Function:
    """Add the options for the author."""
    return _speaker(
        function,
        ("--author", "NAME", "The author's name."),
        ("--author-type", "human|agent|system", "The type of author, as claimed."),
    )
