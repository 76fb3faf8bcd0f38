"""`pieria export`, `import`, `backup` and `restore`: a bank as a file, and back. `-` is a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.health import show_written
from pieria.doors.cli.console import Parts, inert, line, pairs
from pieria.doors.cli.other_systems import export_format, import_system
from pieria.doors.cli.parser import Command
from pieria.doors.cli.person import confirm, must_be_person
from pieria.doors.cli.values import OneOf
from pieria.errors import TransferError
from pieria.exporters import EXPORTERS
from pieria.importers import IMPORTERS
from pieria.record.banks import check_bank_name

if TYPE_CHECKING:
    from pieria.bank.results.transfer import CopyReport, ImportReport, RemovalReport, SealReport


PIPE = "-"


@click.command(cls=Command)
@click.argument("path")
@click.option(
    "--to", "format", type=OneOf(*EXPORTERS), metavar="FORMAT",
    help=f"Write what the bank holds now in another format: {', '.join(EXPORTERS)}.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="With --to: replace an existing file or folder.")
@click.pass_obj
def export(call: Call, /, path: str, format: str | None, replace: bool) -> None:
    """Write the whole bank, with its history, to a file of JSON lines; - writes to standard output.

    In a folder, the file is named after the bank and the time. An older export is replaced; other files never are.
    With --to, the file or folder is for other programs: it has no history and no removed text.
    """
    if format is not None:
        export_format(call, format, path, replace=replace)
        return
    _refuse_options({"--replace": replace}, "with --to")
    with call.opened(reading=True) as bank, call.progress("exporting") as progress:
        if path == PIPE:
            with tempfile.TemporaryDirectory() as folder:
                bank.export(Path(folder) / "export.jsonl", progress=progress)
                with (Path(folder) / "export.jsonl").open("rb") as written:
                    shutil.copyfileobj(written, sys.stdout.buffer)
            return
        report = bank.export(path, progress=progress)
    call.reply(
        report.as_dict(), show_written("exported to", report.path, report.bytes, report.counts), [str(report.path)]
    )


@click.command("import", cls=Command)
@click.argument("path", metavar="PATH_OR_URL")
@click.option(
    "--mode",
    type=OneOf("skip", "merge", "replace"),
    help="For existing ids: keep them (skip, the default), take the later version (merge), or take the file's.",
)
@click.option("--dry-run", is_flag=True, help="Show what would happen, and change nothing.")
@click.option(
    "--force", is_flag=True, help="Also import what was purged here; with --from, also what was removed or corrected."
)
@click.option("--skip-broken", is_flag=True, help="Skip invalid lines, instead of refusing the file.")
@click.option(
    "--from",
    "system",
    type=OneOf(*IMPORTERS),
    metavar="SYSTEM",
    help=f"Import the memories of another system: {', '.join(IMPORTERS)}.",
)
@click.option("--user", metavar="NAME", help="With --from: only the memories of this user of the other system.")
@click.option(
    "--token", metavar="TOKEN", help="With --from: the token of its server. An environment variable hides it better."
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
    user: str | None,
    token: str | None,
    trusted: bool,
) -> None:
    """Read an export into the bank, all of it or nothing; - reads standard input.

    An empty bank becomes the exported bank, with its history. With --from, PATH_OR_URL is what another system keeps or
    exports; run it again to add what is new there. It then exits with 1 if something could not be read; the rest is
    imported.
    """
    if system is not None:
        _refuse_options({"--mode": mode, "--skip-broken": skip_broken, "--trusted": trusted}, "without --from")
        import_system(call, system, path, user=user, token=token, dry_run=dry_run, force=force)
        return
    _refuse_options({"--user": user, "--token": token}, "with --from")
    if trusted:
        must_be_person()
    with _file(path) as file, call.opened() as bank, call.progress("importing") as progress:
        try:
            report = bank.import_(
                file,
                mode=mode or "skip",
                dry_run=dry_run,
                force=force,
                on_error="skip" if skip_broken else "stop",
                trusted=trusted,
                progress=progress,
            )
        except TransferError as refused:
            if refused.problems:
                refused.hint = "Correct these lines, or skip them with --skip-broken."
            refused.args = (refused.message.replace(str(file), _name(path)),)
            raise
    if report.problem_count:
        call.note(f"{report.problem_count:,} lines were skipped: {'; '.join(map(str, report.problems[:3]))}")
    document = report.as_dict() | {"path": _name(path)}
    call.reply(document, _imported(report, _name(path)), [str(seq) for seq in report.changes or ()])


def _refuse_options(given: Mapping[str, object], goes: str) -> None:
    for option, value in given.items():
        if value:
            raise click.UsageError(f"{option} goes {goes}", click.get_current_context())


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
    call.reply(
        {"path": str(written), "bank": name, "bytes": size},
        show_written("backed up to", written, size, {}),
        [str(written)],
    )


@click.command(cls=Command)
@click.argument("file")
@click.option("--replace", is_flag=True, help="Replace an existing bank; its file is kept under another name.")
@click.pass_obj
def restore(call: Call, /, file: str, replace: bool) -> None:
    """Restore a backup as the bank that --bank names, or as the bank that `pieria where` shows.

    A backup contains standing rules, so only a person at a terminal can restore it.
    """
    from pieria import restore as bring_back

    must_be_person()
    with call.workspace() as workspace:
        name = workspace.resolved.settings.bank if call.bank is None else check_bank_name(call.bank)
    with call.progress("restoring") as progress:
        report = bring_back(file, call.data, name=name, replace=replace, progress=progress)

    def people() -> Parts:
        yield from show_written(f"restored {report.bank} to", report.path, report.bytes, report.counts)
        if report.replaced:
            yield line(("the old bank is kept as ", "dim"), str(report.replaced))
        if report.unpurged is None:
            yield line(("the old bank could not be read: memories that it had purged may be back", "yellow"))
        elif report.unpurged:
            yield line(("the old bank had purged these, and they are back: ", "yellow"), ", ".join(report.unpurged))
            yield line(("erase them again with `pieria forget --purge ID …`", "dim"))

    call.reply(report.as_dict(), people(), [report.bank])


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


def _imported(report: ImportReport, path: str) -> Parts:
    done = "would import " if report.dry_run else "imported "
    how = "  as the bank that was exported" if report.replayed else f"  mode {report.mode}"
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


@click.command(cls=Command)
@click.option("--to", required=True, metavar="WHERE",
              help="The target folder or server address, written as for --data.")  # fmt: skip
@click.option("--as", "name", metavar="NAME", help="The name of the copy; the bank's name by default.")
@click.pass_obj
def copy(call: Call, /, to: str, name: str | None) -> None:
    """Copy a whole bank, with its history, to another folder or server.

    Before the copy gets its name, every row and vector is compared, and some questions are asked of both banks. An
    existing bank is never overwritten. The original does not change, and may be in use.
    """
    from pieria import copy as copy_bank
    from pieria.workspace import refuse_doubted

    with call.workspace() as workspace:
        if workspace.resolved.is_bank_named:
            call.check_there(workspace)
        bank = workspace.resolved.settings.bank
        refuse_doubted(workspace.resolved, workspace.place.at(bank))
    with call.progress("copying") as progress:
        report = copy_bank(bank, to=to, data=call.data, name=name, progress=progress)
    call.reply(report.as_dict(), _copied(report), [report.name])


def _copied(report: CopyReport) -> Parts:
    yield line((f"copied {report.bank} to ", "green"), (report.target, "bold"))
    yield pairs(
        [
            ("rows", "  ".join(f"{table} {number:,}" for table, number in report.rows.items() if number)),
            ("the same in both", ", ".join(report.sha256)),
            ("questions", f"{report.questions} found the same in both" if report.questions else None),
        ]
    )


@click.command("remove-bank", cls=Command)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask. Required without a terminal.")
@click.pass_obj
def remove_bank(call: Call, /, dry_run: bool, yes: bool) -> None:
    """Remove the whole bank that --bank names for good, with its history.

    The command shows what the bank holds and asks first. The only way back is a backup: run `pieria backup` before.
    Afterwards it lists what it removed, and the places that it could not clean. It fails while another process has
    the bank's file open.
    """
    if call.bank is None:
        raise click.UsageError("name the bank to remove with --bank", click.get_current_context())
    name = check_bank_name(call.bank)
    is_asked = sys.stdin.isatty() and sys.stderr.isatty()
    if not (dry_run or yes or is_asked):
        hint = "there is no terminal to ask at: pass --yes to remove the bank, or --dry-run for a preview"
        raise click.UsageError(hint, click.get_current_context())
    from pieria.capture.bank_removal import remove_bank as removed

    with call.workspace() as workspace:
        call.check_there(workspace)
        report = removed(workspace, name, dry_run=True)
        if not dry_run:
            if not yes:
                lines = (f"  {inert(line, one_line=True)}" for line in _lines(report))
                confirm(lines, f"Remove the bank {report.bank} and all of this for good?", "nothing was removed")
            report = removed(workspace, name)
    call.reply(report.as_dict(), _removed(report), [report.bank])


def _lines(report: RemovalReport) -> Iterator[str]:
    yield str(report.path)
    yield "  ".join(f"{what} {number:,}" for what, number in report.erased.items() if number) or "the bank is empty"
    for place in report.unreached:
        yield f"not reached: {place}"


def _removed(report: RemovalReport) -> Parts:
    yield line(("would be removed: " if report.dry_run else "removed for good: ", "bold red"), str(report.path))
    yield pairs([(name, f"{number:,}") for name, number in report.erased.items()])
    for place in report.unreached:
        yield line(("not reached: ", "yellow"), place)


@click.command(cls=Command)
@click.option("--make-key", is_flag=True, help="Only create the key that seal_key names, if it does not exist.")
@click.pass_obj
def seal(call: Call, /, make_key: bool) -> None:
    """Encrypt a bank in place, with the key that the setting seal_key names.

    The command creates the key if it does not exist. Keep a copy of the key elsewhere: without it, the bank is lost. No
    other process may have the bank open. The command lists places that may still hold unencrypted text.
    """
    from pieria import seal as sealed

    if make_key:
        from pieria.workspace.seal import key_made

        with call.workspace() as workspace:
            key, is_new = key_made(workspace)
        call.reply({"key": key.where, "key_made": is_new}, _key(key.where, is_new), [key.where])
        return
    _done(call, sealed)


@click.command(cls=Command)
@click.pass_obj
def unseal(call: Call, /) -> None:
    """Decrypt a sealed bank in place. No other process may have it open."""
    from pieria import unseal as unsealed

    _done(call, unsealed)


@click.command(cls=Command)
@click.option("--to", required=True, metavar="WHERE", help="The new key, written as for seal_key: keyring:NAME, "
              "file:PATH, command:… or env:NAME. A missing key is created.")  # fmt: skip
@click.pass_obj
def rekey(call: Call, /, to: str) -> None:
    """Change the key of a sealed bank. Afterwards, set seal_key to the new key.

    Earlier backups still need the old key.
    """
    from pieria import rekey as rekeyed

    _done(call, rekeyed, to=to)


def _done(call: Call, act: Callable[..., SealReport], **more: Any) -> None:
    with call.workspace() as workspace:
        call.check_there(workspace)
        call.drain(workspace)
        bank = workspace.resolved.settings.bank
    with call.progress("converting") as progress:
        report = act(bank, data=call.data, progress=progress, **more)
    with call.workspace() as workspace:
        # Store the events that hooks wrote before the bank was sealed.
        if report.key == workspace.resolved.settings.seal_key:
            call.drain(workspace)
    call.reply(report.as_dict(), _told(report), [report.bank])


def _told(report: SealReport) -> Parts:
    yield line(("sealed: " if report.sealed else "decrypted: ", "green"), (report.path, "bold"))
    if report.key is not None:
        yield from _key(report.key, report.key_made)
    for place in report.unreached:
        yield line(("may hold unencrypted text: ", "yellow"), place)


def _key(where: str, is_new: bool) -> Parts:
    yield line("key: ", (where, "bold"))
    if is_new:
        yield line(("this key is new; keep a copy elsewhere: without it, the bank is lost for good", "yellow"))
