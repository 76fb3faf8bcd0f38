"""`pieria token`: access over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, inert, line, row, table
from pieria.doors.cli.parser import Command, Group
from pieria.doors.cli.person import check_person, confirm, must_be_person
from pieria.doors.cli.values import TIME_AHEAD, OneOf
from pieria.record.banks import same_bank

if TYPE_CHECKING:
    from pieria.doors.http.tokens import Token, Tokens
    from pieria.settings.request import Request, Setting, Trusted

LONGEST = 200
"""Characters of a value that are shown."""


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
    from pieria.doors.http.tokens import ALL

    # All banks if the option is missing. An empty text is kept, so that it is refused.
    chosen = banks if banks is not None else call.bank
    named = [ALL] if chosen is None else chosen.split(",")
    made, shown = _tokens(call).create(name, access, named, expires, person=person)
    if "all" in map(same_bank, made.banks):
        call.note("`all` means the bank with that name; every bank is '*'")
    people = ((shown, "bold cyan"), (_said(made), "dim"), ("Save the token now: it is not shown again.", "yellow"))
    call.reply({"token": shown, **made.as_dict()}, [(each,) for each in people], [shown])


@token.command(name="list")
@click.pass_obj
def list_tokens(call: Call, /) -> None:
    """List the tokens, oldest first, without their secrets."""
    tokens = _tokens(call)
    found = [(each, tokens.expired(each)) for each in tokens.all()]
    document = {"tokens": [{**each.as_dict(), "expired": expired} for each, expired in found]}
    call.reply(document, _listed(found), [each.id for each, _ in found])


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
    people = ("revoked ", "green"), (revoked.id, "bold"), (f"  {revoked.name}", "dim")
    call.reply({"revoked": revoked.as_dict()}, [people], [revoked.id])


def _tokens(call: Call) -> Tokens:
    from pieria.doors.http.tokens import Tokens

    with call.workspace() as workspace:
        return Tokens(workspace.data)


def _listed(found: Iterable[tuple[Token, bool]]) -> Parts:
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


@click.command(cls=Command)
@click.argument("folder", required=False)
@click.option("--list", "listing", is_flag=True, help="List the trusted folders.")
@click.option("--revoke", is_flag=True, help="Stop trusting the folder.")
@click.option("--yes", is_flag=True, help="Do not ask. The command still needs a terminal.")
@click.pass_obj
def trust(call: Call, /, folder: str | None, listing: bool, revoke: bool, yes: bool) -> None:
    """Allow a project's settings file to apply: that of FOLDER, or of the current folder.

    The command shows what the file would change, and asks. An untrusted file can only restrict. Banks inside an
    untrusted project are read-only and count as hearsay, unless your own Pieria created them. If the file changes, the
    command has to be run again. Agents cannot run it for you.
    """
    if listing + revoke + yes > 1 or (listing and folder is not None):
        raise click.UsageError("give one of FOLDER, --list and --revoke; --yes goes with FOLDER alone")
    if listing:
        _list(call)
    elif revoke:
        _revoke(call, folder)
    else:
        _trust(call, folder, yes)


def _list(call: Call) -> None:
    from pieria.settings.request import trusted_folders

    found = trusted_folders()
    call.reply({"folders": [one._asdict() for one in found]}, _folders(found), [one.folder for one in found])


def _revoke(call: Call, folder: str | None) -> None:
    from pieria.settings.request import revoke

    gone = revoke(folder)
    call.reply({"folder": gone, "trusted": False}, [(("no longer trusts ", "green"), (gone, "bold"))], [gone])


def _trust(call: Call, folder: str | None, yes: bool) -> None:
    from pieria.settings.request import request_for

    request = request_for(folder, {"data": call.data, "bank": call.bank})
    if request.standing != "trusted":
        check_person(f"pieria trust {quote(str(request.folder))}", can_ask=not yes)
        if not yes:
            question = "Trust this folder, with the current content of these files?"
            confirm((inert(line, one_line=True) for line in _lines(request)), question, "nothing was changed")
        request.grant()
    document = {**request.as_dict(), "trusted": True}
    call.reply(document, [(("trusts ", "green"), (str(request.folder), "bold"))], [str(request.folder)])


def _lines(request: Request) -> Iterator[str]:
    changed = " (changed since it was trusted)" if request.standing == "changed" else ""
    yield f"folder: {request.folder}{changed}"
    for one in request.settings:
        yield f"{one.file}: {_told(one)}"
    if not request.settings:
        yield "its files set nothing"
    yield f"banks would be in: {request.data}"
    yield "banks inside the folder would become writable, and agents would get their rules"


def _told(one: Setting) -> str:
    value, now = (str(each)[:LONGEST] for each in (one.value, one.now))
    if not one.counts:
        return f"{one.name} has no effect: {now} overrides it (from {one.origin})"
    return f"{one.name} = {value} (now {now}, from {one.origin})"


def _folders(found: list[Trusted]) -> Parts:
    if not found:
        yield line("No folder is trusted.")
        return
    made = table("folder", "files", "since", "standing", wide=("folder",))
    for one in found:
        row(made, one.folder, " ".join(one.files), one.at[:16].replace("T", " "), one.standing)
    yield made
