"""Tags that say the same become one: within what is to be written, and with those that are kept already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from pieria import telemetry
from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset
from pieria.graph.graph import in_order, same_label
from pieria.graph.nodes import Node, Tag
from pieria.learning.renamed_ids import rewritten


@runtime_checkable
class Labelled(Protocol):
    """A backend that finds tags by what they are called, and need not be asked for all of them."""

    def find_tags(self, labels: Sequence[str]) -> list[Tag]: ...


def deduplicate(changeset: Changeset, *, backend: GraphBackend | None = None) -> Changeset:
    """The changeset with each tag once. Labels are the same whatever their capitals and the space around them.

    Of those in the changeset the first stays; one that the backend keeps goes before all of them, and of several there
    the oldest. No model is asked.
    """
    tags = [node for node in changeset.nodes().values() if isinstance(node, Tag)]
    with telemetry.during("tag_deduplicator.deduplicate", tag_count=len(tags)) as measured:
        first = _first(tags)
        held = _first(_held(backend, [tag.label for tag in first.values()])) if backend is not None and tags else {}
        rewrites = {
            tag.id: stays.id
            for tag in tags
            if (stays := held.get(same_label(tag.label)) or first[same_label(tag.label)]).id != tag.id
        }
        measured.update(deduped=len(rewrites))
        return rewritten(changeset, rewrites)


def _first(tags: Iterable[Tag]) -> dict[str, Tag]:
    found: dict[str, Tag] = {}
    for tag in tags:
        found.setdefault(same_label(tag.label), tag)
    return found


def _held(backend: GraphBackend, labels: Sequence[str]) -> list[Tag]:
    if isinstance(backend, Labelled):
        return backend.find_tags(labels)
    found: list[Node] = in_order(backend.get_nodes_by_type([Tag.node_type]))
    return [node for node in found if isinstance(node, Tag)]
