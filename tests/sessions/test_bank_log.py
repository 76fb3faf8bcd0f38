"""The log in a bank: which process holds a session, what never reaches the disk, and what is removed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.contract.store_helpers import HandClock

from pieria import Bank
from pieria.bank.sessions.log import BankLog
from pieria.errors import CorruptError, InputError, PrivacyError, SessionError, TransferError, UnreachableError
from pieria.graph import Changeset, Edge, Episodic, Intent, NodeMetadata, Procedural, Semantic, Source, Subgoal, Tag
from pieria.graph.changeset import written
from pieria.graph.nodes import NODE_TYPES
from pieria.learning.steps import Step
from pieria.record.changeset import Changeset as Change
from pieria.record.changeset import Record
from pieria.sessions.log import UnfinishedSession

ID = "session_AAAAAAAAAAA"
LEASE = 60
FRESH = UnfinishedSession(ID, "notes", "Plan the trip", "collecting", {"id": "ep_1", "current_trajectory_id": "traj_1"})
STEP = Step(0, "User wants Tokyo in March", "Asked about dates", "Settle when to go", "No dates yet", 0.5, (0.6, 0.8))
KEY = "AKIAIOSFODNN7EXAMPLE"

Opened = Callable[..., Bank]


def learnt(*indices: int) -> Changeset:
    """Return the changeset of some steps: for each an episodic node and its source, and one fact from all."""
    changeset = Changeset([Semantic(id="sem", proposition="The user wants Tokyo in March")])
    for index in indices:
        lived = Episodic(id=f"lived_{index}", observation=STEP.observation, action=f"{STEP.action} {index}")
        source = Source(id=f"source_{index}", episode_id="ep_1", step_index=index, plain_text=STEP.observation)
        changeset = changeset.add_node(lived).add_node(source)
        changeset = changeset.add_link(lived.id, source.id, Edge.PROVENANCE).add_link("sem", lived.id, Edge.PROVENANCE)
    return changeset


def check_held_elsewhere(*uses: Callable[[], object]) -> None:
    for use in uses:
        with pytest.raises(SessionError) as refused:
            use()
        assert refused.value.reason == "held_elsewhere"


def records(bank: Bank, collection: str) -> dict[str, Any]:
    with bank.core.reading() as reader:
        return reader.records(collection)


def put(bank: Bank, record: Record) -> None:
    bank.core.apply(lambda _: Change("test", records=[record]))


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def loaded(log: BankLog) -> tuple[UnfinishedSession, list[Step]]:
    found = log.load(ID)
    assert found is not None
    return found


@pytest.fixture
def log(bank: Bank) -> BankLog:
    log = BankLog(bank)
    log.begin(FRESH)
    return log


def test_session_is_free_once_its_holder_lets_go(opened: Opened, log: BankLog) -> None:
    other = BankLog(opened())
    check_held_elsewhere(lambda: other.hold(ID))
    log.release(ID)
    other.hold(ID)
    check_held_elsewhere(lambda: log.step(FRESH, STEP))
    assert other.load(ID) == (FRESH, [])


def test_lost_process_cannot_write_to_its_sessions(opened: Opened, log: BankLog, clock: HandClock) -> None:
    other = BankLog(opened())
    clock.move(seconds=LEASE - 1)
    check_held_elsewhere(lambda: other.hold(ID))
    clock.move(seconds=1)
    other.hold(ID)
    after = replace(FRESH, state="failed")
    check_held_elsewhere(
        lambda: log.step(FRESH, STEP), lambda: log.withdraw(FRESH, 0), lambda: log.keep(after),
        lambda: log.commit(after, learnt(0)), lambda: log.release(ID), lambda: log.end(ID),
    )  # fmt: skip
    assert other.load(ID) == (FRESH, [])
    assert opened().graph.get_nodes_by_type(["semantic"]) == []


def test_writes_and_beats_extend_the_lease(opened: Opened, log: BankLog, clock: HandClock) -> None:
    other = BankLog(opened())
    for say in (lambda: log.step(FRESH, STEP), log.beat):
        clock.move(seconds=LEASE - 1)
        say()
        clock.move(seconds=LEASE - 1)
        check_held_elsewhere(lambda: other.hold(ID))
        say()


def test_clock_set_back_locks_nobody_out(opened: Opened, log: BankLog, clock: HandClock) -> None:
    other = BankLog(opened())
    clock.move(days=-300)
    log.step(FRESH, STEP)
    check_held_elsewhere(lambda: other.hold(ID))
    clock.move(days=-300)
    other.hold(ID)
    assert other.load(ID) == (FRESH, [STEP])


def test_process_without_sessions_leaves_no_record(opened: Opened, bank: Bank, log: BankLog, clock: HandClock) -> None:
    other = BankLog(opened())
    log.begin(replace(FRESH, id="session_BBBBBBBBBBB"))
    log.release(ID)
    assert len(records(bank, "sessions.holders")) == 1
    log.end("session_BBBBBBBBBBB")
    assert log.beat() is None
    other.hold(ID)
    clock.move(seconds=LEASE)
    log.hold(ID)
    log.release(ID)
    assert not records(bank, "sessions.holders") and not records(bank, "sessions.held")


def test_server_away_for_a_moment_loses_no_session(
    opened: Opened, bank: Bank, log: BankLog, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:

    def away(seconds: float | None = None) -> NoReturn:
        raise UnreachableError("write", "the server was started anew")

    with monkeypatch.context() as patched:
        patched.setattr(bank.core.store, "writing", away)
        again = log.beat()
    assert again is not None
    assert again < LEASE / 3
    clock.move(seconds=LEASE / 2)
    log.beat()
    clock.move(seconds=LEASE * 2 / 3)
    check_held_elsewhere(lambda: BankLog(opened()).hold(ID))


def test_long_idle_sessions_without_an_episode_are_swept(log: BankLog, clock: HandClock) -> None:
    log.release(ID)
    for number, is_left in enumerate((False, True)):
        idle = replace(FRESH, id=f"session_{number}", state="idle", episode=None)
        log.begin(idle)
        if not is_left:
            log.release(idle.id)
    clock.move(days=1)
    log.beat()
    log.begin(replace(FRESH, id="session_new"))
    assert [kept.id for kept in log.kept()] == ["session_1", ID, "session_new"]


def test_commit_is_one_undoable_change_of_its_session(bank: Bank, log: BankLog) -> None:
    log.step(FRESH, STEP)
    log.step(FRESH, replace(STEP, index=1))
    before = bank.changes()[-1].seq
    after = replace(FRESH, committed=(0, 1))
    log.commit(after, learnt(0, 1), forget=[0])
    [change] = bank.changes(since=before)
    assert loaded(log) == (after, [replace(STEP, index=1)])
    found = {memory.id: (memory.session, memory.sequence) for memory in bank.list(kinds=["episodic", "source"])}
    assert (found["lived_1"], found["source_0"]) == ((ID, 1), (ID, 0))
    bank.undo(change.seq)
    assert bank.graph.get_nodes_by_type(["episodic", "semantic"]) == []
    assert loaded(log)[0] == after


def test_commit_shares_a_tag_that_another_process_wrote(opened: Opened, bank: Bank, log: BankLog) -> None:
    ready = learnt(0).add_node(Tag(id="late", label="Tokyo")).add_link("late", "sem", Edge.MEMBERSHIP)
    ready = ready.put_metadata("late", NodeMetadata().update_reward(0.8))
    opened().graph.apply_changeset(Changeset([Tag(id="early", label="tokyo")]))
    log.commit(FRESH, ready)
    assert [tag.id for tag in bank.graph.get_nodes_by_type(["tag"])] == ["early"]
    assert [tag.id for tag in bank.graph.get_linked_nodes(["sem"], Edge.MEMBERSHIP)] == ["early"]
    assert bank.graph.get_metadata(["early"])["early"].reward_count == 1


def test_each_part_of_waiting_knowledge_is_written_once(opened: Opened) -> None:
    bank = opened()
    log, facts = BankLog(bank), [Changeset([Semantic(id=f"s{n}", proposition=f"Fact {n}.")]) for n in range(3)]
    grown = log.begin(FRESH)
    for number in range(2):
        grown = log.keep(replace(grown, waiting=(*grown.waiting, facts[number])))
    # A part that is there is not written again: it stays what it was changed to here.
    first, second = records(bank, "sessions.waiting").items()
    put(bank, Record("sessions.waiting", first[0], second[1]))
    grown = log.keep(replace(grown, waiting=(*grown.waiting, facts[2])))
    log.step(grown, STEP)
    assert loaded(log)[0].waiting == (facts[1], facts[1], facts[2])
    log.release(ID)
    other = BankLog(bank)
    other.hold(ID)
    assert loaded(other)[0].waiting == (facts[1], facts[1], facts[2])
    again = other.keep(replace(loaded(other)[0], waiting=tuple(facts)))
    assert loaded(other)[0] == again
    other.keep(replace(again, waiting=(facts[1],)))
    assert loaded(other)[0].waiting == (facts[1],)
    other.keep(replace(again, waiting=()))
    assert records(bank, "sessions.waiting") == {}


def test_waiting_knowledge_of_an_older_bank_is_read(bank: Bank, log: BankLog) -> None:
    fact = Changeset([Semantic(id="sem", proposition="The ferry is full.")])
    [held] = records(bank, "sessions").values()
    for old, waiting in ((None, ()), (written(fact), (fact,))):
        put(bank, Record("sessions", ID, {**held, "waiting": old}))
        assert loaded(log)[0].waiting == waiting


def test_private_and_secret_words_reach_no_file(opened: Opened, tmp_path: Path) -> None:
    log = BankLog(opened(secrets="redact"))
    kept = log.begin(replace(FRESH, goal=f"Plan the trip <private>with Maya</private> {KEY}"))
    assert KEY not in kept.goal
    asked = f"Asked Maya? <private>Maya</private> {KEY}"
    step = log.step(kept, Step(0, f"<private>Maya</private> wants Tokyo {KEY}", asked, KEY, KEY))
    assert (step.observation.strip().split()[:2], KEY in repr(step)) == (["wants", "Tokyo"], False)
    waiting = Changeset([Semantic(id="sem", proposition=f"The key is {KEY}")])
    log.keep(replace(kept, waiting=(waiting,), reason=f"the model said <private>with Maya</private> {KEY}"))
    found = on_disk(tmp_path)
    assert [word in found for word in (b"with Maya", KEY.encode(), b"Asked Maya?")] == [False, False, True]


def test_step_that_could_not_be_remembered_is_refused(opened: Opened) -> None:
    cases: list[tuple[dict[str, Any], Step, str]] = [
        ({"secrets": "refuse"}, replace(STEP, action=f"Signed in with {KEY}"), "action"),
        ({}, replace(STEP, observation="<private>Maya called</private>"), "observation"),
        ({}, replace(STEP, observation=" "), "observation"),
        ({}, replace(STEP, action="\0"), "step"),
        ({}, replace(STEP, observation="x" * (1 << 20)), "step"),
    ]
    for settings, step, parameter in cases:
        log = BankLog(opened(**settings))
        log.begin(FRESH)
        with pytest.raises((InputError, PrivacyError), match=parameter):
            log.step(FRESH, step)
        assert log.load(ID) == (FRESH, [])
        log.end(ID)


@pytest.mark.parametrize("node", ["lived_1", "source_1"])
def test_purge_erases_a_step_of_a_live_session(bank: Bank, log: BankLog, tmp_path: Path, node: str) -> None:
    for index in (0, 1):
        log.step(FRESH, replace(STEP, index=index, observation=f"The word is apricot{index}", subgoal=f"plum{index}"))
    answers = {"traj_1 2": {"facts": [{"text": "It may be apricot1."}]}}
    log.commit(replace(FRESH, committed=(0, 1), answers=answers), learnt(0, 1))
    assert loaded(log)[0].answers == answers
    bank.purge(node)
    found, [other, bare] = loaded(log)
    assert found.answers == {}
    assert (other.observation, bare.observation, bare.action, bare.subgoal) == ("The word is apricot0", "", "", "")
    assert (bare.index, bare.reward, bare.embedding) == (1, 0.5, None)
    assert b"apricot1" not in on_disk(tmp_path)
    assert b"plum1" not in on_disk(tmp_path)
    # A judgement that arrives meanwhile does not bring the words back.
    log.step(found, replace(STEP, index=1, observation="The word is apricot1", reward=0.9))
    assert (loaded(log)[1][1].observation, loaded(log)[1][1].reward) == ("", 0.9)


FRUIT = [
    {"observation": "A garden.", "action": "Looked for plums."},
    {"observation": "A tree.", "action": "Shook the apricot tree."},
    {"observation": "Fruit on the ground.", "action": "Filled a basket."},
]


def test_purge_erases_judgements_of_later_steps(bank: Bank, log: BankLog, tmp_path: Path) -> None:
    bank.sessions.ingest({"source_id": "run-7", "goal": "Pick fruit", "steps": FRUIT})
    lived = {memory.text.partition(" → ")[0]: memory for memory in bank.list(kinds="episodic", limit=10)}
    looked, shaken, filled = (lived[step["observation"]] for step in FRUIT)
    assert "apricot" in filled.body["state"]
    for index in (0, 1, 2):
        log.step(FRESH, replace(STEP, index=index, observation=f"The word is apricot{index}", state=f"plum{index - 1}"))
    log.commit(replace(FRESH, committed=(0, 1)), learnt(0, 1))
    bank.purge([shaken.id, "lived_1"])
    left = bank.get(filled.id)
    assert left is not None
    assert (left.text, "state" in left.body) == (filled.text, False)
    assert "state" in bank.get(looked.id).body  # type: ignore[union-attr]
    assert [step.state for step in loaded(log)[1]] == ["plum-1", None, None]
    log.step(FRESH, replace(STEP, index=2, observation="The word is apricot2", state="plum1"))
    assert loaded(log)[1][2].state is None
    assert b"apricot tree" not in on_disk(tmp_path)
    assert bank.doctor().well


def test_purge_erases_what_only_the_step_has(bank: Bank, tmp_path: Path) -> None:
    named = [
        Subgoal(id="own_subgoal", description="Say apricot"),
        Tag(id="own_tag", label="apricots"),
        Tag(id="shared_tag", label="fruit"),
        Intent(id="own_intent", description="Grow apricots"),
        Intent(id="shared_intent", description="Grow fruit"),
        Semantic(id="other", proposition="Plums are blue"),
        Procedural(id="plant", instruction="Plant an apricot"),
        Procedural(id="other_plant", instruction="Plant a plum"),
    ]
    ties = [
        ("own_subgoal", "lived_0", Edge.HIERARCHICAL),
        ("own_tag", "sem", Edge.MEMBERSHIP),
        ("shared_tag", "sem", Edge.MEMBERSHIP),
        ("shared_tag", "other", Edge.MEMBERSHIP),
        ("plant", "lived_0", Edge.PROVENANCE),
        ("own_intent", "plant", Edge.HIERARCHICAL),
        ("shared_intent", "plant", Edge.HIERARCHICAL),
        ("shared_intent", "other_plant", Edge.HIERARCHICAL),
        ("other", "source_1", Edge.PROVENANCE),
    ]
    bank.graph.apply_changeset(learnt(0, 1).merge(Changeset(named, ties)))
    receipt = bank.purge("source_0")
    assert {*receipt.also} == {"lived_0", "sem", "own_subgoal", "own_tag", "plant", "own_intent"}
    left = {node.id for node in bank.graph.get_nodes_by_type(NODE_TYPES)}
    assert left == {"shared_tag", "shared_intent", "other", "other_plant", "lived_1", "source_1"}
    assert b"pricot" not in on_disk(tmp_path)
    # A source that something else rests on stays.
    assert "source_1" not in bank.purge("lived_1").also
    assert bank.get("source_1") is not None
    assert "source_1" in bank.purge("other").also


def test_stats_and_doctor_count_sessions(bank: Bank, clock: HandClock) -> None:
    assert bank.stats().sessions == {}
    log = BankLog(bank)
    log.begin(FRESH)
    log.begin(replace(FRESH, id="session_2", state="failed"))
    log.begin(replace(FRESH, id="session_3", state="idle", episode=None))
    assert bank.stats().sessions == {"collecting": 1, "failed": 1, "idle": 1}

    def found() -> tuple[str, bool]:
        [finding] = [each for each in bank.doctor().findings if each.check == "sessions"]
        return finding.detail, finding.remedy is not None

    assert found() == ("1 collecting, 1 failed, 1 idle", False)
    log.release("session_2")
    assert found() == ("1 collecting, 1 failed, 1 idle, 1 of them were not finished", True)
    clock.move(minutes=5)
    assert found() == ("1 collecting, 1 failed, 1 idle, 2 of them were not finished", True)


def test_export_holds_sessions_without_their_holders(opened: Opened, bank: Bank, log: BankLog, tmp_path: Path) -> None:
    other, file = opened("other"), tmp_path / "notes.jsonl"
    log.step(FRESH, STEP)
    bank.export(file)
    collections = {json.loads(line).get("collection") for line in file.read_text().splitlines()}
    assert collections - {None} == {"sessions", "sessions.steps"}
    other.import_(file)
    elsewhere = BankLog(other)
    elsewhere.hold(ID)
    assert elsewhere.load(ID) == (replace(FRESH, repo="other"), [STEP])
    # An import never sets back a session that is in this bank.
    elsewhere.step(FRESH, replace(STEP, index=1))
    other.import_(file)
    assert len(loaded(elsewhere)[1]) == 2
    file.write_text(file.read_text().replace('"state":"collecting"', '"state":1'))
    with pytest.raises(TransferError) as refused:
        opened("third").import_(file)
    assert "value.state" in repr(refused.value.problems)
    put(bank, Record("sessions", ID, {"id": ID}))
    with pytest.raises(CorruptError, match=ID):
        BankLog(bank).load(ID)
