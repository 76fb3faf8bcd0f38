"""The four ways in which nodes are tied. What an edge means for a search is not decided here."""

from __future__ import annotations

from enum import StrEnum


class Edge(StrEnum):
    """The type of a tie, which stands on both of its ends. The text of a member serves in its place."""

    MEMBERSHIP = "membership"
    """A tag and the facts it is on."""
    HIERARCHICAL = "hierarchical"
    """An intent and the procedures that serve it; a subgoal and the steps on the way to it."""
    PROVENANCE = "provenance"
    """Knowledge and the steps it was drawn from; a step and its source."""
    SIBLING = "sibling"
    """Facts of one trajectory."""

    @staticmethod
    def types() -> list[Edge]:
        return list(Edge)

    @staticmethod
    def empty_links() -> dict[Edge, set[str]]:
        """Ties to nothing yet, of each type."""
        return {edge: set() for edge in Edge}
