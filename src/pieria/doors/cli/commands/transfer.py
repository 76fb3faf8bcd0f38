"""`pieria export`, `import`, `backup` and `restore`: a bank as a file, and back. `-` is a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.person import must_be_person
from pieria.doors.cli.values import OneOf
from pieria.errors import TransferError
from pieria.record.banks import check_bank_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.transfer import ImportReport

PIPE = "-"


@click.command(cls=Command)
@click.argument("path")
@click.pass_obj
def export(call: Call, /, path: str) -> None:
    """Write the whole bank, with its history, to a file of JSON lines; - writes to standard output.

    In a folder, the file is named after the bank and the time. An older export is replaced; other files never are.
    """
    with call.opened(reading=True) as bank, call.progress("exporting") as progress:
        if path == PIPE:
            with tempfile.TemporaryDirectory() as folder:
                bank.export(Path(folder) / "export.jsonl", progress=progress)
                with (Path(folder) / "export.jsonl").open("rb") as written:
                    shutil.copyfileobj(written, sys.stdout.buffer)
            return
        report = bank.export(path, progress=progress)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import written_to

        yield from written_to("exported to", report.path, report.bytes, report.counts)

    call.reply(report.as_dict(), people, [str(report.path)])


@click.command("import", cls=Command)
@click.argument("path")
@click.option(
    "--mode",
    type=OneOf("skip", "merge", "replace"),
    help="For existing ids: keep them (skip, the default), take the later version (merge), or take the file's.",
)
@click.option("--dry-run", is_flag=True, help="Show what would happen, and change nothing.")
@click.option("--force", is_flag=True, help="Also import memories that were purged here.")
@click.option("--skip-broken", is_flag=True, help="Skip invalid lines, instead of refusing the file.")
@click.option(
    "--from",
    "system",
    type=OneOf("mnemex"),
    help="PATH is a store of this system; broken items are reported and skipped.",
)
@click.option(
    "--trusted", is_flag=True, help="Keep the file's claims of trust. Only at a terminal, for your own exports."
)
@click.pass_obj
def import_file(
    call: Call,
    /,
    path: str,
    mode: str | None,
    dry_run: bool,
    force: bool,
    skip_broken: bool,
    system: str | None,
    trusted: bool,
) -> None:
    """Read an export into the bank, all of it or nothing; - reads standard input.

    An empty bank becomes the exported bank, with its history.
    """
    if trusted:
        must_be_person()
    with _file(path) as file, call.opened() as bank, call.progress("importing") as progress:
        try:
            report = bank.import_(
                file,
                mode=mode or "skip",
                dry_run=dry_run,
                force=force,
                on_error="skip" if skip_broken or system else "stop",
                system=system,
                trusted=trusted,
                progress=progress,
            )
        except TransferError as refused:
            if refused.problems:
                refused.hint = "Correct these lines, or skip them with --skip-broken."
            refused.args = (refused.message.replace(str(file), _name(path)),)
            raise
    if report.problem_count:
        what = "items were invalid" if system else "lines were skipped"
        call.note(f"{report.problem_count:,} {what}: {'; '.join(map(str, report.problems[:3]))}")
    document = report.as_dict() | {"path": _name(path)}
    call.reply(document, lambda: _imported(report, _name(path), system), [str(seq) for seq in report.changes or ()])


@click.command(cls=Command)
@click.argument("path", required=False)
@click.pass_obj
def backup(call: Call, /, path: str | None) -> None:
    """Copy the bank's file, while other processes read and write. `pieria restore` restores it.

    Without PATH, the copy goes to the data folder. In a folder, the file is named after the bank and the time.
    """
    with call.opened(reading=True) as bank, call.progress("backing up") as progress:
        if path is None:
            # With a database server, the folder may not exist yet.
            bank.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = bank.backup(path or bank.data, progress=progress)
        name = bank.name
    size = written.stat().st_size

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import written_to

        yield from written_to("backed up to", written, size, {})

    call.reply({"path": str(written), "bank": name, "bytes": size}, people, [str(written)])


@click.command(cls=Command)
@click.argument("file")
@click.option("--replace", is_flag=True, help="Replace an existing bank; its file is kept under another name.")
@click.pass_obj
def restore(call: Call, /, file: str, replace: bool) -> None:
    """Restore a backup as the bank that --bank names, or as the bank that `pieria where` shows.

    A backup contains standing rules, so only a person at a terminal can restore it.
    """
    from pieria import restore as bring_back
    from pieria.doors.cli.person import must_be_person

    must_be_person()
    with call.workspace() as workspace:
        name = workspace.resolved.settings.bank if call.bank is None else check_bank_name(call.bank)
    with call.progress("restoring") as progress:
        report = bring_back(file, call.data, name=name, replace=replace, progress=progress)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line
        from pieria.doors.cli.shown.health import written_to

        yield from written_to(f"restored {report.bank} to", report.path, report.bytes, report.counts)
        if report.replaced:
            yield line(("the old bank is kept as ", "dim"), str(report.replaced))
        if report.unpurged is None:
            yield line(("the old bank could not be read: memories that it had purged may be back", "yellow"))
        elif report.unpurged:
            yield line(("the old bank had purged these, and they are back: ", "yellow"), ", ".join(report.unpurged))
            yield line(("erase them again with `pieria forget --purge ID …`", "dim"))

    call.reply(report.as_dict(), people, [report.bank])


@contextmanager
def _file(path: str) -> Iterator[Path]:
    """Yield the file to read. Piped input goes to a file first, because it is read twice."""
    if path != PIPE:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        spooled = Path(folder) / "standard input"
        with spooled.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        yield spooled


def _name(path: str) -> str:
    return "standard input" if path == PIPE else path


def _imported(report: ImportReport, path: str, system: str | None) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs

    done = "would import " if report.dry_run else "imported "
    whole = f"  a store of {system}, into an empty bank" if system else "  as the bank that was exported"
    how = whole if report.replayed else f"  mode {report.mode}"
    yield line((done, "green"), (path, "bold"), (how, "dim"))
    left = {what: ", ".join(f"{number:,} {why}" for why, number in whys.items()) for what, whys in report.left.items()}
    yield pairs(
        [
            ("added", _tally(report.added)),
            ("changed", _tally(report.changed)),
            ("unchanged", _tally(report.unchanged)),
            ("versions", f"{report.versions:,}" if report.versions else None),
            *((f"skipped {what}", why) for what, why in left.items()),
            ("not imported", _tally(report.not_carried)),
            ("broken lines", f"{report.problem_count:,}" if report.problem_count else None),
        ]
    )


def _tally(counts: Mapping[str, Any]) -> str:
    return "  ".join(f"{what} {number:,}" for what, number in counts.items() if number)
