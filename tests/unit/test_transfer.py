"""The lines of an export, which are read back the same, and merging a memory in a file with the bank's."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError, PrivacyError
from pieria.record.changeset import FOREVER, Content, State
from pieria.record.draft import NewMemory, checked
from pieria.record.fact import FactRow
from pieria.record.link import LinkRow
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.trust import WAYS
from pieria.record.usage import Use
from pieria.store.rows import first_write, names_of, written_list
from pieria.transfer.join import Side, merged, replaced
from pieria.transfer.lines import FIELDS, Problem, values_of, written_json
from pieria.transfer.lines import written_line as line_of

PAGE = (Path(__file__).parents[2] / "docs" / "export-format.md").read_text()

# --- lines

# Values that a store can hold: instants of the years 1 to 9999, texts without NUL, labels that are trimmed.
MOMENTS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda text: not text.isspace()
)
NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10)
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 2**53)
NUMBERS = st.integers(1, 2**53)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def written(value: Any) -> str:
    """Return JSON text as the record stores it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


LISTS = maybe(st.lists(NAMES, min_size=1, max_size=3, unique=True).map(written))
MAPPINGS = maybe(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3).map(written))
KNOWN = {"known_from": MOMENTS, "known_until": st.just(FOREVER) | MOMENTS}
ENDED = st.sampled_from(["", "removed"])
END = st.sampled_from(["memory", "place"])
ROWS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "change": {
        "seq": NUMBERS, "at": MOMENTS, "who": st.just("") | TEXTS, "what": TEXTS,
        "ids": st.lists(TEXTS, max_size=3).map(written),
    },
    "content": {
        "id": TEXTS, "version": NUMBERS, "title": maybe(TEXTS), "text": TEXTS, "body": MAPPINGS,
        "tags": LISTS, "entities": LISTS, "files": LISTS, "flags": LISTS, "context": maybe(TEXTS), "meta": MAPPINGS,
    },
    "state": {
        "id": TEXTS, "version": NUMBERS, "kind": st.sampled_from(KINDS), "type": maybe(TEXTS),
        "place": st.builds("{}/{}".format, NAMES, NAMES), "scope": st.sampled_from(SCOPES), "session": maybe(NAMES),
        "sequence": maybe(COUNTS), "channel": maybe(NAMES), "author": maybe(NAMES),
        "author_type": maybe(st.sampled_from(AUTHOR_TYPES)), "source": maybe(NAMES), "at": MOMENTS,
        "valid_from": maybe(MOMENTS), "valid_until": maybe(MOMENTS), "status": st.sampled_from(STATUSES),
        "tier": st.sampled_from(TIERS), "importance": SHARES, "confidence": maybe(SHARES),
        "strength": st.floats(0, 2), "trust": SHARES, "pinned": st.integers(0, 1),
        "ended": st.sampled_from(["", "removed", "revised"]), "reason": maybe(TEXTS), "superseded_by": maybe(TEXTS),
        "via": st.sampled_from(WAYS), **KNOWN,
    },
    "link": {
        "id": TEXTS, "source_is": END, "source": TEXTS, "relation": NAMES, "target_is": END, "target": TEXTS,
        "weight": SHARES, "label": maybe(TEXTS), "meta": MAPPINGS, "ended": ENDED, **KNOWN,
    },
    "fact": {
        "id": TEXTS, "subject": TEXTS, "predicate": TEXTS, "object": TEXTS, "valid_from": maybe(MOMENTS),
        "valid_until": maybe(MOMENTS), "confidence": maybe(SHARES), "memory": maybe(TEXTS), "source": maybe(TEXTS),
        "ended": ENDED, "reason": maybe(TEXTS), **KNOWN,
    },
    "purged": {"id": TEXTS, "known_from": MOMENTS},
    "usage": {
        "id": TEXTS, "accesses": COUNTS, "last_access": maybe(MOMENTS), "reviews": COUNTS,
        "last_review": maybe(MOMENTS), "crossings": COUNTS, "rewards": FLOATS, "rewarded": COUNTS,
        "spaced": st.floats(0, 2**53),
    },
    "record": {"collection": TEXTS, "key": TEXTS, "value": VALUES.filter(lambda value: value is not None).map(written)},
}  # fmt: skip


@given(st.data(), st.sampled_from(sorted(ROWS)))
def test_a_row_survives_its_line(data: st.DataObject, what: str) -> None:
    row = data.draw(st.fixed_dictionaries(ROWS[what]))
    line = json.loads(json.dumps(line_of(what, row)))
    wrong: list[InputError] = []
    values = values_of(what, line, wrong)
    assert wrong == []
    assert None not in line.values()
    if row.get("known_until") == FOREVER:
        row["known_until"] = None
    if what == "change":
        row["ids"] = tuple(json.loads(row["ids"]))
    if what == "record":
        row["value"] = json.loads(row["value"])
    assert dict(zip((field.name for field in FIELDS[what]), values, strict=True)) == row


def test_lines_have_the_fields_of_rows_and_the_page_names_them() -> None:
    beside = {"row", "subject_key", "predicate_key", "object_key"}
    rows: dict[str, Any] = {"content": Content, "state": State, "link": LinkRow, "fact": FactRow, "usage": Use}
    for what, row in rows.items():
        named = [field.name for field in FIELDS[what] if not field.name.startswith("known_")]
        assert named == [name for name in row._fields if name not in beside]
    sections = re.split(r"^### ", PAGE, flags=re.MULTILINE)
    for what, fields in FIELDS.items():
        [section] = [part for part in sections if re.search(rf"`{what}`", part.partition("\n")[0])]
        assert {field.name for field in fields} <= set(re.findall(r"`(\w+)`", section))


def test_all_errors_of_a_line_are_found_with_their_place() -> None:
    wrong: list[InputError] = []
    values_of("state", {"line": "state", "kind": "thought", "importance": 5, "colour": "red", "session": None}, wrong)
    found = {problem.parameter for problem in wrong}
    assert {"kind", "importance", "colour", "session", "id", "at"} <= found - {"valid_from"} == found
    wrong.clear()
    values_of("purged", {"line": "purged", "id": "m", "known_form": "2026-01-01"}, wrong)
    assert [problem.hint for problem in wrong if problem.parameter == "known_form"] == ["Did you mean known_from?"]
    wrong.clear()
    values_of("record", {"line": "record", "collection": "c", "key": "k", "value": [float("inf")]}, wrong)
    assert [problem.expected for problem in wrong] == ["finite numbers"]
    problem = Problem.with_value(7, "text", "a text that is not blank", "\t")
    assert str(problem) == "line 7: text: expected a text that is not blank, got blank text of 1 character"
    assert problem.as_dict()["line"] == 7
    refused = Problem.of(3, PrivacyError("text", ["an AWS key"]))
    assert str(refused) == "line 3: text: expected a text without secrets, got what looks like an AWS key"


def side(text: str = "words", *, known: int = 0, since: int = 0, tags: tuple[str, ...] = (), **standing: Any) -> Side:
    write = first_write(checked(NewMemory(text, tags=tags)), "m", 0, "bank/note")
    assert isinstance(write.content, Content)
    return Side(write.state._replace(**standing), known, write.content, since)


SIDES = st.builds(
    side,
    st.sampled_from(["one", "two", "three"]),
    known=st.integers(0, 3),
    since=st.integers(0, 3),
    tags=st.lists(st.sampled_from(["a", "A", "b", "c"]), max_size=3, unique=True).map(tuple),
    importance=st.sampled_from([0.1, 0.9]),
    pinned=st.integers(0, 1),
    ended=st.sampled_from(["", "removed"]),
)


def held_after(ours: Side, state: State | None, content: Content | None) -> Side:
    """Return our side after the outcome is written, later than everything."""
    if state is None:
        return ours
    return Side(state, 9, content or ours.content, ours.since if content is None else 9)


@given(SIDES, SIDES)
def test_merging_or_replacing_is_done_once(ours: Side, theirs: Side) -> None:
    after = held_after(ours, *merged(ours, theirs, 2))
    both = {tag.casefold() for tag in (*names_of(ours.content.tags), *names_of(theirs.content.tags))}
    assert sorted(label.casefold() for label in names_of(after.content.tags)) == sorted(both)
    assert merged(after, theirs, 3) == (None, None)
    after = held_after(ours, *replaced(ours, theirs, 2))
    assert replaced(after, theirs, 3) == (None, None)
    assert after.state._replace(row=0, version=0) == theirs.state._replace(row=0, version=0)
    for outcome in (merged(ours, theirs, 7), replaced(ours, theirs, 7)):
        if outcome.state is not None:
            assert outcome.state.version == (ours.state.version if outcome.content is None else 7)
            assert outcome.content is None or outcome.content.version == 7


def test_each_part_follows_its_own_time_and_lists_are_joined() -> None:
    cases = [((1, 1), (2, 2), "theirs", 0.9), ((2, 2), (1, 1), "ours", 0.1), ((1, 1), (1, 1), "ours", 0.1)]
    for own, other, text, importance in (*cases, ((1, 2), (2, 1), "ours", 0.9), ((2, 1), (1, 2), "theirs", 0.1)):
        here = side("ours", known=own[0], since=own[1], importance=0.1)
        there = side("theirs", known=other[0], since=other[1], importance=0.9)
        after = held_after(here, *merged(here, there, 2))
        assert (after.content.text, after.state.importance) == (text, importance)
    later = side(known=1, since=1)
    flagged = later._replace(content=later.content._replace(flags=written_list(("secret:key",))))
    assert merged(side(), flagged, 2) == (None, None)

    def with_body(one: Side, body: dict[str, Any]) -> Side:
        return one._replace(content=one.content._replace(body=written_json(body)))

    body: dict[str, Any] = {"facts": ["One.", "Two."], "files_read": ["a.py"], "subtitle": "Ours", "level": [1]}
    changed: dict[str, Any] = {"facts": ["Three.", "Two."], "subtitle": "Theirs", "level": [2]}
    ours = with_body(side(since=1), body)
    for since, rest, facts in ((0, body, ["One.", "Two.", "Three."]), (2, changed, ["Three.", "Two.", "One."])):
        theirs = with_body(side(since=since), changed)
        after = held_after(ours, *merged(ours, theirs, 2))
        assert json.loads(after.content.body or "") == {**rest, "facts": facts, "files_read": ["a.py"]}
        assert merged(after, theirs, 3) == (None, None)
