"""Complaints of MemPalace users about mining: each by its number, and why it cannot happen here."""

import tracemalloc
from pathlib import Path

import pytest
from tests.mining import written

from pieria import Bank
from pieria.mining import mine, miner


def many_turns(path: Path, sessions: int, turns: int, words: int = 8) -> Path:
    for session in range(sessions):
        about = {"sessionId": f"s{session}", "cwd": f"/home/maya/p{session % 3}"}
        lines = []
        for number in range(1, turns + 1):
            said = f"Turn {number} of {session}: " + "the heron waits in the reeds " * (words // 6 + 1)
            kind, content = ("user", said) if number % 2 else ("assistant", [{"type": "text", "text": said}])
            lines.append(written.claude_code_line(1, kind, content, uuid=f"{session}-{number}", **about))
        written.lines(path / f"s{session}.jsonl", lines)
    return path


@pytest.mark.slow
def test_6_no_wing_is_hidden_above_ten_thousand(bank: Bank, tmp_path: Path) -> None:
    report = mine(bank, many_turns(tmp_path / "logs", 12, 850), conversations=True)
    assert report.memories == {"new": 10_200}
    assert bank.count() == 10_200
    assert bank.places.counts() == {f"p{number}/claude-code": 3_400 for number in range(3)}


@pytest.mark.slow
def test_7_long_mine_takes_no_more_memory_than_a_short_one(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(miner, "BATCH", 25)

    def peak(folder: Path) -> int:
        tracemalloc.start()
        try:
            mine(bank, folder, conversations=True)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    short = peak(many_turns(tmp_path / "short", 1, 40, 150))
    long = peak(many_turns(tmp_path / "long", 1, 350, 150))
    # The second file is nine times as long.
    assert long < 2 * short


def test_8_no_passage_cuts_a_word_or_exceeds_the_model(bank: Bank, tmp_path: Path) -> None:
    from pieria.language.passages import LIMIT, passages

    text = "".join(f"## Part {n}\n\n" + "Uninterruptible herons notwithstanding. " * 50 + "\n\n" for n in range(20))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "long.md").write_text(text)
    mine(bank, tmp_path / "notes")
    kept = [memory.text for memory in bank.list(order="oldest", limit=100)]
    assert "".join(kept) == text
    words = set(text.split())
    assert {word for passage in kept for word in passage.split()} == words
    # Embedding cuts passages once more, at sentences.
    assert all(end - begin <= LIMIT for passage in kept for begin, end in passages(passage))


def test_12_mining_again_leaves_nothing_stale_or_twice(bank: Bank, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "rates.md").write_text("The rate is 7 %.\n")
    mine(bank, notes)
    before = bank.changes()[-1].at
    (notes / "rates.md").write_text("The rate is 8 %.\n")
    for _ in range(3):
        mine(bank, notes)
    assert [hit.memory.text for hit in bank.recall("the rate")] == ["The rate is 8 %.\n"]
    assert [hit.memory.text for hit in bank.recall("the rate", known_at=before)] == ["The rate is 7 %.\n"]
    # All that came from one source can be erased by it.
    [source] = bank.count(by="source")
    bank.purge([memory.id for memory in bank.list(source=source, include="invalid")])
    assert bank.count() == 0
    assert set(mine(bank, notes).memories) <= {"unchanged"}


def test_15_people_in_conversations_connect_rooms(bank: Bank, tmp_path: Path) -> None:
    for wing, said in (("a", "Maya moved to Lisbon."), ("b", "We should ask Maya about the export.")):
        (tmp_path / f"{wing}.txt").write_text(f"Omar: {said}\nEva: Yes.\n")
        mine(bank, tmp_path / f"{wing}.txt", conversations=True, place=f"{wing}/talk-{wing}")
    assert bank.places.naming("Maya") == {"a/talk-a": 1, "b/talk-b": 1}
