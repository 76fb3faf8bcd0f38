"""Import into an empty bank: it becomes the exported bank, and errors in a file are reported by line."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.bank.transfer_files import Lines, changed, everything, of, read, sealed

import pieria
from pieria.bank import Bank
from pieria.errors import ClosedError, InputError, NewerVersionError, PieriaError, TransferError
from pieria.record.link import Place
from pieria.transfer.lines import Problem

SECRET = "AKIA" + "QWERTYUIOPASDFGH"
Opens = Callable[..., Bank]


class Ticking:
    """A clock that advances one second with each reading."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    opened: list[Bank] = []
    clock = Ticking()

    def opens(name: str, **values: Any) -> Bank:
        opened.append(pieria.open(name, data=tmp_path / "data", clock=clock, **values))
        return opened[-1]

    yield opens
    for bank in opened:
        bank.close()


def problems_of(refused: pytest.ExceptionInfo[TransferError]) -> list[Problem]:
    return [problem for problem in refused.value.problems if isinstance(problem, Problem)]


def test_a_file_may_be_given_open(opens: Opens, exported: Path) -> None:
    by_path, by_bytes, by_file = (opens(name) for name in ("path", "bytes", "file"))
    by_path.import_(exported)
    held = BytesIO(exported.read_bytes())
    report = by_bytes.import_(held)
    with exported.open("rb") as file:
        file.read(10)
        by_file.import_(file)
        assert not file.closed
    assert everything(by_path) == everything(by_bytes) == everything(by_file)
    assert (str(report.path), report.replayed, held.closed) == ("-", True, False)


def test_an_open_file_is_refused_that_is_no_export_or_read_only_once(opens: Opens) -> None:
    bank = opens("new")
    with pytest.raises(TransferError, match="empty"):
        bank.import_(BytesIO())
    with pytest.raises(TransferError, match="gzip"):
        bank.import_(BytesIO(b"\x1f\x8b"))
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe, pytest.raises(InputError, match="path"):
        bank.import_(pipe)


@pytest.fixture
def exported(opens: Opens, tmp_path: Path) -> Path:
    """Return the export of a bank with rows of every kind."""
    bank = opens("notes", session="s1")
    first = bank.remember("We chose JWT.", id="first", tags=["auth"], importance=0.8, body={"type": "decision"})
    bank.remember("Maya works on billing.", id="second", entities=["Maya"], scope="session", kind="diary")
    bank.remember("A mistake.", id="third")
    bank.update(first.id, text="We chose JWT, rotated daily.")
    bank.revise("third", text="Put right.", reason="it was wrong")
    bank.link("first", "second", "about", label="both", meta={"of": [1]})
    bank.link("first", Place("security/tokens"), "tunnel")
    bank.unlink("first", "second")
    bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10", memory="second")
    bank.facts.invalidate("Maya", "works_on", "billing", at="2026-02-01")
    bank.facts.alias("M.", "Maya")
    bank.facts.declare("works_on")
    bank.touch(["first", "second"], reward=0.5)
    bank.scratchpad.write("to do")
    bank.purge(bank.remember("to be erased", id="gone").id)
    bank.remove("second", reason="left")
    return bank.export(tmp_path / "out.jsonl").path


def test_the_example_of_the_page_is_an_export(opens: Opens, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "export-format.md").read_text()
    example = page.partition("```\n")[2].partition("```")[0].splitlines()
    path = sealed(tmp_path / "out.jsonl", [json.loads(line) for line in example[:-1]])
    assert read(path)[-1]["counts"] == json.loads(example[-1])["counts"]
    bank = opens("notes")
    bank.import_(path)
    assert [(memory.text, memory.pinned) for memory in bank.history("01k")] == [
        ("We chose JWT for all new APIs.", False),
        ("We chose JWT for all new APIs.", True),
    ]
    header, *between, _ = read(bank.export(tmp_path / "again.jsonl").path)
    assert between == [json.loads(line) for line in example[1:-1]]
    assert header.keys() == json.loads(example[0]).keys()


def test_every_row_comes_back_with_its_times(opens: Opens, exported: Path) -> None:
    copy = opens("copy", session="s1")
    report = copy.import_(exported, trusted=True)
    original, rows = everything(opens("notes")), everything(copy)
    for table in ("link", "fact", "usage", "record", "journal", "purged"):
        assert rows[table] == original[table]
    for table in ("content", "state"):
        assert [{**row, "row": 0} for row in rows[table]] == [{**row, "row": 0} for row in original[table]]
    assert report.replayed
    assert (report.bank, report.changes, report.problem_count) == ("notes", (1, 17), 0)
    assert report.added == {"memories": 4, "links": 3, "facts": 1, "usage": 2, "records": 4, "purged": 1}
    assert report.versions == 5
    assert copy.doctor().well
    assert [entry.content for entry in copy.scratchpad.read()] == ["to do"]
    assert copy.facts.aliases() == {"M.": "Maya"}


def test_the_past_is_answered_as_it_was(opens: Opens, exported: Path) -> None:
    copy, original = opens("copy"), opens("notes")
    copy.import_(exported)
    for change in original.changes():
        then = [memory.text for memory in original.list(known_at=change.at)]
        assert [memory.text for memory in copy.list(known_at=change.at)] == then
    assert copy.get("first@1") is not None
    assert copy.recall("JWT")[0].memory.text == "We chose JWT, rotated daily."
    assert [memory.text for memory in copy.history("third")] == ["A mistake.", "A mistake."]


def test_the_copy_lives_on_from_there(opens: Opens, exported: Path) -> None:
    copy = opens("copy", session="s1")
    copy.import_(exported)
    kept = copy.remember("something new")
    assert copy.changes()[-1].seq == 18
    assert kept.known_from > copy.changes()[-2].at
    assert copy.restore("second").text == "Maya works on billing."
    with pytest.raises(PieriaError, match="purged"):
        copy.remember("again", id="gone")


@pytest.mark.parametrize("year", [1, 3000])
def test_a_past_that_no_write_could_follow_comes_in_as_known_from_now(opens: Opens, exported: Path, year: int) -> None:
    exported.write_text(exported.read_text().replace('"2026-03', f'"{year:04}-03'))
    copy = opens("copy")
    report = copy.import_(changed(exported, lambda lines: None))
    assert (report.replayed, report.problem_count, copy.count()) == (False, 0, opens("notes").count())
    assert copy.remember("something new").known_from.year == 2026


def test_a_dry_run_writes_nothing_and_reports_the_same(opens: Opens, exported: Path) -> None:
    copy = opens("copy")
    rehearsed = copy.import_(exported, dry_run=True)
    assert everything(copy)["journal"] == []
    assert copy.count() == 0
    assert {**rehearsed.as_dict(), "dry_run": False} == copy.import_(exported).as_dict()


def test_an_empty_export_into_an_empty_bank_changes_nothing(opens: Opens, tmp_path: Path) -> None:
    opens("notes").export(tmp_path / "out.jsonl")
    report = opens("copy").import_(tmp_path / "out.jsonl")
    assert report.changes is None
    assert report.as_dict()["changes"] is None


def test_progress_counts_the_bytes_of_two_readings(opens: Opens, tmp_path: Path) -> None:
    notes = opens("notes")
    notes.remember_many({"text": f"number {n}"} for n in range(600))
    size = notes.export(tmp_path / "out.jsonl").bytes
    told: list[tuple[int, int]] = []
    opens("copy").import_(tmp_path / "out.jsonl", progress=lambda done, whole: told.append((done, whole)))
    assert told[-1] == (2 * size, 2 * size)
    assert told == sorted(told)
    assert len(told) > 4


def test_a_failing_progress_leaves_the_bank_as_it_was(opens: Opens, tmp_path: Path) -> None:
    notes, copy = opens("notes"), opens("copy")
    notes.remember_many({"text": f"number {n}"} for n in range(600))
    size = notes.export(tmp_path / "out.jsonl").bytes

    def fail(done: int, whole: int) -> None:
        if done > size:
            raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        copy.import_(tmp_path / "out.jsonl", progress=fail)
    assert everything(copy)["journal"] == []
    assert copy.import_(tmp_path / "out.jsonl").added["memories"] == 600


# --- privacy


def test_what_is_private_is_cut_and_secrets_are_flagged_on_the_way_in(opens: Opens, exported: Path) -> None:
    def insert(lines: Lines) -> None:
        of(lines, "content")["text"] = f"kept <private>not this</private> and {SECRET}"
        of(lines, "content")["meta"] = {"note": "<private>nor this</private>x"}
        of(lines, "content")["flags"] = ["seen:before"]
        of(lines, "record", -1)["value"]["content"] = f"the key is {SECRET}"

    copy = opens("copy", settings={"secrets": "redact"})
    copy.import_(changed(exported, insert))
    first = copy.history("first")[0]
    assert SECRET not in json.dumps(everything(copy))
    assert "not this" not in json.dumps(everything(copy))
    assert "nor this" not in json.dumps(everything(copy))
    assert first.text.startswith("kept and [secret:")
    assert first.flags[:2] == ("seen:before", "private:cut")
    assert [flag for flag in first.flags if flag.startswith("secret:")]


def test_a_bank_that_refuses_secrets_refuses_the_file(opens: Opens, exported: Path) -> None:
    def insert(lines: Lines) -> None:
        of(lines, "content")["text"] = f"the key is {SECRET}"

    copy = opens("copy", settings={"secrets": "refuse"})
    with pytest.raises(TransferError) as refused:
        copy.import_(changed(exported, insert))
    [problem] = problems_of(refused)
    assert (problem.line, problem.parameter, problem.expected) == (3, "text", "a text without secrets")
    assert SECRET not in str(refused.value.as_dict())
    assert everything(copy)["journal"] == []
    report = copy.import_(exported, on_error="skip")
    assert report.left["memories"] == {"broken in the file": 1}
    assert copy.get("first") is None


def test_the_users_own_memories_become_the_banks_and_the_reverse(opens: Opens, tmp_path: Path) -> None:
    me = opens("@me")
    kept = me.remember("I like tea.")
    assert kept.scope == "user"
    me.export(tmp_path / "me.jsonl")
    copy = opens("copy")
    copy.import_(tmp_path / "me.jsonl")
    assert copy.history(kept.id)[-1].scope == "bank"


# --- what is no export


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"id,text\n1,hello\n", "text of another kind"),
        (b'{"memories": []}\n', "JSON of another kind"),
        (b"[1, 2]\n", "JSON of another kind"),
        ("\ufeffhello".encode("utf-16"), "UTF-16"),
        (b"\0\1\2\3", "binary"),
        (b"[" * 100_000, "JSON of another kind"),
    ],
)
def test_another_file_is_refused_with_what_it_looks_like(
    opens: Opens, tmp_path: Path, content: bytes, looks: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for on_error in ("stop", "skip"):
        with pytest.raises(TransferError, match=looks):
            opens("copy").import_(path, on_error=on_error)


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        (b'{"mnemosyne_export": {"version": "1.3"}}', "mnemosyne_import"),
        (b'{"version": 1, "observations": []}', "mem-import"),
        (b'{"results": [{"memory": "Likes tea."}]}', "docs/mining.md"),
    ],
)
def test_the_file_of_another_system_is_refused_with_what_reads_it(
    opens: Opens, tmp_path: Path, content: bytes, reader: str
) -> None:
    path = tmp_path / "theirs.json"
    path.write_bytes(content)
    with pytest.raises(TransferError) as refused:
        opens("copy").import_(path)
    assert reader in str(refused.value.hint)


def test_a_missing_file_and_a_folder_are_named(opens: Opens, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="there is no such file"):
        opens("copy").import_(tmp_path / "nothing.jsonl")
    with pytest.raises(TransferError, match="folder"):
        opens("copy").import_(tmp_path)


def test_a_newer_format_is_refused_as_newer(opens: Opens, exported: Path) -> None:
    path = changed(exported, lambda lines: lines[0].update(format=2))
    with pytest.raises(NewerVersionError, match="format 2"):
        opens("copy").import_(path, on_error="skip")


@pytest.mark.parametrize("format", [None, "1", True, 0, -1])
def test_a_header_without_a_format_is_refused(opens: Opens, exported: Path, format: object) -> None:
    path = changed(exported, lambda lines: lines[0].update(format=format))
    with pytest.raises(TransferError, match="format"):
        opens("copy").import_(path)


def test_a_truncated_file_is_refused_even_with_skip(opens: Opens, exported: Path) -> None:
    exported.write_bytes(exported.read_bytes()[:-1].rpartition(b"\n")[0] + b"\n")
    for on_error in ("stop", "skip"):
        with pytest.raises(TransferError, match="cut off"):
            opens("copy").import_(exported, on_error=on_error)


@pytest.mark.parametrize(
    ("parameter", "value"), [("mode", "overwrite"), ("on_error", "ignore"), ("dry_run", 1), ("force", "yes")]
)
def test_parameters_are_checked_before_the_file_is_opened(opens: Opens, parameter: str, value: Any) -> None:
    with pytest.raises(InputError, match=parameter):
        opens("copy").import_("nothing.jsonl", **{parameter: value})


def test_a_closed_bank_imports_nothing(opens: Opens, exported: Path) -> None:
    copy = opens("copy")
    copy.close()
    with pytest.raises(ClosedError):
        copy.import_(exported)


# --- what is wrong with a line

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("content", {"text": ""}, "text"),
    ("content", {"text": None}, "text"),
    ("content", {"text": "a\0b"}, "text"),
    ("content", {"text": "x" * (1 << 20) + "x"}, "text"),
    ("content", {"tags": "auth"}, "tags"),
    ("content", {"body": ["no"]}, "body"),
    ("content", {"colour": "red"}, "colour"),
    ("state", {"kind": "thought"}, "kind"),
    ("state", {"importance": 5}, "importance"),
    ("state", {"strength": "strong"}, "strength"),
    ("state", {"at": "2026-02-30T00:00:00Z"}, "at"),
    ("state", {"at": 1_700_000_000}, "at"),
    ("state", {"valid_from": "2026-03-01T00:00:00Z", "valid_until": "2026-02-01T00:00:00Z"}, "valid_until"),
    ("state", {"known_from": "2026-01-01T00:00:00Z"}, "known_from"),
    ("state", {"known_until": "2025-01-01T00:00:00Z"}, "known_until"),
    ("state", {"place": "nowhere"}, "place"),
    ("state", {"pinned": 1}, "pinned"),
    ("state", {"ended": "lost"}, "ended"),
    ("state", {"version": 3}, "version"),
    ("state", {"sequence": -1}, "sequence"),
    ("change", {"seq": 0}, "seq"),
    ("change", {"at": "yesterday"}, "at"),
    ("change", {"ids": "first"}, "ids"),
    ("link", {"weight": True}, "weight"),
    ("link", {"source_is": "thing"}, "source_is"),
    ("link", {"id": 5}, "id"),
    ("fact", {"subject": " "}, "subject"),
    ("fact", {"confidence": 2}, "confidence"),
    ("usage", {"accesses": 1.5}, "accesses"),
    ("usage", {"rewards": "many"}, "rewards"),
    ("record", {"value": None}, "value"),
    ("record", {"value": 3}, "value.name"),
    ("purged", {"known_from": "2020-01-01T00:00:00Z"}, "known_from"),
    ("change", {"line": "chnage"}, "line"),
]


@pytest.mark.parametrize(("what", "values", "parameter"), WRONG)
def test_a_wrong_value_is_told_with_its_line_and_nothing_is_written(
    opens: Opens, exported: Path, what: str, values: dict[str, Any], parameter: str
) -> None:
    number = 0

    def spoil(lines: Lines) -> None:
        nonlocal number
        line = of(lines, what)
        number = lines.index(line) + 1
        line.update(values)

    copy = opens("copy")
    path = changed(exported, spoil)
    with pytest.raises(TransferError, match="nothing was imported") as refused:
        copy.import_(path)
    assert (number, parameter) in [(problem.line, problem.parameter) for problem in problems_of(refused)]
    assert all(problem.expected and problem.received for problem in problems_of(refused))
    assert everything(copy)["journal"] == []
    report = copy.import_(path, on_error="skip")
    assert report.problem_count == len(problems_of(refused))
    assert all(finding.well for finding in copy.core.store.check())


def test_every_problem_is_counted_and_the_first_hundred_are_told(opens: Opens, tmp_path: Path) -> None:
    notes = opens("notes")
    notes.remember_many({"text": f"number {n}", "id": f"m{n}"} for n in range(300))
    notes.export(tmp_path / "out.jsonl")

    def spoil(lines: Lines) -> None:
        for line in lines[3::2]:
            line["importance"] = "x"

    copy = opens("copy")
    path = changed(tmp_path / "out.jsonl", spoil)
    with pytest.raises(TransferError, match="300 problems") as refused:
        copy.import_(path)
    assert len(problems_of(refused)) == 100
    json.dumps(refused.value.as_dict())
    report = copy.import_(path, on_error="skip")
    assert report.problem_count == 300
    assert report.left["memories"] == {"broken in the file": 300}


def test_half_of_the_lines_broken_keeps_what_is_whole(opens: Opens, tmp_path: Path) -> None:
    notes = opens("notes")
    for n in range(20):
        notes.remember(f"number {n}", id=f"m{n}")
    notes.update("m2", text="later")
    notes.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_bytes().splitlines()
    broken = {n for n, line in enumerate(lines) if any(f'"m{odd}"'.encode() in line for odd in range(1, 20, 2))}
    written = [line if n not in broken or b'"change"' in line else line[:20] for n, line in enumerate(lines[:-1])]
    copy = opens("copy")
    report = copy.import_(sealed(tmp_path / "out.jsonl", written), on_error="skip")
    assert report.problem_count == 20
    assert {problem.line for problem in report.problems} == {n + 1 for n in broken if b'"change"' not in lines[n]}
    assert sorted(memory.id for memory in copy.list()) == sorted(f"m{even}" for even in range(0, 20, 2))
    assert report.added["memories"] == 10
    assert copy.get("m2@1") is not None


def test_a_memory_whose_end_is_missing_is_not_brought_back_by_that(opens: Opens, exported: Path) -> None:
    """With its remaining lines alone, the removed memory would come back."""

    def lose_the_removal(lines: Lines) -> None:
        lines.remove(next(line for line in lines if line.get("ended") == "removed" and line["line"] == "state"))

    copy = opens("copy", session="s1")
    path = changed(exported, lose_the_removal)
    with pytest.raises(TransferError) as refused:
        copy.import_(path)
    assert "another state of this id" in str(problems_of(refused)[0])
    report = copy.import_(path, on_error="skip")
    assert report.left["memories"] == {"broken in the file": 1}
    assert report.left["facts"] == {"names a memory that is not here": 1}
    assert report.left["links"] == {"names a memory that is not here": 1}
    assert copy.get("second", include_removed=True) is None


def test_a_line_that_was_changed_by_hand_breaks_the_seal(opens: Opens, exported: Path) -> None:
    exported.write_bytes(exported.read_bytes().replace(b"We chose JWT.", b"We chose PAS."))
    with pytest.raises(TransferError) as refused:
        opens("copy").import_(exported)
    [problem] = problems_of(refused)
    assert problem.parameter == "sha256"
    report = opens("copy").import_(exported, on_error="skip")
    assert report.problems[0].parameter == "sha256"
    assert report.added["memories"] == 4


def test_counts_that_do_not_agree_are_told(opens: Opens, exported: Path) -> None:
    lines = exported.read_bytes().splitlines(keepends=True)
    end = json.loads(lines[-1])
    end["counts"]["state"] += 1
    exported.write_bytes(b"".join(lines[:-1]) + json.dumps(end).encode() + b"\n")
    with pytest.raises(TransferError) as refused:
        opens("copy").import_(exported)
    assert [problem.parameter for problem in problems_of(refused)] == ["counts"]


def test_what_follows_the_end_is_told(opens: Opens, exported: Path) -> None:
    exported.write_bytes(exported.read_bytes() + b"{}\n")
    with pytest.raises(TransferError) as refused:
        opens("copy").import_(exported)
    assert "nothing after the end" in str(problems_of(refused)[0])


def test_one_id_for_two_memories_is_told(opens: Opens, exported: Path) -> None:
    def rename(lines: Lines) -> None:
        for line in lines:
            if line.get("id") == "third":
                line["id"] = "first"

    with pytest.raises(TransferError) as refused:
        opens("copy").import_(changed(exported, rename))
    assert {problem.parameter for problem in problems_of(refused)} & {"id", "known_from", "version"}


def test_a_file_that_changes_while_it_is_read_is_refused(opens: Opens, exported: Path) -> None:
    copy = opens("copy")

    def edit(done: int, whole: int) -> None:
        if done == whole // 2:
            text = exported.read_text()
            exported.write_text(text.replace("We chose JWT.", "We chose ABC."))

    with pytest.raises(TransferError, match="changed while it was read"):
        copy.import_(exported, progress=edit)
    assert everything(copy)["journal"] == []


def test_spaces_windows_line_ends_and_any_order_of_fields_are_read(opens: Opens, exported: Path) -> None:
    lines = [json.dumps(dict(reversed(line.items())), indent=None).encode() + b"\r" for line in read(exported)[:-1]]
    sealed(exported, lines)
    text = exported.read_bytes().rpartition(b'"counts"')[2]
    assert b"{}" in text
    counts = json.dumps(read_counts(lines)).encode()
    exported.write_bytes(exported.read_bytes().replace(b'"counts": {}', b'"counts": ' + counts))
    assert opens("copy").import_(exported).added["memories"] == 4


def read_counts(lines: list[bytes]) -> dict[str, int]:
    kinds = [json.loads(line).get("line") for line in lines]
    return {kind: kinds.count(kind) for kind in kinds if kind}
