"""Obsidian: front matter, tags, times, and links between notes."""

import os
from pathlib import Path

import pytest

from pieria import Bank
from pieria.errors import TransferError
from pieria.importers import import_from

HOME = """---
title: The house
tags: [house, home/garden]
aliases: [Home]
created: 2024-05-01
rating: 5
---
The plumber is [[Ida]]. See also [[people/Ida|her]] and [the boat](sea/boat.md), but not [[Nobody]]. #urgent

```
[[Boat]] #code
```
"""


def vault(folder: Path) -> Path:
    for name, text in {
        "House.md": HOME, "people/Ida.md": "Ida works for Vega Rør. [[House]] `#no`", "sea/boat.md": "# Boat\n\nBlue.",
        "empty.md": "---\ntags: x\n---\n", "wrong.md": "---\na: [b\n---\nText.", ".obsidian/app.md": "Settings.",
        "plan.canvas": "{}",
    }.items():  # fmt: skip
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (folder / "bytes.md").write_bytes(b"\xff\xfe\xff")
    return folder


def test_notes_arrive_with_tags_times_and_links(bank: Bank, tmp_path: Path) -> None:
    folder = vault(tmp_path / "Notes")
    tried = import_from(bank, "obsidian", folder, dry_run=True)
    assert (bank.count(), tried.memories, tried.links) == (0, {"new": 3}, {"new": 3})
    report = import_from(bank, "obsidian", folder)
    assert (report.memories, report.links) == ({"new": 3}, {"new": 3})
    assert sorted(str(one).partition(":")[0] for one in report.problems) == ["bytes.md", "wrong.md"]
    assert report.left == {
        "files that are no notes": 1, "notes without a text": 1, "links to notes that are not in the vault": 1,
    }  # fmt: skip
    notes = {note.title: note for note in bank.list()}
    house, ida = notes["The house"], notes["Ida"]
    assert set(house.tags) == {"house", "home/garden", "urgent"} and house.text.startswith("The plumber")
    assert (house.at.date().isoformat(), house.meta["rating"], house.meta["aliases"]) == ("2024-05-01", "5", ["Home"])
    assert (house.files, house.place, ida.place) == (("House.md",), "Notes/general", "Notes/people")
    assert (ida.at.year, ida.tags, ida.trust) == (2023, (), 0.5)
    linked = {one.memory.title for one in bank.neighbors(house.id, direction="out") if one.memory is not None}
    assert linked == {"Ida", "boat"}
    assert import_from(bank, "obsidian", folder).memories == {"unchanged": 3}
    (folder / "House.md").write_text(HOME.replace("plumber", "electrician"))
    assert import_from(bank, "obsidian", folder).memories == {"unchanged": 2, "changed": 1}


def test_what_is_no_vault_is_refused(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A note.")
    (tmp_path / "none").mkdir()
    for name in ("a.md", "none", "absent"):
        with pytest.raises(TransferError):
            import_from(bank, "obsidian", tmp_path / name)
