"""The filter options of recall, list and count: one option for each filter of those verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from pieria.doors.cli.values import PAIRS, TIME, OneOf
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES

Function = TypeVar("Function", bound=Callable[..., Any])

INCLUDED = ("removed", "revised", "invalid", "archived")

_FILTERS = (
    click.option("--kind", "kinds", metavar="KIND", type=OneOf(*KINDS), multiple=True,
                 help="Only this kind: note, observation, drawer, diary, turn, summary, …"),
    click.option("--type", "types", metavar="TYPE", multiple=True, help="Only this type of body."),
    click.option("-t", "--tag", "tags", metavar="TAG", multiple=True, help="Only with this tag."),
    click.option("--entity", "entities", metavar="NAME", multiple=True, help="Only about this entity."),
    click.option("--file", "files", metavar="PATH", multiple=True, help="Only about this file."),
    click.option("--place", metavar="WING[/ROOM]", help="Only in this place; */ROOM matches that room in any wing."),
    click.option("--scope", type=OneOf(*SCOPES), multiple=True, help="Only with this scope."),
    click.option("--session", metavar="ID", help="Only from this session, its private memories included."),
    click.option("--channel", metavar="NAME", help="Only from this channel, its sessions' private memories included."),
    click.option("--author", metavar="NAME", help="Only by this author."),
    click.option("--author-type", type=OneOf(*AUTHOR_TYPES), help="Only by this type of author."),
    click.option("--source", metavar="SOURCE", help="Only from this source."),
    click.option("--meta", type=PAIRS, multiple=True, help="Only with this value in meta; key:=JSON if not text."),
    click.option("--since", type=TIME, help="Only said, or happened, at this time or later."),
    click.option("--until", type=TIME, help="Only said, or happened, before this time; a date includes that day."),
    click.option("--used-since", type=TIME, help="Only used at this time or later; writing counts as a use."),
    click.option("--valid-at", type=TIME, help="Memories that were valid at this time, instead of now."),
    click.option("--known-at", type=TIME, help="Use what the bank knew at this time."),
    click.option("--status", type=OneOf(*STATUSES), multiple=True,
                 help="Only active, promoted, archived, proposed or declined; active and promoted by default."),
)  # fmt: skip

_BEYOND = (
    click.option(
        "--include", type=OneOf(*INCLUDED), multiple=True, help="Also include these, which are left out by default."
    ),
    click.option("--pinned/--not-pinned", default=None, help="Only pinned memories, or only others."),
)


def filtering(function: Function) -> Function:
    """Add the filters of every reader. A repeated filter matches any of its values."""
    return _with(function, _FILTERS)


def choosing(function: Function) -> Function:
    """Add the filters of lists and counts, including those for memories that recall never returns."""
    return _with(function, (*_FILTERS, *_BEYOND))


def _with(function: Function, options: tuple[Callable[[Function], Function], ...]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function
