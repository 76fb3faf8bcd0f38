"""`pieria maintenance`: a bank's disk space, under the names that users of Mnemex know."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group
from pieria.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.upkeep import Storage


@click.group(cls=Group)
@click.option("--storage-path", metavar="FOLDER", help="The data folder, or the folder of a Mnemex store.")
@click.pass_obj
def maintenance(call: Call, /, storage_path: str | None) -> None:
    """Show how much disk space a bank takes, and free what it does not need."""
    call.data = storage_path or call.data


@maintenance.command()
@click.pass_obj
def stats(call: Call, /) -> None:
    """Show counts and disk space. For a Mnemex store, also show how to import it."""
    theirs, has_banks = _found(call)
    document: dict[str, Any] = {}
    if theirs is None or has_banks:
        with call.opened(reading=True) as bank:
            document = {"bank": bank.name, "storage_path": str(bank.data), **_named(bank.upkeep.storage())}
    if theirs is not None:
        document = {**document, "store": theirs} if document else theirs
    call.reply(document, lambda: _shown(document), [str(document["memories"]["active"])])


@maintenance.command()
@click.pass_obj
def compact(call: Call, /) -> None:
    """Free the space of erased and moved data. All memories stay, with every version."""
    theirs, has_banks = _found(call)
    if theirs is not None and not has_banks:
        raise InputError("storage_path", "a data folder of Pieria", call.data, hint=theirs["hint"])
    with call.opened(reading=True) as bank:
        done = bank.upkeep.compact()
        document = {"bank": bank.name, **done.as_dict()}

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line, pairs

        yield line(("compacted ", "green"), (bank.name, "bold"))
        yield pairs(
            [
                ("before", f"{done.before.bytes:,} bytes"),
                ("after", f"{done.after.bytes:,} bytes"),
                ("not freed", "; ".join(done.unreached) or None),
            ]
        )

    call.reply(document, people, [str(done.before.bytes), str(done.after.bytes)])


def _found(call: Call) -> tuple[dict[str, Any] | None, bool]:
    """Return the statistics of another system's store in the data folder, and whether it holds banks as well."""
    from pieria.bank.transfer.files import stats_of_store

    with call.workspace() as workspace:
        theirs = stats_of_store(workspace.data)
        if theirs is not None:
            theirs["hint"] = f"Import it: pieria import {quote(str(workspace.data))} --from {theirs['system']}"
        return theirs, bool(workspace.banks())


def _named(storage: Storage) -> dict[str, Any]:
    """Return the statistics under the original's names. Compaction here only frees bytes."""
    memories = {"active": storage.memories, "total_lines": storage.versions, "file_size_bytes": storage.bytes}
    relations = {"active": storage.links, "total_lines": storage.links, "file_size_bytes": 0}
    return {
        "memories": {**memories, "compaction_savings": 0},
        "relations": {**relations, "compaction_savings": 0},
        "should_compact": storage.should_compact,
        "free_bytes": storage.free,
    }


def _shown(document: dict[str, Any]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs

    what = document.get("bank") or f"a store of {document['system']}"
    yield line((str(what), "bold"))
    yield pairs(
        [
            *((name, _counts(document[name])) for name in ("memories", "relations")),
            ("damaged lines", f"{document['bad_lines']:,}" if document.get("bad_lines") else None),
            ("compacting", "recommended" if document["should_compact"] else "not needed"),
            ("next", document.get("hint")),
        ]
    )
    if "store" in document:
        yield from _shown(document["store"])


def _counts(counts: dict[str, int]) -> str:
    return f"{counts['active']:,} of {counts['total_lines']:,} written, {counts['file_size_bytes']:,} bytes"
