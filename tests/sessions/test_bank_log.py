"""The log in a bank: which process holds a session, what never reaches the disk, and what is removed."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.contract.making import HandClock

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


def reason(refused: pytest.ExceptionInfo[SessionError]) -> object:
    return refused.value.reason


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def loaded(log: BankLog) -> tuple[UnfinishedSession, list[Step]]:
    found = log.load(ID)
    assert found is not None
    return found


# --- concurrent appends


def test_a_tag_that_another_process_wrote_since_is_shared_and_not_written_again(opened: Opened) -> None:
    bank = opened()
    log, other = BankLog(bank), opened()
    log.begin(FRESH)
    ready = learnt(0).add_node(Tag(id="late", label="Tokyo")).add_link("late", "sem", Edge.MEMBERSHIP)
    ready = ready.put_metadata("late", NodeMetadata().update_reward(0.8))
    other.graph.apply_changeset(Changeset([Tag(id="early", label="tokyo")]))
    log.commit(FRESH, ready)
    assert [tag.id for tag in bank.graph.get_nodes_by_type(["tag"])] == ["early"]
    assert [tag.id for tag in bank.graph.get_linked_nodes(["sem"], Edge.MEMBERSHIP)] == ["early"]
    assert bank.graph.get_metadata(["early"])["early"].reward_count == 1


# --- the holder of a session


def test_another_opening_of_the_bank_has_a_session_only_after_the_first_let_go_of_it(opened: Opened) -> None:
    one, other = BankLog(opened()), BankLog(opened())
    one.begin(FRESH)
    with pytest.raises(SessionError) as refused:
        other.hold(ID)
    assert reason(refused) == "held_elsewhere"
    one.release(ID)
    other.hold(ID)
    with pytest.raises(SessionError) as refused:
        one.step(FRESH, STEP)
    assert reason(refused) == "held_elsewhere"
    assert other.load(ID) == (FRESH, [])


def test_a_session_of_a_process_that_was_lost_is_taken_over_and_nothing_it_still_says_counts(
    opened: Opened, clock: HandClock
) -> None:
    lost, other = BankLog(opened()), BankLog(opened())
    lost.begin(FRESH)
    clock.move(seconds=LEASE - 1)
    with pytest.raises(SessionError):
        other.hold(ID)
    clock.move(seconds=1)
    other.hold(ID)
    after = replace(FRESH, state="failed")
    for use in (
        lambda: lost.step(FRESH, STEP),
        lambda: lost.withdraw(FRESH, 0),
        lambda: lost.keep(after),
        lambda: lost.commit(after, learnt(0)),
        lambda: lost.release(ID),
        lambda: lost.end(ID),
    ):
        with pytest.raises(SessionError) as refused:
            use()
        assert reason(refused) == "held_elsewhere"
    assert other.load(ID) == (FRESH, [])
    assert opened().graph.get_nodes_by_type(["semantic"]) == []


def test_whoever_is_there_keeps_its_sessions_by_what_it_writes_and_by_saying_so(
    opened: Opened, clock: HandClock
) -> None:
    log, other = BankLog(opened()), BankLog(opened())
    log.begin(FRESH)
    for say in (lambda: log.step(FRESH, STEP), log.beat):
        clock.move(seconds=LEASE - 1)
        say()
        clock.move(seconds=LEASE - 1)
        with pytest.raises(SessionError):
            other.hold(ID)
        say()


def test_a_clock_that_was_set_back_locks_nobody_out_and_takes_nothing_away(opened: Opened, clock: HandClock) -> None:
    log, other = BankLog(opened()), BankLog(opened())
    log.begin(FRESH)
    clock.move(days=-300)
    log.step(FRESH, STEP)
    with pytest.raises(SessionError):
        other.hold(ID)
    clock.move(days=-300)
    other.hold(ID)
    assert other.load(ID) == (FRESH, [STEP])


def test_who_holds_nothing_leaves_no_trace_of_having_held(opened: Opened, clock: HandClock) -> None:
    bank = opened()
    log, other = BankLog(bank), BankLog(opened())
    log.begin(FRESH)
    log.begin(replace(FRESH, id="session_BBBBBBBBBBB"))
    log.release(ID)
    with bank.core.reading() as reader:
        assert len(reader.records("sessions.holders")) == 1
    log.end("session_BBBBBBBBBBB")
    assert log.beat() is None
    other.hold(ID)
    clock.move(seconds=LEASE)
    log.hold(ID)
    log.release(ID)
    with bank.core.reading() as reader:
        assert not reader.records("sessions.holders")
        assert not reader.records("sessions.held")


def test_a_server_that_is_away_for_a_moment_loses_no_session(
    opened: Opened, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = opened()
    log = BankLog(bank)
    log.begin(FRESH)

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
    with pytest.raises(SessionError) as refused:
        BankLog(opened()).hold(ID)
    assert reason(refused) == "held_elsewhere"


def test_sessions_long_idle_are_swept_and_those_with_an_episode_never(opened: Opened, clock: HandClock) -> None:
    log = BankLog(opened())
    log.begin(FRESH)
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


# --- commits


def test_a_commit_is_one_change_that_carries_its_session_and_can_be_undone(opened: Opened) -> None:
    bank = opened()
    log = BankLog(bank)
    log.begin(FRESH)
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


def test_each_part_of_the_knowledge_that_waits_is_written_once(opened: Opened) -> None:
    bank = opened()
    log, facts = BankLog(bank), [Changeset([Semantic(id=f"s{n}", proposition=f"Fact {n}.")]) for n in range(3)]
    grown = log.begin(FRESH)
    for number in range(2):
        grown = log.keep(replace(grown, waiting=(*grown.waiting, facts[number])))
    with bank.core.reading() as reader:
        first, second = reader.records("sessions.waiting").items()
    bank.core.apply(lambda _: Change("test", records=[Record("sessions.waiting", first[0], second[1])]))
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
    with bank.core.reading() as reader:
        assert reader.records("sessions.waiting") == {}


def test_knowledge_that_waits_in_a_bank_of_before_comes_with_its_session(opened: Opened) -> None:
    bank, fact = opened(), Changeset([Semantic(id="sem", proposition="The ferry is full.")])
    log = BankLog(bank)
    log.begin(FRESH)
    with bank.core.reading() as reader:
        [held] = reader.records("sessions").values()
    before = [Record("sessions", ID, {**held, "waiting": old}) for old in (None, written(fact))]
    for record, waiting in zip(before, ((), (fact,)), strict=True):
        change = Change("test", records=[record])
        bank.core.apply(partial(_as_is, change))
        assert loaded(log)[0].waiting == waiting


def _as_is(change: Change, _: object) -> Change:
    return change


# --- what never reaches the disk, and what is removed


def test_what_is_private_or_secret_reaches_no_file(opened: Opened, tmp_path: Path) -> None:
    log = BankLog(opened(secrets="redact"))
    goal = f"Plan the trip <private>with Maya</private> {KEY}"
    kept = log.begin(replace(FRESH, goal=goal))
    assert KEY not in kept.goal
    step = log.step(
        kept,
        Step(0, f"<private>Maya</private> wants Tokyo {KEY}", f"Asked Maya? <private>Maya</private> {KEY}", KEY, KEY),
    )
    assert (step.observation.strip().split()[:2], KEY in repr(step)) == (["wants", "Tokyo"], False)
    waiting = Changeset([Semantic(id="sem", proposition=f"The key is {KEY}")])
    log.keep(replace(kept, waiting=(waiting,), reason=f"the model said <private>with Maya</private> {KEY}"))
    found = on_disk(tmp_path)
    assert b"with Maya" not in found
    assert KEY.encode() not in found
    assert b"Asked Maya?" in found


@pytest.mark.parametrize(
    ("settings", "step", "parameter"),
    [
        ({"secrets": "refuse"}, replace(STEP, action=f"Signed in with {KEY}"), "action"),
        ({}, replace(STEP, observation="<private>Maya called</private>"), "observation"),
        ({}, replace(STEP, observation=" "), "observation"),
        ({}, replace(STEP, action="\0"), "step"),
        ({}, replace(STEP, observation="x" * (1 << 20)), "step"),
    ],
    ids=["a secret", "all private", "blank", "NUL", "too long"],
)
def test_a_step_that_could_never_be_remembered_is_refused_at_once(
    opened: Opened, settings: dict[str, Any], step: Step, parameter: str
) -> None:
    log = BankLog(opened(**settings))
    log.begin(FRESH)
    with pytest.raises((InputError, PrivacyError), match=parameter):
        log.step(FRESH, step)
    assert log.load(ID) == (FRESH, [])


@pytest.mark.parametrize("node", ["lived_1", "source_1"])
def test_a_purge_takes_the_words_of_a_step_out_of_its_live_session(opened: Opened, tmp_path: Path, node: str) -> None:
    bank = opened()
    log = BankLog(bank)
    log.begin(FRESH)
    for index in (0, 1):
        log.step(FRESH, replace(STEP, index=index, observation=f"The word is apricot{index}", subgoal=f"plum{index}"))
    changeset = learnt(0, 1)
    log.commit(replace(FRESH, committed=(0, 1)), changeset)
    bank.purge(node)
    found, [other, bare] = loaded(log)
    assert (other.observation, bare.observation, bare.action, bare.subgoal) == ("The word is apricot0", "", "", "")
    assert (bare.index, bare.reward, bare.embedding) == (1, 0.5, None)
    assert b"apricot1" not in on_disk(tmp_path)
    assert b"plum1" not in on_disk(tmp_path)
    # A judgement that arrives meanwhile does not bring the words back.
    log.step(found, replace(STEP, index=1, observation="The word is apricot1", reward=0.9))
    assert (loaded(log)[1][1].observation, loaded(log)[1][1].reward) == ("", 0.9)


def test_a_purge_takes_the_words_of_a_step_out_of_what_was_judged_of_those_after_it(
    opened: Opened, tmp_path: Path
) -> None:
    bank = opened()
    log = BankLog(bank)
    log.begin(FRESH)
    bank.sessions.ingest(
        {
            "source_id": "run-7",
            "goal": "Pick fruit",
            "steps": [
                {"observation": "A garden.", "action": "Looked for plums."},
                {"observation": "A tree.", "action": "Shook the apricot tree."},
                {"observation": "Fruit on the ground.", "action": "Filled a basket."},
            ],
        }
    )
    steps = {memory.text: memory for memory in bank.list(kinds="episodic", limit=10)}
    shaken = steps["A tree. → Shook the apricot tree."]
    filled = steps["Fruit on the ground. → Filled a basket."]
    assert "apricot" in filled.body["state"]
    for index in (0, 1, 2):
        log.step(FRESH, replace(STEP, index=index, observation=f"The word is apricot{index}", state=f"plum{index - 1}"))
    log.commit(replace(FRESH, committed=(0, 1)), learnt(0, 1))
    bank.purge([shaken.id, "lived_1"])
    left = bank.get(filled.id)
    assert left is not None
    assert (left.text, "state" in left.body) == (filled.text, False)
    assert "state" in bank.get(steps["A garden. → Looked for plums."].id).body  # type: ignore[union-attr]
    assert [step.state for step in loaded(log)[1]] == ["plum-1", None, None]
    log.step(FRESH, replace(STEP, index=2, observation="The word is apricot2", state="plum1"))
    assert loaded(log)[1][2].state is None
    assert b"apricot tree" not in on_disk(tmp_path)
    assert bank.doctor().well


def test_what_a_purged_step_was_for_and_was_filed_under_goes_with_it_unless_others_have_it(
    opened: Opened, tmp_path: Path
) -> None:
    bank = opened()
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
    ]
    bank.graph.apply_changeset(learnt(0).merge(Changeset(named, ties)))
    receipt = bank.purge("source_0")
    assert {*receipt.also} == {"lived_0", "sem", "own_subgoal", "own_tag", "plant", "own_intent"}
    left = {node.id for node in bank.graph.get_nodes_by_type(NODE_TYPES)}
    assert left == {"shared_tag", "shared_intent", "other", "other_plant"}
    assert b"pricot" not in on_disk(tmp_path)


def test_what_a_purged_step_was_taken_down_as_goes_with_it_unless_something_else_rests_on_it(opened: Opened) -> None:
    bank = opened()
    other = Changeset([Semantic(id="other", proposition="Plums are blue")], [("other", "source_1", Edge.PROVENANCE)])
    bank.graph.apply_changeset(learnt(0, 1).merge(other))
    assert "source_0" in bank.purge("lived_0").also
    assert "source_1" not in bank.purge("lived_1").also
    assert bank.get("source_1") is not None
    assert "source_1" in bank.purge("other").also


# --- what other verbs of the bank report


def test_stats_and_doctor_tell_how_many_go_on_and_which_were_left(opened: Opened, clock: HandClock) -> None:
    bank = opened()
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


def test_an_export_carries_sessions_and_not_who_has_them(opened: Opened, tmp_path: Path) -> None:
    bank, other = opened(), opened("other")
    log = BankLog(bank)
    log.begin(FRESH)
    log.step(FRESH, STEP)
    bank.export(tmp_path / "notes.jsonl")
    collections = [json.loads(line).get("collection") for line in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert {name for name in collections if name} == {"sessions", "sessions.steps"}
    other.import_(tmp_path / "notes.jsonl")
    elsewhere = BankLog(other)
    elsewhere.hold(ID)
    assert elsewhere.load(ID) == (replace(FRESH, repo="other"), [STEP])
    # An import never sets back a session that is in this bank.
    elsewhere.step(FRESH, replace(STEP, index=1))
    other.import_(tmp_path / "notes.jsonl")
    assert len(loaded(elsewhere)[1]) == 2


def test_a_session_that_is_none_is_refused_by_an_import_and_told_of_where_it_stands(
    opened: Opened, tmp_path: Path
) -> None:
    bank = opened()
    BankLog(bank).begin(FRESH)
    file = tmp_path / "notes.jsonl"
    bank.export(file)
    file.write_text(file.read_text().replace('"state":"collecting"', '"state":1'))
    with pytest.raises(TransferError) as refused:
        opened("other").import_(file)
    assert "value.state" in repr(refused.value.problems)
    bank.core.apply(lambda _: Change("test", records=[Record("sessions", ID, {"id": ID})]))
    with pytest.raises(CorruptError, match=ID):
        BankLog(bank).load(ID)
