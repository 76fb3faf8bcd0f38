"""A call for every tool, and for every parameter two calls that differ only in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.toolsets.outcome import Case, Run, Step

ADD, SEARCH, UPDATE = "mempalace_add_drawer", "mempalace_search", "mempalace_update_drawer"
LIST, TUNNEL, FACT, QUERY = (
    "mempalace_list_drawers", "mempalace_create_tunnel", "mempalace_kg_add", "mempalace_kg_query",
)  # fmt: skip
JWT = "We chose JWT for all new APIs."


def nothing(run: Run) -> None:
    """Prepare nothing."""


def filed(wing: str, room: str, content: str, **more: Any) -> Step:
    return ADD, {"wing": wing, "room": room, "content": content, **more}


def fact(subject: str, predicate: str, object: str, **more: Any) -> Step:
    return FACT, {"subject": subject, "predicate": predicate, "object": object, **more}


def changing(parameter: str, base: Any, changed: Any, before: Sequence[Step] = (), **always: Any) -> Case:
    """Return a case with two values of a parameter; None leaves the parameter out."""

    def arguments(value: Any) -> Mapping[str, Any]:
        return always if value is None else {**always, parameter: value}

    return Case(arguments(base), arguments(changed), before)


def kept(run: Run) -> None:
    """Write drawers with known ids, of different days and sources."""
    values = [
        ("one", "api", "decisions", JWT, "2026-01-01", "decision"),
        ("two", "api", "backend", "The JWT service runs on port 8080.", "2026-02-01", "fact"),
        ("three", "web", "decisions", "Maya likes JWT in cookies.", "2026-02-20", "preference"),
    ]
    for id, wing, room, text, at, type in values:
        run.host.bank.remember(
            text, id=id, kind="drawer", place=f"{wing}/{room}", at=at, body={"type": type},
            source=str(run.folder / f"{id}.md"), entities=["JWT"],
        )  # fmt: skip


def tied(run: Run) -> None:
    kept(run)
    run.steps([tunnel("api", "decisions", "web", "decisions"), tunnel("api", "backend", "web", "decisions")])


def tunnel(*ends: str, **more: str) -> Step:
    names = ("source_wing", "source_room", "target_wing", "target_room")
    return TUNNEL, {**dict(zip(names, ends, strict=True)), **more}


def dated(run: Run) -> None:
    facts = run.host.bank.facts
    facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01", valid_until="2021-01-01")
    facts.add("Maya", "lives_in", "Porto", valid_from="2022-01-01")
    facts.add("Omar", "knows", "Maya", valid_from="2023-01-01")


def saved(run: Run) -> None:
    run.host.bank.hooks.checkpoint(15)


def one_file(run: Run) -> None:
    kept(run)
    (run.folder / "two.md").touch()
    (run.folder / "sub").mkdir()
    run.host.bank.remember("Gone.", id="four", kind="drawer", place="web/old", source=str(run.folder / "sub" / "x.md"))


def diaries(run: Run) -> None:
    for name in ("Tester", "Tester", "Helper"):
        run.steps([("mempalace_diary_write", {"agent_name": name, "entry": f"{name} wrote at {run.clock.now}."})])
        run.clock.move(hours=1)


def kept_then(parameter: str, base: Any, changed: Any, prepare: Callable[[Run], None] = kept, **always: Any) -> Case:
    case = changing(parameter, base, changed, **always)
    return Case(case.base, case.changed, prepare=prepare)


ENDS: dict[str, Any] = {
    "source_wing": "api",
    "source_room": "decisions",
    "target_wing": "web",
    "target_room": "decisions",
}
BACKEND, DRAWER = "mempalace_get_drawer", "mempalace_delete_drawer"
TRIPLE: dict[str, Any] = {"subject": "Maya", "predicate": "leads", "object": "search"}
OTHER_ROOMS = [
    filed(wing, room, f"{JWT} {wing} {room}") for wing in ("api", "web") for room in ("decisions", "backend")
]
BOTH = [fact("Maya", "leads", "search"), fact("Maya", "leads", "billing"), fact("Maya", "owns", "search"),
        fact("Omar", "leads", "search")]  # fmt: skip
ENTRY: dict[str, Any] = {"agent_name": "Tester", "entry": "Checked the contract."}

PARAMETERS: dict[tuple[str, str], Case] = {
    ("mempalace_list_rooms", "wing"): kept_then("wing", None, "web"),
    (SEARCH, "query"): kept_then("query", "port 8080", "cookies"),
    (SEARCH, "limit"): kept_then("limit", 1, 2, query="JWT"),
    (SEARCH, "wing"): kept_then("wing", None, "web", query="JWT"),
    (SEARCH, "room"): kept_then("room", None, "backend", query="JWT"),
    (SEARCH, "hall"): kept_then("hall", None, "hall_decisions", query="JWT"),
    (SEARCH, "source_file"): kept_then("source_file", None, "none.md", query="JWT"),
    (SEARCH, "since"): kept_then("since", None, "2026-01-15", query="JWT"),
    (SEARCH, "before"): kept_then("before", None, "2026-01-15", query="JWT"),
    (SEARCH, "max_distance"): kept_then("max_distance", None, 0.1, query="JWT port cookies"),
    ("mempalace_check_duplicate", "content"): kept_then("content", JWT, "Quite another thing."),
    ("mempalace_check_duplicate", "threshold"): kept_then("threshold", 0.1, 1, content=f"{JWT} Since Monday."),
    (ADD, "wing"): changing("wing", "api", "web", room="r", content=JWT),
    (ADD, "room"): changing("room", "one", "two", wing="api", content=JWT),
    (ADD, "content"): changing("content", "One.", "Two.", wing="api", room="r"),
    (ADD, "source_file"): changing("source_file", None, "notes.md", wing="api", room="r", content=JWT),
    (ADD, "added_by"): changing("added_by", "mcp", "maya", wing="api", room="r", content=JWT),
    (ADD, "hall"): changing("hall", None, "hall_events", wing="api", room="r", content=JWT),
    (DRAWER, "drawer_id"): kept_then("drawer_id", "one", "two"),
    (BACKEND, "drawer_id"): kept_then("drawer_id", "one", "two"),
    (LIST, "wing"): kept_then("wing", None, "web"),
    (LIST, "room"): kept_then("room", None, "backend"),
    (LIST, "hall"): kept_then("hall", None, "hall_decisions"),
    (LIST, "since"): kept_then("since", None, "2026-01-15"),
    (LIST, "before"): kept_then("before", None, "2026-01-15"),
    (LIST, "limit"): kept_then("limit", 1, 2),
    (LIST, "offset"): kept_then("offset", 0, 1),
    (UPDATE, "drawer_id"): kept_then("drawer_id", "one", "two", content="New."),
    (UPDATE, "content"): kept_then("content", None, "New.", drawer_id="one"),
    (UPDATE, "wing"): kept_then("wing", None, "web", drawer_id="one"),
    (UPDATE, "room"): kept_then("room", None, "backend", drawer_id="one"),
    (UPDATE, "hall"): kept_then("hall", None, "hall_events", drawer_id="one"),
    (QUERY, "entity"): kept_then("entity", "Maya", "Omar", dated),
    (QUERY, "as_of"): kept_then("as_of", None, "2020-06-01", dated, entity="Maya"),
    (QUERY, "direction"): kept_then("direction", "both", "incoming", dated, entity="Maya"),
    (FACT, "subject"): changing("subject", "Maya", "Omar", predicate="leads", object="search"),
    (FACT, "predicate"): changing("predicate", "leads", "owns", subject="Maya", object="search"),
    (FACT, "object"): changing("object", "search", "billing", subject="Maya", predicate="leads"),
    (FACT, "valid_from"): changing("valid_from", None, "2026-01-10", **TRIPLE),
    (FACT, "valid_to"): changing("valid_to", None, "2026-04-10", **TRIPLE),
    (FACT, "source_closet"): changing("source_closet", None, "closet 3", **TRIPLE),
    (FACT, "source_drawer_id"): kept_then("source_drawer_id", None, "one", **TRIPLE),
    ("mempalace_kg_invalidate", "subject"): changing(
        "subject", "Maya", "Omar", BOTH, predicate="leads", object="search"
    ),
    ("mempalace_kg_invalidate", "predicate"): changing(
        "predicate", "leads", "owns", BOTH, subject="Maya", object="search"
    ),
    ("mempalace_kg_invalidate", "object"): changing(
        "object", "search", "billing", BOTH, subject="Maya", predicate="leads"
    ),
    ("mempalace_kg_invalidate", "ended"): changing("ended", None, "2026-02-01", BOTH, **TRIPLE),
    ("mempalace_kg_supersede", "subject"): changing(
        "subject", "Maya", "Omar", [BOTH[1], fact("Omar", "leads", "billing")], predicate="leads",
        old_object="billing", new_object="ads",
    ),
    ("mempalace_kg_supersede", "predicate"): changing(
        "predicate", "leads", "owns", [BOTH[0], BOTH[2]], subject="Maya", old_object="search", new_object="ads"
    ),
    ("mempalace_kg_supersede", "old_object"): changing(
        "old_object", "search", "billing", BOTH[:2], subject="Maya", predicate="leads", new_object="ads"
    ),
    ("mempalace_kg_supersede", "new_object"): changing(
        "new_object", "ads", "search", BOTH[1:2], subject="Maya", predicate="leads", old_object="billing"
    ),
    ("mempalace_kg_supersede", "at"): changing(
        "at", None, "2026-02-01", BOTH[1:2], subject="Maya", predicate="leads", old_object="billing", new_object="ads"
    ),
    ("mempalace_kg_timeline", "entity"): kept_then("entity", None, "Omar", dated),
    ("mempalace_kg_timeline", "limit"): kept_then("limit", 1, 2, dated),
    ("mempalace_kg_timeline", "offset"): kept_then("offset", 0, 1, dated),
    ("mempalace_traverse", "start_room"): kept_then("start_room", "decisions", "backend"),
    ("mempalace_traverse", "max_hops"): Case(
        {"start_room": "a", "max_hops": 1}, {"start_room": "a", "max_hops": 2},
        [filed("w", "a", "Maya sails."), filed("w", "b", "Maya met Omar."), filed("w", "c", "Omar swims.")],
    ),
    ("mempalace_find_tunnels", "wing_a"): changing("wing_a", None, "none", OTHER_ROOMS),
    ("mempalace_find_tunnels", "wing_b"): changing("wing_b", None, "none", OTHER_ROOMS),
    **{
        (TUNNEL, name): changing(name, value, other, OTHER_ROOMS, **{k: v for k, v in ENDS.items() if k != name})
        for name, value, other in (
            ("source_wing", "api", "web"), ("source_room", "decisions", "backend"), ("target_wing", "web", "api"),
            ("target_room", "decisions", "backend"),
        )
        if name not in ("source_wing", "target_wing")
    },
    (TUNNEL, "source_wing"): changing(
        "source_wing", "api", "web", OTHER_ROOMS, source_room="backend", target_wing="web", target_room="decisions"
    ),
    (TUNNEL, "target_wing"): changing(
        "target_wing", "api", "web", OTHER_ROOMS, source_wing="api", source_room="decisions", target_room="backend"
    ),
    (TUNNEL, "label"): kept_then("label", None, "tokens", **ENDS),
    (TUNNEL, "source_drawer_id"): kept_then("source_drawer_id", None, "one", **ENDS),
    (TUNNEL, "target_drawer_id"): kept_then("target_drawer_id", None, "three", **ENDS),
    ("mempalace_list_tunnels", "wing"): kept_then("wing", None, "none", tied),
    ("mempalace_delete_tunnel", "tunnel_id"): Case(
        {"tunnel_id": "2fe0d3cc5bd3a0f5"}, {"tunnel_id": "e37f797daf0f28b9"}, prepare=tied
    ),
    ("mempalace_follow_tunnels", "wing"): kept_then("wing", "api", "web", tied, room="decisions"),
    ("mempalace_follow_tunnels", "room"): kept_then("room", "decisions", "backend", tied, wing="api"),
    ("mempalace_diary_write", "agent_name"): changing("agent_name", "Tester", "Helper", entry="One."),
    ("mempalace_diary_write", "entry"): changing("entry", "One.", "Two.", agent_name="Tester"),
    ("mempalace_diary_write", "topic"): changing("topic", None, "tests", **ENTRY),
    ("mempalace_diary_read", "agent_name"): kept_then("agent_name", "Tester", "Helper", diaries),
    ("mempalace_diary_read", "last_n"): kept_then("last_n", 1, 2, diaries, agent_name="Tester"),
    ("mempalace_hook_settings", "silent_save"): changing("silent_save", True, False),
    ("mempalace_hook_settings", "desktop_toast"): changing("desktop_toast", True, False),
    ("mempalace_get_drawers", "drawer_ids"): kept_then("drawer_ids", ["one"], ["one", "two"]),
    ("mempalace_delete_drawers", "drawer_ids"): kept_then("drawer_ids", ["one"], ["one", "two"]),
    ("mempalace_delete_by_source", "source_file"): Case(
        {"source_file": "a.md"}, {"source_file": "b.md"},
        [filed("w", "r", "One.", source_file="a.md"), filed("w", "r", "Two.", source_file="b.md")],
    ),
    ("mempalace_delete_by_source", "dry_run"): changing(
        "dry_run", None, False, [filed("w", "r", "One.", source_file="a.md")], source_file="a.md"
    ),
    ("mempalace_sync", "wing"): kept_then("wing", None, "api", one_file),
    ("mempalace_sync", "project_dir"): kept_then("project_dir", ".", "sub", one_file),
    ("mempalace_sync", "dry_run"): kept_then("dry_run", True, False, one_file),
    ("mempalace_rename_room", "wing"): kept_then("wing", "api", "web", room="decisions", new_room="rulings"),
    ("mempalace_rename_room", "room"): kept_then("room", "decisions", "backend", wing="api", new_room="rulings"),
    ("mempalace_rename_room", "new_room"): kept_then("new_room", "rulings", "choices", wing="api", room="decisions"),
    ("mempalace_rename_room", "new_wing"): kept_then(
        "new_wing", None, "web", wing="api", room="backend", new_room="backend"
    ),
    ("mempalace_export_markdown", "output_path"): kept_then("output_path", "one", "two"),
    ("mempalace_export_markdown", "wing"): kept_then("wing", None, "web", output_path="out"),
}  # fmt: skip

Reply = tuple[Sequence[Step], Mapping[str, Any], Callable[[Run], None]]
REPLIES: dict[str, Reply] = {
    "mempalace_status": ([], {}, kept),
    "mempalace_list_wings": ([], {}, kept),
    "mempalace_list_rooms": ([], {}, kept),
    "mempalace_get_taxonomy": ([], {}, kept),
    SEARCH: ([], {"query": "JWT"}, kept),
    "mempalace_check_duplicate": ([], {"content": JWT}, kept),
    "mempalace_get_aaak_spec": ([], {}, nothing),
    ADD: ([], {"wing": "api", "room": "decisions", "content": JWT}, nothing),
    "mempalace_delete_drawer": ([], {"drawer_id": "one"}, kept),
    "mempalace_get_drawer": ([], {"drawer_id": "one"}, kept),
    LIST: ([], {}, kept),
    UPDATE: ([], {"drawer_id": "one", "content": "New."}, kept),
    QUERY: ([], {"entity": "Maya"}, dated),
    FACT: ([], TRIPLE, nothing),
    "mempalace_kg_invalidate": (BOTH, TRIPLE, nothing),
    "mempalace_kg_timeline": ([], {}, dated),
    "mempalace_kg_stats": ([], {}, dated),
    "mempalace_traverse": ([], {"start_room": "backend"}, kept),
    "mempalace_find_tunnels": ([], {}, kept),
    "mempalace_graph_stats": ([], {}, kept),
    TUNNEL: ([], ENDS, kept),
    "mempalace_list_tunnels": ([], {}, tied),
    "mempalace_delete_tunnel": ([tunnel(*ENDS.values())], {"tunnel_id": "$tunnel_id"}, kept),
    "mempalace_follow_tunnels": ([], {"wing": "api", "room": "backend"}, tied),
    "mempalace_diary_write": ([], ENTRY, nothing),
    "mempalace_diary_read": ([], {"agent_name": "tester"}, diaries),
    "mempalace_hook_settings": ([], {}, nothing),
    "mempalace_memories_filed_away": ([], {}, saved),
    "mempalace_reconnect": ([], {}, kept),
    "mempalace_get_drawers": ([], {"drawer_ids": ["one", "two"]}, kept),
    "mempalace_delete_drawers": ([], {"drawer_ids": ["one", "two"]}, kept),
    "mempalace_delete_by_source": (
        [filed("w", "r", "One.", source_file="a.md")], {"source_file": "a.md", "dry_run": False}, nothing,
    ),
    "mempalace_sync": ([], {}, one_file),
    "mempalace_rename_room": ([], {"wing": "api", "room": "decisions", "new_room": "rulings"}, kept),
    "mempalace_kg_supersede": (
        BOTH[1:2], {"subject": "Maya", "predicate": "leads", "old_object": "billing", "new_object": "ads"}, nothing,
    ),
    "mempalace_export_markdown": ([], {"output_path": "out"}, kept),
}  # fmt: skip
