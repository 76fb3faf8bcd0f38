"""What every export promises: what comes out, what never does, and files that are complete or absent."""

import csv
import json
from pathlib import Path

import pytest

import pieria
from pieria.bank import Bank
from pieria.errors import InputError
from pieria.exporters import EXPORTERS, export_to
from pieria.importers import import_from
from pieria.record.link import Place


@pytest.fixture
def full(bank: Bank) -> Bank:
    heron = bank.remember("Herons stand still.", tags=["birds"], importance=0.9, at="2021-05-03", author="Ida",
                          session="walk", place="marsh/north", meta={"page": 7}, body={"x": ["y"]})  # fmt: skip
    tern = bank.remember("Terns dive.", kind="diary", valid_until="2022-01-01")
    bank.touch(heron.id, accesses=2)
    bank.link(heron.id, tern.id, "unlike", weight=0.5)
    bank.link(heron.id, Place("marsh/south"), "seen_at")
    bank.facts.add("Ida", "lives_in", "Bergen", valid_from="2020-01-01", valid_until="2021-01-01")
    bank.facts.add("herons", "stand", "still", memory=heron.id)
    return bank


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_everything_comes_back_in_another_bank(full: Bank, tmp_path: Path, format: str) -> None:
    report = export_to(full, format, tmp_path / "out")
    assert report.counts == {"memories": 2, "facts": 2, "links": 2} and not report.left
    assert report.bytes == (tmp_path / "out").stat().st_size
    with pieria.open("other", data=tmp_path / "data") as other:
        told = import_from(other, "jsonl", tmp_path / "out")
        assert (told.memories, told.facts, told.links) == ({"new": 2}, {"new": 2}, {"new": 2}) and told.well
        assert plain(full, tmp_path) == plain(other, tmp_path)


def plain(bank: Bank, folder: Path) -> list[dict[str, object]]:
    """Return the lines of a bank without what an import adds, and without derived ids."""
    export_to(bank, "jsonl", folder / "again", replace=True)
    lines = [json.loads(line) for line in (folder / "again").read_text().splitlines()]
    for line in lines:
        line.get("meta", {}).pop("imported_from", None)
        if line.get("source") == "jsonl":
            del line["source"]
        if line.get("meta") == {}:
            del line["meta"]
    return [{name: line[name] for name in line if "text" in line or name not in ("id", "at")} for line in lines]


def test_what_is_gone_or_private_stays_out(full: Bank, tmp_path: Path) -> None:
    gone = full.remember("Removed words.")
    erased = full.remember("Erased words.")
    hidden = full.remember("Hidden words.", source="bad")
    fact = full.facts.add("Ida", "likes", "removed soup")
    full.link(gone.id, hidden.id, "near")
    full.update(full.remember("Old words.").id, text="New words.")
    full.remove(gone.id)
    full.purge(erased.id)
    full.facts.remove(fact.id)
    full.quarantine(source="bad")
    for format in EXPORTERS:
        export_to(full, format, tmp_path / format)
        files = [path for path in (tmp_path / format, *(tmp_path / format).rglob("*")) if path.is_file()]
        written = "\n".join(f"{path} {path.read_bytes().decode(errors='replace')}" for path in files)
        assert not [word for word in ("Removed", "Erased", "Hidden", "soup", "Old", "near") if word in written]
        assert "New words." in written


@pytest.mark.parametrize(
    ("format", "system"),
    [("mnemex", "mnemex"), ("mempalace", "mempalace"), ("mem0", "mem0"), ("markdown", "basic-memory"),
     ("open-mem", "open-mem")],
)  # fmt: skip
def test_nothing_private_or_past_becomes_everybodys_or_current(tmp_path: Path, format: str, system: str) -> None:
    with pieria.open("mine", data=tmp_path / "mine", session="s1") as bank:
        rate = bank.remember("The rate is 7 percent.")
        bank.remember("The old rate was 5 percent.", valid_until="2020-01-01")
        bank.update(bank.remember("An archived plan.").id, status="archived")
        secret = bank.remember("A talk about pay.", scope="session")
        bank.facts.add("pay", "is", "secret", memory=secret.id)
        bank.link(secret.id, rate.id, "near")
        bank.facts.add("Maya", "lives_in", "Oslo", valid_until="2015-01-01")
        report = export_to(bank, format, tmp_path / "out")
    assert report.left["memories of one session alone"] == 1
    with pieria.open("other", data=tmp_path / "data") as other:
        import_from(other, system, tmp_path / "out")
        texts = " ".join(memory.text for memory in other.list())
        assert "7 percent" in texts and "pay" not in texts and "secret" not in texts
        if format != "markdown":
            assert "5 percent" not in texts and "archived" not in texts and other.facts.query("Maya") == []


def test_mem0_gets_its_shape_and_gives_it_back(full: Bank, tmp_path: Path) -> None:
    report = export_to(full, "mem0", tmp_path / "mem0.json")
    assert report.counts == {"memories": 2, "facts": 1} and sum(report.left.values()) == 3
    heron, _ = json.loads((tmp_path / "mem0.json").read_text())["results"]
    assert heron["memory"] == "Herons stand still." and heron["categories"] == ["birds"]
    assert (heron["created_at"][:10], heron["run_id"], heron["actor_id"]) == ("2021-05-03", "walk", "Ida")
    assert heron["metadata"] == {"place": "marsh/north", "importance": 0.9, "body": {"x": ["y"]}, "page": 7}
    with pieria.open("other", data=tmp_path / "data") as other:
        told = import_from(other, "mem0", tmp_path / "mem0.json")
        assert (told.memories, told.facts) == ({"new": 2}, {"new": 1}) and told.well
        back = other.get(heron["id"])
        assert back is not None and (back.text, back.session, back.author) == ("Herons stand still.", "walk", "Ida")


def test_table_is_safe_in_a_spreadsheet(full: Bank, tmp_path: Path) -> None:
    full.remember('=HYPERLINK("http://evil")')
    report = export_to(full, "csv", tmp_path / "bank.csv")
    with (tmp_path / "bank.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert report.counts == {"memories": 3, "facts": 2} and len(rows) == 5
    assert [row["text"] for row in rows[:3]] == ["Herons stand still.", "Terns dive.", '\'=HYPERLINK("http://evil")']
    assert (rows[0]["tags"], rows[0]["accesses"], json.loads(rows[0]["meta"])["page"]) == ("birds", "2", 7)
    assert {row["text"] for row in rows if row["kind"] == "fact"} == {"Ida lives_in Bergen", "herons stand still"}


def test_notes_have_front_matter_links_and_facts(full: Bank, tmp_path: Path) -> None:
    full.remember("Herons stand still.", place="marsh/north", title='A "quoted": title\u2028# two', tags=["no", "1"])
    report = export_to(full, "markdown", tmp_path / "notes")
    assert report.counts["memories"] == 3 and report.left == {"links to places": 1}
    paths = sorted(path.relative_to(tmp_path / "notes").as_posix() for path in (tmp_path / "notes").rglob("*.md"))
    north = ["marsh/north/A quoted title two.md", "marsh/north/Herons stand still.md"]
    assert [path for path in paths if path.startswith("marsh")] == north and "Facts.md" in paths
    heron = (tmp_path / "notes" / north[1]).read_text()
    assert heron.startswith('---\ntitle: "Herons stand still."\n') and "- unlike [[" in heron
    assert "| Ida | lives_in | Bergen | 2020-01-01T00:00:00Z" in (tmp_path / "notes" / "Facts.md").read_text()
    with pytest.raises(InputError, match="a new or empty folder"):
        export_to(full, "markdown", tmp_path / "notes")
    export_to(full, "markdown", tmp_path / "notes", replace=True)
    with pieria.open("other", data=tmp_path / "data") as other:
        back = import_from(other, "basic-memory", tmp_path / "notes")
        assert back.memories == {"new": 4} and back.links["new"] == 1 and back.well
        [titled] = [memory for memory in other.list() if "no" in memory.tags]
        assert titled.tags == ("no", "1") and str(titled.title).startswith('A "quoted": title')


def test_existing_file_is_kept_unless_replaced(full: Bank, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("precious")
    with pytest.raises(InputError, match="path: expected a new file"):
        export_to(full, "json", path)
    assert path.read_text() == "precious"
    assert export_to(full, "json", path, replace=True).counts["memories"] == 2
    assert [file.name for file in tmp_path.iterdir() if "mine" in file.name] == ["mine.json"]
    with pytest.raises(InputError, match="format: expected one of csv"):
        export_to(full, "xml", path)
