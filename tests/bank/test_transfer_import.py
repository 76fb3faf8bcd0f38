"""Import into an empty bank: it becomes the exported bank, and errors in a file are reported by line."""

import json
import os
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.bank.transfer_files import everything, of, read, sealed
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.errors import ClosedError, InputError, NewerVersionError, PieriaError, TransferError
from pieria.record.link import Place
from pieria.transfer.lines import Problem

SECRET = "AKIA" + "QWERTYUIOPASDFGH"
Opens = Callable[..., Bank]


class Ticking(HandClock):
    """A clock that advances one second with each reading."""

    def __call__(self) -> datetime:
        self.move(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def notes(opened: Opens) -> Bank:
    return opened("notes", session="s1")


@pytest.fixture
def copy(opened: Opens) -> Bank:
    return opened("copy", session="s1")


@pytest.fixture
def exported(notes: Bank, tmp_path: Path) -> Path:
    """Return the export of a bank with rows of every kind."""
    bank = notes
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


@pytest.fixture
def numbered(notes: Bank, tmp_path: Path) -> Path:
    """Return the export of a bank with 600 memories."""
    notes.remember_many({"text": f"number {n}", "id": f"m{n}"} for n in range(600))
    return notes.export(tmp_path / "out.jsonl").path


def refusal(bank: Bank, path: Path) -> list[Problem]:
    """Check that the file is refused and the bank unchanged, and return the problems."""
    before = everything(bank)
    with pytest.raises(TransferError, match="nothing was imported") as refused:
        bank.import_(path)
    assert everything(bank) == before
    json.dumps(refused.value.as_dict())
    assert SECRET not in str(refused.value.as_dict())
    return [problem for problem in refused.value.problems if isinstance(problem, Problem)]


def test_every_row_comes_back_with_its_times(notes: Bank, copy: Bank, exported: Path) -> None:
    report = copy.import_(exported, trusted=True)
    original, rows = everything(notes), everything(copy)
    for table in ("link", "fact", "usage", "record", "journal", "purged"):
        assert rows[table] == original[table]
    for table in ("content", "state"):
        assert [{**row, "row": 0} for row in rows[table]] == [{**row, "row": 0} for row in original[table]]
    assert (report.bank, report.changes, report.problem_count) == ("notes", (1, 17), 0)
    assert report.added == {"memories": 4, "links": 3, "facts": 1, "usage": 2, "records": 4, "purged": 1}
    assert (report.replayed, report.versions, copy.doctor().well) == (True, 5, True)
    assert [entry.content for entry in copy.scratchpad.read()] == ["to do"]
    assert copy.facts.aliases() == {"M.": "Maya"}
    for change in notes.changes():
        then = [memory.text for memory in notes.list(known_at=change.at)]
        assert [memory.text for memory in copy.list(known_at=change.at)] == then
    assert copy.get("first@1") is not None
    assert copy.recall("JWT")[0].memory.text == "We chose JWT, rotated daily."
    assert [memory.text for memory in copy.history("third")] == ["A mistake.", "A mistake."]
    # The copy lives on from there.
    assert copy.remember("something new").known_from > copy.changes()[-2].at
    assert copy.changes()[-1].seq == 18
    assert copy.restore("second").text == "Maya works on billing."
    with pytest.raises(PieriaError, match="purged"):
        copy.remember("again", id="gone")


def test_open_file_is_read_like_a_path(copy: Bank, opened: Opens, exported: Path) -> None:
    copy.import_(exported)
    by_bytes, by_file = opened("bytes"), opened("file")
    held = BytesIO(exported.read_bytes())
    report = by_bytes.import_(held)
    with exported.open("rb") as file:
        file.read(10)
        by_file.import_(file)
        assert not file.closed
    assert everything(copy) == everything(by_bytes) == everything(by_file)
    assert (str(report.path), report.replayed, held.closed) == ("-", True, False)
    for content, looks in ((b"", "empty"), (b"\x1f\x8b", "gzip")):
        with pytest.raises(TransferError, match=looks):
            copy.import_(BytesIO(content))
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe, pytest.raises(InputError, match="path"):
        copy.import_(pipe)


def test_example_of_the_documentation_is_an_export(copy: Bank, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "export-format.md").read_text()
    example = page.partition("```\n")[2].partition("```")[0].splitlines()
    path = sealed(tmp_path / "out.jsonl", [json.loads(line) for line in example[:-1]])
    assert read(path)[-1]["counts"] == json.loads(example[-1])["counts"]
    copy.import_(path)
    text = "We chose JWT for all new APIs."
    assert [(memory.text, memory.pinned) for memory in copy.history("01k")] == [(text, False), (text, True)]
    header, *between, _ = read(copy.export(tmp_path / "again.jsonl").path)
    assert between == [json.loads(line) for line in example[1:-1]]
    assert header.keys() == json.loads(example[0]).keys()


def test_past_that_no_write_could_follow_is_known_from_now(notes: Bank, opened: Opens, exported: Path) -> None:
    whole = exported.read_text()
    for year in (1, 3000):
        exported.write_text(whole.replace('"2026-03', f'"{year:04}-03'))
        copy = opened(f"copy{year}")
        report = copy.import_(sealed(exported, read(exported)[:-1]))
        assert (report.replayed, report.problem_count, copy.count()) == (False, 0, notes.count())
        assert copy.remember("something new").known_from.year == 2026


def test_dry_run_writes_nothing_and_reports_the_same(copy: Bank, opened: Opens, exported: Path) -> None:
    rehearsed = copy.import_(exported, dry_run=True)
    assert (everything(copy)["journal"], copy.count()) == ([], 0)
    assert {**rehearsed.as_dict(), "dry_run": False} == copy.import_(exported).as_dict()
    nothing = opened("copy2").import_(opened("empty").export(exported).path)
    assert nothing.changes is nothing.as_dict()["changes"] is None


def test_progress_counts_the_bytes_of_two_readings(copy: Bank, numbered: Path) -> None:
    size = numbered.stat().st_size
    told: list[tuple[int, int]] = []

    def fail(done: int, whole: int) -> None:
        if done > size:
            raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        copy.import_(numbered, progress=fail)
    assert everything(copy)["journal"] == []
    report = copy.import_(numbered, progress=lambda *step: told.append(step))
    assert (report.added["memories"], told[-1]) == (600, (2 * size, 2 * size))
    assert told == sorted(told) and len(told) > 4


def test_memories_of_the_user_become_those_of_the_bank(copy: Bank, opened: Opens, tmp_path: Path) -> None:
    me = opened("@me")
    kept = me.remember("I like tea.")
    copy.import_(me.export(tmp_path / "me.jsonl").path)
    assert (kept.scope, copy.history(kept.id)[-1].scope) == ("user", "bank")


def test_private_text_and_secrets_are_screened_on_the_way_in(opened: Opens, exported: Path) -> None:
    lines = read(exported)[:-1]
    content = of(lines, "content")
    content["text"] = f"the key is {SECRET}"
    strict = opened("strict", secrets="refuse")
    [problem] = refusal(strict, sealed(exported, lines))
    assert (problem.line, problem.parameter, problem.expected) == (3, "text", "a text without secrets")
    assert strict.import_(exported, on_error="skip").left["memories"] == {"broken in the file": 1}
    assert strict.get("first") is None
    content["text"] = f"kept <private>not this</private> and {SECRET}"
    content["meta"] = {"note": "<private>nor this</private>x"}
    content["flags"] = ["seen:before"]
    of(lines, "record", -1)["value"]["content"] = f"the key is {SECRET}"
    copy = opened("copy", secrets="redact")
    copy.import_(sealed(exported, lines))
    first, kept = copy.history("first")[0], json.dumps(everything(copy))
    assert not [said for said in (SECRET, "not this", "nor this") if said in kept]
    assert first.text.startswith("kept and [secret:")
    assert first.flags[:2] == ("seen:before", "private:cut")
    assert [flag for flag in first.flags if flag.startswith("secret:")]


LOOKS: dict[str, list[bytes]] = {
    "empty": [b"", b" \n\n"], "gzip": [b"\x1f\x8b\x08\0"], "zip": [b"PK\x03\x04"], "binary": [b"\0\1\2\3"],
    "text of another kind": [b"id,text\n1,hello\n"], "UTF-16": ["\ufeffhello".encode("utf-16")],
    "JSON of another kind": [b'{"memories": []}\n', b"[1, 2]\n", b"[" * 100_000],
    "mnemosyne_import": [b'{"mnemosyne_export": {"version": "1.3"}}'],
    "mem-import": [b'{"version": 1, "observations": []}'], "docs/importing.md": [b'{"results": [{"memory": "Tea."}]}'],
}  # fmt: skip


def test_other_files_are_refused_with_what_they_look_like(copy: Bank, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for looks, contents in LOOKS.items():
        for content, on_error in product(contents, ("stop", "skip")):
            path.write_bytes(content)
            with pytest.raises(TransferError) as refused:
                copy.import_(path, on_error=on_error)
            assert looks in f"{refused.value} {refused.value.hint}"
    with pytest.raises(TransferError, match="there is no such file"):
        copy.import_(tmp_path / "nothing.jsonl")
    with pytest.raises(TransferError, match="folder"):
        copy.import_(tmp_path)


def test_newer_and_bad_formats_are_refused(copy: Bank, exported: Path) -> None:
    header, *lines, _ = read(exported)
    for format in (None, "1", True, 0, -1, 2):
        error = NewerVersionError if format == 2 else TransferError
        with pytest.raises(error, match="format"):
            copy.import_(sealed(exported, [{**header, "format": format}, *lines]), on_error="skip")
    copy.close()
    with pytest.raises(ClosedError):
        copy.import_(exported)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    *json.loads(Path(__file__).with_name("wrong_lines.json").read_text()),
    ("content", {"text": "x" * (1 << 20) + "x"}, "text"),
]
"""The kind of a line, the wrong values that it gets, and the parameter that the problem names."""


def test_wrong_value_is_reported_with_its_line(copy: Bank, opened: Opens, exported: Path) -> None:
    whole = exported.read_bytes()
    for case, (what, values, parameter) in enumerate(WRONG):
        exported.write_bytes(whole)
        lines = read(exported)[:-1]
        line = of(lines, what)
        line.update(values)
        problems = refusal(copy, sealed(exported, lines))
        assert (lines.index(line) + 1, parameter) in [(problem.line, problem.parameter) for problem in problems]
        assert all(problem.expected and problem.received for problem in problems)
        other = opened(f"copy{case}")
        assert other.import_(exported, on_error="skip").problem_count == len(problems)
        assert all(finding.well for finding in other.core.store.check())


def test_all_problems_are_counted_and_a_hundred_reported(copy: Bank, numbered: Path) -> None:
    lines = read(numbered)[:-1]
    for line in lines[3::2]:
        line["importance"] = "x"
    assert len(refusal(copy, sealed(numbered, lines))) == 100
    report = copy.import_(numbered, on_error="skip")
    assert (report.problem_count, report.left["memories"]) == (600, {"broken in the file": 600})


def test_memory_whose_end_is_missing_does_not_come_back(copy: Bank, exported: Path) -> None:
    """With its remaining lines alone, the removed memory would come back."""
    header, *lines, _ = read(exported)
    twice = [{**line, "id": "first"} if line.get("id") == "third" else line for line in lines]
    left = [line for line in lines if (line["line"], line.get("ended")) != ("state", "removed")]
    assert "another state of this id" in str(refusal(copy, sealed(exported, [header, *left]))[0])
    report = copy.import_(exported, on_error="skip")
    assert report.left["memories"] == {"broken in the file": 1}
    assert report.left["facts"] == report.left["links"] == {"names a memory that is not here": 1}
    assert copy.get("second", include_removed=True) is None
    # Nor do two memories become one that share an id.
    problems = refusal(copy, sealed(exported, [header, *twice]))
    assert {problem.parameter for problem in problems} & {"id", "known_from", "version"}


def test_changes_by_hand_break_the_seal(copy: Bank, exported: Path) -> None:
    whole = exported.read_bytes()
    *lines, last = whole.splitlines(keepends=True)
    end = json.loads(last)
    end["counts"]["state"] += 1
    exported.write_bytes(b"".join(lines) + json.dumps(end).encode() + b"\n")
    assert [problem.parameter for problem in refusal(copy, exported)] == ["counts"]
    exported.write_bytes(whole + b"{}\n")
    assert "nothing after the end" in str(refusal(copy, exported)[0])
    exported.write_bytes(whole.replace(b"We chose JWT.", b"We chose PAS."))
    assert [problem.parameter for problem in refusal(copy, exported)] == ["sha256"]
    report = copy.import_(exported, on_error="skip")
    assert (report.problems[0].parameter, report.added["memories"]) == ("sha256", 4)


def test_file_that_changes_while_it_is_read_is_refused(copy: Bank, exported: Path) -> None:
    def edit(done: int, whole: int) -> None:
        if done == whole // 2:
            exported.write_text(exported.read_text().replace("We chose JWT.", "We chose ABC."))

    with pytest.raises(TransferError, match="changed while it was read"):
        copy.import_(exported, progress=edit)
    assert everything(copy)["journal"] == []


def test_spaces_line_ends_and_order_of_fields_are_free(copy: Bank, exported: Path) -> None:
    lines = read(exported)
    sealed(exported, [json.dumps(dict(reversed(line.items()))).encode() + b"\r" for line in lines[:-1]])
    counts = json.dumps(lines[-1]["counts"]).encode()
    exported.write_bytes(exported.read_bytes().replace(b'"counts": {}', b'"counts": ' + counts))
    assert copy.import_(exported).added["memories"] == 4
