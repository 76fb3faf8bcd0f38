"""Banks that the calls of `cases.toml` need before them."""

from typing import Any

from tests.toolsets.outcome import Run

from pieria.graph import Changeset, Edge, Episodic, NodeMetadata, Procedural, Semantic, Source, Tag
from pieria.toolsets import Banks

START, APPEND, CLOSE, COMMIT = (f"sessions_{verb}" for verb in ("start", "append", "close", "commit"))

GOAL, BREAD = {"goal": "Plan a trip to Japan"}, {"goal": "Bake bread"}
TOKYO = {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}
OVEN = {"observation": "The oven is cold.", "action": "Heated the oven to 230 degrees."}


def known(run: Run) -> None:
    """Write two equivalent facts under a tag, a procedure, a step with its source, and another bank with one fact."""
    made: dict[str, Any] = {"created_at": run.clock.now}
    step = Episodic(id="step", observation="Hotels in Tokyo are full.", action="Booked a ryokan.", **made)
    source = Source(id="source", episode_id="ep", step_index=0, plain_text="Hotels in Tokyo are full.", **made)
    facts = [
        Semantic(id="busy", proposition="Tokyo is busy in March.", **made),
        Semantic(id="again", proposition="In March Tokyo is busy.", **made),
    ]
    how = Procedural(id="how", instruction="Book a ryokan early.", condition="March", **made)
    changeset = Changeset([step, source, how, Tag(id="tag", label="Tokyo", **made), *facts])
    ties = [("tag", "busy", Edge.MEMBERSHIP), ("tag", "again", Edge.MEMBERSHIP), ("busy", "again", Edge.SIBLING)]
    ties += [("busy", "step", Edge.PROVENANCE), ("step", "source", Edge.PROVENANCE)]
    for one, other, edge in ties:
        changeset = changeset.add_link(one, other, edge)
    run.host.bank.graph.apply_changeset(changeset.put_metadata("busy", NodeMetadata(access_count=30)))
    with run.workspace.open("other") as other_bank:
        elsewhere = Semantic(id="busy", proposition="Rye bread is sour.", **made)
        other_bank.graph.apply_changeset(Changeset([elsewhere, Tag(id="rye", label="rye", **made)]))
    run.clock.move(hours=1)


def embedded(run: Run) -> None:
    """Write the same in a bank that embeds."""
    run.host.banks.close()
    run.workspace = type(run.workspace)(run.folder / "data", {"embedder": "none"}, embedder=axes, clock=run.clock)
    run.host = run.host.having(banks=Banks(run.workspace, "test"))
    known(run)


def axes(texts: list[str]) -> list[list[float]]:
    """Return near vectors for facts about March, and other ones for texts about bookings."""
    return [[float("March" in text), float("Book" in text), 0.3 * text.startswith("In"), 0.1] for text in texts]


def wordy(run: Run) -> None:
    run.host.bank.graph.apply_changeset(Changeset([Semantic(id="long", proposition="word " * 200)]))


def lived(run: Run, **values: Any) -> None:
    """Record two sessions with a step each, found under `$first` and `$second`."""
    told = {}
    for name, goal, step in (("first", GOAL, TOKYO), ("second", BREAD, OVEN)):
        told[name] = run.call(START, {**goal, **values}).value["session_id"]
        run.call(APPEND, {"session_id": told[name], **step})
    run.replies.append(told)


def collecting(run: Run) -> None:
    """Record two sessions without learning."""
    lived(run, auto_commit=False)


def held_back(run: Run) -> None:
    """Record and close both sessions, without a commit."""
    lived(run, auto_commit=False)
    for name in ("$first", "$second"):
        run.call(CLOSE, {"session_id": name})


def known_and_lived(run: Run) -> None:
    known(run)
    lived(run)
