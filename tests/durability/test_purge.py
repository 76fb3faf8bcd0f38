"""After a purge, no file of the data folder holds the text or its rare terms, or the receipt names the file."""

import random
from collections.abc import Iterable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.durability.processes import working

import pieria
from pieria.bank import Bank
from pieria.language.analyser import terms

TEXT = "The zephyrquokka hid the brindlewolf under Ångströmkäfer."
WORDS = ("zephyrquokka", "brindlewolf", "ngströmkäfer", "hid the", *terms(TEXT)[1:3])
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "latin-1")


def holding(folder: Path, words: Iterable[str]) -> set[tuple[str, str]]:
    """Return (file, word) for each word found in a file, in any case and encoding."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            for word in words:
                if any(word.lower().encode(encoding) in content for encoding in ENCODINGS):
                    found.add((str(path.relative_to(folder)), word))
    return found


def fill(bank: Bank, size: int = 300) -> None:
    chance = random.Random(1)
    words = [f"w{n:03}" for n in range(200)]
    bank.remember_many({"text": " ".join(chance.choices(words, k=chance.randrange(3, 60)))} for _ in range(size))


def check_erased(bank: Bank, words: Iterable[str] = WORDS) -> None:
    assert holding(bank.data, words) == set()
    assert len(bank.recall(" ".join(words))) == 0
    assert bank.doctor().well


def test_a_purged_text_is_in_no_file(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        fill(bank)
        memory = bank.remember(TEXT, tags=["zephyrquokka"], entities=["Brindlewolf"], title="brindlewolf title",
                               context="of the brindlewolf", source="brindlewolf.txt", author="brindlewolf",
                               meta={"brindlewolf": ["zephyrquokka"]}, body={"brindlewolf": 1})  # fmt: skip
        fill(bank)
        assert holding(tmp_path, WORDS)
        receipt = bank.purge(memory.id)
        assert receipt.unreached == ()
        assert receipt.erased["memories"] == receipt.erased["versions"] == 1
        check_erased(bank)
        assert [change.ids for change in bank.changes()][-1] == (memory.id,)
    assert holding(tmp_path, WORDS) == set()


def test_a_purged_fact_is_in_no_file(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        fill(bank, 50)
        fact = bank.facts.add("Zephyrquokka", "hid_the", "brindlewolf", source="brindlewolf.txt")
        bank.facts.add("Zephyrquokka", "hid_the", "brindlewolf", valid_from="2020-01-01")
        bank.facts.remove(fact.id, reason="the zephyrquokka asked")
        fill(bank, 50)
        assert holding(tmp_path, WORDS)
        assert bank.facts.purge(fact.id).unreached == ()
        assert holding(tmp_path, (*WORDS, "hid_the")) == set()
        assert bank.doctor().well
    assert holding(tmp_path, (*WORDS, "hid_the")) == set()


def test_every_version_and_revision_goes(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        fill(bank, 100)
        first = bank.remember("The plain heron stood.")
        bank.update(first.id, text=TEXT, reason="brindlewolf")
        bank.update(first.id, text="Another plain heron stood.")
        second = bank.revise(first.id, text=f"{TEXT} Revised.", reason="the zephyrquokka again")
        bank.remove(second.id, reason="brindlewolf")
        fill(bank, 100)
        receipt = bank.purge(first.id)
        assert {first.id, second.id} == {*receipt.ids, *receipt.also}
        assert receipt.erased["versions"] == 4
        check_erased(bank, (*WORDS, "plain heron"))


@pytest.mark.parametrize("purged", ["the first", "the revision"])
def test_a_revision_that_was_undone_goes_too(tmp_path: Path, purged: str) -> None:
    """An undone revision keeps its text on record, so a purge must find it there."""
    with pieria.open("notes", data=tmp_path) as bank:
        first = bank.remember("The brindlewolf, at first.")
        second = bank.revise(first.id, text=TEXT)
        bank.undo(bank.changes()[-1].seq)
        receipt = bank.purge(first.id if purged == "the first" else second.id)
        assert {first.id, second.id} == {*receipt.ids, *receipt.also}
        check_erased(bank)


def test_what_was_drawn_from_it_goes(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember(TEXT)
        summary = bank.remember("In short: brindlewolf.", kind="summary")
        further = bank.remember("Shorter: zephyrquokka.", kind="summary")
        other = bank.remember("Another heron.")
        bank.link(summary.id, memory.id, "provenance")
        bank.link(further.id, summary.id, "provenance")
        bank.link(other.id, memory.id, "related", label="a brindlewolf label", meta={"zephyrquokka": 1})
        bank.facts.add("zephyrquokka", "hides", "brindlewolf", memory=memory.id, source="brindlewolf")
        bank.facts.add("zephyrquokka", "hunts", "at night", memory=summary.id)
        bank.touch([memory.id, summary.id])
        receipt = bank.purge(memory.id)
        assert set(receipt.also) == {summary.id, further.id}
        assert dict(receipt.erased) == {"memories": 3, "versions": 3, "links": 3, "facts": 2, "usage": 2}
        check_erased(bank)
        assert [memory.id for memory in bank.list()] == [other.id]


def test_a_term_leaves_every_segment_of_the_text_index(tmp_path: Path) -> None:
    """Write in many transactions, so that the index has many segments, and purge from the middle."""
    with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
        words = ["zephyrquokka" + "abcdefghij"[n // 12] + "klmnopqrstuv"[n % 12] for n in range(120)]
        ids = [bank.remember(f"heron number {n} {word} by the water").id for n, word in enumerate(words)]
        purged = list(range(0, 120, 3))
        for n in purged[:20]:
            bank.purge(ids[n])
        bank.purge([ids[n] for n in purged[20:]])
        check_erased(bank, [words[n] for n in purged])
        kept = [word for n, word in enumerate(words) if n not in purged]
        assert all(len(bank.recall(word)) == 1 for word in kept)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 5])
def test_thousands_purged_at_random_leave_nothing_in_the_corners_of_pages(tmp_path: Path, seed: int) -> None:
    """SQLite moves rows between pages. No copy may stay at the old position."""
    chance = random.Random(seed)
    words = [f"w{n:03}" for n in range(500)]
    size = 2_000 if seed == 1 else 3_000

    def text(n: int) -> str:
        before, after = chance.randrange(5, 60), chance.randrange(300 if chance.random() < 0.1 else 20)
        return " ".join([*chance.choices(words, k=before), f"zq{n:05}xv", *chance.choices(words, k=after)])

    with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
        drafts = [{"text": text(n), "tags": [f"tagzq{n:05}xv"], "id": f"id{n}"} for n in range(size)]
        for start in range(0, size, 37):
            bank.remember_many(drafts[start : start + 37])
        gone = chance.sample(range(size), size // 2)
        for start in range(0, len(gone), 250):
            assert bank.purge([f"id{n}" for n in gone[start : start + 250]]).unreached == ()
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert [n for n in gone if f"zq{n:05}xv".encode() in content] == []


def hold_a_read(pipe: Connection, folder: str) -> None:
    with pieria.open("notes", data=folder) as bank, bank.core.store.reading() as reader:
        pipe.send(reader.head().documents)
        assert pipe.recv() == "let go"


@pytest.mark.slow
def test_the_receipt_says_what_another_reader_kept_it_from(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"busy_seconds": 5}) as bank:
        fill(bank, 50)
        memory = bank.remember(TEXT)
        with working(hold_a_read, str(tmp_path)) as reader:
            assert reader.receive() == 51
            receipt = bank.purge(memory.id)
            left = {file for file, _ in holding(tmp_path, WORDS)}
            assert left <= {"notes.db", "notes.db-wal"}
            assert left
            assert all(any(line.startswith(file) for line in receipt.unreached) for file in left), receipt.unreached
            assert bank.get(memory.id) is None
            reader.pipe.send("let go")
            reader.finish()
        other = bank.remember("another heron")
        assert bank.purge(other.id).unreached == ()
        check_erased(bank)


@pytest.mark.slow
def test_a_reader_in_a_thread_of_this_process_is_told_of_too(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"busy_seconds": 5}) as bank:
        memory = bank.remember(TEXT)
        with bank.core.store.reading() as reader:
            assert reader.head().documents == 1
            receipt = bank.purge(memory.id)
            left = {file for file, _ in holding(tmp_path, WORDS)}
            assert all(any(line.startswith(file) for line in receipt.unreached) for file in left), receipt.unreached
        bank.purge(bank.remember("another").id)
        check_erased(bank)


@pytest.mark.slow
def test_closing_leaves_nothing_either(tmp_path: Path) -> None:
    with closing(pieria.open("notes", data=tmp_path, settings={"busy_seconds": 5})) as bank:
        memory = bank.remember(TEXT)
        with working(hold_a_read, str(tmp_path)) as reader:
            reader.receive()
            bank.purge(memory.id)
            reader.pipe.send("let go")
            reader.finish()
    assert holding(tmp_path, WORDS) == set()


def test_copies_are_named_by_the_receipt(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember(TEXT)
        bank.export(tmp_path / "exports" / "notes.jsonl")
        bank.export(tmp_path / "exports" / "deep" / "er" / "notes.jsonl")
        bank.backup(tmp_path / "notes.backup")
        bank.backup(tmp_path / "exports" / "copy.db")
        receipt = bank.purge(memory.id)
        left = {file for file, _ in holding(tmp_path, WORDS)}
        assert left == {"exports/notes.jsonl", "exports/deep/er/notes.jsonl", "notes.backup", "exports/copy.db"}
        told = " ".join(receipt.unreached)
        assert {file for file in left if Path(file).name not in told} == set()
        assert "exports/deep/er/notes.jsonl" in told


def test_a_purge_in_the_user_s_own_bank_reaches_it(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember(TEXT, scope="user")
        assert {file for file, _ in holding(tmp_path, WORDS)} <= {"@me.db", "@me.db-wal"}
        assert bank.purge(memory.id).unreached == ()
        check_erased(bank)


def test_what_was_redacted_cut_or_refused_was_never_there(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "Zq7" * 30
    with pieria.open("notes", data=tmp_path, settings={"secrets": "redact"}) as bank:
        bank.remember(f"Told <private>{TEXT}</private> and the key {secret} too.")
        bank.scratchpad.write(f"<private>{TEXT}</private> rest")
        assert holding(tmp_path, (*WORDS, secret)) == set()


def test_a_cleared_scratchpad_is_gone(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.scratchpad.write(TEXT)
        assert bank.scratchpad.clear() == 1
        bank.purge(bank.remember("another").id)
        check_erased(bank)


def test_a_purged_id_does_not_come_back_unasked(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember(TEXT, id="gone")
        exported = tmp_path / "exports" / "notes.jsonl"
        bank.export(exported)
        bank.purge(memory.id)
        with pytest.raises(pieria.errors.ConflictError):
            bank.remember("another text", id="gone")
        bank.import_(exported, mode="merge")
        assert bank.get("gone") is None
        exported.unlink()
        check_erased(bank)
