"""Sessions by id in a workspace: over banks and backends, with their own models, and from process to process."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from tests.contract.store_helpers import HandClock
from tests.learning.trajectories import telemetry_heard
from tests.models.scripted import Call, Replied, Scripted

import pieria
from pieria import Config, Event, SessionState, Workspace
from pieria.errors import ClosedError, ConflictError, InputError, NotFoundError, SessionError, UnavailableError
from pieria.graph import InMemoryBackend

STEPS = [
    ("The user wants Tokyo in March", "Asked about dates"),
    ("When the ferry is full, book the one at noon.", "Booked the next one"),
]
LIVED = [f"{observation} → {action}" for observation, action in STEPS]
MODELS: dict[str, Any] = {"llm": {"model": "none"}, "embedding": {"model": "none"}}
BY_HAND = Config(**MODELS, session={"auto_commit": False})


class Hearing(Scripted):
    """A model that agrees to everything."""

    state = "0.5, so far"

    def _reply(self, call: Call) -> Replied:
        self.calls.append(call)
        if call.schema is None:
            return Replied(self.state)
        lists: dict[str, Any] = {name: [] for name in call.schema["properties"]}
        if "steps" in lists:
            count = call.user.count('{"step": ')
            judged = {"state": self.state, "subgoal": "Go there", "reward": 0.5}
            lists["steps"] = [{"step": n, **judged} for n in range(1, count + 1)]
        return Replied({**lists, "subgoal": "Go there", "reasoning": "Because."})

    @property
    def heard(self) -> list[str]:
        return [message["content"] for call in self.calls for message in call.messages]


class Watching:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def notify(self, repo_id: str, event: Event) -> None:
        self.events.append(event)


class Listing:
    """A caller's own prompt: each line of the model's reply becomes a fact."""

    def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
        return [{"role": "user", "content": "; ".join(step["observed"] for step in variables["steps"])}]

    def parse_response(self, response: str) -> list[dict[str, Any]]:
        return [{"proposition": response, "concepts": ["trips"]}]


class Rating:
    """A caller's own prompt, so that steps are judged one by one."""

    def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
        return [{"role": "user", "content": "How was it?"}]

    def parse_response(self, response: str) -> float:
        return 0.5


Opens = Callable[..., Workspace]


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    """Yield a function that opens another workspace over the same banks, with the repository `trips` open."""
    with ExitStack() as stack:

        def made(repo: Mapping[str, Any] | None = None, **values: Any) -> Workspace:
            workspace = stack.enter_context(Workspace(tmp_path, **values))
            workspace.open_repo("trips", **(repo or {}))
            return workspace

        yield made


def lived(workspace: Workspace) -> list[str]:
    return [node.text for node in workspace.get_nodes_by_type("trips", ["episodic"])]


def begun(workspace: Workspace, steps: int = 2, **own: Any) -> str:
    id = workspace.start_session("Plan the trip", "trips", **own)
    for step in STEPS[:steps]:
        workspace.append(id, *step)
    return id


def close(workspace: Workspace, id: str) -> None:
    workspace.close(id)
    workspace.session(id).wait(30)


def axes(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


@pytest.mark.parametrize("repo", [{}, {"backend": InMemoryBackend}], ids=["bank", "backend"])
def test_session_lives_by_its_id(opens: Opens, repo: Mapping[str, Any]) -> None:
    workspace = opens(repo)
    id = begun(workspace, config=BY_HAND)
    assert workspace.session_state(id) is SessionState.COLLECTING
    close(workspace, id)
    assert (workspace.session_state(id), lived(workspace)) == ("ready", [])
    workspace.commit(id)
    assert sorted(lived(workspace)) == sorted(LIVED)
    workspace.start_episode(id, "Book it")
    workspace.append(id, "The user asks for a quiet street", "Looked at a map")
    workspace.close_and_commit(id)
    workspace.start_episode(id, "Dine")
    workspace.append(id, "The user is hungry", "Looked for soup")
    close(workspace, id)
    workspace.discard(id)
    assert len(lived(workspace)) == 3
    assert [(each.id, each.state, each.is_open) for each in workspace.sessions("trips")] == [(id, "idle", True)]


def test_unwaited_calls_report_to_their_callback(opens: Opens) -> None:
    workspace = opens()
    answers: SimpleQueue[Any] = SimpleQueue()
    id = begun(workspace, config=BY_HAND)
    workspace.append_async(id, "The user asks for a quiet street", "Looked at a map", answers.put)
    workspace.close_async(id, answers.put)
    workspace.commit_async(id, answers.put)
    workspace.start_episode_async(id, "Book it", answers.put)
    told = [answers.get(timeout=30) for _ in range(4)]
    # Each callback of a step or of a close runs in its own thread.
    assert (sorted(told[:2]), told[2:]) == (["appended", "closed"], ["committed", "started"])
    close(workspace, id)
    workspace.discard_async(id, answers.put)
    assert answers.get(timeout=30) == "discarded"
    with pytest.raises(SessionError, match="state"):
        workspace.commit_async(id)


def test_with_block_of_a_bank_commits_at_its_end(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        with bank.session(goal="Plan the trip") as s:
            s.append(observation=STEPS[0][0], action=STEPS[0][1])
        assert bank.recall("Tokyo in March").hits[0].memory.session == s.id
        with pytest.raises(ZeroDivisionError), bank.session(goal="Plan another", config=BY_HAND) as s:
            s.append(observation="The user wants Kyoto", action="Asked about dates")
            raise ZeroDivisionError
        assert not bank.recall("Kyoto").hits
    with pytest.raises(ClosedError):
        s.append("The user waits", "Said so")
    with pytest.raises(ClosedError):
        bank.session("Too late")


def test_unknown_session_is_not_found(opens: Opens) -> None:
    workspace = opens()
    id = begun(workspace)
    workspace.close_repo("trips")
    for unknown in ("session_AAAAAAAAAAA", id):
        for use in (workspace.session_state, workspace.close, workspace.commit, workspace.resume):
            with pytest.raises(NotFoundError, match=unknown):
                use(unknown)
    with pytest.raises(NotFoundError, match="trips"):
        workspace.start_session("Plan the trip", "trips")


def test_closing_no_session_does_not_close_the_workspace(opens: Opens) -> None:
    workspace = opens()
    id = begun(workspace)
    for nothing in (None, "", 3):
        with pytest.raises(InputError, match="session_id"):
            workspace.close(nothing)  # type: ignore[arg-type]
    assert workspace.session_state(id) is SessionState.COLLECTING
    workspace.close()
    with pytest.raises(ClosedError):
        workspace.open("notes")


def test_resumed_session_may_be_given_a_model(opens: Opens) -> None:
    one, hearing = opens(), Hearing()
    id = begun(one, steps=1)
    one.close()
    other = opens()
    session = other.resume(id, llm=hearing)
    with pytest.raises(SessionError, match="another object"):
        other.resume(id)
    session.append(*STEPS[1])
    session.close_and_commit()
    assert any(STEPS[1][0] in text for text in hearing.heard)


def test_sessions_over_a_backend_end_with_the_workspace(opens: Opens) -> None:
    shelf = InMemoryBackend()
    id = begun(opens({"backend": shelf}))
    again = opens({"backend": shelf})
    assert again.sessions("trips") == []
    with pytest.raises(NotFoundError):
        again.session_state(id)


def lost(opens: Opens, clock: HandClock) -> tuple[Workspace, str, Workspace]:
    """Return a workspace with two sessions, the id of the one that another workspace took over, and that workspace."""
    first = opens(clock=clock)
    first.start_session("Book it", "trips")
    id = begun(first, steps=1)
    clock.move(seconds=61)
    second = opens(clock=clock)
    second.append(id, *STEPS[1])
    return first, id, second


def test_workspace_that_lost_a_session_can_close(opens: Opens, clock: HandClock, caplog: Any) -> None:
    first, id, second = lost(opens, clock)
    bank = first.session(id)._machine.at.backend._bank  # type: ignore[attr-defined]
    first.close()
    assert bank.core.closed
    assert {each.goal for each in second.sessions("trips") if not each.is_open} == {"Book it"}
    second.close_and_commit(id)
    assert "could not be given back" in caplog.text


def test_ended_sessions_are_forgotten_at_the_next_begin(opens: Opens) -> None:
    workspace = opens()
    over = workspace.session(begun(workspace, steps=1))
    with over._machine.changed:
        over._machine.end()
    id = workspace.start_session("Book it", "trips")
    assert set(workspace._repository("trips").sessions()._open) == {id}


def test_lost_session_goes_on_once_it_is_free(opens: Opens, clock: HandClock, caplog: Any) -> None:
    first, id, second = lost(opens, clock)
    before = first.session(id)
    for ask in (before.append, lambda *step: first.append(id, *step)):
        with pytest.raises(SessionError) as refused:
            ask(*STEPS[1])
        assert refused.value.reason == "held_elsewhere"
    second.close()
    first.append(id, "The ferry sails", "Waved")
    assert [step.observation for step in first.session(id).steps] == [STEPS[0][0], STEPS[1][0], "The ferry sails"]
    with pytest.raises(ClosedError):
        before.append(*STEPS[1])
    assert "could not be given back" not in caplog.text


def test_session_model_precedes_repository_and_workspace(opens: Opens) -> None:
    models = [Hearing() for _ in range(4)]
    workspace = opens(llm=models[0])
    workspace.open_repo("home", llm=models[1])
    workspace.open_repo("shelf", backend=InMemoryBackend(), llm=models[2])
    served: list[tuple[str, dict[str, Any]]] = [
        ("trips", {}),
        ("home", {}),
        ("shelf", {}),
        ("home", {"llm": models[3]}),
    ]
    for serving, (repo, given) in zip(models, served, strict=True):
        for each in models:
            each.calls.clear()
        id = workspace.start_session("Plan the trip", repo, **given)
        workspace.append(id, *STEPS[0])
        workspace.close_and_commit(id)
        assert [bool(each.heard) for each in models] == [each is serving for each in models]


def test_private_words_reach_no_model_and_no_file(opens: Opens, tmp_path: Path) -> None:
    hearing = Hearing()
    workspace = opens(llm=hearing)
    goal = "Plan the trip <private>with Maya</private>"
    id = workspace.start_session(goal, "trips")
    workspace.append(id, "She <private>is called Maya</private> waits", "Went <private>to Maya's</private> there")
    workspace.close_and_commit(id)
    workspace.start_episode(id, goal)
    assert any("waits" in text for text in hearing.heard)
    assert not any("Maya" in text for text in hearing.heard)
    found = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Plan the trip" in found
    assert b"Maya" not in found


def test_judgement_that_the_bank_refuses_costs_no_step(opens: Opens) -> None:
    leaky = Hearing()
    leaky.state = "The key is AKIAIOSFODNN7EXAMPLE"
    for prompts in (None, {"get_reward": Rating()}):
        workspace = opens({"prompts": prompts}, llm=leaky, settings={"secrets": "refuse"})
        workspace.close_and_commit(begun(workspace))
        assert {*LIVED} <= {*lived(workspace)}
        workspace.close()


@pytest.mark.parametrize("backend", [None, InMemoryBackend()])
def test_writes_of_a_session_are_events_and_spans(opens: Opens, backend: Any) -> None:
    watching = Watching()
    with telemetry_heard() as heard:
        workspace = opens({"backend": backend, "notifier": watching})
        workspace.close_and_commit(begun(workspace))
        workspace.close()
    applied = [event.payload["changeset"] for event in watching.events if event.name == "changeset_applied"]
    spans = [(measured["nodes_added"], of) for name, measured, of in heard if name == "graph.apply_changeset.stop"]
    assert spans == [(len(changeset.nodes()), {"repo_id": "trips"}) for changeset in applied]
    assert sum(nodes for nodes, _ in spans) > len(LIVED)


@pytest.mark.parametrize("given", ["workspace", "repo", "session"])
def test_configuration_sets_automatic_commits(opens: Opens, given: str) -> None:
    other = {"config": Config(**MODELS)}
    wanted: dict[str, Any] = {"config": BY_HAND}
    repo = {"repo": wanted, "session": other}.get(given, {})
    workspace = opens(repo, **(wanted if given == "workspace" else other))
    id = begun(workspace, **(wanted if given == "session" else {}))
    close(workspace, id)
    assert workspace.session_state(id) is SessionState.READY


def test_configuration_and_notifier_of_a_session_hold(opens: Opens) -> None:
    watchers = everybody, nobody, mine = Watching(), Watching(), Watching()
    workspace = opens({"notifier": everybody}, notifier=nobody)
    begun(workspace)
    begun(workspace, notifier=mine, config=Config(**MODELS, trace_verbosity="detailed"))
    workspace.close()
    appended = [[event for event in watching.events if event.name == "step_appended"] for watching in watchers]
    is_detailed = [[event.metadata["trace"].subgoal is not None for event in events] for events in appended]
    assert is_detailed == [[False, False], [], [True, True]]


def test_configuration_sets_the_backend(tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    backend = {"module": "pieria.graph:InMemoryBackend", "opts": {"persistence": file}}
    made: dict[str, Any] = {"config": Config(**MODELS, backend=backend)}
    for values, own in ((made, {}), ({}, made)):
        with Workspace(tmp_path / "data", **values) as workspace:
            assert isinstance(workspace.open_repo("trips", **own), InMemoryBackend)
            workspace.close_and_commit(begun(workspace))
            assert file.read_text().count("Asked about dates") > 0
            assert workspace.banks() == []
        file.unlink()
    wrong = pytest.raises(UnavailableError, match=r"(?s)config.backend.*open_repo")
    with Workspace(tmp_path / "data") as workspace, wrong:
        workspace.open("trips", **made)


def test_models_that_cannot_serve_are_refused(opens: Opens) -> None:
    def others(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    workspace = opens({"embedding": axes})
    with pytest.raises(InputError, match="llm"):
        workspace.open_repo("shelf", backend=InMemoryBackend(), llm="nobody:m")
    workspace.close_and_commit(begun(workspace))
    with pytest.raises(ConflictError, match="vectors are from"):
        begun(workspace, embedding=others)


def test_model_calls_count_in_the_bank(opens: Opens) -> None:
    workspace = opens(llm=Hearing(), embedder=axes, clock=HandClock())
    workspace.close_and_commit(begun(workspace, steps=1))
    bank = workspace.open("trips")
    bank.core.meter.flush()
    asked = {each["step"]: each["calls"] for each in bank.stats().models["today"]}
    assert {step: asked[step] for step in ("judge_steps", "get_semantic", "get_procedural")} == dict.fromkeys(
        ("judge_steps", "get_semantic", "get_procedural"), 1
    )


def test_session_may_go_on_with_another_embedder(opens: Opens) -> None:
    before = opens()
    id = begun(before, steps=1)
    before.close()
    after = opens(embedder=axes)
    after.append(id, *STEPS[1])
    after.close_and_commit(id)
    assert after.open("trips").sync(60)
    assert [len(node.embedding or ()) for node in after.get_nodes_by_type("trips", ["episodic"])] == [2, 2]


@pytest.mark.parametrize("backend", [None, InMemoryBackend()], ids=["bank", "backend"])
def test_sessions_use_the_prompts_of_their_repository(opens: Opens, backend: object) -> None:
    model, repo = Hearing(), {"backend": backend, "prompts": {"get_semantic": Listing()}}
    workspace = opens(repo, llm=model, config={"llm": {"model": "auto"}, "embedding": {"model": "none"}})
    workspace.close_and_commit(begun(workspace, steps=1))
    learnt = workspace.get_nodes_by_type("trips", ["semantic", "tag"])
    assert [node.text for node in learnt] == ["0.5, so far", "trips"]
    assert STEPS[0][0] in model.heard
