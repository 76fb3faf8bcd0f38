"""A test for each complaint of people who use palaces; the rest are tested with their tools."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask
from tests.toolsets.requirements import requirement

from pieria.toolsets import Banks, Host, Paths
from pieria.workspace import Workspace


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"embedder": "hashing"}


@pytest.fixture
def elsewhere(tmp_path: Path, clock: HandClock, settings: dict[str, Any]) -> Iterator[Host]:
    """Yield the same palace, opened like another process."""
    banks = Banks(Workspace(tmp_path / "data", settings, clock=clock), "other")
    yield Host(banks, "notes", "tuesday", Paths(tmp_path, (tmp_path,)))
    banks.close()


def file(ask: Ask, content: str, wing: str = "w", room: str = "r", **more: Any) -> str:
    return str(ask("mempalace_add_drawer", wing=wing, room=room, content=content, **more)["drawer_id"])


def found(ask: Ask, query: str, **more: Any) -> list[str]:
    return [one["drawer_id"] for one in ask("mempalace_search", query=query, **more)["results"]]


@requirement("complaint.corruption")
def test_nothing_beside_the_database_can_break(ask: Ask, host: Host, elsewhere: Host, tmp_path: Path) -> None:
    ids = [file(ask, f"Crate {number} holds {number * 7} kestrels.") for number in range(40)]
    host.bank.sync()
    kept = {path.name for path in (tmp_path / "data").iterdir() if path.stat().st_size}
    assert kept <= {"notes.db", "notes.db-wal", "notes.db-shm"}, "what SQLite keeps, and nothing else"
    told = ask("mempalace_search", at=elsewhere, query="crate with kestrels", limit=50)
    assert {one["drawer_id"] for one in told["results"]} == set(ids)
    assert {one["matched_via"] for one in told["results"]} == {"meaning"}


@requirement("complaint.divergence")
def test_stored_drawers_are_found_at_once_everywhere(ask: Ask, elsewhere: Host) -> None:
    for number in range(1, 31):
        id = file(ask, f"Crate {number} holds {number * 7} kestrels.")
        assert found(ask, f"crate {number} {number * 7}", at=elsewhere, limit=1) == [id]
        assert ask("mempalace_status", at=elsewhere)["total_drawers"] == number


@requirement("complaint.disk")
def test_palace_grows_no_larger_than_its_content(ask: Ask, host: Host, tmp_path: Path) -> None:
    def size() -> int:
        return sum(path.stat().st_size for path in (tmp_path / "data").iterdir())

    def round_of(number: int) -> None:
        texts = [f"Crate {n} of round {number} holds {n * 7} kestrels." for n in range(60)]
        memories = host.bank.remember_many({"text": text, "kind": "drawer", "place": "w/r"} for text in texts)
        ask("mempalace_delete_drawers", drawer_ids=[memory.id for memory in memories])

    round_of(0)
    after_one = size()
    for number in range(1, 4):
        round_of(number)
    assert size() - after_one < 180 * 400, "of what was deleted nothing stays but its id"


@requirement("complaint.lease")
def test_writers_lock_nobody_out(ask: Ask, host: Host, elsewhere: Host) -> None:
    id = file(ask, "Crate 1 holds kestrels.")
    with host.bank.core.store.writing():
        assert ask("mempalace_status", at=elsewhere)["total_drawers"] == 1
        assert found(ask, "kestrels", at=elsewhere) == [id]
    for where in (elsewhere, host, elsewhere):
        ask("mempalace_diary_write", at=where, agent_name="Tester", entry="Still writing.")
    assert ask("mempalace_diary_read", agent_name="Tester")["total"] == 3


SPOKEN = {
    "German": ("Die Rechnungen werden freitags verschickt.", "Wann wird eine Rechnung verschickt?"),
    "Russian": ("Совещание перенесли на пятницу.", "когда совещание?"),
    "Japanese": ("昨日、東京で田中さんに会いました。", "東京の田中さん"),
    "Arabic": ("الاجتماع يوم الجمعة في القاهرة.", "الاجتماع في القاهرة"),
    "Thai": ("การประชุมจัดขึ้นที่กรุงเทพ", "กรุงเทพ"),
}


@requirement("complaint.languages")
@pytest.mark.parametrize("settings", [{"embedder": "none"}, {"embedder": "hashing"}])
def test_any_language_is_found_by_its_words(ask: Ask) -> None:
    ids = {language: file(ask, text) for language, (text, _) in SPOKEN.items()}
    file(ask, "Nothing of this is said in English.")
    assert {language: found(ask, query)[0] for language, (_, query) in SPOKEN.items()} == ids


def broken(texts: list[str]) -> list[list[float]]:
    raise OSError("the model is not there")


@requirement("complaint.cold")
@pytest.mark.parametrize("models", [{"embedder": broken}])
@pytest.mark.parametrize("settings", [{}])
def test_palace_without_its_model_answers_by_words(ask: Ask) -> None:
    id = file(ask, "Crate 1 holds kestrels.")
    told = ask("mempalace_search", query="kestrels")
    assert [(one["drawer_id"], one["matched_via"]) for one in told["results"]] == [(id, "words")]
    assert told["warnings"]


@requirement("complaint.recency")
def test_newer_of_two_similar_drawers_comes_first(ask: Ask, clock: HandClock) -> None:
    for number, content in enumerate(("The password changes every 60 days.", "The password changes every 90 days.")):
        clock.move(days=20 * number)
        last = file(ask, content)
    assert found(ask, "how often does the password change?")[0] == last
    assert found(ask, "password", since="2026-03-20") == [last]
    assert last not in found(ask, "password", before="2026-03-20")


@requirement("complaint.decoration")
def test_every_filed_text_feeds_the_graph(ask: Ask, host: Host) -> None:
    file(ask, "Maya keeps the tokens.", wing="api", room="auth")
    ask("mempalace_diary_write", agent_name="Tester", entry="Maya reviewed the login.")
    host.bank.remember("Maya met Omar.", kind="turn", place="talks/monday", entities=["Maya", "Omar"])
    rows = ask("mempalace_traverse", start_room="auth")
    assert {row["room"]: row["connected_via"] for row in rows[1:]} == {
        "monday": ["both name: Maya"], "diary": ["both name: Maya"],
    }  # fmt: skip
    assert all(row["halls"] for row in rows)
