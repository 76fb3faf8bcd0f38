"""A call for every tool, and for every parameter two calls that differ only in it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.toolsets.outcome import Case, Run, Step

REMEMBER, RECALL = "mnemosyne_remember", "mnemosyne_recall"
TEXT = "Maya works on billing."


def nothing(run: Run) -> None:
    """Prepare nothing."""


def said(content: str, **more: Any) -> Step:
    return REMEMBER, {"content": content, **more}


def changing(parameter: str, base: Any, changed: Any, before: Sequence[Step] = (), **always: Any) -> Case:
    """Return a case with two values of a parameter; None leaves the parameter out."""

    def arguments(value: Any) -> Mapping[str, Any]:
        return always if value is None else {**always, parameter: value}

    return Case(arguments(base), arguments(changed), before)


def rested(run: Run) -> None:
    """Write three notes on one subject, then move the clock by days; the same in another bank."""
    for bank in ("notes", "other"):
        host = run.host.having(bank_name=bank)
        for number in range(3):
            text = f"The billing service answers invoice {number} of the billing team."
            host.bank.remember(text, entities=["billing"], importance=0.9 if number else 0.5)
    run.clock.move(days=3)


def another_bank(run: Run) -> None:
    run.host.having(bank_name="other").bank.remember("Elsewhere.", source="letter")


def files(run: Run) -> None:
    """Write exports of the original, for import."""
    for name, content in (("one", "First."), ("two", "Second.")):
        row = {"id": name, "content": content, "timestamp": "2026-01-01T10:00:00", "scope": "global"}
        document = {"mnemosyne_export": {"version": "1.3"}, "working_memory": [row]}
        (run.folder / f"{name}.json").write_text(json.dumps(document))


def weighed(parameter: str) -> Case:
    before = [said("Billing is due on Friday.", importance=0.1), said("Maya pays the invoices.", importance=1)]
    case = changing(parameter, 0.1, 0.9, before, query="billing friday")
    return replace(case, settings={"embedder": "hashing"})


SPEAKERS = [
    said("Billing is due.", author_id="maya", author_type="human", channel_id="money"),
    said("Billing was paid.", author_id="bot", author_type="agent", channel_id="robots"),
]
KEPT = [said("Billing is due."), said("Billing is due on Friday.")]
TRIPLES: list[Step] = [
    ("mnemosyne_triple_add", {"subject": "Maya", "predicate": "works_on", "object": "billing"}),
    ("mnemosyne_triple_add", {"subject": "Maya", "predicate": "leads", "object": "search"}),
    ("mnemosyne_triple_add", {"subject": "Bob", "predicate": "works_on", "object": "search"}),
]
TWO = [("mnemosyne_remember", {"content": "One."}), ("mnemosyne_scratchpad_write", {"content": "Two."})]


def first_and_second(tool: str, **more: Any) -> Case:
    """Return a case that chooses one of two memories."""
    before = [said("First.", importance=0.3), said("Second.", importance=0.4)]
    return Case({"memory_id": "one", **more}, {"memory_id": "two", **more}, prepare=_named(before))


def _named(steps: Sequence[Step]) -> Callable[[Run], None]:
    """Return a function that writes memories under the ids `one`, `two` and so on."""

    def prepare(run: Run) -> None:
        for id, (_, values) in zip(("one", "two", "three"), steps, strict=False):
            run.host.bank.remember(values["content"], id=id, importance=values.get("importance", 0.5))

    return prepare


THREE = _named([said("First."), said("Second."), said("Third.")])


def dated(run: Run) -> None:
    run.host.bank.facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01", valid_until="2021-01-01")
    run.host.bank.facts.add("Maya", "lives_in", "Porto", valid_from="2022-01-01")


PARAMETERS: dict[tuple[str, str], Case] = {
    (REMEMBER, "content"): changing("content", "One.", "Two."),
    (REMEMBER, "source"): changing("source", None, "tool", content=TEXT),
    (REMEMBER, "importance"): changing("importance", None, 0.9, content=TEXT),
    (REMEMBER, "scope"): changing("scope", None, "session", content=TEXT),
    (REMEMBER, "valid_until"): changing("valid_until", None, "2099-01-01T00:00:00Z", content=TEXT),
    (REMEMBER, "extract_entities"): changing("extract_entities", False, True, content=TEXT),
    (REMEMBER, "extract"): changing("extract", False, True, content=TEXT),
    (REMEMBER, "author_id"): changing("author_id", "maya", "bob", content=TEXT),
    (REMEMBER, "author_type"): changing("author_type", "human", "agent", content=TEXT),
    (REMEMBER, "channel_id"): changing("channel_id", "one", "two", content=TEXT, scope="session"),
    (RECALL, "query"): changing("query", "billing", "search", [said("Billing is due."), said("Search is slow.")]),
    (RECALL, "top_k"): changing("top_k", 1, 2, KEPT, query="billing due"),
    (RECALL, "author_id"): changing("author_id", None, "maya", SPEAKERS, query="billing"),
    (RECALL, "author_type"): changing("author_type", None, "agent", SPEAKERS, query="billing"),
    (RECALL, "channel_id"): changing("channel_id", None, "money", SPEAKERS, query="billing"),
    (RECALL, "vec_weight"): weighed("vec_weight"),
    (RECALL, "fts_weight"): weighed("fts_weight"),
    (RECALL, "importance_weight"): weighed("importance_weight"),
    ("mnemosyne_sleep", "dry_run"): Case({"dry_run": True}, {"dry_run": False}, prepare=rested),
    ("mnemosyne_sleep", "bank"): Case({}, {"bank": "other"}, prepare=rested),
    ("mnemosyne_get_stats", "bank"): Case({}, {"bank": "other"}, KEPT, prepare=another_bank),
    ("mnemosyne_forget", "memory_id"): first_and_second("mnemosyne_forget"),
    ("mnemosyne_update", "memory_id"): first_and_second("mnemosyne_update", content="Third."),
    ("mnemosyne_update", "content"): Case(
        {"memory_id": "one", "importance": 0.9}, {"memory_id": "one", "importance": 0.9, "content": "New."},
        prepare=THREE,
    ),
    ("mnemosyne_update", "importance"): Case(
        {"memory_id": "one", "content": "New."}, {"memory_id": "one", "content": "New.", "importance": 0.9},
        prepare=THREE,
    ),
    ("mnemosyne_invalidate", "memory_id"): first_and_second("mnemosyne_invalidate"),
    ("mnemosyne_invalidate", "replacement_id"): Case(
        {"memory_id": "one", "replacement_id": "two"}, {"memory_id": "one", "replacement_id": "three"}, prepare=THREE
    ),
    ("mnemosyne_triple_add", "subject"): changing("subject", "Maya", "Bob", predicate="leads", object="search"),
    ("mnemosyne_triple_add", "predicate"): changing("predicate", "leads", "owns", subject="Maya", object="search"),
    ("mnemosyne_triple_add", "object"): changing("object", "search", "billing", subject="Maya", predicate="leads"),
    ("mnemosyne_triple_query", "subject"): changing("subject", None, "Bob", TRIPLES),
    ("mnemosyne_triple_query", "predicate"): changing("predicate", None, "leads", TRIPLES),
    ("mnemosyne_triple_query", "object"): changing("object", None, "search", TRIPLES),
    ("mnemosyne_triple_query", "as_of"): Case({}, {"as_of": "2020-06-01"}, prepare=dated),
    ("mnemosyne_scratchpad_write", "content"): changing("content", "One.", "Two."),
    ("mnemosyne_export", "output_path"): changing("output_path", "one.json", "two.json", KEPT),
    ("mnemosyne_import", "input_path"): Case({"input_path": "one.json"}, {"input_path": "two.json"}, prepare=files),
}  # fmt: skip

Reply = tuple[Sequence[Step], Mapping[str, Any], Callable[[Run], None]]
REPLIES: dict[str, Reply] = {
    REMEMBER: ([], {"content": TEXT}, nothing),
    RECALL: (KEPT, {"query": "billing"}, nothing),
    "mnemosyne_sleep": ([], {}, rested),
    "mnemosyne_get_stats": (KEPT, {}, nothing),
    "mnemosyne_forget": ([], {"memory_id": "one"}, THREE),
    "mnemosyne_update": ([], {"memory_id": "one", "content": "New."}, THREE),
    "mnemosyne_invalidate": ([], {"memory_id": "one"}, THREE),
    "mnemosyne_triple_add": ([], {"subject": "Carol", "predicate": "leads", "object": "platform"}, nothing),
    "mnemosyne_triple_query": (TRIPLES, {"subject": "Maya"}, nothing),
    "mnemosyne_scratchpad_write": ([], {"content": "Step two."}, nothing),
    "mnemosyne_scratchpad_read": (TWO, {}, nothing),
    "mnemosyne_scratchpad_clear": (TWO, {}, nothing),
    "mnemosyne_export": (KEPT, {"output_path": "out.json"}, nothing),
    "mnemosyne_import": ([], {"input_path": "one.json"}, files),
    "mnemosyne_diagnose": (KEPT, {}, nothing),
}
