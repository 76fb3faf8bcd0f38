"""A call for every tool, and for every parameter two calls that differ only in it."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.toolsets.outcome import Case, Run, Step

CREATE, FIND, HISTORY, GET, REVISE = "mem-create", "mem-find", "mem-history", "mem-get", "mem-revise"
SAID: dict[str, Any] = {
    "title": "Prefer SQLite for the cache",
    "type": "decision",
    "narrative": "SQLite keeps the cache in one file.",
}


def nothing(run: Run) -> None:
    """Prepare nothing."""


def made(**more: Any) -> Step:
    return CREATE, {**SAID, **more}


def changing(parameter: str, base: Any, changed: Any, before: Sequence[Step] = (), **always: Any) -> Case:
    """Return a case with two values of a parameter; None leaves the parameter out."""

    def arguments(value: Any) -> Mapping[str, Any]:
        return always if value is None else {**always, parameter: value}

    return Case(arguments(base), arguments(changed), before)


def creating(parameter: str, base: Any, changed: Any) -> Case:
    return changing(parameter, base, changed, **{name: value for name, value in SAID.items() if name != parameter})


def several(run: Run) -> None:
    """Write four observations by id, in two sessions; one of them revised, one removed."""
    for id in ("one", "two", "three", "four"):
        values: dict[str, Any] = {"id": id, "title": f"Title {id}", "kind": "observation", "body": {"type": "decision"}}
        bank = run.host.having(session="sunday" if id == "one" else "monday").bank
        bank.remember(f"SQLite keeps part {id} of the cache.", **values)
        run.clock.move(minutes=1)
    run.host.bank.revise("one", text="SQLite keeps all of the cache.", reason="measured")
    run.host.bank.remove("four", reason="wrong")
    run.clock.move(minutes=1)
    for session in ("sunday", "monday"):
        run.host.bank.upkeep.summarize(session)


def payload(narrative: str = "Came from a file.", id: str = "two") -> str:
    row = {"id": id, "type": "change", "title": "Imported", "narrative": narrative, "createdAt": "2026-01-10T00:00:00Z"}
    return json.dumps({"version": 1, "observations": [row], "summaries": []})


def blocks(run: Run) -> None:
    """Write a file with a user's words beside a block, and one with only a block."""
    several(run)
    block = "<!-- open-mem-context -->\nold\n<!-- /open-mem-context -->\n"
    (run.folder / "AGENTS.md").write_text(f"# Ours\n\n{block}")
    (run.folder / "src").mkdir()
    (run.folder / "src" / "AGENTS.md").write_text(block)


TWO = [made(), made(title="Cache size", type="change", narrative="The cache in SQLite has 64 MB.", scope="user")]
QUERY = {"query": "sqlite cache"}


def found(**changed: Any) -> Case:
    return Case(QUERY, {**QUERY, **changed}, TWO)


def of_several(base: Mapping[str, Any], **changed: Any) -> Case:
    return Case(base, {**base, **changed}, prepare=several)


PARAMETERS: dict[tuple[str, str], Case] = {
    (FIND, "query"): changing("query", "one file", "64 MB", TWO, scope="all"),
    (FIND, "scope"): found(scope="user"),
    (FIND, "types"): found(types=["change"]),
    (FIND, "limit"): of_several(QUERY, limit=1),
    (FIND, "cursor"): Case(
        {**QUERY, "limit": 1}, {**QUERY, "limit": 1, "cursor": "$data.nextCursor"}, [(FIND, {**QUERY, "limit": 1})],
        prepare=several,
    ),
    (FIND, "include"): found(include={"snippets": True}),
    (HISTORY, "limit"): of_several({}, limit=1),
    (HISTORY, "cursor"): Case(
        {"limit": 1}, {"limit": 1, "cursor": "$data.nextCursor"}, [(HISTORY, {"limit": 1})], prepare=several
    ),
    (HISTORY, "sessionId"): of_several({}, sessionId="monday"),
    (HISTORY, "anchor"): of_several({}, anchor="two"),
    (HISTORY, "depthBefore"): of_several({"anchor": "three"}, depthBefore=0),
    (HISTORY, "depthAfter"): of_several({"anchor": "two"}, depthAfter=0),
    (GET, "ids"): of_several({"ids": ["one"]}, ids=["two"]),
    (GET, "includeHistory"): of_several({"ids": ["one"]}, includeHistory=True),
    (GET, "limit"): of_several({"ids": ["one", "two"]}, limit=1),
    (CREATE, "title"): creating("title", "One", "Two"),
    (CREATE, "type"): creating("type", "decision", "bugfix"),
    (CREATE, "narrative"): creating("narrative", "One.", "Two."),
    (CREATE, "concepts"): creating("concepts", None, ["storage"]),
    (CREATE, "files"): creating("files", None, ["src/a.py"]),
    (CREATE, "importance"): creating("importance", None, 5),
    (CREATE, "scope"): creating("scope", None, "user"),
    (REVISE, "id"): of_several({"id": "two", "title": "New"}, id="three"),
    (REVISE, "title"): of_several({"id": "two", "importance": 5}, title="New"),
    (REVISE, "narrative"): of_several({"id": "two", "importance": 5}, narrative="New."),
    (REVISE, "type"): of_several({"id": "two", "importance": 5}, type="change"),
    (REVISE, "concepts"): of_several({"id": "two", "importance": 5}, concepts=["storage"]),
    (REVISE, "importance"): of_several({"id": "two", "title": "New"}, importance=5),
    (REVISE, "reason"): of_several({"id": "two", "title": "New"}, reason="measured"),
    ("mem-remove", "id"): of_several({"id": "two"}, id="three"),
    ("mem-remove", "reason"): of_several({"id": "two"}, reason="obsolete"),
    ("mem-export", "type"): of_several({}, type="change"),
    ("mem-export", "limit"): of_several({}, limit=1),
    ("mem-import", "payload"): of_several({"payload": payload(id="new")}, payload=payload("Another.", id="new")),
    ("mem-import", "mode"): of_several({"payload": payload()}, mode="replace"),
    ("mem-maintenance", "action"): Case(
        {"action": "folderContextClean"}, {"action": "folderContextPurge"}, prepare=blocks
    ),
}  # fmt: skip

Reply = tuple[Sequence[Step], Mapping[str, Any], Callable[[Run], None]]
EVERYTHING = {"snippets": True, "scores": True, "relations": True}
REPLIES: dict[str, Reply] = {
    FIND: (TWO, {**QUERY, "include": EVERYTHING}, nothing),
    HISTORY: ([], {}, several),
    GET: ([], {"ids": ["one", "nope", "four", "two"], "includeHistory": True, "limit": 3}, several),
    CREATE: ([], SAID, nothing),
    REVISE: ([], {"id": "two", "narrative": "New.", "reason": "measured"}, several),
    "mem-remove": ([], {"id": "two", "reason": "obsolete"}, several),
    "mem-export": ([], {}, several),
    "mem-import": ([], {"payload": payload(), "mode": "replace"}, several),
    "mem-maintenance": ([], {"action": "folderContextDryRun"}, blocks),
    "mem-help": ([], {}, nothing),
}
