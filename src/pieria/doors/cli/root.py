"""The command `pieria`: its subcommands, their headings, and their modules.

Import nothing but click here: a command's module is loaded when that command is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group
from pieria.doors.cli.run import run


class Listed(NamedTuple):
    """A command's module and summary, so that the overview loads no command."""

    where: str
    help: str


_COMMANDS = "pieria.doors.cli.commands"

SECTIONS: dict[str, dict[str, Listed]] = {
    "Remember and recall": {
        "remember": Listed(f"{_COMMANDS}.write:remember", "Remember a text, or many texts from a file."),
        "recall": Listed(f"{_COMMANDS}.read:recall", "Find the memories that answer a question, best first."),
        "mine": Listed(f"{_COMMANDS}.mine:mine", "Import a project's files, or conversations."),
        "get": Listed(f"{_COMMANDS}.read:get", "Show one memory."),
        "list": Listed(f"{_COMMANDS}.read:list_memories", "List memories, newest first or in another order."),
        "count": Listed(f"{_COMMANDS}.read:count", "Count memories: all of them, or by kind, tag and so on."),
    },
    "Correct and forget": {
        "update": Listed(f"{_COMMANDS}.write:update", "Change a memory under its id."),
        "revise": Listed(f"{_COMMANDS}.write:revise", "Replace a memory by a new one, and link the two."),
        "invalidate": Listed(f"{_COMMANDS}.write:invalidate", "Mark a memory as no longer valid."),
        "forget": Listed(f"{_COMMANDS}.forget:forget", "Remove memories, or erase them with --purge."),
        "unforget": Listed(f"{_COMMANDS}.forget:unforget", "Restore removed memories."),
        "quarantine": Listed(f"{_COMMANDS}.forget:quarantine", "Hide memories and everything derived from them."),
        "pin": Listed(f"{_COMMANDS}.write:pin", "Keep memories from fading."),
        "unpin": Listed(f"{_COMMANDS}.write:unpin", "Let pinned memories fade again."),
    },
    "Connect": {
        "link": Listed(f"{_COMMANDS}.links:link", "Link two memories, or a memory and a place."),
        "unlink": Listed(f"{_COMMANDS}.links:unlink", "Remove links."),
        "neighbors": Listed(f"{_COMMANDS}.links:neighbors", "Show what a memory or place is linked to."),
        "facts": Listed(f"{_COMMANDS}.facts:facts", "Store and query facts: subject, predicate, object."),
    },
    "Look back": {
        "history": Listed(f"{_COMMANDS}.read:history", "Show every version of a memory."),
        "trace": Listed(f"{_COMMANDS}.forget:trace", "Show what was derived from something, and who saw it."),
        "changes": Listed(f"{_COMMANDS}.read:changes", "Show the bank's journal of changes."),
        "undo": Listed(f"{_COMMANDS}.read:undo", "Undo one change."),
    },
    "For agents": {
        "setup": Listed(f"{_COMMANDS}.setup:setup", "Connect the agents on this machine to Pieria."),
        "context": Listed(f"{_COMMANDS}.context:context", "Print what an agent should know before it asks."),
        "wake-up": Listed(f"{_COMMANDS}.context:wake_up", "Same as context."),
        "mcp": Listed(f"{_COMMANDS}.serve:mcp", "Serve tools to an agent over stdin and stdout (MCP)."),
        "call": Listed(f"{_COMMANDS}.serve:call_tool", "Call one tool, as an agent would."),
        "serve": Listed(f"{_COMMANDS}.serve:serve", "Serve a web page, and all banks over HTTP."),
        "token": Listed(f"{_COMMANDS}.access:token", "Manage access tokens for HTTP."),
        "hooks": Listed(f"{_COMMANDS}.agents:hooks", "Install hooks that record agents' sessions."),
        "capture": Listed(f"{_COMMANDS}.agents:capture", "Store events of an agent's session, given as JSON."),
        "hermes": Listed(f"{_COMMANDS}.hermes:hermes", "Connect the Hermes Agent to Pieria."),
    },
    "Sessions and jobs": {
        "scratchpad": Listed(f"{_COMMANDS}.sessions:scratchpad", "Keep working notes for a session."),
        "session": Listed(f"{_COMMANDS}.sessions:session", "Record an agent's steps, and learn from them."),
        "ingest": Listed(f"{_COMMANDS}.sessions:ingest", "Learn from experiences recorded elsewhere."),
        "worker": Listed(f"{_COMMANDS}.jobs:worker", "Run background jobs, for one bank or all."),
        "jobs": Listed(f"{_COMMANDS}.jobs:jobs", "List, replay and cancel background jobs."),
        "touch": Listed(f"{_COMMANDS}.links:touch", "Record that memories were used."),
    },
    "Keep safe": {
        "export": Listed(f"{_COMMANDS}.banks:export", "Write the bank to a file that any program can read."),
        "import": Listed(f"{_COMMANDS}.banks:import_file", "Read an export into the bank."),
        "backup": Listed(f"{_COMMANDS}.banks:backup", "Copy the bank's file while it is in use."),
        "copy": Listed(f"{_COMMANDS}.banks:copy", "Copy a bank to another folder or server, and compare both."),
        "restore": Listed(f"{_COMMANDS}.banks:restore", "Restore a bank from a backup."),
        "remove-bank": Listed(f"{_COMMANDS}.banks:remove_bank", "Remove a whole bank for good."),
        "seal": Listed(f"{_COMMANDS}.banks:seal", "Encrypt a bank in place."),
        "unseal": Listed(f"{_COMMANDS}.banks:unseal", "Decrypt a sealed bank."),
        "rekey": Listed(f"{_COMMANDS}.banks:rekey", "Change the key of a sealed bank."),
        "vault": Listed(f"{_COMMANDS}.vault:vault", "Sync memories with a folder of Markdown notes."),
        "trust": Listed(f"{_COMMANDS}.access:trust", "Allow a project's own settings to apply."),
    },
    "Check and maintain": {
        "stats": Listed(f"{_COMMANDS}.health:stats", "Show counts and sizes."),
        "doctor": Listed(f"{_COMMANDS}.health:doctor", "Check the bank, and show every setting."),
        "where": Listed(f"{_COMMANDS}.health:where", "Show which bank and data folder are used, and why."),
        "logs": Listed(f"{_COMMANDS}.logs:logs", "Show the problems that hooks have logged."),
        "rules": Listed(f"{_COMMANDS}.rules:rules", "List standing rules for agents, accept or decline them."),
        "sleep": Listed(f"{_COMMANDS}.sleep:sleep", "Summarize quiet memories, and show what earlier sleeps did."),
        "upkeep": Listed(f"{_COMMANDS}.upkeep:upkeep", "Summarize, archive, merge and check memories."),
        "review": Listed(f"{_COMMANDS}.decay:review", "List memories that will soon be forgotten."),
        "decay": Listed(f"{_COMMANDS}.decay:decay", "Plot how a memory fades."),
        "maintenance": Listed(f"{_COMMANDS}.health:maintenance", "Show a bank's disk space, and free what is unused."),
        "models": Listed(f"{_COMMANDS}.models:models", "Install embedding models, to search by meaning."),
        "demo": Listed("pieria.doors.demo:demo", "Show what Pieria does, on a sample bank."),
    },
    "On this machine": {
        "service": Listed(f"{_COMMANDS}.service:service", "Have the system start `pieria serve` at login."),
        "upgrade": Listed(f"{_COMMANDS}.installation:upgrade", "Upgrade Pieria with what installed it."),
        "uninstall": Listed(
            f"{_COMMANDS}.installation:uninstall", "Remove Pieria, here and from agents; the banks stay."
        ),
        "completion": Listed(f"{_COMMANDS}.shell:completion", "Print the script that completes words in a shell."),
    },
}
ALIASES = {
    "search": ("recall",),
    "add": ("remember",),
    "delete": ("forget",),
    "ui": ("serve", "--open"),
}
"""Words that people try, with what they stand for. The help of that command names them; the overview does not."""
COMMANDS = {name: listed for section in SECTIONS.values() for name, listed in section.items()}


class Root(Group):
    """Loads a command when it is named, and ends every failure with a message and an exit code."""

    aliases = ALIASES

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
    epilog="`pieria COMMAND --help` explains one command. Write times as 2026-01-31, 2026-01-31T09:30Z, 2h, 7d or "
    "yesterday. Exit codes: 0 done, 1 refused or not found, 2 wrong usage, 3 storage failed, 4 try again.",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Long-term memory for AI agents: one memory, many voices.

    Without a command, show what there is here, and the next step.
    """
    if ctx.invoked_subcommand is None:
        from pieria.doors.cli.overview import overview

        overview(ctx.ensure_object(Call))
