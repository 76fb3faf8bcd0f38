"""Bad input gets a typed error with the parameter, the expected and the received value, and changes no bank.

Each table pairs a parameter of some verbs with invalid values. Another table holds valid but strange values,
because refusing too much is also wrong.
"""

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.errors import (
    ConflictError,
    InputError,
    Invalid,
    NotFoundError,
    PieriaError,
    TransferError,
    UnavailableError,
)
from pieria.record.cursor import parts_of, written
from pieria.store.protocol import ORDERS

TABLES = ("content", "state", "link", "fact", "usage", "record", "journal", "purged")


@dataclass
class Fixed:
    """A bank with a few memories, and a way to check that it did not change."""

    bank: Bank
    file: sqlite3.Connection = field(repr=False)

    def everything(self) -> Any:
        with self.bank.core.store.reading() as reader:
            return {table: list(reader.dump(table)) for table in TABLES}, self.file.execute(
                "PRAGMA data_version"
            ).fetchone()


class Supply:
    """The same bank for all tests. After a test that changed it, which is a failure, a new one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = 0
        self.fixed: Fixed | None = None
        self.as_made: Any = None

    def get(self) -> Fixed:
        if self.fixed is None or self.fixed.everything() != self.as_made:
            self.close()
            self.made += 1
            self.fixed = self.make(self.folder / str(self.made))
            self.as_made = self.fixed.everything()
        return self.fixed

    def make(self, folder: Path) -> Fixed:
        bank = pieria.open("notes", data=folder, settings={"durability": "off"}, session="s")
        bank.remember("heron", id="one", valid_from="2026-01-01")
        bank.remember("stork", id="two")
        bank.remember("heron of the user", id="mine", scope="user")
        bank.link("one", "two")
        bank.facts.add("heron", "eats", "fish")
        return Fixed(bank, sqlite3.connect(folder / "notes.db"))

    def close(self) -> None:
        if self.fixed is not None:
            self.fixed.file.close()
            self.fixed.bank.close()


@pytest.fixture(scope="module")
def supply(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supply]:
    with closing(Supply(tmp_path_factory.mktemp("bad-input"))) as supply:
        yield supply


@pytest.fixture
def fixed(supply: Supply) -> Fixed:
    return supply.get()


def refusal(fixed: Fixed, act: Callable[[], Any]) -> PieriaError:
    """Return the error, and check that the bank did not change."""
    before = fixed.everything()
    with pytest.raises(PieriaError) as refused:
        act()
    assert fixed.everything() == before
    return refused.value


def check_named(error: PieriaError, parameter: str) -> None:
    """Check that the error names the parameter, the expected and the received value."""
    assert isinstance(error, InputError), repr(error)
    whole = [error, *(each for each in error.errors if isinstance(each, InputError))]
    assert parameter in [each.parameter for each in whole], [each.parameter for each in whole]
    assert all(each.expected and each.received for each in whole)
    assert error.parameter in str(error)
    assert not error.retryable


Verb = Callable[..., Any]
"""A function of the bank and the values under test. It supplies valid values for everything else."""


def remember(bank: Bank, text: Any = "crane", **values: Any) -> Any:
    return bank.remember(text, **values)


def remember_many(bank: Bank, text: Any = "crane", **values: Any) -> Any:
    return bank.remember_many([{"text": "good"}, {"text": text, **values}])


def update(bank: Bank, **values: Any) -> Any:
    return bank.update("one", **(values | {"text": "crane"} if values.keys() == {"reason"} else values))


def revise(bank: Bank, **values: Any) -> Any:
    return bank.revise("one", **(values | {"text": "crane"} if values.keys() == {"reason"} else values))


def facts_add(bank: Bank, subject: Any = "a", predicate: Any = "is", object: Any = "b", **values: Any) -> Any:
    return bank.facts.add(subject, predicate, object, **values)


def facts_supersede(bank: Bank, subject: Any = "a", predicate: Any = "is", object: Any = "b", **values: Any) -> Any:
    return bank.facts.supersede(subject, predicate, object, **values)


def facts_invalidate(
    bank: Bank, subject: Any = "heron", predicate: Any = "eats", object: Any = "fish", **values: Any
) -> Any:
    return bank.facts.invalidate(subject, predicate, object, **values)


def list_each(bank: Bank, by: Any = "tags", values: Any = "heron", **named: Any) -> Any:
    return bank.list_each(by, values, **named)


def facts_query_each(bank: Bank, entities: Any = "heron", **values: Any) -> Any:
    return bank.facts.query_each(entities, **values)


VERBS: dict[str, Verb] = {
    "remember": remember,
    "remember_many": remember_many,
    "update": update,
    "revise": revise,
    "invalidate": lambda bank, **values: bank.invalidate("one", **values),
    "remove": lambda bank, **values: bank.remove("one", **values),
    "pin": lambda bank, **values: bank.pin("one", **values),
    "touch": lambda bank, ids="one", **values: bank.touch(ids, **values),
    "link": lambda bank, source="one", target="two", relation="r", **v: bank.link(source, target, relation, **v),
    "unlink": lambda bank, source="one", target="two", **values: bank.unlink(source, target, **values),
    "neighbors": lambda bank, **values: bank.neighbors("one", **values),
    "neighbors_each": lambda bank, ids="one", **values: bank.neighbors_each(ids, **values),
    "recall": lambda bank, query="heron", **values: bank.recall(query, **values),
    "list": lambda bank, **values: bank.list(**values),
    "list_each": list_each,
    "count": lambda bank, **values: bank.count(**values),
    "get": lambda bank, reference="one", **values: bank.get(reference, **values),
    "changes": lambda bank, **values: bank.changes(**values),
    "undo": lambda bank, **values: bank.undo(**values),
    "sync": lambda bank, **values: bank.sync(**values),
    "doctor": lambda bank, **values: bank.doctor(**values),
    "facts.add": facts_add,
    "facts.supersede": facts_supersede,
    "facts.invalidate": facts_invalidate,
    "facts.query": lambda bank, **values: bank.facts.query(**values),
    "facts.query_each": facts_query_each,
    "facts.timeline": lambda bank, **values: bank.facts.timeline(**values),
    "facts.alias": lambda bank, name="x", of="heron": bank.facts.alias(name, of),
    "facts.declare": lambda bank, predicate="p", **values: bank.facts.declare(predicate, **values),
    "facts.remove": lambda bank, **values: bank.facts.remove("none", **values),
    "scratchpad.write": lambda bank, **values: bank.scratchpad.write(**values),
    "purge": lambda bank, **values: bank.purge(**values),
    "usage": lambda bank, **values: bank.usage(**values),
    "import_": lambda bank, path="x.jsonl", **values: bank.import_(path, **values),
}

SURROGATE = "half \ud83d a pair"
NUL = "be\0fore"
NO_TEXT: list[Any] = [5, 1.5, True, b"bytes", ["a"], {"a": 1}, object()]
BAD_TEXT: list[Any] = ["", "   ", "\n\t\r", "\u2003\u00a0", NUL, SURROGATE, "é" * (1 << 20), *NO_TEXT]
BAD_NAME: list[Any] = ["", "  ", NUL, SURROGATE, "x" * 501, "two\nlines", "\x1b[31m", *NO_TEXT]
BAD_SHARE: list[Any] = [5, -0.01, 1.01, math.nan, math.inf, -math.inf, "0.5", True, [], object(), 10**400]
BAD_STRENGTH: list[Any] = [2.01, -1, math.nan, "1", True]
BAD_WHOLE: list[Any] = [-1, 1.0, "1", True, math.nan, 2**60, object()]
BAD_FLAG: list[Any] = [1, 0, "true", "", [], object()]
BAD_TIME: list[Any] = [
    "", "yesterday", "2026", "2026-02-30", "2026-13-01", "2026-01-01T25:00:00Z", "2026-01-01T00:00:61Z", "01/02/2026",
    "0000-01-01", "10000-01-01", "9999-12-31T23:59:59-01:00", math.nan, math.inf, 1e30, True, b"2026-01-01", [2026],
    object(), SURROGATE, "2026-01-01\0", datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))),
]  # fmt: skip
BAD_LABELS: list[Any] = [
    "auth", b"auth", 5, [""], [" "], [NUL], [SURROGATE], [5], [None], ["x" * 501], {"a": 1}, object(),
    [f"t{n}" for n in range(1_001)], [["a"]], ["a\nb"],
]  # fmt: skip
LOOP: dict[str, Any] = {}
LOOP["itself"] = LOOP
DEEP: dict[str, Any] = {}
for _ in range(60):
    DEEP = {"deeper": DEEP}
BAD_MAPPING: list[Any] = [
    "x", 5, [1], ["a"], object(), {"n": math.nan}, {"n": [math.inf]}, {1: "a"}, {None: 1}, {"o": object()}, {"b": b"x"},
    {"s": {1, 2}}, {"d": date(2026, 1, 1)}, {"text": NUL}, {"text": SURROGATE}, {NUL: 1}, {SURROGATE: 1},
    {"list": ["fine", {"deep": NUL}]}, {"big": "x" * (1 << 20)}, LOOP, DEEP,
]  # fmt: skip
BAD_PLACE: list[Any] = ["room", "a/", "/b", "a/b/c", "/", "a//b", " / ", NUL + "/b", f"a/{SURROGATE}", 5, ["a", "b"]]
BAD_CHOICE: list[Any] = ["nonsense", "", "NOTE", 5, True, object(), [], NUL, SURROGATE]
BAD_CHOICES: list[Any] = ["nonsense", ["note", "nonsense"], 5, [5], object(), [None]]

MADE = ("remember", "remember_many")
CHANGED = ("update", "revise")
FILTERED = ("recall", "list", "list_each", "count")
REASONED = ("update", "revise", "invalidate", "remove", "facts.invalidate", "facts.remove")


TABLE: list[tuple[Iterable[str], Iterable[str], list[Any]]] = [
    ((*MADE, *CHANGED), ("text", "title", "context"), BAD_TEXT),
    (MADE, ("id", "source", "author", "channel", "session"), BAD_NAME),
    ((*MADE, *CHANGED), ("tags", "entities", "files"), BAD_LABELS),
    ((*MADE, *CHANGED), ("body", "meta"), BAD_MAPPING),
    ((*MADE, *CHANGED), ("importance", "confidence"), BAD_SHARE),
    ((*MADE, "update"), ("strength",), BAD_STRENGTH),
    (MADE, ("kind", "scope", "author_type", "unless_exists"), BAD_CHOICE),
    (MADE, ("sequence",), BAD_WHOLE),
    (MADE, ("pinned",), BAD_FLAG),
    ((*MADE, "update"), ("place",), BAD_PLACE),
    ((*MADE, "update"), ("at", "valid_from", "valid_until"), BAD_TIME),
    (("update",), ("status", "tier", "scope"), BAD_CHOICE),
    (("update",), ("scope",), ["user"]),
    (REASONED, ("reason",), [value for value in BAD_TEXT if value != 5]),
    (("invalidate",), ("at",), BAD_TIME),
    (("invalidate",), ("replacement",), ["one", "", NUL, SURROGATE, *NO_TEXT]),
    (("pin",), ("pinned",), BAD_FLAG),
    (("touch",), ("accesses", "reviews", "crossings"), BAD_WHOLE),
    (("touch",), ("reward",), [1.1, -1.1, math.nan, "1", True]),
    (
        ("touch", "purge", "usage", "neighbors_each"),
        ("ids",),
        ["", NUL, SURROGATE, [""], [5], [None], 5, object(), {"a": 1}],
    ),
    (("purge", "touch", "neighbors_each"), ("ids",), [[]]),
    (("link", "unlink", "neighbors", "neighbors_each"), ("relation",), BAD_NAME),
    (("link", "unlink"), ("source", "target"), ["", NUL, SURROGATE, *NO_TEXT]),
    (("link",), ("weight",), BAD_SHARE),
    (("link",), ("label",), BAD_TEXT),
    (("link",), ("meta",), BAD_MAPPING),
    (("neighbors", "neighbors_each"), ("direction",), BAD_CHOICE),
    (("neighbors", "neighbors_each"), ("hops", "limit"), [0, *BAD_WHOLE]),
    (FILTERED, ("kinds", "scope", "status"), BAD_CHOICES),
    (FILTERED, ("types", "tags", "entities", "files"), ["", [""], [NUL], [SURROGATE], [5], 5, object(), {"a": 1}]),
    (FILTERED, ("author", "channel", "session", "source"), BAD_NAME),
    (FILTERED, ("author_type",), BAD_CHOICE),
    (FILTERED, ("place",), ["", "a/", "/b", "a/b/c", NUL, SURROGATE, 5]),
    (FILTERED, ("meta",), BAD_MAPPING),
    (FILTERED, ("since", "until", "used_since", "valid_at", "known_at"), BAD_TIME),
    (("list", "list_each", "count"), ("pinned",), BAD_FLAG),
    (("list", "list_each", "count"), ("include",), ["nonsense", ["removed", "nonsense"], 5]),
    (("list", "list_each"), ("order",), BAD_CHOICE),
    (("list", "list_each"), ("limit",), [0, 10_001, *BAD_WHOLE]),
    (("list",), ("offset",), [10**30, *BAD_WHOLE]),
    (("list", "recall"), ("cursor",), ["", "nonsense", "W10", NUL, SURROGATE, "🙂", *NO_TEXT]),
    (("count", "list_each"), ("by",), BAD_CHOICE),
    (("list_each",), ("values",), ["", [""], [NUL], [SURROGATE], [5], [None], 5, b"a", object(), {"a": 1}, []]),
    (("recall",), ("query",), [5, b"heron", ["heron"], object(), "x" * ((1 << 20) + 1)]),
    (("recall",), ("k",), [0, 10_001, *BAD_WHOLE]),
    (("recall",), ("min_score", "min_confidence"), BAD_SHARE),
    (("get",), ("reference",), BAD_NAME),
    (("get",), ("known_at",), BAD_TIME),
    (("get",), ("include_removed",), BAD_FLAG),
    (("changes",), ("since",), BAD_WHOLE),
    (("changes",), ("limit",), [0, *BAD_WHOLE]),
    (("undo",), ("seq",), [0, *BAD_WHOLE]),
    (("sync",), ("timeout",), [-1, math.nan, math.inf, "1", True]),
    (("doctor",), ("repair",), BAD_FLAG),
    (("doctor",), ("up_to",), BAD_WHOLE),
    (("facts.add", "facts.supersede", "facts.invalidate"), ("subject", "predicate", "object"), BAD_NAME),
    (("facts.add",), ("valid_from", "valid_until"), BAD_TIME),
    (("facts.supersede", "facts.invalidate"), ("at",), BAD_TIME),
    (("facts.add", "facts.supersede"), ("confidence",), BAD_SHARE),
    (("facts.add", "facts.supersede"), ("memory", "source"), BAD_NAME),
    (("facts.query",), ("subject", "predicate", "object", "entity"), BAD_NAME),
    (("facts.query_each",), ("entities",), ["", [""], [NUL], [SURROGATE], [5], 5, b"a", object(), {"a": 1}, []]),
    (("facts.query", "facts.query_each"), ("valid_at", "known_at"), BAD_TIME),
    (("facts.query",), ("direction",), BAD_CHOICE),
    (("facts.query", "facts.query_each"), ("history",), BAD_FLAG),
    (("facts.query", "facts.query_each", "facts.timeline"), ("limit",), [0, *BAD_WHOLE]),
    (("facts.alias",), ("name", "of"), BAD_NAME),
    (("facts.declare",), ("predicate",), BAD_NAME),
    (("facts.declare",), ("single_valued",), BAD_FLAG),
    (("scratchpad.write",), ("content",), BAD_TEXT),
    (("import_",), ("mode",), BAD_CHOICE),
    (("import_",), ("dry_run", "force"), BAD_FLAG),
]
"""Verbs, parameters and values. Each verb refuses each value and names the parameter."""

CASES = [
    pytest.param(verb, parameter, values, id=f"{verb}-{parameter}")
    for verbs, parameters, values in TABLE
    for verb in verbs
    for parameter in parameters
]


@pytest.mark.parametrize(("verb", "parameter", "values"), CASES)
def test_a_bad_value_is_refused_by_name_and_nothing_is_written(
    fixed: Fixed, verb: str, parameter: str, values: list[Any]
) -> None:
    named = f"items[1].{parameter}" if verb == "remember_many" else parameter
    for value in values:
        error = refusal(fixed, lambda value=value: VERBS[verb](fixed.bank, **{parameter: value}))  # type: ignore[misc]
        check_named_at_or_within(error, named, value)


def check_named_at_or_within(error: PieriaError, parameter: str, value: object) -> None:
    """Check the parameter's name. An error inside a list or mapping may add a path, as in `tags[2]` or `body.facts`."""
    assert isinstance(error, InputError), (value, repr(error))
    assert error.parameter.startswith(parameter), (value, error.parameter)
    assert error.expected, value
    assert error.received, value


# --- ids of memories, wherever a verb takes one

BY_ID: dict[str, Verb] = {
    "update": lambda bank, id: bank.update(id, text="x"),
    "revise": lambda bank, id: bank.revise(id, text="x"),
    "invalidate": lambda bank, id: bank.invalidate(id),
    "remove": lambda bank, id: bank.remove(id),
    "restore": lambda bank, id: bank.restore(id),
    "pin": lambda bank, id: bank.pin(id),
    "touch": lambda bank, id: bank.touch([id]),
    "purge": lambda bank, id: bank.purge([id]),
    "history": lambda bank, id: bank.history(id),
    "neighbors": lambda bank, id: bank.neighbors(id),
    "neighbors_each": lambda bank, id: bank.neighbors_each([id]),
    "link from": lambda bank, id: bank.link(id, "two"),
    "link to": lambda bank, id: bank.link("two", id),
    "unlink": lambda bank, id: bank.unlink(id),
    "unlink two": lambda bank, id: bank.unlink(id, "two"),
    "facts.add": lambda bank, id: bank.facts.add("a", "is", "b", memory=id),
    "facts.remove": lambda bank, id: bank.facts.remove(id),
    "facts.history": lambda bank, id: bank.facts.history(id),
    "scratchpad.update": lambda bank, id: bank.scratchpad.update(id, "text"),
}


@pytest.mark.parametrize("verb", BY_ID)
@pytest.mark.parametrize(
    "id",
    ["", " ", NUL, SURROGATE, 5, True, 1.5, b"one", ["one"], {"one": 1}, None, object],
    ids=repr,
)
def test_an_id_that_can_be_none_is_refused(fixed: Fixed, verb: str, id: Any) -> None:
    if verb == "facts.add" and id is None:
        return
    error = refusal(fixed, lambda: BY_ID[verb](fixed.bank, id))
    assert isinstance(error, InputError | NotFoundError), repr(error)


@pytest.mark.parametrize("verb", BY_ID)
@pytest.mark.parametrize("id", ["nobody", "one@1", "ONE", "one ", "o", "%", "'", "one\u0301", "🙂", "x" * 500])
def test_an_id_that_nobody_has_is_not_found(fixed: Fixed, verb: str, id: str) -> None:
    if id == "one " and verb != "scratchpad.update":
        return  # The verb trims names, so this id exists.
    error = refusal(fixed, lambda: BY_ID[verb](fixed.bank, id))
    assert isinstance(error, NotFoundError), repr(error)
    assert error.resource


# --- what is wrong only together


@pytest.mark.parametrize(
    ("verb", "values", "parameter"),
    [
        ("remember", {"valid_from": "2026-02-01", "valid_until": "2026-01-01"}, "valid_until"),
        ("remember", {"valid_from": "2026-02-01T00:00Z", "valid_until": "2026-02-01T00:00Z"}, "valid_until"),
        ("remember_many", {"valid_from": "2026-02-01", "valid_until": "2026-01-01"}, "items[1].valid_until"),
        ("update", {"valid_until": "2025-12-31"}, "valid_until"),
        ("update", {"valid_from": "2026-02-01", "valid_until": "2026-01-01"}, "valid_until"),
        ("update", {}, "update"),
        ("revise", {}, "revise"),
        ("invalidate", {"at": "2026-01-01"}, "at"),
        ("invalidate", {"at": "2025-01-01"}, "at"),
        ("remember", {"unless_exists": "id"}, "unless_exists"),
        ("remember", {"kind": "observation", "body": {"facts": "one"}}, "body.facts"),
        ("remember", {"kind": "episodic", "body": {"reward": "high"}}, "body.reward"),
        ("link", {"source": "one", "target": "one"}, "target"),
        ("link", {"source": pieria.Place("a/b"), "target": pieria.Place("a/b")}, "target"),
        ("unlink", {"target": None, "relation": "r"}, "target"),
        ("recall", {"since": "2026-02-01", "until": "2026-01-01"}, "until"),
        ("list", {"since": "2026-02-01T00:00Z", "until": "2026-02-01T00:00Z"}, "until"),
        ("facts.add", {"valid_from": "2026-02-01", "valid_until": "2026-01-01"}, "valid_until"),
        ("facts.query", {"direction": "out"}, "direction"),
        ("facts.query", {"history": True, "valid_at": "2026-01-01"}, "valid_at"),
    ],
)
def test_values_that_do_not_go_together_are_refused(
    fixed: Fixed, verb: str, values: dict[str, Any], parameter: str
) -> None:
    check_named(refusal(fixed, lambda: VERBS[verb](fixed.bank, **values)), parameter)


def test_a_cursor_belongs_to_its_question(fixed: Fixed) -> None:
    bank = fixed.bank
    listed = bank.list(limit=1).cursor
    recalled = bank.recall("heron stork", k=1).cursor
    assert listed
    assert recalled
    check_named(refusal(fixed, lambda: bank.list(limit=1, order="oldest", cursor=listed)), "cursor")
    check_named(refusal(fixed, lambda: bank.recall("heron stork", k=1, cursor=listed)), "cursor")
    check_named(refusal(fixed, lambda: bank.list(limit=1, cursor=recalled)), "cursor")
    check_named(refusal(fixed, lambda: bank.recall("another", k=1, cursor=recalled)), "cursor")
    check_named(refusal(fixed, lambda: bank.recall("heron stork", k=1, kinds="note", cursor=recalled)), "cursor")


FILTERS: list[dict[str, Any]] = [
    {"kinds": "note"}, {"tags": ["a"]}, {"meta": {"a": 1}}, {"since": "2026-01-01"}, {"scope": "bank"},
    {"include": "removed"}, {"pinned": False}, {"session": "s"}, {"place": "notes"}, {"known_at": "2090-01-01"},
]  # fmt: skip


@pytest.mark.parametrize("filters", FILTERS, ids=repr)
def test_the_cursor_of_a_list_belongs_to_its_filters(fixed: Fixed, filters: dict[str, Any]) -> None:
    bank = fixed.bank
    cursor = bank.list(limit=1).cursor
    assert [*bank.list(limit=1), *bank.list(cursor=cursor)] == [*bank.list()]
    error = refusal(fixed, lambda: bank.list(cursor=cursor, **filters))
    check_named(error, "cursor")
    assert "same filters" in str(error)


def after_the_first(bank: Bank, order: str) -> list[Any]:
    """Return the parts of the cursor of a one-item page."""
    return parts_of(bank.list(limit=1, order=order).cursor, "a cursor", 3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_cursor_of_a_list_belongs_to_its_order(fixed: Fixed, order: str) -> None:
    bank = fixed.bank
    cursor = written(after_the_first(bank, order))
    assert [*bank.list(limit=1, order=order), *bank.list(order=order, cursor=cursor)] == [*bank.list(order=order)]
    for other in set(ORDERS) - {order}:
        error = refusal(fixed, partial(bank.list, order=other, cursor=cursor))
        check_named(error, "cursor")
        assert f"in the order {other}" in str(error)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("part", "values"),
    [
        (0, ["", None, 5, "sideways", ["newest"]]),
        (1, [None, "1", True, math.nan, math.inf, 1.5, -0.5, 2**63, -(2**80), [1]]),
        (2, [None, "1", True, 1.0, -1, 2**63, 2**80, [1]]),
    ],
)
def test_every_part_of_a_list_s_cursor_is_checked(fixed: Fixed, order: str, part: int, values: list[Any]) -> None:
    parts = after_the_first(fixed.bank, order)
    for value in values:
        forged = written([*parts[:part], value, *parts[part + 1 :]])
        check_named(refusal(fixed, partial(fixed.bank.list, order=order, cursor=forged)), "cursor")


@pytest.mark.parametrize(
    ("verb", "values", "parameters"),
    [
        (
            "remember",
            {"text": "", "kind": "x", "importance": 5, "at": "x", "tags": "y", "meta": {"n": math.nan}, "strength": 9,
             "scope": "z", "place": "nowhere", "sequence": -1, "pinned": 1, "id": NUL},
            {"text", "kind", "importance", "at", "tags", "meta", "strength", "scope", "place", "sequence", "pinned",
             "id"},
        ),
        ("update", {"text": "", "importance": 5, "status": "x", "at": "x"}, {"text", "importance", "status", "at"}),
        ("update", {"importance": 5, "status": "x", "at": "x", "reason": ""}, {"importance", "status", "at", "reason"}),
        ("revise", {"text": "", "tags": "y", "confidence": 2}, {"text", "tags", "confidence"}),
        ("link", {"source": "", "relation": "", "weight": 5, "label": ""}, {"source", "relation", "weight", "label"}),
        ("touch", {"accesses": -1, "reviews": 1.5, "reward": 9}, {"accesses", "reviews", "reward"}),
        ("invalidate", {"at": "x", "replacement": "one", "reason": ""}, {"at", "replacement", "reason"}),
        ("list", {"kinds": "x", "since": "x", "place": "/", "tags": [""], "order": "x", "limit": 0},
         {"kinds", "since", "place", "tags", "order", "limit"}),
        ("recall", {"query": 5, "kinds": "x", "valid_at": "x", "k": 0, "min_score": 9},
         {"query", "kinds", "valid_at", "k", "min_score"}),
        ("facts.add", {"subject": "", "predicate": "", "object": "", "valid_from": "x", "confidence": 7},
         {"subject", "predicate", "object", "valid_from", "confidence"}),
        ("facts.query", {"subject": "", "valid_at": "x", "direction": "x", "limit": 0},
         {"subject", "valid_at", "direction", "limit"}),
    ],
)  # fmt: skip
def test_all_that_is_wrong_is_reported_at_once(
    fixed: Fixed, verb: str, values: dict[str, Any], parameters: set[str]
) -> None:
    error = refusal(fixed, lambda: VERBS[verb](fixed.bank, **values))
    assert isinstance(error, InputError)
    whole = [error, *error.errors]
    assert {each.parameter for each in whole if isinstance(each, InputError)} == parameters
    assert len(whole) == len(parameters)
    assert len(error.as_dict().get("errors", [])) == len(parameters) - 1


def test_a_place_is_taken_in_every_form(fixed: Fixed) -> None:
    here = pieria.Place("birds/grey")
    for verb in ("recall", "list", "count"):
        assert not VERBS[verb](fixed.bank, place=here)
    with pieria.open("places") as bank:
        heron = bank.remember("heron", place=here)
        [stork] = bank.remember_many([{"text": "stork", "place": here}])
        assert heron.place == stork.place == "birds/grey"
        assert bank.update(heron.id, place=pieria.Place("birds/white")).place == "birds/white"
        assert [memory.text for memory in bank.list(place=here)] == ["stork"]
        assert bank.count(place=here) == len(bank.recall("stork heron", place=here)) == 1
        with pytest.raises(InputError, match="place: expected a text"):
            bank.remember("crane", place=("birds", "grey"))  # type: ignore[arg-type]


def test_an_item_that_is_wrong_is_named_by_its_number(fixed: Fixed) -> None:
    def act(items: Any) -> Callable[[], Any]:
        return lambda: fixed.bank.remember_many(items)

    check_named(
        refusal(fixed, act([{"text": "a"}, {"text": "b"}, {"text": "c", "importance": 5}])), "items[2].importance"
    )
    check_named(refusal(fixed, act([{"text": "a"}, {}])), "items[1].text")
    check_named(refusal(fixed, act([{"text": "a"}, 7])), "items[1]")
    error = refusal(fixed, act([{"text": "a", "importnace": 1}]))
    check_named(error, "items[0].importnace")
    assert "importance" in str(error.hint)
    check_named(refusal(fixed, act([{"text": "a", 5: 1}])), "items[0].5")
    for no_items in (5, None, "text", {"text": "a"}, object()):
        check_named(refusal(fixed, act(no_items)), "items")
    assert fixed.bank.remember_many([]) == []
    check_named(refusal(fixed, act(["a text", " "])), "items[1].text")


def test_items_may_be_plain_texts(fixed: Fixed) -> None:
    kept = fixed.bank.remember_many(["The stork is back.", {"text": "The crane is not.", "tags": ["crane"]}])
    assert [(memory.text, memory.kind, memory.tags) for memory in kept] == [
        ("The stork is back.", "note", ()), ("The crane is not.", "note", ("crane",))
    ]  # fmt: skip


def test_all_items_that_are_wrong_are_told_at_once(fixed: Fixed) -> None:
    items: list[Any] = [
        {"text": "a", "importance": 5, "kind": "nonsense"}, 7, {"text": "c"}, {"tag": 1, "importnace": 2},
        {"text": "d", "extract": "yes"}, {"text": "e", "id": "<private>x</private>"},
    ]  # fmt: skip
    error = refusal(fixed, lambda: fixed.bank.remember_many(items))
    named = [getattr(each, "parameter", None) for each in (error, *error.errors)]
    assert named == [
        "items[0].kind", "items[0].importance", "items[1]", "items[3].tag", "items[3].importnace", "items[3].text",
        "items[4].extract", "items[5].id",
    ]  # fmt: skip
    assert all(each.message.startswith(f"{name}:") for each, name in zip((error, *error.errors), named, strict=True))


def test_of_very_many_items_the_first_are_told_and_the_rest_counted(fixed: Fixed) -> None:
    items = [{"text": "a", "importance": n % 2 * 5} for n in range(1_000)]
    error = refusal(fixed, lambda: fixed.bank.remember_many(items))
    named = [getattr(each, "parameter", None) for each in (error, *error.errors)]
    assert named == [f"items[{2 * n + 1}].importance" for n in range(100)]
    assert "400 more" in str(error.hint)


def test_nothing_of_a_batch_is_written_when_one_of_it_cannot_be(fixed: Fixed) -> None:
    """Also for a batch that is written in parts or to two banks."""
    bank = fixed.bank
    many = [{"text": f"number {n}"} for n in range(1_500)]
    twice = [{"text": "a", "id": "same"}, *many, {"text": "b", "id": "same"}]
    taken = [*many, {"text": "b", "id": "one"}]
    with_user = [{"text": "of the user, too", "scope": "user"}, {"text": "b", "id": "one"}]
    before_user = fixed.bank.recall("user", k=100, scope="user")
    for items in (twice, taken, with_user):
        assert isinstance(refusal(fixed, lambda items=items: bank.remember_many(items)), ConflictError)  # type: ignore[misc]
    assert len(bank.recall("user", k=100, scope="user")) == len(before_user)


def test_nothing_of_a_purge_or_a_use_is_done_when_one_id_is_nobody_s(fixed: Fixed) -> None:
    bank = fixed.bank
    used = bank.usage("mine")
    assert isinstance(refusal(fixed, lambda: bank.touch(["mine", "nobody"])), NotFoundError)
    assert isinstance(refusal(fixed, lambda: bank.touch(["one", "nobody"])), NotFoundError)
    assert bank.usage("mine") == used
    assert isinstance(refusal(fixed, lambda: bank.purge(["one", "nobody"])), NotFoundError)
    assert isinstance(refusal(fixed, lambda: bank.purge(["mine", "nobody"])), NotFoundError)
    assert bank.get("mine") is not None


# --- what is not offered


@pytest.mark.parametrize(
    ("verb", "values", "parameter"),
    [
        ("remember", {"vectors": [0.1]}, "vectors"),
        ("remember_many", {"vectors": [0.1]}, "vectors"),
    ],
)
def test_a_parameter_without_effect_is_refused_and_says_why(
    fixed: Fixed, verb: str, values: dict[str, Any], parameter: str
) -> None:
    error = refusal(fixed, lambda: VERBS[verb](fixed.bank, **values))
    assert isinstance(error, UnavailableError)
    assert error.parameter.endswith(parameter)
    assert error.reason
    assert error.hint


def test_a_policy_nobody_knows_is_bad_input(fixed: Fixed) -> None:
    check_named(refusal(fixed, lambda: fixed.bank.recall("heron", policy="nonsense")), "policy")
    check_named(refusal(fixed, lambda: fixed.bank.recall("heron", policy=5)), "policy")  # type: ignore[arg-type]


def test_an_unknown_policy_is_told_of_those_there_are(fixed: Fixed) -> None:
    error = refusal(fixed, lambda: fixed.bank.recall("heron", policy="hybird"))
    expected = "one of hybrid, value, decay, weighted, similarity, or a callable"
    assert str(error) == f"policy: expected {expected}, got 'hybird'"
    assert error.hint == "Did you mean hybrid?"


# --- names, folders and files


@pytest.mark.parametrize(
    "name",
    ["../x", "..", ".", "a/b", "a\\b", "/etc/passwd", "", " ", NUL, SURROGATE, "@you", "@", "x" * 101, "con", ".hidden",
     "a\nb", "~", "a b", "e\u0301" * 90, "x.", 5, None, b"x", ["x"]],
    ids=repr,
)  # fmt: skip
def test_a_bank_s_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: Any) -> None:
    folder = tmp_path / "in" / "data"
    if name is None:
        return
    with pytest.raises(InputError) as refused:
        pieria.open(name, data=folder)
    assert refused.value.parameter == "name"
    assert not (tmp_path / "in").exists()
    with pieria.Workspace(folder) as workspace, pytest.raises(InputError):
        workspace.open(name)
    assert list(tmp_path.rglob("*.db")) == []


@pytest.mark.parametrize(
    ("values", "parameter"),
    [
        ({"session": ""}, "session"),
        ({"session": NUL}, "session"),
        ({"channel": "x" * 501}, "channel"),
        ({"author": SURROGATE}, "author"),
        ({"author_type": "robot"}, "author_type"),
        ({"settings": {"durability": "never"}}, "durability"),
        ({"settings": {"secrets": "keep"}}, "secrets"),
        ({"settings": {"busy_seconds": 1}}, "busy_seconds"),
        ({"settings": {"busy_seconds": math.nan}}, "busy_seconds"),
        ({"settings": {"text_budget": 1}}, "text_budget"),
        ({"settings": {"no_such": 1}}, "settings"),
        ({"settings": "x"}, "settings"),
        ({"clock": 5}, "clock"),
        ({"who": ""}, "who"),
        ({"who": 5}, "who"),
        ({"data": ""}, "data"),
        ({"data": "a\0b"}, "data"),
        ({"data": 5}, "data"),
    ],
)
def test_opening_with_bad_values_makes_nothing(tmp_path: Path, values: dict[str, Any], parameter: str) -> None:
    with pytest.raises(Invalid) as refused:
        pieria.open("notes", **{"data": tmp_path / "data", **values})
    assert getattr(refused.value, "parameter", parameter) == parameter
    assert parameter in str(refused.value)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("path", ["", " ", "a\0b", 5, None, b"x", object], ids=repr)
@pytest.mark.parametrize("verb", ["export", "import_", "backup"])
def test_a_path_that_can_be_none_is_refused(fixed: Fixed, verb: str, path: Any) -> None:
    check_named(refusal(fixed, lambda: getattr(fixed.bank, verb)(path)), "path")


def test_an_import_with_half_its_lines_broken_changes_nothing(fixed: Fixed, tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    with pieria.open("other", data=tmp_path / "data") as other:
        other.remember_many({"text": f"heron number {n}"} for n in range(20))
        other.export(whole)
    lines = whole.read_text().splitlines()
    breaks: list[Callable[[str], str]] = [
        lambda line: line[: len(line) // 2],
        lambda line: "",
        lambda line: "{}",
        lambda line: line.replace(":", ";"),
    ]
    broken = tmp_path / "broken.jsonl"
    broken.write_text(
        "\n".join(breaks[n // 2 % 4](line) if n % 2 and n < len(lines) - 1 else line for n, line in enumerate(lines))
    )
    for dry_run in (False, True):
        for mode in ("skip", "merge", "replace"):
            error = refusal(fixed, lambda: fixed.bank.import_(broken, mode=mode, dry_run=dry_run))  # noqa: B023
            assert isinstance(error, TransferError)
            assert error.problems
            assert str(broken) in str(error)
    for no_export in (b"", b"text", b"\x00\xff" * 100, b"{}\n", b"[]\n", lines[1].encode()):
        other_file = tmp_path / "no.jsonl"
        other_file.write_bytes(no_export)
        assert isinstance(refusal(fixed, lambda: fixed.bank.import_(other_file)), TransferError)  # noqa: B023
    assert isinstance(refusal(fixed, lambda: fixed.bank.import_(tmp_path / "none.jsonl")), TransferError)
    assert isinstance(refusal(fixed, lambda: fixed.bank.import_(tmp_path)), TransferError)


# --- what errors may not say


def test_an_error_does_not_repeat_the_text_it_refuses(fixed: Fixed) -> None:
    secret = "brindlewolf"
    for act in (
        lambda: fixed.bank.remember(f"{secret}\0"),
        lambda: fixed.bank.remember(f"{secret} " * 200_000),
        lambda: fixed.bank.update("one", text=f"{secret}\ud800"),
        lambda: fixed.bank.remember("x", body={"text": f"{secret}\0"}),
        lambda: fixed.bank.remember(f"<private>{secret}</private>"),
        lambda: fixed.bank.scratchpad.write(f"{secret}\0"),
    ):
        error = refusal(fixed, act)
        assert secret not in str(error)
        assert secret not in repr(error.as_dict())


# --- what is strange and right


@pytest.mark.parametrize(
    "query",
    ["", "   ", NUL, SURROGATE, "\ud83d\ude42", "'\"; DROP TABLE content; --", "NEAR(a b)", "a AND OR NOT", "col:x",
     "*", '"', "'" * 99, "(", "%s {x}", "\x1b[31m", "🙂" * 999, "the of and", "a" * 100_000, "\u202e", "é\u0301\u0301"],
    ids=lambda query: repr(query)[:30],
)  # fmt: skip
def test_any_text_is_a_question(fixed: Fixed, query: str) -> None:
    before = fixed.everything()
    found = fixed.bank.recall(query)
    assert len(found) <= 3
    assert {hit.memory.id for hit in fixed.bank.recall(f"{query} heron")} >= {"one", "mine"}
    assert fixed.everything() == before


@pytest.mark.parametrize(
    "values",
    [
        {"text": "x" * (1 << 20)},
        {"text": "é" * (1 << 19)},
        {"text": "🪶 \u202ereversed\u202c \u0301 combining", "title": "\u200b."},
        {"text": "'; DROP TABLE content; --", "tags": ["'", '"', "%", "_", "\\"]},
        {"text": "a", "importance": 0, "confidence": 1, "strength": 2},
        {"text": "a", "at": "0001-01-01", "valid_until": "9999-12-31"},
        {"text": "a", "at": datetime(2026, 1, 1, tzinfo=UTC), "valid_from": date(2026, 1, 1)},
        {"text": "a", "valid_from": date(2026, 1, 1), "valid_until": date(2026, 1, 1)},
        {"text": "a", "at": 0, "valid_from": -1.5},
        {"text": "a", "tags": (tag for tag in ["a", "b", "a"])},
        {"text": "a", "tags": {"a"}, "meta": {"": None, "deep": {"er": [[[]]]}}, "body": {}},
        {"text": "a", "id": "any string: /é 🪶@7", "place": "wing / room"},
        {"text": "a", "tags": None, "meta": None, "body": None},
        {"text": "a\r\nb\tc\x0b"},
    ],
    ids=lambda values: repr(values)[:40],
)  # fmt: skip
def test_what_is_strange_and_right_is_kept_as_it_is(tmp_path: Path, values: dict[str, Any]) -> None:
    with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
        memory = bank.remember(**values)
        kept = bank.get(memory.id)
        assert kept is not None
        assert kept.as_dict() == memory.as_dict()
        assert kept.text == values["text"]
        if "id" in values:
            assert memory.id == values["id"]
            again = bank.get(f"{memory.id}@1")
            assert again is not None
            assert again.id == memory.id
        assert bank.doctor().well
