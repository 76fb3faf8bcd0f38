"""Drawers and the files they come from; the palace as files."""

import errno
import os
import re
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from tests.toolsets.conftest import Ask, Host, Refused, requirement

from pieria.bank.capture.sources import GONE


def file(ask: Ask, content: str, wing: str = "api", room: str = "notes", **more: Any) -> str:
    return str(ask("mempalace_add_drawer", wing=wing, room=room, content=content, **more)["drawer_id"])


@requirement("drawer.sync", "drawer.source")
def test_sync_finds_drawers_that_lost_their_file(ask: Ask, refused: Refused, host: Host, tmp_path: Path) -> None:
    (tmp_path / "here.md").touch()
    file(ask, "Still there.", source_file=str(tmp_path / "here.md"))
    gone = file(ask, "Gone.", source_file=str(tmp_path / "gone.md"))
    web = file(ask, "Gone, too.", wing="web", source_file=str(tmp_path / "gone.md"))
    file(ask, "Relative.", source_file="gone.md")
    file(ask, "Elsewhere.", source_file="/somewhere/else/gone.md")
    file(ask, "Of no file.")
    shown = ask("mempalace_sync")
    assert {row["drawer_id"] for row in shown["drawers"]} == {gone, web}
    assert (shown["dry_run"], shown["removed_drawers"], shown["unchecked"]) == (True, 0, 2)
    assert (shown["scanned"], shown["kept"], shown["missing"]) == (5, 1, 2)
    assert shown["missing_sources"] == [str(tmp_path / "gone.md")]
    assert ask("mempalace_sync", dry_run=False, wing="web")["removed_drawers"] == 1
    assert ask("mempalace_status")["total_drawers"] == 5
    assert ask("mempalace_sync", apply=True)["removed_drawers"] == 1
    assert ask("mempalace_sync")["missing"] == 0
    [memory] = host.bank.list(include="removed", limit=1, place="web/notes")
    assert (memory.id, memory.reason) == (web, GONE), "so that mining brings it back"
    host.bank.restore(gone)
    assert ask("mempalace_get_drawer", drawer_id=gone)["content"] == "Gone."
    file(ask, "Odd.", source_file=str(tmp_path / ("x" * 300)))
    file(ask, "Gone.", source_file=str(tmp_path / "gone.md"))
    assert (ask("mempalace_sync")["missing"], ask("mempalace_sync")["unchecked"]) == (1, 3)
    file(ask, "Of a folder that is gone.", source_file=str(tmp_path / "drive" / "gone.md"))
    assert (ask("mempalace_sync")["missing"], ask("mempalace_sync")["unchecked"]) == (1, 4)
    assert ask("mempalace_sync", project_dir=str(tmp_path))["missing"] == 2
    assert refused("mempalace_sync", project_dir="/etc")["violations"][0]["parameter"] == "project_dir"
    source = str(tmp_path / "many.md")
    host.bank.remember_many({"text": f"Line {n}.", "kind": "drawer", "source": source} for n in range(130))
    shown = ask("mempalace_delete_by_source", source_file=source)
    assert (shown["match_count"], len(shown["drawers"]), shown["more"]) == (130, 100, 30)
    shown = ask("mempalace_sync")
    assert (shown["missing"], len(shown["drawers"]), shown["more"]) == (131, 100, 31)


@requirement("drawer.markdown")
def test_palace_is_written_as_files(ask: Ask, host: Host, tmp_path: Path) -> None:
    contents = ["# A heading\n\n```python\nprint(1)\n```", "Plain, é 東京.", "ends with ````"]
    for content in contents:
        file(ask, content, source_file="/home/maya/a.md")
    for place in ("../we<ird", "api/NOTES", "cafe\u0301/x", "caf\xe9/x", "हिन्दी/x"):
        host.bank.remember(f"Of {place}.", place=place)
    told = ask("mempalace_export_markdown", output_path="out")
    assert (told["rooms"], told["drawers"], told["files"]) == (6, 8, 7)
    [room] = [text for path in (tmp_path / "out" / "api").iterdir() if "Plain" in (text := path.read_text("utf-8"))]
    assert all(f"\n{content}\n" in room for content in contents)
    assert ("from: a.md" in room, "/home/maya" in room) == (True, False)
    assert (tmp_path / "out" / "हिन्दी" / "x.md").is_file()
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) == 7
    assert len({normalize("NFC", str(path)).casefold() for path in written}) == 7
    assert all(path.resolve().is_relative_to(tmp_path / "out") for path in written)
    linked = re.findall(r"^- \[.*\]\(<(.*)>\)$", (tmp_path / "out" / "README.md").read_text(), re.MULTILINE)
    assert len(linked) == 6 and all((tmp_path / "out" / name).is_file() for name in linked)


@requirement("drawer.markdown")
def test_markdown_replaces_no_other_file(ask: Ask, host: Host, tmp_path: Path, refused: Refused) -> None:
    host.bank.facts.add("Maya", "likes", "tea")
    told = ask("mempalace_export_markdown", output_path="out")
    assert (told["rooms"], told["drawers"], told["files"]) == (0, 0, 1)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["README.md"]
    file(ask, "One.")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    for path in ("full", "full/mine.txt", "/etc/palace"):
        assert refused("mempalace_export_markdown", output_path=path)["violations"][0]["parameter"] == "output_path"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
    told = refused("mempalace_export_markdown", output_path="new", wing="ap")
    assert (told["violations"][0]["parameter"], "api" in told["hint"]) == ("wing", True)
    assert not (tmp_path / "new").exists()


@requirement("drawer.markdown")
def test_full_disk_is_reported(ask: Ask, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Any, target: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file(ask, "One.")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        told = refused("mempalace_export_markdown", output_path="out")
    assert "No space left" in str(told)
    assert not list((tmp_path / "out").rglob("*.part"))


@requirement("complaint.disk")
def test_palace_grows_no_larger_than_its_content(ask: Ask, host: Host, tmp_path: Path) -> None:
    sizes = []
    for number in range(4):
        texts = [f"Crate {n} of round {number} holds {n * 7} kestrels." for n in range(60)]
        memories = host.bank.remember_many({"text": text, "kind": "drawer", "place": "w/r"} for text in texts)
        ask("mempalace_delete_drawers", drawer_ids=[memory.id for memory in memories])
        sizes.append(sum(path.stat().st_size for path in (tmp_path / "data").iterdir()))
    assert sizes[-1] - sizes[0] < 180 * 400, "of what was deleted nothing stays but its id"
