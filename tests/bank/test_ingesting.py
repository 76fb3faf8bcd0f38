"""Ingesting a trajectory from elsewhere: once, with a receipt, in one piece, even if several callers send it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.making import HandClock
from tests.models.llm_server import fitting

from pieria import Bank, Workspace
from pieria.errors import AdapterError, ConflictError, InputError
from pieria.graph import NODE_TYPES
from pieria.models.llm import LLMResponse

TRIP: dict[str, Any] = {
    "source_id": "run-7",
    "goal": "Plan a trip to Japan",
    "steps": [
        {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."},
        {"observation": "March 3 to March 17, two weeks.", "action": "Booked the flight with ANA."},
    ],
    "metadata": {"ticket": 7},
}
OTHER = {**TRIP, "source_id": "run-8", "goal": "Plan a trip to Peru"}
Opened = Callable[..., Bank]


class Counting:
    """A language model that gives the smallest valid answer to each request. It can wait or fail."""

    model = "counting"

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self.waits = False
        self.fails_at: int | None = None

    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        return self._answer(messages, "0.5")

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        return self._answer(messages, fitting(schema))

    def _answer(self, messages: Any, content: object) -> LLMResponse:
        self.asked.append(messages)
        self.begun.set()
        if self.waits:
            assert self.may_go_on.wait(10)
        if len(self.asked) == self.fails_at:
            raise AdapterError("counting", "chat", "it is out")
        return LLMResponse(content, self.model, {"input_tokens": 1, "output_tokens": 1})


def nodes(bank: Bank) -> list[str]:
    return sorted(node.id for node in bank.graph.get_nodes_by_type(NODE_TYPES))


def test_the_same_payload_gets_the_same_receipt_and_nothing_is_written(
    opened: Opened, clock: HandClock, kept: Kept
) -> None:
    with Workspace(kept.data, {**kept.settings, "durability": "off"}, clock=clock) as workspace:
        bank = workspace.open("ingest")
        receipt = bank.sessions.ingest(TRIP)
        assert (receipt.source_id, receipt.stored_at, receipt.is_new) == ("run-7", clock.now, True)
        assert set(receipt.node_ids) <= set(nodes(bank)) != set()
        head = bank.changes()[-1].seq
        clock.move(days=1)
        shuffled = {**dict(reversed(TRIP.items())), "steps": [dict(reversed(step.items())) for step in TRIP["steps"]]}
        again = bank.sessions.ingest(shuffled)
        assert (again, again.is_new, bank.changes()[-1].seq) == (receipt, False, head)
        bank.close()
        assert workspace.open("ingest").sessions.receipt("run-7") == receipt


def test_another_payload_under_the_same_name_is_refused(opened: Opened) -> None:
    bank = opened()
    bank.sessions.ingest(TRIP)
    changes: list[dict[str, Any]] = [{"goal": "Another"}, {"metadata": {}}, {"steps": TRIP["steps"][:1]}]
    for changed in changes:
        with pytest.raises(ConflictError, match="another payload") as caught:
            bank.sessions.ingest({**TRIP, **changed})
        assert caught.value.ids == ("run-7",)
    assert bank.sessions.receipt("run-9") is None


def test_the_receipt_of_what_was_erased_says_so_and_it_is_not_taken_in_again(opened: Opened) -> None:
    bank = opened()
    receipt = bank.sessions.ingest(TRIP)
    erased = {*bank.purge(bank.list(source="run-7", kinds="source")[0].id).also} & set(receipt.node_ids)
    told = bank.sessions.receipt("run-7")
    assert told is not None
    assert erased < set(told.purged) < set(receipt.node_ids) == {*told.node_ids, *told.purged}
    assert bank.sessions.ingest(TRIP).node_ids == told.node_ids
    bank.forget(source="run-7", purge=True)
    for payload in (TRIP, {**TRIP, "goal": "Another"}):
        [again] = bank.sessions.ingest_many([payload])
        assert (again.is_new, again.node_ids, set(again.purged)) == (False, (), set(receipt.node_ids))
    assert nodes(bank) == []
    with bank.core.reading() as reader:
        assert reader.records("receipts")["run-7"]["digest"] is None
    assert bank.sessions.ingest({**TRIP, "source_id": "run-9"}).is_new


def test_what_it_comes_to_is_knowledge_that_says_where_it_comes_from(opened: Opened) -> None:
    bank = opened()
    receipt = bank.sessions.ingest(TRIP)
    kinds = {memory.kind: memory for memory in bank.list(source="run-7", limit=100)}
    assert {"episodic", "source", "subgoal"} <= kinds.keys()
    assert all(memory.meta == {"ticket": 7} for memory in kinds.values())
    assert {node.text for node in bank.graph.get_nodes_by_type(["episodic"])} == {
        " → ".join(step.values()) for step in TRIP["steps"]
    }
    found = [hit.memory.id for hit in bank.recall("Who flies to Tokyo in March?", source="run-7")]
    assert set(found) & set(receipt.node_ids)


def test_all_that_is_wrong_is_told_before_anything_is_begun(opened: Opened) -> None:
    bank = opened()
    wrong = {"source_id": "", "goal": 7, "steps": [{"observation": "x", "reaction": "y"}], "meta": {}}
    with pytest.raises(InputError) as caught:
        bank.sessions.ingest_many([TRIP, wrong])
    told = {error.parameter for error in (caught.value, *caught.value.errors) if isinstance(error, InputError)}
    assert told == {
        f"trajectories[1].{name}" for name in ("meta", "source_id", "goal", "steps[0].reaction", "steps[0].action")
    }
    assert isinstance(caught.value, InputError)
    assert caught.value.message == (
        "trajectories[1].meta: expected no names but source_id, goal, steps, metadata, got 'meta'"
    )
    assert caught.value.hint == "Did you mean metadata?"
    assert nodes(bank) == []
    with pytest.raises(InputError, match="1 to 10,000 steps"):
        bank.sessions.ingest({**TRIP, "steps": []})


def test_what_cannot_be_taken_in_of_several_is_told_before_any_is_paid_for(opened: Opened) -> None:
    bank = opened()
    bank.sessions.ingest(TRIP)
    before = nodes(bank)
    with pytest.raises(ConflictError) as other:
        bank.sessions.ingest_many([OTHER, {**TRIP, "goal": "Another"}, {**OTHER, "goal": "Another"}])
    assert other.value.ids == ("run-7", "run-8")
    hidden = {"observation": "<private>all of it</private>", "action": "Nothing."}
    with pytest.raises(InputError, match=r"trajectories\[2\]\.steps\[0\]\.observation: expected some text outside"):
        bank.sessions.ingest_many([TRIP, OTHER, {**OTHER, "source_id": "run-9", "steps": [hidden]}])
    assert (nodes(bank), bank.sessions.receipt("run-8")) == (before, None)


@pytest.mark.parametrize("metadata", [[], "", 0, False])
def test_metadata_that_is_no_mapping_is_refused_though_it_is_empty(opened: Opened, metadata: object) -> None:
    with pytest.raises(InputError, match="metadata: expected a mapping"):
        opened().sessions.ingest({**TRIP, "metadata": metadata})


def test_who_comes_while_the_same_is_under_way_gets_its_receipt_and_asks_no_model(tmp_path: Path) -> None:
    llm = Counting()
    with Workspace(tmp_path, {"durability": "off"}, llm=llm) as workspace, ThreadPoolExecutor(2) as threads:
        banks = [workspace.open("notes") for _ in range(2)]
        llm.waits = True
        first = threads.submit(banks[0].sessions.ingest, TRIP)
        assert llm.begun.wait(10)
        second = threads.submit(banks[1].sessions.ingest, TRIP)
        llm.may_go_on.set()
        one, other = first.result(), second.result()
        assert (one, one.is_new, other.is_new) == (other, True, False)
        asked = len(llm.asked)
        assert banks[0].sessions.ingest(TRIP) == one
        assert len(llm.asked) == asked
        assert [change.what for change in banks[0].changes()] == ["graph"]


def test_where_a_model_fails_nothing_is_kept_and_it_can_be_handed_in_again(tmp_path: Path) -> None:
    llm = Counting()
    with Workspace(tmp_path, {"durability": "off"}, llm=llm) as workspace:
        bank = workspace.open("notes")
        llm.fails_at = 7
        with pytest.raises(AdapterError):
            bank.sessions.ingest(TRIP)
        assert (nodes(bank), bank.sessions.receipt("run-7")) == ([], None)
        llm.fails_at = None
        assert bank.sessions.ingest(TRIP).is_new


def test_what_is_private_is_neither_kept_nor_shown_to_a_model(opened: Opened) -> None:
    bank = opened()
    steps = [{"observation": "The code is <private>4711</private>.", "action": "Opened <private>it</private> all."}]
    bank.sessions.ingest({**TRIP, "goal": "Open <private>the safe</private> it", "steps": steps})
    said = " ".join(memory.text for memory in bank.list(limit=100))
    assert "4711" not in said
    assert "safe" not in said


def test_several_are_taken_in_one_after_the_other(opened: Opened) -> None:
    bank = opened()
    bank.sessions.ingest(OTHER)
    told: list[tuple[int, int]] = []
    receipts = bank.sessions.ingest_many([TRIP, OTHER], progress=lambda done, whole: told.append((done, whole)))
    assert [(one.source_id, one.is_new) for one in receipts] == [("run-7", True), ("run-8", False)]
    assert told == [(1, 2), (2, 2)]
