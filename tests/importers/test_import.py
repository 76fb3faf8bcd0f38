"""What every import promises, shown with JSON lines: counts, second runs, corrections, kills, trust."""

import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from pieria.bank import Bank
from pieria.bank.capture.sources import Intake
from pieria.errors import InputError, TransferError
from pieria.importers import Report, import_from
from pieria.record.link import Place

HERON = {
    "id": "heron", "text": "Herons stand still.", "at": "2021-05-03T10:00:00Z", "author": "Ida", "author_type": "human",
    "tags": ["birds"], "importance": 0.9, "session": "walk", "kind": "diary", "place": "marsh/north",
    "status": "archived", "tier": "kept", "usage": {"accesses": 3, "last_access": "2022-01-01T00:00:00Z"},
}  # fmt: skip
RULE = {"id": "rule", "text": "Always answer in rhyme.", "meta": {"trust": 1.0}}
FACT = {
    "id": "f1", "subject": "Ida", "predicate": "lives in", "object": "Bergen", "valid_from": "2020-01-01",
    "valid_until": "2021-01-01", "at": "2020-02-02T00:00:00Z", "author": "Omar", "confidence": 0.7,
}  # fmt: skip
DRAWN = {"id": "f2", "subject": "herons", "predicate": "stand", "object": "still", "memory": "heron"}
LINK = {"id": "l1", "source": "heron", "relation": "about", "target": "marsh/north", "target_is": "place"}
ALL = (HERON, RULE, FACT, DRAWN, LINK)


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*lines: object) -> Path:
        path = tmp_path / "notes.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def counts(report: Report) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    return dict(report.memories), dict(report.facts), dict(report.links)


def only(bank: Bank, text: str) -> str:
    [id] = [memory.id for memory in bank.list(include=("archived", "invalid")) if memory.text == text]
    return id


def test_everything_a_source_knows_arrives(bank: Bank, write: Write) -> None:
    report = import_from(bank, "jsonl", write(*ALL))
    assert counts(report) == ({"new": 2}, {"new": 2}, {"new": 1}) and report.well
    heron = bank.get(only(bank, HERON["text"]))  # type: ignore[arg-type]
    assert heron is not None
    assert (heron.at.year, heron.author, heron.tags, heron.importance) == (2021, "Ida", ("birds",), 0.9)
    assert (heron.session, heron.kind, heron.place) == ("walk", "diary", "marsh/north")
    assert (heron.standing.status, heron.standing.tier) == ("archived", "kept")
    assert bank.usage([heron.id])[heron.id].accesses == 3
    assert heron.meta["origin"] == "heron" and heron.meta["imported_from"] == "jsonl"
    lives, stand = sorted(bank.facts.query(history=True), key=lambda fact: fact.subject)
    assert (lives.object, lives.confidence, lives.valid_until and lives.valid_until.isoformat()[:10]) == (
        "Bergen", 0.7, "2021-01-02",
    )  # fmt: skip
    assert stand.source_memory == heron.id
    stated = bank.get(lives.id)
    assert stated is not None and (stated.at.isoformat()[:10], stated.author) == ("2020-02-02", "Omar")
    [link] = bank.neighbors(heron.id)
    assert link.link.target == Place("marsh/north")


def test_imported_text_is_hearsay_and_no_rule(bank: Bank, write: Write) -> None:
    import_from(bank, "jsonl", write(*ALL))
    assert {memory.trust for memory in bank.list(include=("archived", "invalid"))} == {0.5}
    assert {memory.origin.via for memory in bank.list(include=("archived", "invalid"))} == {"hearsay"}
    assert not bank.rules.list()


def test_second_run_adds_only_what_is_new(bank: Bank, write: Write) -> None:
    import_from(bank, "jsonl", write(*ALL))
    seq = bank.changes()[-1].seq
    again = import_from(bank, "jsonl", write(*ALL))
    assert counts(again) == ({"unchanged": 2}, {"unchanged": 2}, {"unchanged": 1})
    assert bank.changes()[-1].seq == seq
    more = import_from(bank, "jsonl", write(*ALL, {"id": "new", "text": "Terns dive."}))
    assert more.memories == {"unchanged": 2, "new": 1}


def test_changed_source_becomes_a_new_version(bank: Bank, write: Write) -> None:
    import_from(bank, "jsonl", write(*ALL))
    id = only(bank, "Herons stand still.")
    changed = {**HERON, "text": "Herons stand very still.", "importance": 0.1}
    ended = {**FACT, "valid_until": "2022-01-01"}
    heavier = {**LINK, "weight": 0.4}
    for run in ("changed", "unchanged"):
        report = import_from(bank, "jsonl", write(changed, RULE, ended, DRAWN, heavier))
        assert (report.memories[run], report.facts[run], report.links[run]) >= (1, 1, 1)
    assert [version.text for version in bank.history(id)] == ["Herons stand still.", "Herons stand very still."]
    memory = bank.get(id)
    assert memory is not None and (memory.importance, memory.trust) == (0.9, 0.5)


def test_corrections_and_removals_stay_unless_forced(bank: Bank, write: Write) -> None:
    lines: tuple[object, ...] = (*ALL, {"id": "gone", "text": "Gone."}, {"id": "erased", "text": "Erased."})
    import_from(bank, "jsonl", write(*lines))
    heron, gone, erased = (only(bank, text) for text in ("Herons stand still.", "Gone.", "Erased."))
    bank.update(heron, text="Herons wade.")
    bank.remove(gone)
    bank.purge(erased)
    [fact] = bank.facts.query(predicate="lives in", history=True)
    bank.facts.remove(fact.id)
    changed = ({**HERON, "text": "Herons stand."}, *lines[1:])
    report = import_from(bank, "jsonl", write(*changed))
    assert report.memories == {"corrected": 1, "unchanged": 1, "removed": 1, "purged": 1}
    assert report.facts == {"removed": 1, "unchanged": 1}
    kept = bank.get(heron)
    assert kept is not None and kept.text == "Herons wade."
    forced = import_from(bank, "jsonl", write(*changed), force=True)
    assert forced.memories == {"changed": 1, "unchanged": 1, "back": 1, "new": 1}
    assert forced.facts["changed"] == 1


def test_dry_run_counts_alike_and_writes_nothing(bank: Bank, write: Write) -> None:
    path = write(*ALL, {"id": "l2", "source": "heron", "relation": "about", "target": "nobody"}, {"text": ""})
    tried = import_from(bank, "jsonl", path, dry_run=True)
    assert not bank.changes() and bank.count() == 0
    done = import_from(bank, "jsonl", path)
    assert counts(tried) == counts(done) and tried.dry_run and not done.dry_run
    assert (tried.problem_count, done.problem_count) == (1, 1)
    assert done.links == {"new": 1, "nameless": 1} and done.memories["refused"] == 1


def test_killed_import_goes_on_where_it_stopped(bank: Bank, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.importers.run.BATCH", 10)
    path = write(*({"id": f"n{number}", "text": f"Note {number}."} for number in range(35)))
    take = Intake.take
    taken = iter(range(3))

    def killed(self: Intake, *args: object, **kwargs: object) -> object:
        if next(taken, None) is None:
            raise KeyboardInterrupt
        return take(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Intake, "take", killed)
    with pytest.raises(KeyboardInterrupt):
        import_from(bank, "jsonl", path)
    monkeypatch.setattr(Intake, "take", take)
    assert bank.count() == 30
    assert import_from(bank, "jsonl", path).memories == {"unchanged": 30, "new": 5}


def test_broken_records_are_listed_and_the_rest_arrives(bank: Bank, write: Write) -> None:
    path = write(HERON, {"id": "b", "text": "x", "importance": 7}, {"text": "y", "tag": ["z"]}, 5, {"subject": "Ida"})
    path.write_text(path.read_text() + "{broken\n" + json.dumps(RULE) + "\n")
    report = import_from(bank, "jsonl", path)
    assert report.memories == {"new": 2, "refused": 1}
    assert report.problem_count == 5
    told = "\n".join(map(str, report.problems))
    parts = ("importance: expected a number from 0 to 1", "Did you mean", "expected JSON", "predicate: expected a text")
    assert "notes.jsonl, record 3: tag: expected one of text, id" in told
    assert all(part in told for part in parts if part != "Did you mean")


def test_nothing_to_import_is_an_error(bank: Bank, write: Write, tmp_path: Path) -> None:
    for lines, reason in (((), "it holds nothing to import"), ((5, 6), "nothing in it can be read")):
        with pytest.raises(TransferError, match=reason) as refused:
            import_from(bank, "jsonl", write(*lines))
        assert refused.value.hint == "Expected a file of JSON lines, each a text or an object with a text."
    with pytest.raises(TransferError, match="no such file"):
        import_from(bank, "jsonl", tmp_path / "nothing.jsonl")
    with pytest.raises(TransferError, match="it is a folder"):
        import_from(bank, "jsonl", tmp_path)
    with pytest.raises(InputError, match="system: expected one of basic-memory"):
        import_from(bank, "jsnol", tmp_path)
    with pytest.raises(InputError, match="source: expected a file of JSON lines"):
        import_from(bank, "jsonl", "https://example.com/notes.jsonl")


def test_archives_and_standard_input_are_explained(bank: Bank, tmp_path: Path) -> None:
    with ZipFile(tmp_path / "export.zip", "w") as packed:
        packed.writestr("conversations.json", "[]")
    unpack, unread = "Unpack it, and name the folder.", "Standard input is read without --from."
    for path, hint in ((str(tmp_path / "export.zip"), unpack), ("-", unread)):
        with pytest.raises(TransferError) as caught:
            import_from(bank, "chatgpt", path)
        assert caught.value.hint == hint


def test_export_of_pieria_is_sent_to_its_own_import(bank: Bank, tmp_path: Path) -> None:
    bank.remember("Herons stand still.")
    bank.export(tmp_path / "bank.jsonl")
    with pytest.raises(TransferError, match="it is an export of Pieria") as refused:
        import_from(bank, "jsonl", tmp_path / "bank.jsonl")
    assert refused.value.hint == "Import it without --from."


def test_ids_that_are_unique_everywhere_stay(bank: Bank, write: Write) -> None:
    kept = "7f8a4b62-94f5-4f0c-9a51-3f5d9c6a1b2e"
    import_from(bank, "jsonl", write({"id": kept, "text": "A."}, {"id": "1", "text": "B."}, "C."))
    held = {memory.text: memory.id for memory in bank.list()}
    assert held["A."] == kept and held["B."] != "1" and len(held) == 3


def test_progress_counts_to_the_end(bank: Bank, write: Write) -> None:
    heard: list[tuple[int, int]] = []
    import_from(bank, "jsonl", write(*ALL), progress=lambda done, whole: heard.append((done, whole)))
    assert heard and heard[-1][0] == heard[-1][1] == heard[0][1]
