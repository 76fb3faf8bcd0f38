"""The help of every command as docs/cli.md prints it. `python tests/cli/reference.py` updates the page."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from pieria.doors.cli.root import cli

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
WIDTH = 80
_BLOCK = re.compile(r"<!-- (pieria[^>]*) -->\n```text\n(.*?)```\n", re.DOTALL)


def commands() -> Iterator[tuple[str, click.Context]]:
    """Yield every command by its path, with groups and `pieria`."""
    yield from _below(click.Context(cli, info_name="pieria", terminal_width=WIDTH, **cli.context_settings))


def leaves() -> list[str]:
    """Return the commands that do something: all but the groups."""
    return [path for path, context in commands() if not isinstance(context.command, click.Group)]


def printed() -> dict[str, str]:
    """Return the help of every command."""
    return {path: context.get_help() for path, context in commands()}


def documented() -> dict[str, str]:
    """Return the help that the page prints."""
    return {path: block.rstrip("\n") for path, block in _BLOCK.findall(PAGE.read_text())}


def write() -> None:
    """Replace the help in the page's marked blocks."""
    helps = printed()
    PAGE.write_text(
        _BLOCK.sub(lambda block: f"<!-- {block[1]} -->\n```text\n{helps[block[1]]}\n```\n", PAGE.read_text())
    )


def _below(context: click.Context) -> Iterator[tuple[str, click.Context]]:
    yield context.command_path, context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _below(click.Context(command, parent=context, info_name=name, **command.context_settings))


if __name__ == "__main__":
    write()
