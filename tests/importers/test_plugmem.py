"""plugmem: lines as its CLI writes them; `fixtures/plugmem.jsonl` holds facts and an edge that the engine of
plugmem 0.12 exported, with earlier times.
"""

from pathlib import Path

import pytest

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.importers import import_from

EXPORT = Path(__file__).parent / "fixtures" / "plugmem.jsonl"


def test_facts_and_edges_of_the_engine_arrive(bank: Bank) -> None:
    tried = import_from(bank, "plugmem", EXPORT, dry_run=True)
    report = import_from(bank, "plugmem", EXPORT)
    assert tried.memories == report.memories == {"new": 2} and tried.facts == report.facts == {"new": 1}
    [tokio] = [memory for memory in bank.list() if memory.entities]
    assert (tokio.text, tokio.tags, tokio.entities) == ("the user prefers tokio", ("pref", "lang"), ("user",))
    assert (tokio.at.year, tokio.meta["uri"]) == (2025, "s3://x/n.txt") and tokio.times.valid_from == tokio.at
    [fact] = bank.facts.query()
    assert (fact.subject, fact.predicate, fact.object, fact.memory) == ("user", "prefers", "tokio", tokio.id)
    assert import_from(bank, "plugmem", EXPORT).memories == {"unchanged": 2}


def test_other_databases_do_not_overwrite_by_their_numbers(bank: Bank, tmp_path: Path) -> None:
    import_from(bank, "plugmem", EXPORT)
    other = tmp_path / "other.jsonl"
    other.write_text('{"kind": "fact", "id": 0, "text": "uses rust"}\n{"kind": "edge", "src": "a"}\n{"kind": "fact"}\n')
    report = import_from(bank, "plugmem", other)
    assert report.memories == {"new": 1} and report.problem_count == 2 and bank.count() >= 3


def test_database_itself_is_refused_with_the_command(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "agent.plugmem").write_bytes(b"\0" * 64)
    with pytest.raises(TransferError, match="no export of plugmem") as refused:
        import_from(bank, "plugmem", tmp_path / "agent.plugmem")
    assert "`plugmem-cli export` wrote: run it with --db agent.plugmem" in str(refused.value.hint)
