"""What a session would write, as a page shows it: each node with the steps it comes from and all that it is tied to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pieria.bank.sessions.drafts import SessionDraft

TYPES = ("semantic", "procedural", "intent", "tag", "subgoal", "episodic", "source")
"""In the order in which they are shown: what was learnt, what leads there, what it was drawn from."""
ROUTING = ("tag", "intent")


@dataclass(frozen=True, slots=True)
class Tied:
    """The other end of a tie. `is_there` says that the bank has it already, under this id."""

    edge: str
    type: str
    text: str
    id: str
    is_there: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A node to be written. `steps` are those of the session that it comes from; `before` is what it says by now, where
    the bank has it already and it is to say something else.
    """

    node: Any
    steps: tuple[int, ...]
    ties: tuple[Tied, ...]
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """`joined` are the tags and intents that are there already and that something new is tied to."""

    by_type: Mapping[str, list[Entry]]
    nodes: int
    ties: int
    joined: tuple[Tied, ...]
    merges: tuple[Mapping[str, Any], ...]

    @property
    def reworded(self) -> list[Entry]:
        return [each for entries in self.by_type.values() for each in entries if each.before is not None]

    @property
    def changes(self) -> bool:
        """Whether anything that is there already has a part in it."""
        return bool(self.joined or self.merges or self.reworded)


def written(draft: SessionDraft) -> Written:
    new, held = draft.changeset.nodes(), draft.held
    known = {**held, **new}
    ties = {(frozenset((one, other)), str(edge)) for one, other, edge in draft.changeset.ties()}
    around: dict[str, set[tuple[str, str]]] = {}
    for ends, edge in ties:
        one, other = sorted(ends)
        around.setdefault(one, set()).add((edge, other))
        around.setdefault(other, set()).add((edge, one))

    def tied(edge: str, id: str) -> Tied:
        node = known.get(id)
        return Tied(edge, "" if node is None else node.node_type, id if node is None else node.text, id, id in held)

    steps = _steps(new.values(), around)
    by_type: dict[str, list[Entry]] = {}
    for id, node in new.items():
        before = held[id].text if id in held and held[id].text != node.text else None
        own = tuple(tied(edge, other) for edge, other in sorted(around.get(id, ())))
        by_type.setdefault(node.node_type, []).append(Entry(node, steps.get(id, ()), own, before))
    merged = {merge["id"] for merge in draft.merges}
    reached = (id for id in sorted(around) if id in held and id not in new and id not in merged)
    joined = tuple(tied("", id) for id in reached if held[id].node_type in ROUTING)
    merges = tuple({**merge, "is_there": merge["id"] in held} for merge in draft.merges)
    ordered = {name: by_type[name] for name in TYPES if name in by_type}
    return Written(ordered, len(new), len(ties), joined, merges)


def _steps(nodes: Iterable[Any], around: Mapping[str, set[tuple[str, str]]]) -> dict[str, tuple[int, ...]]:
    """Of each node the numbers of the steps that it comes from, by way of their sources."""
    listed = list(nodes)
    found: dict[str, set[int]] = {node.id: {node.step_index} for node in listed if node.node_type == "source"}
    sources = set(found)
    lived = [node.id for node in listed if node.node_type == "episodic"]
    for id in lived:
        found[id] = _of(id, sources, found, around)
    evidence = sources | set(lived)
    for node in listed:
        if node.id not in evidence:
            found[node.id] = _of(node.id, evidence, found, around)
    return {id: tuple(sorted(steps)) for id, steps in found.items()}


def _of(id: str, of: set[str], found: Mapping[str, set[int]], around: Mapping[str, set[tuple[str, str]]]) -> set[int]:
    return set().union(*(found[other] for _, other in around.get(id, ()) if other in of))
