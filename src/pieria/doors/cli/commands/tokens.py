"""`pieria token`: who may come in over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group
from pieria.doors.cli.person import must_be_person
from pieria.doors.cli.values import TIME_AHEAD, OneOf
from pieria.record.banks import same_bank

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.doors.http.tokens import Token, Tokens


@click.group(cls=Group)
def token() -> None:
    """Say who may come in over HTTP, what they may do, and in which banks.

    As soon as there is a token, nobody comes in to `pieria serve` without one, on this machine as well.
    """


@token.command()
@click.argument("name")
@click.option("--access", type=OneOf("read", "write", "admin"), default="write", show_default=True,
              help="What it allows: to read, to write as well, or everything.")  # fmt: skip
@click.option("--banks", metavar="NAMES",
              help="The banks it opens, with commas between; '*', as without it, is every bank but @me.")  # fmt: skip
@click.option("--expires", type=TIME_AHEAD, metavar="TIME", help="Until when it holds; otherwise until it is revoked.")
@click.option(
    "--person", is_flag=True, help="For a person: what comes in with it by REST and the page is their own words."
)
@click.pass_obj
def create(call: Call, /, name: str, access: str, banks: str | None, expires: Any, person: bool) -> None:
    """Make a token. It is shown this once; only its hash is kept."""
    if banks is not None and call.bank is not None:
        raise click.UsageError("give --banks or --bank, not both", click.get_current_context())
    if person:
        must_be_person()
    named = _named(banks if banks is not None else call.bank)
    made, shown = _tokens(call).create(name, access, named, expires, person=person)
    if "all" in map(same_bank, made.banks):
        call.note("`all` is the bank of that name; every bank is '*'")

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        yield line((shown, "bold cyan"))
        yield line((_said(made), "dim"))
        yield line(("It is not shown again: put it where it belongs now.", "yellow"))

    call.reply({"token": shown, **made.as_dict()}, people, [shown])


@token.command(name="list")
@click.pass_obj
def list_tokens(call: Call, /) -> None:
    """List the tokens there are, oldest first; not what they are, which nobody knows any more."""
    tokens = _tokens(call)
    found = [(each, tokens.expired(each)) for each in tokens.all()]
    document = {"tokens": [{**each.as_dict(), "expired": expired} for each, expired in found]}
    call.reply(document, lambda: _listed(found), [each.id for each, _ in found])


@token.command()
@click.argument("id")
@click.pass_obj
def revoke(call: Call, /, id: str) -> None:
    """End a token, by its id or its name. Whoever has it is out at once.

    When the last one is gone, nobody comes in any more; remove tokens.json from the data folder to need none again.
    """
    tokens = _tokens(call)
    revoked = tokens.revoke(id)
    if not tokens.all():
        call.note(f"that was the last one: a server now lets nobody in; without {tokens.path} it needs no token")

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        yield line(("revoked ", "green"), (revoked.id, "bold"), (f"  {revoked.name}", "dim"))

    call.reply({"revoked": revoked.as_dict()}, people, [revoked.id])


def _named(banks: str | None) -> list[str]:
    """Nothing said is every bank; an empty text is none, and refused."""
    from pieria.doors.http.tokens import ALL

    return [ALL] if banks is None else banks.split(",")


def _tokens(call: Call) -> Tokens:
    from pieria.doors.http.tokens import Tokens

    with call.workspace() as workspace:
        return Tokens(workspace.data)


def _listed(found: Iterable[tuple[Token, bool]]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    none = True
    for each, expired in found:
        none = False
        ended = [("  expired", "red")] if expired else []
        yield line((each.id, "bold"), (f"  {each.name}  ", ""), (_said(each), "dim"), *ended)
    if none:
        yield line(("There are no tokens.", "dim"))


def _said(token: Token) -> str:
    until = token.as_dict()["expires"]
    ends = f", until {until}" if until else ""
    whose = ", a person's" if token.person else ""
    return f"{token.access.name}, {', '.join(token.banks)}{ends}{whose}"
