"""Stores of other systems, of any size, for the benchmark of imports: a function a system that writes one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.workload import Workload

DAY = "2025-03-01T10:00:00Z"


def _uuid(number: int) -> str:
    return f"0b000000-0000-4000-8000-{number:012d}"


def _lines(path: Path, rows: Iterable[Any]) -> Path:
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def _document(path: Path, **lists: Iterable[Any]) -> Path:
    with path.open("w") as file:
        for number, (name, rows) in enumerate(lists.items()):
            file.write(("," if number else "{") + json.dumps(name) + ": [")
            file.writelines(("," if at else "") + json.dumps(row) for at, row in enumerate(rows))
            file.write("]")
        file.write("}")
    return path


def _jsonl(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": f"n{number}", "text": text, "at": DAY, "tags": ["note"]} for number, text in enumerate(texts))
    return _lines(folder / "notes.jsonl", rows)


def _mem0(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": _uuid(number), "memory": text, "user_id": "ida", "created_at": DAY, "metadata": {"n": number}}
            for number, text in enumerate(texts))  # fmt: skip
    return _document(folder / "mem0.json", results=rows)


def _mnemex(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": _uuid(number), "content": text, "meta": {"tags": ["t"]}, "created_at": 1_735_689_600,
             "last_used": 1_735_776_000, "use_count": number % 5, "embed": [0.5] * 384}
            for number, text in enumerate(texts))  # fmt: skip
    _lines(folder / "memories.jsonl", rows)
    ties = ({"id": _uuid(900_000_000 + number), "from_memory_id": _uuid(number), "to_memory_id": _uuid(number + 1),
             "relation_type": "related", "strength": 0.5} for number in range(30))  # fmt: skip
    _lines(folder / "relations.jsonl", ties)
    return folder


def _plugmem(folder: Path, texts: Iterable[str]) -> Path:
    begun = 1_735_689_600_000
    rows = ({"kind": "fact", "id": number, "text": text, "entity": f"e{number % 500}", "tags": ["t"],
             "recorded_at": begun, "valid_from": begun} for number, text in enumerate(texts))  # fmt: skip
    edges = ({"kind": "edge", "src": f"e{number}", "rel": "knows", "dst": f"e{number + 1}"} for number in range(499))
    return _lines(folder / "dump.jsonl", chain(rows, edges))


def _graph(folder: Path, texts: Iterable[str]) -> Path:
    """Half the records are episodes, half edges; each edge has a triple and a link, which come on top."""
    names = ({"uuid": _uuid(900_000_000 + number), "name": f"Name {number}", "summary": "", "labels": ["Entity"]}
             for number in range(500))  # fmt: skip

    def rows() -> Iterable[Any]:
        for number, text in enumerate(texts):
            if number % 2 == 0:
                yield {"uuid": _uuid(number), "content": text, "source": "text", "source_description": "chat",
                       "group_id": "ida", "valid_at": DAY}  # fmt: skip
            else:
                source, target = _uuid(900_000_000 + number % 500), _uuid(900_000_000 + number * 7 % 500)
                yield {"uuid": _uuid(number), "fact": text, "name": "KNOWS", "created_at": DAY, "valid_at": DAY,
                       "source_node_uuid": source, "target_node_uuid": target, "group_id": "ida",
                       "episodes": [_uuid(number - 1)]}  # fmt: skip

    return _lines(folder / "graph.jsonl", chain(names, rows()))


def _hindsight(folder: Path, texts: Iterable[str]) -> Path:
    rows = ({"id": _uuid(number), "text": text, "date": DAY, "fact_type": "world", "entities": "Ida, Vega",
             "tags": ["t"], "document_id": f"d{number % 50}"} for number, text in enumerate(texts))  # fmt: skip
    return _document(folder / "memories.json", items=rows)


def _letta(folder: Path, texts: Iterable[str]) -> Path:
    """One agent with all messages, which is the worst that an agent file can be."""
    messages = [{"id": f"message-{number}", "role": ("user", "assistant")[number % 2], "created_at": DAY,
                 "content": [{"type": "text", "text": text}]} for number, text in enumerate(texts)]  # fmt: skip
    blocks = [{"id": "block-0", "label": "human", "value": "Ida rows."}]
    return _document(folder / "sam.af", agents=[{"id": "agent-0", "name": "sam", "messages": messages}], blocks=blocks)


def _basic_memory(folder: Path, texts: Iterable[str]) -> Path:
    top = folder / "notes"
    for number, text in enumerate(texts):
        path = top / f"{number // 500:03d}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        before = f"\n- follows [[note {number - 1}]]\n" if number else ""
        path.write_text(f"---\ntitle: note {number}\ntype: note\npermalink: notes/{number}\n---\n{text}\n{before}")
    return top


STORES: dict[str, Callable[[Path, Iterable[str]], Path]] = {
    "jsonl": _jsonl,
    "mem0": _mem0,
    "mnemex": _mnemex,
    "plugmem": _plugmem,
    "graphiti": _graph,
    "zep": _graph,
    "hindsight": _hindsight,
    "letta": _letta,
    "basic-memory": _basic_memory,
}
"""By system: writes a store with the texts to a folder, and returns the path to import."""


def written(system: str, folder: Path, items: int) -> Path:
    return STORES[system](folder, Workload().texts(items))
