"""Basic Memory: notes as its own markdown writer spells them, with observations and relations."""

from pathlib import Path

import pytest

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.importers import found, import_from

COFFEE = """---
title: Coffee Brewing
type: guide
permalink: brewing/coffee-brewing
tags:
- coffee
created: '2025-02-03T09:00:00+01:00'
---

# Coffee Brewing

## Observations
- [technique] Bloom the grounds first #pour-over (from a barista)

## Relations
- part_of [[Breakfast]]
- pairs with [[Cake]] (on Sundays)
See [[brewing/water]].
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "main"
    (top / "brewing").mkdir(parents=True)
    (top / ".obsidian").mkdir()
    (top / "brewing" / "Coffee Brewing.md").write_text(COFFEE)
    (top / "brewing" / "water.md").write_text("---\ntitle: Water\npermalink: brewing/water\n---\nSoft water is best.\n")
    (top / "Breakfast.md").write_text("Eaten in the morning.\n")
    (top / ".obsidian" / "hidden.md").write_text("hidden")
    (top / "Outside.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "secret.md").write_text("secret")
    return top


def test_notes_arrive_with_times_tags_and_relations(bank: Bank, folder: Path) -> None:
    tried = import_from(bank, "basic-memory", folder, dry_run=True)
    report = import_from(bank, "basic-memory", folder)
    assert tried.memories == report.memories == {"new": 3}
    assert tried.links == report.links == {"new": 2}
    assert report.left == {"relations to notes that do not exist yet": 1} and report.well
    notes = {memory.title: memory for memory in bank.list()}
    coffee = notes["Coffee Brewing"]
    assert (coffee.at.isoformat()[:10], coffee.place) == ("2025-02-03", "main/brewing")
    assert (coffee.tags, coffee.meta["type"]) == (("coffee", "pour-over"), "guide")
    assert coffee.text.startswith("# Coffee Brewing") and coffee.trust == 0.5
    linked = {
        neighbor.memory.title: neighbor.link.relation for neighbor in bank.neighbors(coffee.id) if neighbor.memory
    }
    assert linked == {"Breakfast": "part_of", "Water": "links_to"}
    again = import_from(bank, "basic-memory", folder)
    assert (again.memories, again.links) == ({"unchanged": 3}, {"unchanged": 2})
    (folder / "Cake.md").write_text("Sweet.\n")
    (folder / "Breakfast.md").write_text("Eaten at eight.\n")
    more = import_from(bank, "basic-memory", folder)
    assert (more.memories, more.links["new"]) == ({"new": 1, "changed": 1, "unchanged": 2}, 1)


def test_broken_notes_are_listed_and_an_empty_folder_is_an_error(bank: Bank, folder: Path, tmp_path: Path) -> None:
    (folder / "bytes.md").write_bytes(b"\xff\xfe\xff")
    (folder / "front.md").write_text("---\ntags: [a\n---\ntext\n")
    (folder / "blank.md").write_text("---\ntitle: x\n---\n\n")
    report = import_from(bank, "basic-memory", folder)
    assert [problem.where for problem in report.problems] == ["bytes.md", "front.md"]
    assert report.memories == {"new": 3} and report.left["notes without text"] == 1
    (tmp_path / "empty").mkdir()
    with pytest.raises(TransferError, match="holds nothing to import") as refused:
        import_from(bank, "basic-memory", tmp_path / "empty")
    assert "project of Basic Memory" in str(refused.value.hint)
    with pytest.raises(TransferError, match="not a folder"):
        import_from(bank, "basic-memory", folder / "Breakfast.md")


def test_folder_is_found_where_it_usually_lies(folder: Path, tmp_path: Path) -> None:
    assert found({"BASIC_MEMORY_HOME": str(folder)}, tmp_path)["basic-memory"] == folder
    (tmp_path / "basic-memory").symlink_to(folder)
    assert found({}, tmp_path)["basic-memory"] == tmp_path / "basic-memory"
    assert "basic-memory" not in found({}, tmp_path / "nowhere")
