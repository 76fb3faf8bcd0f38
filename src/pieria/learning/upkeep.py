"""What consolidation, decay, validation and repair share: the value of a node, idle nodes, and progress.

They read a graph in pages and return a summary. A change carries the state that was read, so a concurrent write is
never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypedDict

from pieria import telemetry
from pieria.config import usual
from pieria.graph.metadata import NodeMetadata
from pieria.graph.value_function import score_of
from pieria.graph.view import AT_ONCE, Look, Tended, pages
from pieria.record.time import Clock
from pieria.record.value import DefaultValueFunction

if TYPE_CHECKING:
    from pieria.config import Config

Progress = Callable[[int, int], object]
ROUTING = ("tag", "intent")


class GraphCleanup(TypedDict):
    """What a consolidation or a decay did, or in a dry run would do."""

    checked: int
    deleted: int
    deleted_ids: list[str]
    """Archived in a bank; deleted in every other backend."""
    skipped: int
    """Nodes that changed meanwhile, and wait for the next run."""


class GraphValidation(TypedDict):
    """How many facts and procedures have fitting sources, and how many rewards changed."""

    checked: int
    grounded: int
    penalized: int
    orphaned: int
    changed: int


class GraphRepair(TypedDict):
    """What a repair removed, or in a dry run would remove."""

    checked: int
    repaired_nodes: int
    dangling_refs: int
    orphans_deleted: int
    orphan_ids: list[str]
    leftovers: int
    """Metadata without a node."""


class Worth:
    """Values nodes without a question: by age, use and reward."""

    def __init__(self, config: Config | None, tended: Tended, clock: Clock) -> None:
        self._config = config
        self._tended = tended
        self._clock = clock
        function = {} if config is None else config.value_function
        self._score = score_of(function, clock)
        self._reads_nodes = function.get("module", DefaultValueFunction) is not DefaultValueFunction

    def of(self, looks: Sequence[Look]) -> list[tuple[float, float]]:
        """Return each node's value, and its value if it were new."""
        nodes = self._tended.nodes([look.id for look in looks]) if self._reads_nodes else {}
        new = NodeMetadata(created_at=self._clock())
        found = []
        for look in looks:
            node, params = nodes.get(look.id), self._params(look.node_type)
            worth = (float(self._score(1.0, node, used, params)) for used in (used_of(look), new))
            found.append((next(worth), next(worth)))
        return found

    def _params(self, node_type: str) -> dict[str, Any]:
        return usual(node_type) if self._config is None else self._config.resolve_value_function(node_type)


def used_of(look: Look) -> NodeMetadata:
    """Return the use of a node; for an unused node, only its creation time."""
    return NodeMetadata(created_at=look.created_at) if look.metadata is None else look.metadata


def idle(tended: Tended, gone: Collection[str] = ()) -> list[Look]:
    """Return the tags and intents with no ties, or only ties to `gone`, ordered by id."""
    routing = {look.id: look for page in tended.looks(ROUTING) for look in page if not look.stays}
    tied = {there for here, there in _from(tended, routing) if there not in gone}
    standing = {id for page in pages(tied) for id in tended.standing(page)}
    busy = {here for here, there in _from(tended, routing) if there in standing}
    return [routing[id] for id in sorted(routing.keys() - busy)]


def _from(tended: Tended, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    for one, other, _ in tended.ties():
        if one in ids:
            yield one, other
        if other in ids:
            yield other, one


class Telling:
    """Reports the progress of a run page by page."""

    def __init__(self, progress: Progress | None, whole: int) -> None:
        self._progress, self._whole, self._done = progress, whole, 0

    def more(self, done: int) -> None:
        self._done += done
        if self._progress is not None:
            self._progress(self._done, self._whole)

    def done_with(self, change: Callable[[Sequence[Any]], list[str]], whole: Sequence[Any]) -> list[str]:
        """Apply the change page by page and return the ids."""
        found = []
        for page in pages(whole, AT_ONCE):
            found += change(page)
            self.more(len(page))
        return found


@contextmanager
def spanned(name: str, repo_id: str | None, *told: str) -> Iterator[dict[str, Any]]:
    """Run the block as a span. The block fills the summary; the keys in `told` are measured."""
    summary: dict[str, Any] = {}
    with telemetry.during(name, repo_id=repo_id) as measured:
        yield summary
        measured.update({key: summary[key] for key in told})
