"""The lines of an export: each row becomes a line and is read back the same, and the page names every field."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.errors import InputError, PrivacyError
from pieria.record.changeset import FOREVER, Content, State
from pieria.record.fact import FactRow
from pieria.record.link import LinkRow
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.trust import WAYS
from pieria.record.usage import Use
from pieria.transfer.lines import FIELDS, Problem, values_of
from pieria.transfer.lines import written_line as line_of

PAGE = (Path(__file__).parents[2] / "docs" / "export-format.md").read_text()

# Values that a store can hold: instants of the years 1 to 9999, texts without NUL, labels that are trimmed.
MOMENTS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda text: not text.isspace()
)
NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10)
SHARES = st.floats(0, 1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def written(value: Any) -> str:
    """Return JSON text as the record stores it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


LISTS = st.none() | st.lists(NAMES, min_size=1, max_size=3, unique=True).map(written)
MAPPINGS = st.none() | st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3).map(written)
KNOWN = {"known_from": MOMENTS, "known_until": st.just(FOREVER) | MOMENTS}
ROWS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "change": st.fixed_dictionaries(
        {
            "seq": st.integers(1, 2**53), "at": MOMENTS, "who": st.just("") | TEXTS, "what": TEXTS,
            "ids": st.lists(TEXTS, max_size=3).map(written),
        }
    ),
    "content": st.fixed_dictionaries(
        {
            "id": TEXTS, "version": st.integers(1, 2**53), "title": st.none() | TEXTS, "text": TEXTS, "body": MAPPINGS,
            "tags": LISTS, "entities": LISTS, "files": LISTS, "flags": LISTS, "context": st.none() | TEXTS,
            "meta": MAPPINGS,
        }
    ),
    "state": st.fixed_dictionaries(
        {
            "id": TEXTS, "version": st.integers(1, 2**53), "kind": st.sampled_from(KINDS), "type": st.none() | TEXTS,
            "place": st.builds("{}/{}".format, NAMES, NAMES), "scope": st.sampled_from(SCOPES),
            "session": st.none() | NAMES, "sequence": st.none() | st.integers(0, 2**53), "channel": st.none() | NAMES,
            "author": st.none() | NAMES, "author_type": st.none() | st.sampled_from(AUTHOR_TYPES),
            "source": st.none() | NAMES, "at": MOMENTS, "valid_from": st.none() | MOMENTS,
            "valid_until": st.none() | MOMENTS, "status": st.sampled_from(STATUSES), "tier": st.sampled_from(TIERS),
            "importance": SHARES, "confidence": st.none() | SHARES, "strength": st.floats(0, 2), "trust": SHARES,
            "pinned": st.integers(0, 1), "ended": st.sampled_from(["", "removed", "revised"]),
            "reason": st.none() | TEXTS, "superseded_by": st.none() | TEXTS, "via": st.sampled_from(WAYS),
            **KNOWN,
        }
    ),
    "link": st.fixed_dictionaries(
        {
            "id": TEXTS, "source_is": st.sampled_from(["memory", "place"]), "source": TEXTS, "relation": NAMES,
            "target_is": st.sampled_from(["memory", "place"]), "target": TEXTS, "weight": SHARES,
            "label": st.none() | TEXTS, "meta": MAPPINGS, "ended": st.sampled_from(["", "removed"]), **KNOWN,
        }
    ),
    "fact": st.fixed_dictionaries(
        {
            "id": TEXTS, "subject": TEXTS, "predicate": TEXTS, "object": TEXTS, "valid_from": st.none() | MOMENTS,
            "valid_until": st.none() | MOMENTS, "confidence": st.none() | SHARES, "memory": st.none() | TEXTS,
            "source": st.none() | TEXTS, "ended": st.sampled_from(["", "removed"]), "reason": st.none() | TEXTS,
            **KNOWN,
        }
    ),
    "purged": st.fixed_dictionaries({"id": TEXTS, "known_from": MOMENTS}),
    "usage": st.fixed_dictionaries(
        {
            "id": TEXTS, "accesses": st.integers(0, 2**53), "last_access": st.none() | MOMENTS,
            "reviews": st.integers(0, 2**53), "last_review": st.none() | MOMENTS, "crossings": st.integers(0, 2**53),
            "rewards": st.floats(allow_nan=False, allow_infinity=False), "rewarded": st.integers(0, 2**53),
            "spaced": st.floats(0, 2**53),
        }
    ),
    "record": st.fixed_dictionaries(
        {"collection": TEXTS, "key": TEXTS, "value": VALUES.filter(lambda value: value is not None).map(written)}
    ),
}  # fmt: skip


@given(st.data(), st.sampled_from(sorted(ROWS)))
def test_a_row_survives_its_line(data: st.DataObject, what: str) -> None:
    row = data.draw(ROWS[what])
    line = json.loads(json.dumps(line_of(what, row)))
    wrong: list[InputError] = []
    values = values_of(what, line, wrong)
    assert wrong == []
    assert None not in line.values()
    expected = {**row}
    if "known_until" in row and row["known_until"] == FOREVER:
        expected["known_until"] = None
    if what == "change":
        expected["ids"] = tuple(json.loads(row["ids"]))
    if what == "record":
        expected["value"] = json.loads(row["value"])
    assert dict(zip((field.name for field in FIELDS[what]), values, strict=True)) == expected


@pytest.mark.parametrize(
    ("what", "row", "beside"),
    [
        ("content", Content, set()),
        ("state", State, {"row"}),
        ("link", LinkRow, set()),
        ("fact", FactRow, {"subject_key", "predicate_key", "object_key"}),
        ("usage", Use, set()),
    ],
)
def test_the_fields_are_those_of_the_rows_in_their_order(what: str, row: Any, beside: set[str]) -> None:
    named = [field.name for field in FIELDS[what] if not field.name.startswith("known_")]
    assert named == [name for name in row._fields if name not in beside]


@pytest.mark.parametrize("what", sorted(FIELDS))
def test_the_page_names_every_field(what: str) -> None:
    sections = re.split(r"^### ", PAGE, flags=re.MULTILINE)
    [section] = [part for part in sections if re.search(rf"`{what}`", part.partition("\n")[0])]
    named = set(re.findall(r"`(\w+)`", section))
    assert {field.name for field in FIELDS[what]} <= named


def test_everything_wrong_with_a_line_is_found_at_once() -> None:
    wrong: list[InputError] = []
    values_of("state", {"line": "state", "kind": "thought", "importance": 5, "colour": "red", "session": None}, wrong)
    found = {problem.parameter for problem in wrong}
    assert {"kind", "importance", "colour", "session", "id", "at"} <= found
    assert "valid_from" not in found


def test_a_misspelt_field_is_told_the_nearest_name() -> None:
    wrong: list[InputError] = []
    values_of("purged", {"line": "purged", "id": "m", "known_form": "2026-01-01"}, wrong)
    assert [problem.hint for problem in wrong if problem.parameter == "known_form"] == ["Did you mean known_from?"]


def test_a_problem_says_where_it_is_and_never_what_was_remembered() -> None:
    problem = Problem.with_value(7, "text", "a text that is not blank", "\t")
    assert str(problem) == "line 7: text: expected a text that is not blank, got blank text of 1 character"
    assert problem.as_dict()["line"] == 7
    refused = Problem.of(3, PrivacyError("text", ["an AWS key"]))
    assert str(refused) == "line 3: text: expected a text without secrets, got what looks like an AWS key"
