"""Each field of the filter: a memory that passes and one that does not, through every reader with a filter."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from tests.contract.single_calls import ids_of, select
from tests.contract.store_helpers import ALL, DAY, HOUR, NOW, HandClock, apply, memory, standing
from tests.contract.test_vectors import enter, unit, with_vector

from pieria.record.changeset import FOREVER, Applied, Write
from pieria.record.filter import ANY_TIME, Filter, Shared, Viewer
from pieria.record.time import micros
from pieria.record.usage import Use
from pieria.store.protocol import Store

WORD = "heron"
RULE = "Always answer in metric units."
PREFERENCE = "I prefer window seats."


def write(id: str, says: str = "", **values: Any) -> Write:
    return with_vector(memory(f"{WORD} {id}\n{says}", id, **values), unit(1, len(id)))


def keep(store: Store, *writes: Write, **parts: Any) -> Applied:
    return apply(store, *writes, space=enter(store), **parts)


def check(store: Store, filter: Filter, expected: Sequence[str]) -> None:
    """Check that each way of reading lets these ids through, and no other."""
    with store.reading() as reader:
        held = reader.select(filter.having(viewer=Viewer(everything=True)).anything(), limit=1_000)
        match = reader.text([WORD], filter, want=1_000, budget=10)
        near = [found.row for found in reader.near(unit(1), filter, 1_000).candidates]
        ways: dict[str, Iterable[str]] = {
            "select": ids_of(reader.select(filter, limit=1_000)),
            "text": ids_of(reader.memories([candidate.row for candidate in match.candidates], filter).values()),
            "twins": {id for memory in held for id in ids_of(reader.twins(memory.text, [WORD], filter))},
            "states": reader.states(ids_of(held), filter),
            "near": [content.id for content in reader.contents(near).values()],
        }
        assert {way: sorted(seen) for way, seen in ways.items()} == dict.fromkeys(ways, sorted(expected)), filter
        assert reader.count(filter) == {"total": len(expected)}
        for by, value in COMMON.items():
            assert reader.rows_each(filter, by, [value]) == {value: reader.rows(filter.having_shared(by, value))}


COMMON: dict[Shared, str] = {"tags": "a", "place": "a/a"}
META: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"n": 1}, {"n": 1, "m": 2}, {"n": 2}), ({"n": 1}, {"n": 1.0}, {"n": True}), ({"n": None}, {"n": None}, {"m": 1}),
    ({"n": True}, {"n": True}, {"n": 1}), ({"n": False}, {"n": False}, {"n": None}), ({'"': "'"}, {'"': "'"}, {}),
    ({"n": "1"}, {"n": "1"}, {"n": 1}), ({"n": "[1]"}, {"n": "[1]"}, {"n": [1]}), ({"n": ""}, {"n": ""}, {"n": None}),
    ({"n": [1, "a"]}, {"n": [1, "a"]}, {"n": ["a", 1]}), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}),
    ({"n": {"a": 1, "b": [2]}}, {"n": {"a": 1, "b": [2]}}, {"n": {"a": 1}}), ({"a.b": 1}, {"a.b": 1}, {"a": {"b": 1}}),
    ({"n": {"a": 1, "b": [2]}}, {"n": {"b": [2], "a": 1}}, {"n": {"a": 1}}),
]  # fmt: skip
PLACES = [
    ("wing/room", "wing/room", "wing/rooms"), ("wing", "wing/room", "wings/room"), ("wing", "wing/room", "wing-2/room"),
    ("wing", "wing/😀", "win/g"), ("*/room", "wing/room", "wing/bedroom"), ("*/room", "any/room", "room/any"),
]  # fmt: skip
FIELDS: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    *(("meta", asked, {"meta": meets}, {"meta": fails}) for asked, meets, fails in META),
    *(("place", asked, {"place": inside}, {"place": outside}) for asked, inside, outside in PLACES),
    ("kinds", ("diary",), {"kind": "diary"}, {"kind": "note"}),
    ("kinds", ("diary", "turn"), {"kind": "turn"}, {"kind": "summary"}),
    ("types", ("bugfix",), {"body": {"type": "bugfix"}}, {"body": {"type": "feature"}}),
    ("types", ("bugfix",), {"body": {"type": "bugfix"}}, {}),
    ("types", ("bugfix", "diary"), {"kind": "diary"}, {"kind": "diary", "body": {"type": "feature"}}),
    ("not_types", ("bugfix",), {"body": {"type": "feature"}}, {"body": {"type": "bugfix"}}),
    ("without_turns_of", "s1", {"kind": "turn", "session": "s2"}, {"kind": "turn", "session": "s1"}),
    ("without_turns_of", "s1", {"session": "s1"}, {"kind": "turn", "session": "s1"}),
    ("without_turns_of", "s1", {"kind": "turn"}, {"kind": "turn", "session": "s1"}),
    ("not_types", ("bugfix", "feature"), {}, {"body": {"type": "feature"}}),
    ("tags", ("auth",), {"tags": ["billing", "Auth"]}, {"tags": ["authentication"]}),
    ("tags", ("auth", "billing"), {"tags": ["billing"]}, {}),
    ("tags", ("strasse",), {"tags": ["straße"]}, {"entities": ["straße"]}),
    ("entities", ("maya",), {"entities": ["Maya"]}, {"tags": ["maya"]}),
    ("files", ("src/a.py",), {"files": ["src/a.py"]}, {"files": ["src/A.py"]}),
    ("standing", ("rule",), {"says": RULE}, {"says": PREFERENCE}),
    ("standing", ("rule", "preference"), {"says": PREFERENCE}, {}),
    ("standing", ("profile",), {"says": "My name is Ingrid."}, {"tags": ["profile"]}),
    ("via", ("person", "accepted"), {"via": "person"}, {}),
    ("via", ("agent", "outside"), {"via": "outside"}, {"via": "hearsay"}),
    ("standing", ("rule",), {"says": RULE, "kind": "turn"}, {"says": RULE, "kind": "semantic"}),
    ("standing", ("rule",), {"says": RULE, "kind": "drawer"}, {"says": RULE, "kind": "summary"}),
    ("standing", ("rule",), {"says": RULE}, {"says": f"```\n{RULE}\n```"}),
    ("author", "maya", {"author": "maya"}, {"author": "Maya"}),
    ("author", "maya", {"author": "maya"}, {}),
    ("author_type", "human", {"author_type": "human"}, {"author_type": "agent"}),
    ("channel", "c1", {"channel": "c1"}, {"channel": "c2"}),
    ("session", "s1", {"session": "s1"}, {"session": "s11"}),
    ("scopes", ("user",), {"scope": "user"}, {"scope": "bank"}),
    ("source", "mail", {"source": "mail"}, {"source": "chat"}),
    ("since", NOW, {"at": NOW}, {"at": NOW - 1}),
    ("until", NOW, {"at": NOW - 1}, {"at": NOW}),
    ("valid_at", NOW, {"valid_from": NOW}, {"valid_from": NOW + 1}),
    ("valid_at", NOW, {"valid_until": NOW + 1}, {"valid_until": NOW}),
    ("valid_at", NOW - DAY, {"valid_until": NOW - HOUR}, {"valid_from": NOW - HOUR}),
    ("pinned", True, {"pinned": True}, {}),
    ("pinned", False, {}, {"pinned": True}),
    ("ids", ("in", "nobody"), {}, {}),
    ("status", ("archived",), {"state": {"status": "archived"}}, {}),
    ("status", ("active", "archived"), {"state": {"status": "archived"}}, {"state": {"status": "promoted"}}),
    ("endings", ("removed",), {"state": {"ended": "removed"}}, {"state": {"ended": "revised"}}),
    ("endings", ("", "revised"), {"state": {"ended": "revised"}}, {"state": {"ended": "removed"}}),
]


def test_field_passes_what_it_names_and_nothing_else(store: Store) -> None:
    for field, value, passes, fails in FIELDS:
        keep(store, write("in", **passes), write("out", **fails))
        check(store, ALL.having(**{field: value}), ["in"])
        apply(store, erase=["in", "out"])


def test_empty_list_passes_nothing(store: Store) -> None:
    keep(store, write("m", tags=["a"]))
    for field in ("ids", "kinds", "types", "tags", "entities", "files", "standing", "scopes", "status"):
        assert select(store, ALL.having(**{field: ()})) == [], field


def test_plain_filter_passes_what_is_current(store: Store) -> None:
    keep(
        store,
        write("plain", kind="diary", tags=["a"]),
        write("promoted", kind="diary", state={"status": "promoted"}),
        write("archived", state={"status": "archived"}),
        write("removed", state={"ended": "removed"}),
        write("revised", state={"ended": "revised"}),
        write("over", tags=["a"], valid_until=NOW),
        write("to come", valid_from=NOW + DAY),
        write("theirs", scope="session", session="s1"),
    )
    check(store, ALL, ["plain", "promoted"])
    check(store, Filter(now=NOW - 1), ["plain", "promoted", "over"])
    check(store, Filter(now=NOW + DAY), ["plain", "promoted", "to come"])
    check(store, Filter(now=NOW, valid_at=ANY_TIME), ["plain", "promoted", "over", "to come"])
    check(store, ALL.having(kinds=("diary",), tags=("a",)), ["plain"])
    # Opening by id hides only what the viewer may not see.
    narrow = ALL.having(kinds=("turn",), tags=("x",), ids=("removed", "over", "theirs"))
    assert set(select(store, narrow.anything())) == {"removed", "over"}


def test_private_memories_are_seen_by_session_and_channel(store: Store) -> None:
    keep(
        store,
        write("of nobody", state={"scope": "session"}),
        write("of s1", scope="session", session="s1"),
        write("of s1 in c1", scope="session", session="s1", channel="c1"),
        write("of the bank", session="s9", channel="c9"),
    )
    for viewer, private in (
        (Viewer(), []), (Viewer(session="s1"), ["of s1", "of s1 in c1"]), (Viewer(session="s2"), []),
        (Viewer(channel="c1"), ["of s1 in c1"]), (Viewer(session="s2", channel="c1"), ["of s1 in c1"]),
        (Viewer(session="s1", channel="c2"), ["of s1", "of s1 in c1"]),
        (Viewer(everything=True), ["of nobody", "of s1", "of s1 in c1"]),
    ):  # fmt: skip
        check(store, ALL.having(viewer=viewer), [*private, "of the bank"])


def test_known_time_chooses_the_state_of_that_time(store: Store) -> None:
    first = keep(store, write("m", state={"status": "active"}))
    second = apply(store, standing(write("m"), first.rows[0], status="archived"))
    known = [micros(applied.change.at) for applied in (first, second)]
    archived = ALL.having(status=("archived",))
    for filter, at, expected in [
        (ALL, known[0] - 1, []), (ALL, known[0], ["m"]), (ALL, known[1] - 1, ["m"]), (ALL, known[1], []),
        (archived, known[0], []), (archived, known[1], ["m"]), (archived, FOREVER - 1, ["m"]),
    ]:  # fmt: skip
        check(store, filter.having(known_at=at), expected)


def test_used_since_passes_what_was_used_or_written(store: Store, clock: HandClock) -> None:
    past, later = NOW - DAY, NOW + HOUR
    uses = [Use("unused", 1, NOW), Use("read", 1, later), Use("reviewed", 0, None, 1, later)]
    keep(store, *(write(use.id, at=past) for use in uses), write("dated", at=later), usage=uses)
    clock.move(hours=1)
    keep(store, write("new", at=past))
    check(store, ALL.having(used_since=NOW), ["unused", "read", "reviewed", "dated", "new"])
    check(store, ALL.having(used_since=later), ["read", "reviewed", "dated", "new"])
    check(store, ALL.having(used_since=later + 1), [])


COMBINED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kind": "diary"}, {"kinds": ("diary",)}),
    ({"tags": ["a"]}, {"tags": ("a", "b")}),
    ({"place": "a/a", "meta": {"a": 1}}, {"place": "a", "meta": {"a": 1}}),
    ({"author": "a", "session": "a"}, {"author": "a", "session": "a"}),
    ({"pinned": True, "files": ["a"]}, {"pinned": True, "files": ("a",)}),
]
"""Values of a memory, and the conditions that they meet."""


def test_memory_has_to_meet_every_condition(store: Store) -> None:
    every = [frozenset(chosen) for size in range(6) for chosen in combinations(range(len(COMBINED)), size)]
    keep(store, *(write(str(sorted(held)), **merged(COMBINED[n][0] for n in held)) for held in every))
    for asked in [asked for asked in every if len(asked) in (2, 5)]:
        filter = ALL.having(**merged(COMBINED[n][1] for n in asked))
        check(store, filter, [str(sorted(held)) for held in every if asked <= held])


def merged(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}
