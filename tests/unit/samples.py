"""Sample texts, which stand in files beside the tests."""

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def samples(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def blocks(name: str) -> dict[str, list[str]]:
    """Return each line of a text file with the indented lines below it."""
    found: dict[str, list[str]] = {}
    for line in (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found
