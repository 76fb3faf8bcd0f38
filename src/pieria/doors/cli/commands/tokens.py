"""`pieria token`: access over HTTP."""

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
    """Manage access tokens for HTTP: what each one allows, and in which banks.

    After the first token, `pieria serve` requires one from every caller, also on this machine.
    """


@token.command()
@click.argument("name")
@click.option("--access", type=OneOf("read", "write", "admin"), default="write", show_default=True,
              help="What the token allows: reading, writing too, or everything.")  # fmt: skip
@click.option("--banks", metavar="NAMES",
              help="The banks to allow, separated by commas; '*' (the default) means every bank but @me.")  # fmt: skip
@click.option("--expires", type=TIME_AHEAD, metavar="TIME", help="When the token expires; by default never.")
@click.option(
    "--person", is_flag=True, help="The token belongs to a person: texts sent by REST or the page count as theirs."
)
@click.pass_obj
def create(call: Call, /, name: str, access: str, banks: str | None, expires: Any, person: bool) -> None:
    """Create a token. It is shown only once: Pieria stores just its hash."""
    if banks is not None and call.bank is not None:
        raise click.UsageError("give --banks or --bank, not both", click.get_current_context())
    if person:
        must_be_person()
    named = _named(banks if banks is not None else call.bank)
    made, shown = _tokens(call).create(name, access, named, expires, person=person)
    if "all" in map(same_bank, made.banks):
        call.note("`all` means the bank with that name; every bank is '*'")

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        yield line((shown, "bold cyan"))
        yield line((_said(made), "dim"))
        yield line(("Save the token now: it is not shown again.", "yellow"))

    call.reply({"token": shown, **made.as_dict()}, people, [shown])


@token.command(name="list")
@click.pass_obj
def list_tokens(call: Call, /) -> None:
    """List the tokens, oldest first, without their secrets."""
    tokens = _tokens(call)
    found = [(each, tokens.expired(each)) for each in tokens.all()]
    document = {"tokens": [{**each.as_dict(), "expired": expired} for each, expired in found]}
    call.reply(document, lambda: _listed(found), [each.id for each, _ in found])


@token.command()
@click.argument("id")
@click.pass_obj
def revoke(call: Call, /, id: str) -> None:
    """Revoke a token, by its id or name. It stops working at once.

    After you revoke the last token, the server refuses every caller. Remove tokens.json from the data folder to need no
    token again.
    """
    tokens = _tokens(call)
    revoked = tokens.revoke(id)
    if not tokens.all():
        call.note(f"that was the last one: servers now refuse every caller; remove {tokens.path} to need no token")

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        yield line(("revoked ", "green"), (revoked.id, "bold"), (f"  {revoked.name}", "dim"))

    call.reply({"revoked": revoked.as_dict()}, people, [revoked.id])


def _named(banks: str | None) -> list[str]:
    """Return the banks: all if the option is missing. An empty text is kept, so that it is refused."""
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
