"""Arguments against a schema: valid ones pass unchanged, and all errors are reported at once."""

import json
import math
from dataclasses import replace
from importlib import import_module
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.toolsets.made_toolsets import tool

from pieria.errors import InputError
from pieria.toolsets import Access, Tool, registry
from pieria.toolsets.validation import understand, validated, violations

PLAIN = tool(
    properties={
        "text": {"type": "string", "minLength": 2, "maxLength": 5},
        "count": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
        "share": {"type": "number", "minimum": 0},
        "way": {"type": "string", "enum": ["in", "out"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "inner": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    required=["text"],
    accepts={"limit": "count"},
)


def told(arguments: object) -> dict[str, dict[str, Any]]:
    """Return the violations by parameter."""
    with pytest.raises(InputError) as caught:
        validated(PLAIN, arguments)
    return {one["parameter"]: one for one in violations(caught.value)}


def test_defaults_are_filled_in_and_everything_wrong_reported() -> None:
    assert validated(PLAIN, {"text": "abc"}) == {"text": "abc", "count": 5}
    settled = tool(properties={"limit": {"type": "integer", "default": 5}}, settled=("limit",))
    assert (validated(settled, {}), validated(settled, {"limit": 5})) == ({}, {"limit": 5})
    assert validated(PLAIN, {"text": "abc", "limit": 7}) == {"text": "abc", "count": 7}
    assert told({"text": "abc", "limit": 7, "count": 8}).keys() == {"count"}
    found = told({"count": 0, "share": "x", "way": "inn", "tags": ["a", 2], "inner": {"b": 1}, "cuont": 1})
    assert found.keys() == {"cuont", "text", "count", "share", "way", "tags[1]", "inner.b"}
    assert found["cuont"]["hint"] == "Did you mean count?"
    way = {"parameter": "way", "expected": "one of in, out", "received": "'inn'", "hint": "Did you mean in?"}
    assert found["way"] == way
    assert (found["text"]["received"], found["share"]["expected"]) == ("nothing", "a number from 0")


def test_expectations_and_hints_are_in_words() -> None:
    for name, value, expected in (
        ("text", "a", "a text of 2 to 5 characters"), ("tags", ["a", "b", "c"], "a list of at most 2 items"),
        ("either", 5, "a text or null"), ("inner", [], "an object"), ("count", True, "a whole number from 1 to 50"),
        ("share", math.nan, "a finite number"), ("share", math.inf, "a finite number"),
    ):  # fmt: skip
        assert told({"text": "abc", name: value})[name]["expected"] == expected
    assert told({"text": "abc", "way": None})["way"]["hint"] == "Leave it out."
    assert told({"text": "abc", "tags": "ship"})["tags"]["hint"] == "Put it into a list, even if it is the only one."
    assert told({"text": "abc", "tags": 5})["tags"]["hint"] is None
    wrong: tuple[object, ...] = (None, [], "x", 5)
    assert [[*told(arguments)] for arguments in wrong] == [["arguments"]] * 4
    ways = tool(properties={"way": {"type": "string", "enum": ["outgoing", "incoming", "both"]}})
    for given_, meant in (("out", "outgoing"), ("Incoming", "incoming"), ("all", None), ("bth", "both")):
        with pytest.raises(InputError) as caught:
            validated(ways, {"way": given_})
        assert caught.value.hint == (f"Did you mean {meant}?" if meant else None)
    with pytest.raises(InputError) as caught:
        validated(registry().found("mem-revise")[1], {"id": "a", "files": ["b"]})
    assert str(caught.value.hint).startswith("The parameters of mem-revise: ")


def test_null_is_left_out_and_remembered_text_not_quoted() -> None:
    lenient = replace(PLAIN, takes_null=True)
    assert validated(lenient, {"text": "abc", "way": None, "count": None}) == {"text": "abc", "count": 5}
    with pytest.raises(InputError) as caught:
        validated(lenient, {"text": None})
    assert caught.value.parameter == "text"
    secret = tool(properties={"content": {"type": "string", "maxLength": 3}})
    with pytest.raises(InputError) as caught:
        validated(secret, {"content": "hush hush"})
    assert "hush" not in str(caught.value.as_dict())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_ARGUMENTS = st.dictionaries(st.sampled_from([*PLAIN.parameters, "limit", "txet"]) | st.text(max_size=4), _VALUES)


@given(_ARGUMENTS)
def test_valid_arguments_pass_unchanged(arguments: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(PLAIN.input_schema)
    listed = {PLAIN.accepts.get(name, name): value for name, value in arguments.items()}
    try:
        given = validated(PLAIN, arguments)
    except InputError as error:
        assert not validator.is_valid(listed) or len(listed) < len(arguments)
        assert all(one["expected"] and one["parameter"] is not None for one in violations(error))
        json.dumps(violations(error), allow_nan=False)
    else:
        assert validator.is_valid(listed)
        assert given == {"count": 5, **listed}


@given(st.data())
def test_no_tool_fails_on_any_arguments(data: st.DataObject) -> None:
    _, each = data.draw(st.sampled_from(list(registry())))
    names = st.sampled_from([*each.parameters, "nonsense"])
    arguments = data.draw(st.dictionaries(names, _VALUES, max_size=4))
    try:
        validated(each, arguments)
    except InputError as error:
        json.dumps(error.as_dict(), allow_nan=False)


NESTED = tool(
    properties={
        "name": {"type": "string"},
        "depth": {"type": ["integer", "null"]},
        "counts": {"type": "array", "items": {"type": "integer"}},
        "within": {"type": "object", "properties": {"k": {"type": "integer"}, "w": {"type": "number"}}},
    },
    required=["name"],
)


def test_numbers_are_checked_at_any_depth() -> None:
    with pytest.raises(InputError) as caught:
        validated(NESTED, {"name": "x", "counts": [1, math.nan], "within": {"w": math.inf}})
    assert {"counts[1]", "within.w"} <= {one["parameter"] for one in violations(caught.value)}
    given = {"name": "x", "depth": 5.0, "counts": [1.0, 2], "within": {"k": 3.0, "w": 4.0}}
    kept = {"name": "x", "depth": 5, "counts": [1, 2], "within": {"k": 3, "w": 4.0}}
    assert repr(validated(NESTED, given)) == repr(kept)
    assert repr(validated(PLAIN, {"text": "abc", "count": 5.0})) == repr({"count": 5, "text": "abc"})


def test_needed_and_nameless_parameters_are_refused() -> None:
    for arguments, hints in (({"name": None, "within": None}, [None, "Leave it out."]), ({"name": "x", 3: 4}, [None])):
        with pytest.raises(InputError) as caught:
            validated(NESTED, arguments)
        assert [one["hint"] for one in violations(caught.value)] == hints
    assert caught.value.parameter == "arguments"


def test_thousands_of_mistakes_are_listed_and_guessed_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        validated(NESTED, {"name": "x", **{f"n{number}": number for number in range(20_000)}})
    told = violations(caught.value)
    assert len(told) == 51
    assert told[-1]["hint"] == "19,950 further violations are not listed."
    compared: list[str] = []

    def noted(name: str, *rest: object) -> list[str]:
        compared.append(name)
        return []

    monkeypatch.setattr(import_module("pieria.toolsets.registry"), "get_close_matches", noted)
    unknown = {f"n{number}": number for number in range(200)}
    for arguments in ({"text": "abc", **unknown}, {"text": "abc", "inner": unknown}):
        compared.clear()
        with pytest.raises(InputError):
            validated(PLAIN, arguments)
        assert len(compared) == 50


def test_texts_are_read_as_what_the_schema_takes() -> None:
    given = {"text": "55", "limit": " 7 ", "share": "0.5", "inner": '{"a": "3"}', "tags": '["a"]', "either": "8"}
    assert understand(PLAIN, given) == (
        {"text": "55", "count": 7, "share": 0.5, "inner": {"a": 3}, "tags": ["a"], "either": "8"}, [],
    )  # fmt: skip
    flag = tool(properties={"flag": {"type": "boolean"}, "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]}})
    assert understand(flag, {"flag": "True", "size": "3.0"}) == ({"flag": True, "size": 3.0}, [])
    for wrong in ({"flag": "yes"}, {"flag": 1}, {"size": "nan"}, {"size": "3 of 4"}, {"size": "9" * 16}):
        with pytest.raises(InputError):
            understand(flag, wrong)
    for name, value in (("count", "0"), ("count", "5.5"), ("tags", "ship"), ("tags", "[ship"), ("inner", "[1]")):
        with pytest.raises(InputError):
            understand(PLAIN, {"text": "abc", name: value})


def test_numbers_out_of_range_are_moved_where_a_tool_says_so() -> None:
    near = replace(PLAIN, access=Access.read, takes_nearest=True)
    assert understand(near, {"text": "abc", "count": 99}) == (
        {"text": "abc", "count": 50}, ["count: 99 is out of range, 50 was taken."],
    )  # fmt: skip
    assert understand(near, {"text": "abc", "limit": "-1"}) == (
        {"text": "abc", "count": 1}, ["limit: -1 is out of range, 1 was taken."],
    )  # fmt: skip
    assert understand(near, {"text": "abc", "count": 50, "share": 0}) == ({"text": "abc", "count": 50, "share": 0}, [])
    listing = replace(near, reply_schema={"type": "array"})
    writing = replace(PLAIN, takes_nearest=True)
    refused: tuple[tuple[Tool, dict[str, Any]], ...] = (
        (replace(near, takes_nearest=False), {"count": 99}), (writing, {"count": 99}), (listing, {"count": 99}),
        (near, {"share": -1}), (near, {"count": True}), (near, {"count": 99.5}),
    )  # fmt: skip
    for made, wrong in refused:
        with pytest.raises(InputError):
            understand(made, {"text": "abc", **wrong})


def test_unknown_options_that_store_nothing_are_left_out() -> None:
    reading = replace(PLAIN, access=Access.read)
    warning = "verbosity: made_do has no such option, and left it out."
    assert understand(reading, {"text": "abc", "verbosity": 3}) == ({"text": "abc", "count": 5}, [warning])
    empty: tuple[object, ...] = (None, False, "", [], {})
    for nothing in empty:
        assert understand(PLAIN, {"text": "abc", "verbosity": nothing})[1] == [warning]
    ignoring = replace(PLAIN, ignores=("verbosity", "counter"))
    assert len(understand(ignoring, {"text": "abc", "verbosity": 3, "counter": 1})[1]) == 2
    listing = replace(reading, reply_schema={"type": "array"})
    refused: tuple[tuple[Tool, dict[str, Any]], ...] = (
        (PLAIN, {"verbosity": 3}), (PLAIN, {"verbosity": 0}), (reading, {"cuont": 3}), (listing, {"verbosity": 3}),
        (reading, {f"n{number}": 1 for number in range(51)}),
    )  # fmt: skip
    for made, unknown in refused:
        with pytest.raises(InputError) as caught:
            understand(made, {"text": "abc", **unknown})
        assert caught.value.parameter == next(iter(unknown))


def test_a_failing_call_is_told_of_its_unknown_options() -> None:
    with pytest.raises(InputError) as caught:
        understand(replace(PLAIN, access=Access.read), {"verbosity": 3})
    assert {one["parameter"] for one in violations(caught.value)} == {"verbosity", "text"}
    with pytest.raises(InputError) as caught:
        understand(PLAIN, [])
    assert caught.value.parameter == "arguments"
