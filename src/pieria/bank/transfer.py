"""Taking a bank out as a file and bringing files in: export and import, backup and restore.

What a file holds and how it is read is the business of `transfer/`; here are the verbs and the one write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import Any, TypeVar

from pieria.bank.core import Core
from pieria.bank.replies_transfer import ExportReport, ImportReport, RestoreReport
from pieria.errors import InputError, PieriaError, TransferError
from pieria.facts import aliases
from pieria.record import check
from pieria.record.changeset import Content, Record, State
from pieria.record.composing import names_of, written_list
from pieria.record.fact import FactRow
from pieria.record.factnames import checked_name, checked_predicate, folded, folded_predicate
from pieria.record.link import LinkRow
from pieria.record.time import iso, micros
from pieria.store.files import stamp
from pieria.store.protocol import Progress, Reader
from pieria.store.sqlite import is_database, is_live_database, restoring
from pieria.transfer import mnemex
from pieria.transfer.checking import LISTED
from pieria.transfer.checking import check as checked_file
from pieria.transfer.exporting import Export
from pieria.transfer.file import ELSEWHERE, Aside, Source, given_path, may_be_replaced
from pieria.transfer.importing import ON_ERROR, is_replayed, planned
from pieria.transfer.joining import MODES
from pieria.transfer.problem import Problem
from pieria.transfer.rules import Rules
from pieria.transfer.tally import Tally

__all__ = ["ExportReport", "ImportReport", "RestoreReport", "Transferring", "restore_file"]

T = TypeVar("T")
SYSTEMS = (mnemex.SYSTEM,)
"""Others whose stores can be brought in."""
OPEN = "-"
"""What a file is called that was given open."""
REPORT_EVERY = 500
SCOPES = {True: {"bank": "user"}, False: {"user": "bank"}}
"""What the user's own bank calls its memories, and what any other bank does."""


TEXTS_OF = {
    "aliases": ("name",),
    "predicates": ("name",),
    "scratchpad": ("id", "content", "created_at", "updated_at"),
    "sessions": ("id", "goal", "state"),
    "sessions.steps": ("observation", "action", "subgoal", "trajectory_id"),
}
"""What whoever reads the bank's own records relies on."""


class _Rehearsed(Exception):
    """Ends a dry run's transaction without a commit."""


class Transferring(Core):
    def export(self, path: str | Path, *, progress: Progress | None = None) -> ExportReport:
        """Writes the whole bank, its past included, to one file of JSON lines: `docs/export-format.md`.

        An older export of that name is replaced once the new one is whole, and no other file is; a folder gets a file
        named after the bank and the time. `progress` counts versions and changes.
        """
        self._check_open()
        target = self._free_for(given_path(path), "jsonl")
        if not may_be_replaced(target):
            hint = "An export replaces nothing but an older export: name another file, or remove this one first."
            raise InputError("path", "a new file or an older export", target, hint=hint)
        self._uses.flush()
        with self._reading() as reader, Aside(target, "export") as file:
            export = Export(reader, self.name, iso(self.clock()))
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
        return ExportReport(target, self.name, dict(export.counts), file.bytes, sha256)

    def import_(
        self,
        path: str | Path | BufferedIOBase,
        *,
        mode: str = "skip",
        dry_run: bool = False,
        force: bool = False,
        on_error: str = "stop",
        system: str | None = None,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Brings an export in, all of it or nothing. A bank without a past becomes the one that was exported.

        `mode` decides about what is here already: `skip` leaves it, `merge` takes the later, `replace` the file's.
        What was removed here stays removed, and what was purged stays away, unless `force`. With `on_error="skip"`
        broken lines are left out and reported; otherwise they are a `TransferError` and nothing is written.
        `dry_run` reports without writing. `progress` counts bytes; the file is read twice. It may also be given open,
        for reading bytes at any place, such as one that stands in memory alone. `system` names another system whose
        store is at the path: `mnemex`.
        """
        if system is not None:
            if system not in SYSTEMS:
                raise InputError("system", f"one of {', '.join(SYSTEMS)}", system, hint=ELSEWHERE)
            return self._import_store(given_path(path), mode, dry_run, force, on_error, progress)
        check.one_of(mode, "mode", MODES)
        check.one_of(on_error, "on_error", ON_ERROR)
        check.flag(dry_run, "dry_run")
        check.flag(force, "force")
        self._check_open()
        rules = self._rules()
        with _source(path) as source:
            report = _progress(progress, source.size)
            checked = checked_file(source, rules, report)
            if checked.problem_count and on_error == "stop":
                raise _refused(source.path, checked.problems, checked.problem_count)
            now = micros(self.clock())
            plan = partial(
                planned, source=source, checked=checked, rules=rules, mode=mode, force=force, now=now,
                progress=lambda done: report(source.size + done),
            )  # fmt: skip
            done = _Done(Tally())
            with suppress(_Rehearsed):
                self._take_in(plan, done, dry_run, lambda reader: is_replayed(reader, checked, now))
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

    def _import_store(
        self, path: Path, mode: str, dry_run: bool, force: bool, on_error: str, progress: Progress | None
    ) -> ImportReport:
        """As an export of ours, whose problems are told by the lines of the store."""
        from pieria.bank.incoming import taken_in

        check.one_of(on_error, "on_error", ON_ERROR)
        self._check_open()
        read = mnemex.read(path, self.name, self.clock())
        if read.problems and on_error == "stop":
            raise _refused(path, read.problems[:LISTED], len(read.problems))
        report, lines = taken_in(
            self, mnemex.SYSTEM, read.memories, read.links, mode=mode, dry_run=dry_run, force=force, progress=progress
        )
        told = [*read.problems, *(_told(problem, lines[problem.line]) for problem in report.problems)]
        untold = report.problem_count - len(report.problems)
        return replace(report, path=path, problem_count=len(told) + untold, problems=tuple(told[:LISTED]))

    def backup(self, path: str | Path, *, progress: Progress | None = None) -> Path:
        """Copies the bank's store as it is now, while others read and write on. `pieria.restore` brings it back.

        An older backup of that name is replaced once the new one is whole; a folder gets a file named after the bank
        and the time. `progress` counts pages.
        """
        self._check_open()
        target = self._free_for(given_path(path), "backup")
        if is_live_database(target):
            hint = "It is a bank that is in use; name another file."
            raise InputError("path", "a file that is no bank", target, hint=hint)
        self._uses.flush()
        self.store.backup(target, progress)
        return target

    def _take_in(self, plan: Callable[..., Any], done: _Done, dry_run: bool, replays: Callable[[Reader], bool]) -> None:
        with self._writing() as writer:
            done.replayed = replays(writer)
            for changeset in plan(writer, tally=done.tally):
                changeset.who = changeset.who or self.who
                seq = writer.apply(changeset).change.seq
                done.changes = (done.changes[0] if done.changes else seq, seq)
            if dry_run:
                raise _Rehearsed

    def _free_for(self, path: Path, ending: str) -> Path:
        """The file to write; in a folder, one with a name of its own."""
        if not path.is_dir():
            return path
        return path / f"{self.name}.{stamp(self.clock())}.{ending}"

    def _rules(self) -> Rules:
        return Rules(
            content=self._screened_content,
            state=self._screened_state,
            link=self._screened_link,
            fact=self._screened_fact,
            record=self._screened_record,
            joined={aliases.COLLECTION: _joined_alias},
        )

    def _screened_content(self, content: Content) -> Content:
        """What the file says was noticed, and what this bank notices."""
        screening = self._screening
        text, flags = self._screen(content.text, "text")
        title, in_title = self._screen_some(content.title, "title")
        context, in_context = self._screen_some(content.context, "context")
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

    def _screened_state(self, state: State) -> State:
        for parameter in ("source", "author", "session", "channel", "place"):
            if (name := getattr(state, parameter)) is not None:
                self._screening.name(name, parameter)
        scope = SCOPES[self.is_user_bank].get(state.scope, state.scope)
        return state._replace(scope=scope, reason=self._screen_some(state.reason, "reason")[0])

    def _screened_link(self, row: LinkRow) -> LinkRow:
        label, meta = self._screen_some(row.label, "label")[0], self._screening.mapping(row.meta, "meta")[0]
        return row._replace(label=label, meta=meta)

    def _screened_fact(self, row: FactRow) -> FactRow:
        subject = checked_name(self._screen(row.subject, "subject")[0], "subject")
        predicate = checked_predicate(self._screen(row.predicate, "predicate")[0])
        object = checked_name(self._screen(row.object, "object")[0], "object")
        return row._replace(
            subject=subject,
            subject_key=folded(subject),
            predicate=predicate,
            predicate_key=folded_predicate(predicate),
            object=object,
            object_key=folded(object),
            source=self._screen_some(row.source, "source")[0],
            reason=self._screen_some(row.reason, "reason")[0],
        )

    def _screened_record(self, record: Record) -> Record:
        for name in TEXTS_OF.get(record.collection, ()):
            if not isinstance(record.value, dict) or not isinstance(record.value.get(name), str):
                raise InputError(f"value.{name}", "a text", None)
        return record._replace(value=self._screen_within(record.value))

    def _screen_within(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            return self._screen(value, "value")[0]
        if isinstance(value, dict):
            return {key: self._screen_within(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._screen_within(item) for item in value]
        return value

    def _screen_some(self, value: str | None, parameter: str) -> tuple[str | None, tuple[str, ...]]:
        return (None, ()) if value is None else self._screen(value, parameter)


@dataclass(slots=True)
class _Done:
    """What one import has done so far."""

    tally: Tally
    changes: tuple[int, int] | None = None
    replayed: bool = False


def stats_of_store(path: str | Path) -> dict[str, Any] | None:
    """What the store of another system at the path holds; None where there is none."""
    folder = given_path(path)
    return {"system": mnemex.SYSTEM, **mnemex.stats(folder)} if mnemex.folder_of(folder) is not None else None


def check_export(path: str | Path) -> None:
    """Raises `TransferError` for what no bank can bring in, broken lines apart, before there is a bank to do it."""
    rules = Rules(content=_as_it_is, state=_as_it_is, link=_as_it_is, fact=_as_it_is, record=_as_it_is)
    with _source(path) as source:
        checked_file(source, rules, lambda done: None)


def _as_it_is(row: T) -> T:
    return row


def _source(given: str | Path | BufferedIOBase) -> Source:
    if isinstance(given, BufferedIOBase):
        if not (given.readable() and given.seekable()):
            raise InputError("path", "the path of a file, or one that is open for reading at any place", given)
        return Source(Path(OPEN), given)
    file = given_path(given)
    if is_database(file):
        raise TransferError(file, "it is a database, no export", hint="Bring back a backup with `pieria restore`.")
    return Source(file)


def restore_file(file: Path, target: Path, *, replace: bool, progress: Progress | None = None) -> RestoreReport:
    """Puts a backup in the place of a bank's file, once it is known to be whole; `replace` keeps the old one aside.

    Raises before anything is touched: `TransferError` and `ForeignFileError` for what is no backup, `CorruptError` for
    a damaged one, `NewerVersionError`, `ConflictError` for a bank that is there, `BusyError` for one that is in use.
    """
    done = restoring.restore_file(file.absolute(), target, replace=replace, progress=progress)
    return RestoreReport(file, target, target.stem, done.replaced, done.bytes, done.seq, done.counts)


def _joined_alias(reader: Reader, value: Any) -> list[Record]:
    """An alias joins through the facts' own rules; an entity's list of its aliases follows from these."""
    if not isinstance(value.get("of"), str):
        return []
    return aliases.Aliases(reader).added(value["name"], value["of"]).records


def _told(problem: Problem, line: mnemex.Line) -> Problem:
    """The same, by the line of the store that it came from."""
    return Problem(line.number, f"{line.file} {problem.parameter}", problem.expected, problem.received)


def _refused(path: Path, problems: Sequence[Problem], number: int) -> PieriaError:
    listed = f", of which the first {LISTED} are listed" if number > LISTED else ""
    reason = f"{number:,} problem{'s' if number > 1 else ''} in it{listed}; nothing was imported"
    hint = 'Put them right, or import with on_error="skip" to leave out what is broken.'
    return TransferError(path, reason, problems, hint=hint)


def _progress(progress: Progress | None, size: int) -> Callable[[int], None]:
    def told(done: int) -> None:
        if progress is not None:
            progress(done, 2 * size)

    return told
