"""`python -m benchmarks replies`: what tools cost an agent in characters, by toolset."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.rows import Row
from pieria.doors.mcp.server import tools_of
from pieria.toolsets import Access, Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

TEXTS = (
    "Maya prefers green tea to coffee, and takes it without sugar, ever since she lived in Kyoto for a year.",
    "The tea in the office kitchen is bought by Tom, who orders two boxes each month from the shop near the station.",
    "Tea is served at four in the afternoon whenever the customers from Lisbon come to see the new billing screens.",
    "Green tea stains the white cups, so the kitchen now has a shelf with dark ones, which nobody may take to a desk.",
    "We named the release after a tea, Sencha, because the one before was named Assam and the letters go backwards.",
)
QUESTION = "What tea does Maya take?"
SEARCHES = {
    "pieria": "recall",
    "mnemosyne": "mnemosyne_recall",
    "open-mem": "mem-find",
    "mempalace": "mempalace_search",
    "mnemex": "search_memory",
    "sessions": "sessions_recall",
}
LONGEST = {"pieria": 2.0, "mnemosyne": 4.0, "open-mem": 3.5, "mempalace": 3.25, "mnemex": 2.75, "sessions": 3.5}
"""Largest reply to a search with five hits, as a multiple of their texts."""
LARGEST = {
    "pieria": 1_500, "mnemosyne": 3_350, "open-mem": 2_995, "mempalace": 7_510, "mnemex": 5_550, "sessions": 3_185,
}  # fmt: skip
"""Largest list of tools, in tokens of four characters."""


def reply_ratio(host: Host, toolset: str) -> float:
    """Return the characters of a search's reply, for one character of the five texts that it finds."""
    reply = called(registry(), SEARCHES[toolset], {"query": QUESTION}, host)
    return len(reply.written) / sum(map(len, TEXTS))


def list_tokens(toolset: str) -> float:
    tools = tools_of(registry().only(toolset), Access.admin)
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    return len(json.dumps({"tools": listed}, ensure_ascii=False, separators=(",", ":"))) / 4


def measure_replies() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        banks = Banks(Workspace(Path(folder)), "benchmark")
        host = Host(banks, "tea", "monday", Paths(Path(folder), ()))
        host.bank.remember_many([{"text": text} for text in TEXTS])
        ratios = {toolset: reply_ratio(host, toolset) for toolset in SEARCHES}
        banks.close()
    rows = [_row(f"a reply of {SEARCHES[name]}", ratio, "times", LONGEST[name]) for name, ratio in ratios.items()]
    rows += [_row(f"the tools of {name}", list_tokens(name), "tokens", LARGEST[name]) for name in SEARCHES]
    return {"rows": [row.as_dict() for row in rows]}


def _row(name: str, value: float, unit: str, most: float) -> Row:
    return Row(name, round(value, 2), unit, f"<= {most:g}", value <= most, {})
