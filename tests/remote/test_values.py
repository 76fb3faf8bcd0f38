"""Every value of a verb survives its JSON, and nothing else is built from JSON."""

import dataclasses
import enum
import json
import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria import errors
from pieria.errors import (
    AdapterError,
    InputError,
    NotFoundError,
    PieriaError,
    SessionError,
    UnavailableError,
    UnknownError,
)
from pieria.graph.edge import Edge
from pieria.learning.experience import Experience, Taken
from pieria.record.draft import NewMemory
from pieria.record.event import AgentEvent
from pieria.record.job import Job
from pieria.record.memory import End, Frozen
from pieria.remote.errors import error_of
from pieria.remote.records import PLACES, record_named
from pieria.remote.values import Decoder, Unreadable, encoded
from pieria.sessions import SessionState
from pieria.transfer.lines import Problem

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=20)
TIMES = st.datetimes(timezones=st.just(UTC)) | st.dates() | st.timedeltas()
KEYS = st.text(max_size=5) | st.sampled_from(["$record", "$", "$tuple"]) | st.integers()
VALUES = st.recursive(
    PLAIN | TIMES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=12,
)


def sent(value: object, **options: Any) -> Any:
    return Decoder(**options).value(json.loads(json.dumps(encoded(value), allow_nan=False)))


def test_frozen_mappings_stay_frozen() -> None:
    found = sent(Frozen({"n": [1, {"$deep": True}]}))
    assert found == {"n": [1, {"$deep": True}]}
    with pytest.raises(TypeError, match="cannot be changed"):
        found["n"] = 2


@given(VALUES)
def test_values_survive_their_json(value: object) -> None:
    found = sent(value)
    assert found == value and type(found) is type(value)


def test_special_values_survive_their_json() -> None:
    for value in (
        math.inf,
        Counter({"a": 2}),
        ZoneInfo("Europe/Lisbon"),
        timezone(timedelta(hours=2)),
        Edge.PROVENANCE if hasattr(Edge, "PROVENANCE") else next(iter(Edge)),
        SessionState.IDLE,
        End("place", "notes/note"),
        date(2026, 3, 1),
        {"a", "b"},
        "\ud800",
    ):
        assert sent(value) == value
    assert math.isnan(sent(math.nan))
    assert sent(NewMemory("a", tags=("b",)), sent=True) == NewMemory("a", tags=("b",))
    assert sent(iter([1, 2])) == [1, 2]


def test_unchecked_classes_travel_as_checked_mappings() -> None:
    event = AgentEvent.from_dict(
        {"what": "prompt", "at": "2026-03-01T09:30:00Z", "host": "h", "session": "s", "text": "x"}
    )
    assert AgentEvent.from_dict(sent(event, sent=True)) == event
    experience = Experience("one", "bake", (Taken("dough", "kneaded"),), '{"a": 1}')
    assert Experience.of(sent(experience, sent=True)).steps == experience.steps


def test_paths_lose_their_folder() -> None:
    assert sent(Path("/srv/secret/notes.jsonl")) == Path("notes.jsonl")


def test_functions_and_foreign_objects_are_refused() -> None:
    with pytest.raises(UnavailableError) as refused:
        encoded(print, "policy")
    assert refused.value.parameter == "policy"
    with pytest.raises(InputError) as wrong:
        encoded({"a": [object()]}, "meta")
    assert wrong.value.parameter == "meta.a[0]"


@pytest.mark.parametrize(
    "told",
    [
        {"$record": "Memory", "fields": {}},
        {"$record": "pieria.record.draft:NewMemory", "fields": {}},
        {"$record": ["NewMemory"], "fields": {}},
        {"$record": "NewMemory", "fields": {"unknown": 1}},
        {"$record": "NewMemory"},
        {"$path": "/etc/passwd"},
        {"$error": {"code": "not_found"}},
        {"$upload": "one"},
        {"$import": "os"},
        {"$time": "yesterday"},
        {"$enum": "SessionState", "value": "idle"},
        {"$mapping": [[{"a": 1}, 2]]},
        {"$zone": "../../etc/passwd"},
        {"$bytes": "?"},
        {"$duration": [10**20]},
    ],
)
def test_a_caller_can_send_only_what_is_meant(told: Any) -> None:
    with pytest.raises(Unreadable):
        Decoder(sent=True).value({"a": [told]})


def test_every_name_on_the_wire_is_a_class_of_values() -> None:
    for wire in PLACES:
        kind = record_named(wire)
        assert isinstance(kind, type) and (
            dataclasses.is_dataclass(kind) or issubclass(kind, tuple | list | enum.Enum)
        ), wire
    assert record_named("Job") is Job and record_named("Bank") is None


def test_errors_keep_class_fields_hint_and_further_errors() -> None:
    inner = InputError("importance", "a number from 0 to 1", 5)
    for error in (
        NotFoundError("memory", "m", hint="Look."),
        InputError("text", "a text", None, errors=[inner, NotFoundError("fact", "f")]),
        AdapterError("openai", "chat", "slow", retryable=True),
        SessionError("not_ready", "idle"),
        errors.ConflictError("it exists", ("a", "b")),
        errors.PrivacyError("text", ["key"]),
        errors.TransferError("f", "bad", [Problem(3, "id", "an id", "nothing")]),
        errors.BudgetError("budget", 5, 6, datetime(2026, 3, 2, tzinfo=UTC)),
        errors.BusyError("write"),
    ):
        found: PieriaError = error_of(json.loads(json.dumps(error.as_dict())))
        assert type(found) is type(error) and str(found) == str(error)
        assert found.as_dict() == error.as_dict() and found.retryable == error.retryable
    assert isinstance(error_of({"code": "of a newer server", "message": "odd"}), UnknownError)
