"""Bad input gets a typed error with the parameter, the expected and the received value, and changes no bank."""

import json
import math
import sqlite3
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import held

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, TransferError, UnavailableError
from pieria.record.cursor import parts_of, written
from pieria.store.protocol import ORDERS


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    bank = opened(session="s")
    bank.remember("heron", id="one", valid_from="2026-01-01")
    bank.remember("stork", id="two")
    bank.remember("heron of the user", id="mine", scope="user")
    bank.link("one", "two")
    bank.facts.add("heron", "eats", "fish")
    return bank


def refusal(bank: Bank, act: Callable[[], Any]) -> PieriaError:
    """Return the error, and check that nothing was written to the bank's file."""
    watch = sqlite3.connect(bank.core.store.path)  # type: ignore[attr-defined]
    before = watch.execute("PRAGMA data_version").fetchone()
    with pytest.raises(PieriaError) as refused:
        act()
    assert watch.execute("PRAGMA data_version").fetchone() == before
    watch.close()
    return refused.value


def named(error: PieriaError) -> list[str]:
    """Return the named parameters. Each error says what it expected and what it got."""
    assert isinstance(error, InputError), repr(error)
    whole = [each for each in (error, *error.errors) if isinstance(each, InputError)]
    assert all(each.expected and each.received for each in whole)
    assert error.parameter in str(error)
    assert not error.retryable
    return [each.parameter for each in whole]


NEEDED: dict[str, dict[str, Any]] = {
    "remember": {"text": "crane"},
    "touch": {"ids": "one"},
    "link": {"source": "one", "target": "two", "relation": "r"},
    "unlink": {"source": "one", "target": "two"},
    "neighbors_each": {"ids": "one"},
    "recall": {"query": "heron"},
    "list_each": {"by": "tags", "values": "heron"},
    "get": {"reference": "one"},
    "facts.add": {"subject": "a", "predicate": "is", "object": "b"},
    "facts.supersede": {"subject": "a", "predicate": "is", "object": "b"},
    "facts.invalidate": {"subject": "heron", "predicate": "eats", "object": "fish"},
    "facts.query_each": {"entities": "heron"},
    "facts.alias": {"name": "x", "of": "heron"},
    "facts.declare": {"predicate": "p"},
    "facts.remove": {"fact_id": "none"},
    "import_": {"path": "x.jsonl"},
    "scratchpad.update": {"id": "one", "content": "text"},
} | {verb: {"id": "one"} for verb in ("update", "revise", "invalidate", "remove", "pin", "neighbors")}
"""Valid values of the parameters that a verb cannot do without."""


def call(bank: Bank, verb: str, values: dict[str, Any]) -> Any:
    if verb == "remember_many":
        return bank.remember_many([{"text": "good"}, {"text": "crane", **values}])
    if verb in ("update", "revise") and values and values.keys() <= {"id", "reason"}:
        values = {"text": "crane", **values}
    return attrgetter(verb)(bank)(**NEEDED.get(verb, {}) | values)


SURROGATE = "half \ud83d a pair"
NUL = "be\0fore"
NO_TEXT: list[Any] = [5, 1.5, True, b"bytes", ["a"], {"a": 1}, object()]
WHOLE: list[Any] = [-1, 1.0, "1", True, math.nan, 2**60, object()]
NAME: list[Any] = ["", "  ", NUL, SURROGATE, "x" * 501, "two\nlines", "\x1b[31m", *NO_TEXT]
NAMES: list[Any] = ["", [""], [NUL], [SURROGATE], [5], 5, object(), {"a": 1}]
LOOP: dict[str, Any] = {}
LOOP["itself"] = LOOP
DEEP: dict[str, Any] = {}
for _ in range(60):
    DEEP = {"deeper": DEEP}
BAD: dict[str, list[Any]] = {
    "text": ["", "   ", "\n\t\r", "\u2003\u00a0", NUL, SURROGATE, "é" * (1 << 20), *NO_TEXT],
    "name": NAME,
    "predicate": [*NAME, "__"],
    "share": [5, -0.01, 1.01, math.nan, math.inf, -math.inf, "0.5", True, [], object(), 10**400],
    "strength": [2.01, -1, math.nan, "1", True],
    "reward": [1.1, -1.1, math.nan, "1", True],
    "seconds": [-1, math.nan, math.inf, "1", True],
    "whole": WHOLE,
    "count": [0, *WHOLE],
    "page": [0, 10_001, *WHOLE],
    "offset": [10**30, *WHOLE],
    "number": [5],
    "flag": [1, 0, "true", "", [], object()],
    "time": [
        "", "yesterday", "2026", "2026-02-30", "2026-13-01", "2026-01-01T25:00:00Z", "2026-01-01T00:00:61Z",
        "01/02/2026", "0000-01-01", "10000-01-01", "9999-12-31T23:59:59-01:00", math.nan, math.inf, 1e30, True,
        b"2026-01-01", [2026], object(), SURROGATE, "2026-01-01\0",
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))),
    ],
    "labels": [
        "auth", b"auth", 5, [""], [" "], [NUL], [SURROGATE], [5], [None], ["x" * 501], {"a": 1}, object(),
        [f"t{n}" for n in range(1_001)], [["a"]], ["a\nb"],
    ],
    "mapping": [
        "x", 5, [1], ["a"], object(), {"n": math.nan}, {"n": [math.inf]}, {1: "a"}, {None: 1}, {"o": object()},
        {"b": b"x"}, {"s": {1, 2}}, {"d": date(2026, 1, 1)}, {"text": NUL}, {"text": SURROGATE}, {NUL: 1},
        {SURROGATE: 1}, {"list": ["fine", {"deep": NUL}]}, {"big": "x" * (1 << 20)}, LOOP, DEEP,
    ],
    "place": ["room", "a/", "/b", "a/b/c", "/", "a//b", " / ", NUL + "/b", f"a/{SURROGATE}", 5, ["a", "b"], ("a", "b")],
    "wanted_place": ["", "a/", "/b", "a/b/c", NUL, SURROGATE, 5],
    "choice": ["nonsense", "", "NOTE", 5, True, object(), [], NUL, SURROGATE],
    "choices": ["nonsense", ["note", "nonsense"], 5, [5], object(), [None]],
    "include": ["nonsense", ["removed", "nonsense"], 5],
    "user": ["user"],
    "replacement": ["one", "", NUL, SURROGATE, *NO_TEXT],
    "end": ["", NUL, SURROGATE, *NO_TEXT],
    "ids": [*NAMES, NUL, SURROGATE, [None]],
    "nothing": [[]],
    "wanted": NAMES,
    "names": [*NAMES, [None], b"a", []],
    "cursor": ["", "nonsense", "W10", NUL, SURROGATE, "🙂", *NO_TEXT],
    "question": [5, b"heron", ["heron"], object(), "x" * ((1 << 20) + 1)],
}  # fmt: skip


def lines_of(name: str) -> list[list[str]]:
    """Return the parts of each line of a file beside this one."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


def test_bad_value_is_refused_by_name_and_nothing_is_written(bank: Bank) -> None:
    for verbs, parameters, values in lines_of("bad_values.txt"):
        for verb, parameter, value in product(verbs.split(), parameters.split(), BAD[values]):
            wanted = f"items[1].{parameter}" if verb == "remember_many" else parameter
            error = refusal(bank, partial(call, bank, verb, {parameter: value}))
            # An error inside a list or mapping may add a path, as in `tags[2]` or `body.facts`.
            assert named(error)[0].startswith(wanted), (verb, value, error)


BY_ID = {
    "id": "update revise invalidate remove restore pin history neighbors scratchpad.update",
    "ids": "touch purge neighbors_each", "source": "link unlink", "target": "link", "memory": "facts.add",
    "fact_id": "facts.remove facts.history",
}  # fmt: skip
"""Parameters that take an id, and their verbs."""
NO_IDS: list[Any] = ["", " ", NUL, SURROGATE, 5, True, 1.5, b"one", ["one"], {"one": 1}, None, object]
NOBODY = ["nobody", "one@1", "ONE", "one ", "o", "%", "'", "one\u0301", "🙂", "x" * 500]


def test_bad_or_unknown_id_is_refused(bank: Bank) -> None:
    for parameter, verbs in BY_ID.items():
        for verb, id in product(verbs.split(), [*NO_IDS, *NOBODY]):
            # Most verbs trim names, so that "one " exists. A fact may be without a memory.
            if (verb, id) != ("facts.add", None) and (id != "one " or verb == "scratchpad.update"):
                error = refusal(bank, partial(call, bank, verb, {parameter: [id] if parameter == "ids" else id}))
                assert isinstance(error, NotFoundError if id in NOBODY else InputError | NotFoundError), (verb, id)
                assert not isinstance(error, NotFoundError) or error.resource
    for id in [*NO_IDS, *NOBODY]:
        wanted = NotFoundError if id in NOBODY else InputError | NotFoundError
        assert isinstance(refusal(bank, partial(bank.unlink, id)), wanted)


def test_contradictions_and_every_wrong_value_are_named(bank: Bank) -> None:
    here = pieria.Place("a/b")
    assert named(refusal(bank, lambda: bank.link(here, here))) == ["target"]
    for verb, parameter, told in lines_of("bad_together.txt"):
        values = json.loads(told)
        error = refusal(bank, partial(call, bank, verb, values))
        if parameter != "all":
            assert parameter in named(error), (verb, values)
        else:
            assert sorted(named(error)) == sorted(values)
            assert len(error.as_dict()["errors"]) == len(values) - 1


def test_error_names_the_item_of_a_batch(bank: Bank) -> None:
    no_items: list[Any] = [5, None, "text", {"text": "a"}, object()]
    for items in no_items:
        assert named(refusal(bank, partial(bank.remember_many, items))) == ["items"]
    batches: dict[str, Any] = {
        "items[2].importance": [{"text": "a"}, {"text": "b"}, {"text": "c", "importance": 5}],
        "items[1].text": [{"text": "a"}, {}],
        "items[1]": [{"text": "a"}, 7],
        "items[0].importnace": [{"text": "a", "importnace": 1}],
        "items[0].5": [{"text": "a", 5: 1}],
        "items[3].text": ["a text", "b", "c", " "],
    }
    for parameter, items in batches.items():
        assert parameter in named(refusal(bank, partial(bank.remember_many, items)))
    assert "importance" in str(refusal(bank, partial(bank.remember_many, batches["items[0].importnace"])).hint)
    several: list[Any] = [
        {"text": "a", "importance": 5, "kind": "nonsense"}, 7, {"text": "c"}, {"tag": 1, "importnace": 2},
        {"text": "d", "extract": "yes"}, {"text": "e", "id": "<private>x</private>"},
    ]  # fmt: skip
    error = refusal(bank, lambda: bank.remember_many(several))
    assert [each.message.partition(":")[0] for each in (error, *error.errors)] == [
        "items[0].kind", "items[0].importance", "items[1]", "items[3].tag", "items[3].importnace", "items[3].text",
        "items[4].extract", "items[5].id",
    ]  # fmt: skip
    many = [{"text": "a", "importance": n % 2 * 5} for n in range(1_000)]
    error = refusal(bank, lambda: bank.remember_many(many))
    assert named(error) == [f"items[{2 * n + 1}].importance" for n in range(100)]
    assert "400 more" in str(error.hint)


def test_plain_texts_and_places_are_taken(bank: Bank) -> None:
    assert bank.remember_many([]) == []
    kept = bank.remember_many(["The stork is back.", {"text": "The crane is not.", "tags": ["crane"]}])
    assert [(memory.text, memory.kind, memory.tags) for memory in kept] == [
        ("The stork is back.", "note", ()), ("The crane is not.", "note", ("crane",))
    ]  # fmt: skip
    here = pieria.Place("birds/grey")
    heron = bank.remember("heron", place=here)
    [stork] = bank.remember_many([{"text": "stork", "place": here}])
    assert heron.place == stork.place == "birds/grey"
    assert bank.update(heron.id, place=pieria.Place("birds/white")).place == "birds/white"
    assert [memory.text for memory in bank.list(place=here)] == ["stork"]
    assert bank.count(place=here) == len(bank.recall("stork heron", place=here)) == 1


def test_batch_with_one_bad_item_writes_nothing(bank: Bank) -> None:
    """Also for a batch that is written in parts or to two banks."""
    many = [{"text": f"number {n}"} for n in range(1_500)]
    twice = [{"text": "a", "id": "same"}, *many, {"text": "b", "id": "same"}]
    taken = [*many, {"text": "b", "id": "one"}]
    with_user = [{"text": "of the user, too", "scope": "user"}, {"text": "b", "id": "one"}]
    for items in (twice, taken, with_user):
        assert isinstance(refusal(bank, partial(bank.remember_many, items)), ConflictError)
    used = bank.usage("mine")
    for verb in (bank.touch, bank.purge):
        for id in ("mine", "one"):
            assert isinstance(refusal(bank, partial(verb, [id, "nobody"])), NotFoundError)
    assert (bank.usage("mine"), [memory.id for memory in bank.list(scope="user")]) == (used, ["mine"])


def cursor_parts(bank: Bank, order: str) -> list[Any]:
    """Return the parts of the cursor of a page with one memory."""
    return parts_of(bank.list(limit=1, order=order).cursor, "a cursor", 3)


def test_cursor_belongs_to_its_question_filters_and_order(bank: Bank) -> None:
    listed, recalled = bank.list(limit=1).cursor, bank.recall("heron stork", k=1).cursor
    assert [*bank.list(limit=1), *bank.list(cursor=listed)] == [*bank.list()]
    filters: list[dict[str, Any]] = [
        {"kinds": "note"}, {"tags": ["a"]}, {"meta": {"a": 1}}, {"since": "2026-01-01"}, {"scope": "bank"},
        {"include": "removed"}, {"pinned": False}, {"session": "s"}, {"place": "notes"}, {"known_at": "2090-01-01"},
    ]  # fmt: skip
    for narrow in filters:
        error = refusal(bank, partial(bank.list, cursor=listed, **narrow))
        assert (named(error), "same filters" in str(error)) == (["cursor"], True)
    for ask in (
        partial(bank.recall, "heron stork", cursor=listed),
        partial(bank.list, cursor=recalled),
        partial(bank.recall, "another", k=1, cursor=recalled),
        partial(bank.recall, "heron stork", k=1, kinds="note", cursor=recalled),
    ):
        assert named(refusal(bank, ask)) == ["cursor"]
    for order in ORDERS:
        cursor = written(cursor_parts(bank, order))
        assert [*bank.list(limit=1, order=order), *bank.list(order=order, cursor=cursor)] == [*bank.list(order=order)]
        for other in set(ORDERS) - {order}:
            error = refusal(bank, partial(bank.list, order=other, cursor=cursor))
            assert (named(error), f"in the order {other}" in str(error)) == (["cursor"], True)


def test_every_part_of_a_cursor_is_checked(bank: Bank) -> None:
    forged: dict[int, list[Any]] = {
        0: ["", None, 5, "sideways", ["newest"]],
        1: [None, "1", True, math.nan, math.inf, 1.5, -0.5, 2**63, -(2**80), [1]],
        2: [None, "1", True, 1.0, -1, 2**63, 2**80, [1]],
    }
    for order in ORDERS:
        parts = cursor_parts(bank, order)
        for place, values in forged.items():
            for value in values:
                cursor = written([*parts[:place], value, *parts[place + 1 :]])
                assert named(refusal(bank, partial(bank.list, order=order, cursor=cursor))) == ["cursor"]


def test_unavailable_parameter_and_unknown_policy_say_why(bank: Bank) -> None:
    for verb in ("remember", "remember_many"):
        error = refusal(bank, partial(call, bank, verb, {"vectors": [0.1]}))
        assert isinstance(error, UnavailableError) and error.reason and error.hint
        assert error.parameter.endswith("vectors")
    error = refusal(bank, lambda: bank.recall("heron", policy="hybird"))
    expected = "one of hybrid, value, decay, weighted, similarity, or a callable"
    assert (str(error), error.hint) == (f"policy: expected {expected}, got 'hybird'", "Did you mean hybrid?")


def test_bad_or_missing_path_changes_nothing(bank: Bank, tmp_path: Path) -> None:
    no_paths: list[Any] = ["", " ", "a\0b", 5, None, b"x", object]
    for path in no_paths:
        for verb in (bank.export, bank.import_, bank.backup):
            assert named(refusal(bank, partial(verb, path))) == ["path"]
    for missing in (tmp_path / "none.jsonl", tmp_path):
        assert isinstance(refusal(bank, partial(bank.import_, missing)), TransferError)


def test_error_does_not_repeat_the_refused_text(bank: Bank) -> None:
    secret = "brindlewolf"
    for act in (
        lambda: bank.remember(f"{secret}\0"),
        lambda: bank.remember(f"{secret} " * 200_000),
        lambda: bank.update("one", text=f"{secret}\ud800"),
        lambda: bank.remember("x", body={"text": f"{secret}\0"}),
        lambda: bank.remember(f"<private>{secret}</private>"),
        lambda: bank.scratchpad.write(f"{secret}\0"),
    ):
        error = refusal(bank, act)
        assert secret not in f"{error} {error.as_dict()!r}"


def test_any_text_is_a_question(bank: Bank) -> None:
    for query in (
        "", "   ", NUL, SURROGATE, "\ud83d\ude42", "'\"; DROP TABLE content; --", "NEAR(a b)", "a AND OR NOT", "col:x",
        "*", '"', "'" * 99, "(", "%s {x}", "\x1b[31m", "🙂" * 999, "the of and", "a" * 100_000, "\u202e",
        "é\u0301\u0301",
    ):  # fmt: skip
        before = bank.changes()
        assert len(bank.recall(query)) <= 3
        assert {hit.memory.id for hit in bank.recall(f"{query} heron")} >= {"one", "mine"}, query
        assert bank.changes() == before


def test_strange_values_are_kept_as_they_are(bank: Bank) -> None:
    strange: list[dict[str, Any]] = [
        {"text": "é" * (1 << 19)}, {"text": "🪶 \u202ereversed\u202c \u0301 combining", "title": "\u200b."},
        {"text": "'; DROP TABLE content; --", "tags": ["'", '"', "%", "_", "\\"]}, {"text": "a\r\nb\tc\x0b"},
        {"importance": 0, "confidence": 1, "strength": 2}, {"at": "0001-01-01", "valid_until": "9999-12-31"},
        {"at": datetime(2026, 1, 1, tzinfo=UTC), "valid_from": date(2026, 1, 1)}, {"at": 0, "valid_from": -1.5},
        {"valid_from": date(2026, 1, 1), "valid_until": date(2026, 1, 1)}, {"tags": (tag for tag in ["a", "b", "a"])},
        {"tags": {"a"}, "meta": {"": None, "deep": {"er": [[[]]]}}, "body": {}},
        {"id": "any string: /é 🪶@7", "place": "wing / room"}, {"tags": None, "meta": None, "body": None},
    ]  # fmt: skip
    for values in strange:
        memory = bank.remember(**{"text": "a", **values})
        kept = held(bank, memory.id)
        assert (kept.as_dict(), kept.text) == (memory.as_dict(), values.get("text", "a"))
    assert held(bank, "any string: /é 🪶@7@1").id == "any string: /é 🪶@7"
    assert bank.doctor().well
