"""Export and import a bank, back it up, and restore it.

`pieria.transfer` defines the format of files; this module implements the verbs of `transfer.verbs`, and the one write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import Any, TypeVar

from pieria.bank.core import Core
from pieria.bank.delete.quarantine_records import JOINED, by_ids, check_record, hold_to_quarantines, narrowed
from pieria.bank.facts.older_facts import begin_anew
from pieria.bank.facts.statements import hold_to_statements
from pieria.bank.results.transfer import ExportReport, ImportReport, RestoreReport
from pieria.errors import InputError, PieriaError, TransferError
from pieria.facts import aliases
from pieria.learning.distilling.pieces import HEARD
from pieria.record import check
from pieria.record.changeset import Content, Record, State
from pieria.record.fact import FactRow, checked_name, checked_predicate, folded, folded_predicate
from pieria.record.link import LinkRow
from pieria.record.quarantine import HELD, QUARANTINES
from pieria.record.time import iso, micros
from pieria.record.trust import AGENT, DECLINED_RULES, HEARSAY, lowered, lowest
from pieria.store.files import stamp
from pieria.store.protocol import Progress, Reader
from pieria.store.rows import names_of, written_list
from pieria.store.seal import Seal
from pieria.store.sqlite import is_database, is_live_database
from pieria.store.sqlite import restore as restoring
from pieria.transfer.check import LISTED, Rules
from pieria.transfer.check import check as checked_file
from pieria.transfer.export import Export
from pieria.transfer.file import Aside, Source, given_path, may_be_replaced
from pieria.transfer.groups import Tally
from pieria.transfer.join import MODES, ON_ERROR, is_replayed, planned
from pieria.transfer.lines import Problem

T = TypeVar("T")
OPEN = "-"
"""The name in reports for a file passed as an open stream."""
REPORT_EVERY = 500
SCOPES = {True: {"bank": "user"}, False: {"user": "bank"}}
"""The scope of memories in the user's bank, and in any other bank."""


TEXTS_OF = {
    "aliases": ("name",),
    "predicates": ("name",),
    "scratchpad": ("id", "content", "created_at", "updated_at"),
    "sessions": ("id", "goal", "state"),
    "sessions.steps": ("observation", "action", "subgoal", "trajectory_id"),
}
"""Fields that readers of the bank's records rely on."""


class _Rehearsed(Exception):
    """Rolls back the transaction of a dry run."""


def exported(core: Core, path: str | Path, progress: Progress | None) -> ExportReport:
    core.check_open()
    target = export_target(core.name, core.clock(), path)
    core.uses.flush()
    with core.reading() as reader, Aside(target, "export") as file:
        export = Export(reader, core.name, iso(core.clock()))
        file.write(export.header())
        for number, line in enumerate(export.body(), start=1):
            file.write(line)
            if progress is not None and number % REPORT_EVERY == 0:
                progress(export.done, export.total)
        sha256 = file.sha256
        file.write(export.end(sha256))
        file.keep()
    if progress is not None:
        progress(export.total, export.total)
    return ExportReport(target, core.name, dict(export.counts), file.bytes, sha256)


def imported(
    core: Core,
    path: str | Path | BufferedIOBase,
    *,
    mode: str,
    dry_run: bool,
    force: bool,
    on_error: str,
    trusted: bool,
    progress: Progress | None,
) -> ImportReport:
    check.one_of(mode, "mode", MODES)
    check.one_of(on_error, "on_error", ON_ERROR)
    check.flag(dry_run, "dry_run")
    check.flag(force, "force")
    check.flag(trusted, "trusted")
    core.check_open()
    rules = _rules(core, trusted=trusted)
    with source_of(path) as source:
        report = _progress(progress, source.size)
        checked = checked_file(source, rules, report)
        if checked.problem_count and on_error == "stop":
            raise _refused(source.path, checked.problems, checked.problem_count)
        now = micros(core.clock())
        plan = partial(
            planned, source=source, checked=checked, rules=rules, mode=mode, force=force, now=now,
            progress=lambda done: report(source.size + done),
        )  # fmt: skip
        done = _Done(Tally())
        with suppress(_Rehearsed):
            _take_in(core, plan, done, dry_run, lambda reader: is_replayed(reader, checked, now))
            if done.replayed:
                begin_anew(core)
        report(2 * source.size)
    return ImportReport(
        path=source.path,
        bank=checked.header.bank,
        mode=mode,
        dry_run=dry_run,
        replayed=done.replayed,
        added=dict(done.tally.added),
        changed=dict(done.tally.changed),
        unchanged=dict(done.tally.unchanged),
        left={what: dict(why) for what, why in done.tally.left.items()},
        versions=done.tally.versions,
        not_carried=dict(done.tally.not_carried),
        changes=done.changes,
        problem_count=checked.problem_count,
        problems=tuple(checked.problems),
    )


def backed_up(core: Core, path: str | Path, progress: Progress | None) -> Path:
    core.check_open()
    target = backup_target(core.name, core.clock(), path)
    core.uses.flush()
    core.store.backup(target, progress)
    return target


def _take_in(
    core: Core, plan: Callable[..., Any], done: _Done, dry_run: bool, replays: Callable[[Reader], bool]
) -> None:
    speaker = core.speaker()._replace(via=lowest(core.via, HEARSAY))
    with core.writing() as writer:
        done.replayed = replays(writer)
        for changeset in plan(writer, tally=done.tally):
            changeset.who = changeset.who or core.who
            if not done.replayed:
                hold_to_statements(writer, changeset, speaker, micros(core.clock()))
            hold_to_quarantines(writer, changeset)
            seq = writer.apply(changeset).change.seq
            done.changes = (done.changes[0] if done.changes else seq, seq)
        if dry_run:
            raise _Rehearsed


def export_target(name: str, now: datetime, path: str | Path) -> Path:
    """Return the file for an export of a bank. Raise `InputError` for a file that is none of ours."""
    target = _free_for(name, now, given_path(path), "jsonl")
    if not may_be_replaced(target):
        hint = "An export may only replace an older export. Name another file, or remove this one first."
        raise InputError("path", "a new file or an older export", target, hint=hint)
    return target


def backup_target(name: str, now: datetime, path: str | Path) -> Path:
    """Return the file for a backup of a bank. Raise `InputError` for the file of a bank in use."""
    target = _free_for(name, now, given_path(path), "backup")
    if is_live_database(target):
        hint = "The file is a bank in use; name another file."
        raise InputError("path", "a file that is not a bank", target, hint=hint)
    return target


def _free_for(name: str, now: datetime, path: Path, ending: str) -> Path:
    """Return the file to write; in a folder, a new name."""
    return path / f"{name}.{stamp(now)}.{ending}" if path.is_dir() else path


def _rules(core: Core, *, trusted: bool) -> Rules:
    return Rules(
        content=partial(_screened_content, core),
        state=partial(_screened_state, core, trusted),
        link=partial(screened_link, core),
        fact=partial(screened_fact, core),
        record=partial(_screened_record, core, trusted),
        joined={aliases.COLLECTION: _joined_alias, **JOINED},
        narrowed={} if trusted else {HELD: narrowed, DECLINED_RULES: _of_what_comes, HEARD: _nothing},
    )


def _of_what_comes(record: Record, is_brought: Callable[[str], bool]) -> Record | None:
    """Return the record only for imported memories: an untrusted file declines no rule of this bank."""
    return record if is_brought(record.key) else None


def _nothing(record: Record, is_brought: Callable[[str], bool]) -> None:
    """Drop the record: an untrusted file must not say what tools output here."""


def _screened_content(core: Core, content: Content) -> Content:
    """Return the screened content, with the flags of the file and of this bank."""
    screening = core.screening
    text, flags = core.screen(content.text, "text")
    title, in_title = _screen_some(core, content.title, "title")
    context, in_context = _screen_some(core, content.context, "context")
    body, in_body = screening.mapping(content.body, "body")
    meta, in_meta = screening.mapping(content.meta, "meta")
    tags, in_tags = screening.labels(names_of(content.tags), "tags")
    entities, in_entities = screening.labels(names_of(content.entities), "entities")
    files, in_files = screening.labels(names_of(content.files), "files")
    noticed = (
        *names_of(content.flags), *flags, *in_title, *in_context, *in_body, *in_meta, *in_tags, *in_entities,
        *in_files,
    )  # fmt: skip
    return content._replace(
        text=text, title=title, context=context, body=body, meta=meta, tags=written_list(tags),
        entities=written_list(entities), files=written_list(files),
        flags=written_list(tuple(dict.fromkeys(noticed))),
    )  # fmt: skip


def _screened_state(core: Core, trusted: bool, state: State) -> State:
    for parameter in ("source", "author", "session", "channel", "place"):
        if (name := getattr(state, parameter)) is not None:
            core.screening.name(name, parameter)
    scope = SCOPES[core.is_user_bank].get(state.scope, state.scope)
    kept = state._replace(scope=scope, reason=_screen_some(core, state.reason, "reason")[0], via=state.via or AGENT)
    return kept if trusted else lowered(kept, HEARSAY)


def screened_link(core: Core, row: LinkRow) -> LinkRow:
    label, meta = _screen_some(core, row.label, "label")[0], core.screening.mapping(row.meta, "meta")[0]
    return row._replace(label=label, meta=meta)


def screened_fact(core: Core, row: FactRow) -> FactRow:
    subject = checked_name(core.screen(row.subject, "subject")[0], "subject")
    predicate = checked_predicate(core.screen(row.predicate, "predicate")[0])
    object = checked_name(core.screen(row.object, "object")[0], "object")
    return row._replace(
        subject=subject,
        subject_key=folded(subject),
        predicate=predicate,
        predicate_key=folded_predicate(predicate),
        object=object,
        object_key=folded(object),
        source=_screen_some(core, row.source, "source")[0],
        reason=_screen_some(core, row.reason, "reason")[0],
    )


def _screened_record(core: Core, trusted: bool, record: Record) -> Record:
    for name in TEXTS_OF.get(record.collection, ()):
        if not isinstance(record.value, dict) or not isinstance(record.value.get(name), str):
            raise InputError(f"value.{name}", "a text", None)
    check_record(record)
    value = record.value
    if not trusted and record.collection == QUARANTINES:
        value = by_ids(value)
    if not trusted and record.collection == HELD:
        value = {**value, "of": by_ids(value["of"])}
    return record._replace(value=core.screen_within(value))


def _screen_some(core: Core, value: str | None, parameter: str) -> tuple[str | None, tuple[str, ...]]:
    return (None, ()) if value is None else core.screen(value, parameter)


@dataclass(slots=True)
class _Done:
    """The progress of one import."""

    tally: Tally
    changes: tuple[int, int] | None = None
    replayed: bool = False


def check_export(path: str | Path, progress: Progress | None = None) -> None:
    """Raise `TransferError` for a file that no bank can import, before a bank is made. Broken lines are allowed.

    It reports no step, since the import checks the file again; but a call can be cancelled where it reports.
    """
    rules = Rules(content=_as_it_is, state=_as_it_is, link=_as_it_is, fact=_as_it_is, record=_as_it_is)
    with source_of(path) as source:
        report = _progress(progress, source.size)
        checked_file(source, rules, lambda done: report(0))


def _as_it_is(row: T) -> T:
    return row


def source_of(given: str | Path | BufferedIOBase) -> Source:
    """Return the file to import. Raise `InputError` or `TransferError` if it cannot be one."""
    if isinstance(given, BufferedIOBase):
        if not (given.readable() and given.seekable()):
            raise InputError("path", "the path of a file, or one that is open for reading at any place", given)
        return Source(Path(OPEN), given)
    file = given_path(given)
    if is_database(file):
        raise TransferError(file, "it is a database, not an export", hint="Restore a backup with `pieria restore`.")
    return Source(file)


def restore_file(
    file: Path, target: Path, *, replace: bool, progress: Progress | None = None, seal: Seal | None = None
) -> RestoreReport:
    """Replace a bank's file by a backup after checking it; `replace` keeps the old file aside.

    Raise before any change: `TransferError` or `ForeignFileError` if the file is no backup, `CorruptError` if it is
    damaged. Raise `NewerVersionError` if a newer version wrote it, `ConflictError` if the bank exists, `BusyError` if
    it is in use.
    """
    done = restoring.restore_file(file.absolute(), target, replace=replace, progress=progress, seal=seal)
    return RestoreReport(file, target, target.stem, done.replaced, done.bytes, done.seq, done.counts, done.unpurged)


def _joined_alias(reader: Reader, value: Any) -> list[Record]:
    """Return an alias by the rules of facts; the list of an entity's aliases follows from them."""
    if not isinstance(value.get("of"), str):
        return []
    return aliases.Aliases(reader).added(value["name"], value["of"]).records


def _refused(path: Path, problems: Sequence[Problem], number: int) -> PieriaError:
    listed = f" (the first {LISTED} are listed)" if number > LISTED else ""
    reason = f"{number:,} problem{'s' if number > 1 else ''} in it{listed}; nothing was imported"
    hint = 'Correct them, or import with on_error="skip" to leave out the broken records.'
    return TransferError(path, reason, problems, hint=hint)


def _progress(progress: Progress | None, size: int) -> Callable[[int], None]:
    def told(done: int) -> None:
        if progress is not None:
            progress(done, 2 * size)

    return told
