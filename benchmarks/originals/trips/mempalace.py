"""Carries a palace here and back: drawers, a mined file, diaries, facts and tunnels, made by MemPalace's own tools.

MemPalace's embedder would be downloaded; a hash of words replaces it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pieria
from pieria.exporters import export_to
from pieria.importers import import_from

DRAWERS, ENTRIES, FACTS, TUNNELS, LONG = 220, 24, 150, 12, 3_000
CHROMA = ("collections", "segments", "max_seq_id", "embeddings", "embedding_metadata")
PARTS = ("wing", "room", "source_file", "added_by", "filed_at", "hall", "agent", "topic")


class Embedder:
    """Vectors from a hash of each word."""

    def __call__(self, input: list[str]) -> list[list[float]]:
        return [self._vector(text) for text in input]

    def embed_query(self, input: list[str]) -> list[list[float]]:
        return self(input)

    @staticmethod
    def name() -> str:
        return "default"

    def get_config(self) -> dict[str, Any]:
        return {}

    def is_legacy(self) -> bool:
        return False

    def default_space(self) -> str:
        return "cosine"

    def supported_spaces(self) -> list[str]:
        return ["cosine"]

    @staticmethod
    def _vector(text: str) -> list[float]:
        vector = [0.0] * 384
        for word in text.lower().split() or [""]:
            vector[hashlib.sha256(word.encode()).digest()[0]] += 1.0
        return vector


def use_embedder() -> None:
    own = Embedder()
    embedding: Any = import_module("mempalace.embedding")
    embedding.get_embedding_function = lambda *given, **more: own
    wrapper: Any = import_module("mempalace.backends.embedding_wrapper")
    wrapper._embed_texts = lambda texts, **more: own(list(texts))
    import_module("mempalace.backends.chroma").ChromaBackend._resolve_embedding_function = staticmethod(
        lambda **more: own
    )


def fill(server: Any, *, drawers: int, entries: int, facts: int, tunnels: int) -> None:
    """File what MemPalace's tools can file."""
    rooms = [("api", "decisions"), ("api", "login"), ("web", "cookies"), ("web", "decisions"), ("home", "garden")]
    ids = []
    for number in range(drawers):
        wing, room = rooms[number % len(rooms)]
        text = f"Drawer {number}: Maya chose plan {number * 7} for {wing}."
        text += " Because it is long. é 東京 " * (LONG // 25) if number % 20 == 0 else ""
        source = f"/home/maya/{wing}/notes-{number % 9}.md" if number % 3 else None
        filed = server.tool_add_drawer(wing, room, text, source, "maya" if number % 2 else "mcp")
        ids.append((wing, room, filed["drawer_id"]))
    for number in range(entries):
        text = f"Entry {number}: reviewed plan {number}." + (" It took long." * 100 if number % 8 == 0 else "")
        wing = "api" if number % 6 == 5 else ""
        server.tool_diary_write(("scout", "Code Reviewer", "ops")[number % 3], text, f"topic-{number % 4}", wing)
    for number in range(facts):
        day = f"2024-{1 + number % 12:02}-{1 + number % 28:02}"
        times = [
            {"valid_from": day}, {"valid_from": day, "valid_to": day}, {"valid_from": day, "valid_to": "2025-06-30"},
            {}, {"valid_from": f"{day}T10:00:00Z", "valid_to": f"{day}T11:30:00Z"},
        ][number % 5]  # fmt: skip
        sources = [
            {}, {"source_closet": f"closet {number}"}, {"source_closet": "closet", "source_file": f"f{number}.md"},
            {"source_drawer_id": ids[number % len(ids)][2]},
        ][number % 4]  # fmt: skip
        server.tool_kg_add(f"Person {number % 40}", f"knows_{number % 7}", f"Thing {number}", **times, **sources)
    server.tool_kg_invalidate("Person 0", "knows_0", "Thing 0", "2025-01-31")
    pairs = [(one, other) for one in rooms for other in rooms if one < other][:tunnels]
    for number, (one, other) in enumerate(pairs):
        ends = [next(id for wing, room, id in ids if (wing, room) == end) for end in (one, other)]
        drawers_of = {"source_drawer_id": ends[0], "target_drawer_id": ends[1]} if number % 2 else {}
        server.tool_create_tunnel(*one, *other, label=f"label {number}" if number % 3 else "", **drawers_of)


def contents(server: Any, palace: Path) -> dict[str, set[tuple[Any, ...]]]:
    """Return what a user can have filed, as MemPalace's tools and its graph tell it."""
    drawers, offset = set(), 0
    while rows := server.tool_list_drawers(limit=100, offset=offset)["drawers"]:
        offset += len(rows)
        for row in rows:
            whole = server.tool_get_drawer(row["drawer_id"])
            meta = {**whole["metadata"], **whole}
            drawers.add((whole["drawer_id"], whole["content"], *(meta.get(name) or None for name in PARTS)))
    with closing(sqlite3.connect(palace / "knowledge_graph.sqlite3")) as base:
        facts = set(base.execute(
            "SELECT s.name, t.predicate, o.name, t.valid_from, t.valid_to, t.confidence, t.source_closet,"
            " t.source_file, t.source_drawer_id, iif(t.source_drawer_id IS NULL, t.extracted_at, NULL)"
            " FROM triples t JOIN entities s ON s.id = t.subject JOIN entities o ON o.id = t.object"
        ))  # fmt: skip
    tunnels = {
        (row["id"], *(tuple(sorted(row[end].items())) for end in ("source", "target")), row["label"], row["created_at"])
        for row in server.tool_list_tunnels()
    }
    return {"drawers": drawers, "facts": facts, "tunnels": tunnels}


def dump(base: Path, tables: tuple[str, ...], target: Path) -> None:
    """Write tables with their rows as SQL, which a repository can hold."""
    with closing(sqlite3.connect(base)) as connection, target.open("w", encoding="utf-8") as file:
        for table in tables:
            [[made]] = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,))
            file.write(f"{made};\n")
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            quoted = " || ', ' || ".join(f"quote({column})" for column in columns)
            names = ", ".join(columns)
            for (row,) in connection.execute(f"SELECT {quoted} FROM {table} ORDER BY rowid"):  # noqa: S608
                file.write(f"INSERT INTO {table} ({names}) VALUES ({row});\n")  # noqa: S608


def open_palace(palace: Path) -> Any:
    """Return MemPalace's server for this palace, in this process."""
    os.environ["MEMPALACE_PALACE_PATH"] = str(palace)
    use_embedder()
    server: Any = import_module("mempalace.mcp_server")
    server._palace_flag_given = True
    server._config = import_module("mempalace.config").MempalaceConfig(palace_path=str(palace))
    server._client_cache = server._collection_cache = None
    return server


def make(folder: Path, **counts: int) -> Path:
    """Make a palace in the folder with MemPalace's own code; return its path."""
    palace = folder / "palace"
    palace.mkdir(parents=True)
    server = open_palace(palace)
    fill(server, **counts)
    server.tool_reconnect()
    return palace


def travel(folder: Path) -> int:
    """Carry a palace here and back. Return how many things differ."""
    counts = {"drawers": DRAWERS, "entries": ENTRIES, "facts": FACTS, "tunnels": TUNNELS}
    palace = make(folder / "original", **counts)
    before = contents(open_palace(palace), palace)
    with pieria.Workspace(folder / "pieria") as workspace, workspace.open("home") as bank:
        report = import_from(bank, "mempalace", palace)
        again = import_from(bank, "mempalace", palace)
        written = export_to(bank, "mempalace", folder / "back")
    _say(f"in:   {report.as_dict()}")
    _say(f"in:   a second run: {again.memories}, {again.facts}, {again.links}")
    _say(f"out:  {dict(written.counts)}, left {dict(written.left)}")
    back = folder / "back" / "palace"
    import_module("mempalace.repair").rebuild_from_sqlite(str(back), str(back), archive_existing_dest=True)
    after = contents(open_palace(back), back)
    lost = 0
    for what, things in before.items():
        gone, come = things - after[what], after[what] - things
        lost += len(gone) + len(come)
        _say(f"{what}: {len(things)} before, {len(after[what])} after, {len(gone)} lost or changed, {len(come)} new")
        for thing in [*sorted(map(repr, gone))[:3], *sorted(map(repr, come))[:3]]:
            _say(f"  {thing[:400]}")
    return lost


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="Only write a small palace as SQL here.")
    given = parser.parse_args()
    if given.make is not None:
        with TemporaryDirectory() as folder:
            palace = make(Path(folder), drawers=21, entries=6, facts=20, tunnels=4)
            dump(palace / "chroma.sqlite3", CHROMA, given.make / "chroma.sql")
            dump(palace / "knowledge_graph.sqlite3", ("entities", "triples"), given.make / "knowledge_graph.sql")
            shutil.copyfile(palace.parent / "tunnels.json", given.make / "tunnels.json")
        return 0
    with TemporaryDirectory() as folder:
        return 1 if travel(Path(folder)) else 0


if __name__ == "__main__":
    sys.exit(main())
