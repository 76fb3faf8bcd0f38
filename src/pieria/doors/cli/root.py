"""The command `pieria`: its subcommands, their headings, and their modules.

Import nothing but click here: a command's module is loaded when that command is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from pieria.doors.cli.parser import Group
from pieria.doors.cli.run import run


class Listed(NamedTuple):
    """A command's module and summary, so that the overview loads no command."""

    where: str
    help: str


_COMMANDS = "pieria.doors.cli.commands"

SECTIONS: dict[str, dict[str, Listed]] = {
    "Remember and recall": {
        "remember": Listed(f"{_COMMANDS}.remember:remember", "Remember something, or many things from a file."),
        "recall": Listed(f"{_COMMANDS}.recall:recall", "Find what answers a question, best first."),
        "mine": Listed(f"{_COMMANDS}.mine:mine", "Bring in a project's files, or conversations."),
        "get": Listed(f"{_COMMANDS}.get:get", "Show one memory."),
        "list": Listed(f"{_COMMANDS}.get:list_memories", "List memories in order."),
        "count": Listed(f"{_COMMANDS}.get:count", "Count memories, by kind, tag and so on."),
    },
    "Correct and forget": {
        "update": Listed(f"{_COMMANDS}.update:update", "Change a memory; its id stays."),
        "revise": Listed(f"{_COMMANDS}.update:revise", "Put a new memory in an old one's place."),
        "invalidate": Listed(f"{_COMMANDS}.update:invalidate", "Say that a memory no longer holds."),
        "forget": Listed(f"{_COMMANDS}.forget:forget", "Remove memories, or erase them with --purge."),
        "unforget": Listed(f"{_COMMANDS}.forget:unforget", "Bring removed memories back."),
        "quarantine": Listed(f"{_COMMANDS}.quarantine:quarantine", "Hide memories and what was drawn from them."),
        "pin": Listed(f"{_COMMANDS}.update:pin", "Keep memories from ever fading."),
        "unpin": Listed(f"{_COMMANDS}.update:unpin", "Let pinned memories fade again."),
    },
    "Connect": {
        "link": Listed(f"{_COMMANDS}.links:link", "Tie two memories, or a memory and a place."),
        "unlink": Listed(f"{_COMMANDS}.links:unlink", "Untie them."),
        "neighbors": Listed(f"{_COMMANDS}.links:neighbors", "Show what a memory or place is tied to."),
        "facts": Listed(f"{_COMMANDS}.facts:facts", "Keep and query facts: subject, predicate, object."),
    },
    "Look back": {
        "history": Listed(f"{_COMMANDS}.history:history", "Show every version of a memory."),
        "trace": Listed(f"{_COMMANDS}.quarantine:trace", "Show what was drawn from something, and who was told."),
        "changes": Listed(f"{_COMMANDS}.history:changes", "Show what happened to the bank."),
        "undo": Listed(f"{_COMMANDS}.history:undo", "Undo one change."),
    },
    "For agents": {
        "context": Listed(f"{_COMMANDS}.context:context", "Print what an agent is told unasked."),
        "wake-up": Listed(f"{_COMMANDS}.context:wake_up", "The same as context."),
        "mcp": Listed(f"{_COMMANDS}.mcp:mcp", "Serve tools to an agent over stdin and stdout."),
        "call": Listed(f"{_COMMANDS}.call:call_tool", "Call one tool, as an agent would."),
        "serve": Listed(f"{_COMMANDS}.server:serve", "Serve a page for the browser, and all banks over HTTP."),
        "token": Listed(f"{_COMMANDS}.tokens:token", "Say who may come in over HTTP."),
        "hooks": Listed(f"{_COMMANDS}.hooks:hooks", "Let agents' sessions be remembered by themselves."),
        "capture": Listed(f"{_COMMANDS}.capture:capture", "Remember what happened in an agent's session."),
        "hermes": Listed(f"{_COMMANDS}.hermes:hermes", "Give the Hermes Agent this memory."),
    },
    "At work": {
        "scratchpad": Listed(f"{_COMMANDS}.scratchpad:scratchpad", "Keep a session's notes to itself."),
        "session": Listed(f"{_COMMANDS}.session:session", "Record what is done step by step, and learn from it."),
        "ingest": Listed(f"{_COMMANDS}.ingest:ingest", "Learn from what was lived through elsewhere."),
        "worker": Listed(f"{_COMMANDS}.worker:worker", "Do what is to be done behind, for all banks."),
        "jobs": Listed(f"{_COMMANDS}.jobs:jobs", "See, replay and cancel what is done behind."),
        "touch": Listed(f"{_COMMANDS}.links:touch", "Count a use of memories."),
    },
    "Keep safe": {
        "export": Listed(f"{_COMMANDS}.transfer:export", "Write the bank to a file that any program can read."),
        "import": Listed(f"{_COMMANDS}.transfer:import_file", "Read an export into the bank."),
        "backup": Listed(f"{_COMMANDS}.transfer:backup", "Copy the bank's file, while it is in use."),
        "copy": Listed(f"{_COMMANDS}.copy:copy", "Copy a bank to another folder or server, and compare both."),
        "restore": Listed(f"{_COMMANDS}.transfer:restore", "Bring back a backup as a bank."),
        "remove-bank": Listed(f"{_COMMANDS}.bank_removal:remove_bank", "Remove a whole bank for good."),
        "seal": Listed(f"{_COMMANDS}.seal:seal", "Encrypt a bank where it lies."),
        "unseal": Listed(f"{_COMMANDS}.seal:unseal", "Make a sealed bank a plain one again."),
        "rekey": Listed(f"{_COMMANDS}.seal:rekey", "Give a sealed bank another key."),
        "vault": Listed(f"{_COMMANDS}.vault:vault", "Share a folder of Markdown notes."),
        "trust": Listed(f"{_COMMANDS}.trust:trust", "Let a folder's own settings count."),
    },
    "See how it is": {
        "stats": Listed(f"{_COMMANDS}.health:stats", "Show counts and sizes."),
        "doctor": Listed(f"{_COMMANDS}.health:doctor", "Check the bank, and show every setting."),
        "where": Listed(f"{_COMMANDS}.health:where", "Show which bank and data folder are used, and why."),
        "rules": Listed(f"{_COMMANDS}.rules:rules", "Show and decide on the rules that agents are told."),
        "upkeep": Listed(f"{_COMMANDS}.upkeep:upkeep", "Sum up, put away, settle, check."),
        "review": Listed(f"{_COMMANDS}.decay:review", "List what is about to be forgotten."),
        "decay": Listed(f"{_COMMANDS}.decay:decay", "Draw how a memory fades."),
        "maintenance": Listed(f"{_COMMANDS}.maintenance:maintenance", "See and give back the room that a bank takes."),
        "models": Listed(f"{_COMMANDS}.models:models", "Install the model that finds by meaning."),
        "demo": Listed("pieria.doors.demo:demo", "Show what Pieria does, on a bank of its own."),
    },
}
COMMANDS = {name: listed for section in SECTIONS.values() for name, listed in section.items()}


class Root(Group):
    """Loads a command when it is named, and ends every failure with a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        listed = COMMANDS.get(cmd_name)
        if listed is None:
            return None
        module, _, attribute = listed.where.partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), listed.help) for name, listed in commands.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        run(self, args)


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"pieria {version('pieria')}")
        ctx.exit()


@click.command(
    cls=Root,
    invoke_without_command=True,
    epilog="`pieria COMMAND --help` explains each. Times may be given as 2026-01-31, as 2026-01-31T09:30Z, or as "
    "2h, 7d, yesterday. Exit codes: 0 done, 1 refused or not found, 2 asked wrongly, 3 storage failed, 4 try again.",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Long-term memory for AI agents: one memory, many voices."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
