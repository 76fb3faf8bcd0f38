"""The four types of links between nodes. How a search uses them does not belong here."""

from __future__ import annotations

from enum import StrEnum


class Edge(StrEnum):
    """The type of a link, which is stored on both ends. The string value of a member is accepted too."""

    MEMBERSHIP = "membership"
    """A tag and its facts."""
    HIERARCHICAL = "hierarchical"
    """An intent and its procedures; a subgoal and its steps."""
    PROVENANCE = "provenance"
    """Knowledge and the steps it was drawn from; a step and its source."""
    SIBLING = "sibling"
    """Facts of one trajectory."""

    @staticmethod
    def types() -> list[Edge]:
        return list(Edge)

    @staticmethod
    def empty_links() -> dict[Edge, set[str]]:
        """Return a mapping without links, for every type."""
        return {edge: set() for edge in Edge}
