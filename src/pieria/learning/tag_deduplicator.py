"""Merge tags with equal labels, within a changeset and with stored ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from pieria import telemetry
from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset, rewritten
from pieria.graph.graph import in_order, same_label
from pieria.graph.nodes import Node, Tag


@runtime_checkable
class Labelled(Protocol):
    """A backend that finds tags by label, so that not all of them are read."""

    def find_tags(self, labels: Sequence[str]) -> list[Tag]: ...


def deduplicate(changeset: Changeset, *, backend: GraphBackend | None = None) -> Changeset:
    """Return the changeset with each tag once. Labels ignore case and surrounding space.

    A stored tag wins over those of the changeset, and the oldest of several stored ones. Within the changeset the
    first wins. No model is asked.
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
