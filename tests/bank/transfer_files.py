"""Helpers for exports in tests: read as objects, and sealed again after a change, so that only that is wrong."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from pieria.bank import Bank

Lines = list[dict[str, Any]]
TABLES = ("content", "state", "link", "fact", "usage", "record", "journal", "purged")


def read(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def sealed(path: Path, lines: Lines | list[bytes]) -> Path:
    """Write the lines, with the header first, and the matching end line. Bytes are written unchanged."""
    written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    body = b"".join(line + b"\n" for line in written)
    counts = Counter(line["line"] for line in lines[1:] if isinstance(line, dict))
    end = {"line": "end", "counts": counts, "sha256": hashlib.sha256(body).hexdigest()}
    path.write_bytes(body + json.dumps(end).encode() + b"\n")
    return path


def of(lines: Lines, what: str, number: int = 0) -> dict[str, Any]:
    """Return one line of this kind."""
    return [line for line in lines if line.get("line") == what][number]


def everything(bank: Bank) -> dict[str, list[dict[str, Any]]]:
    with bank.core.store.reading() as reader:
        return {table: list(reader.dump(table)) for table in TABLES}
