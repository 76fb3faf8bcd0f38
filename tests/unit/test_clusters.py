"""Clusters of made-up memories: laws for any vectors, words and sizes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.memory import Labels, Memory, Origin, Times
from pieria.upkeep.clusters import BLOCK, clustered, duplicates

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = ("kestrel", "tower", "mill", "deploy", "friday")
VECTOR = st.sampled_from([None, (1.0, 0.0), (0.0, 1.0), (0.8, 0.6), (0.6, 0.8)])
SAID = st.tuples(VECTOR, st.lists(st.sampled_from(WORDS), max_size=4), st.sampled_from(["bank", "session"]))


def memory(row: int, text: str, scope: str = "bank", tags: tuple[str, ...] = ()) -> Memory:
    times = Times(BEGIN + timedelta(minutes=row), BEGIN)
    origin = Origin(session="s" if scope == "session" else None)
    return Memory(row, f"m{row}", 1, "note", None, text, "notes/note", scope, times, labels=Labels(tags), origin=origin)


def vectors(given: Sequence[tuple[float, float] | None]) -> dict[int, np.ndarray]:
    return {row: np.array(one, np.float32) for row, one in enumerate(given) if one is not None}


@given(st.lists(SAID, max_size=12), st.sampled_from([0.0, 0.5, 0.83, 1.0]), st.integers(2, 5), st.randoms())
def test_clusters_are_apart_and_do_not_depend_on_the_order(
    said: list[tuple[tuple[float, float] | None, list[str], str]], least: float, most: int, random: object
) -> None:
    memories = [memory(row, " ".join(words) or "x", scope) for row, (_, words, scope) in enumerate(said)]
    held = vectors([vector for vector, _, _ in said])
    found = clustered(memories, held, "similarity", least, most)
    members = [one.id for cluster in found for one in cluster.memories]
    assert len(members) == len(set(members))
    assert all(2 <= len(cluster.memories) <= most for cluster in found)
    assert all(len({one.scope for one in cluster.memories}) == 1 for cluster in found)
    assert all(0 <= cluster.cohesion <= 1 for cluster in found)
    random.shuffle(memories)  # type: ignore[attr-defined]
    again = clustered(memories, held, "similarity", least, most)
    assert [(one.id, one.cohesion) for one in again] == [(one.id, one.cohesion) for one in found]
    pairs, whole = duplicates(memories, held, least, 1_000)
    assert len(pairs) == whole
    assert all(pair.similarity >= least for pair in pairs)


def test_copies_and_shared_words_are_in_clusters() -> None:
    copies = [memory(row, "Deploys run on Fridays.") for row in range(BLOCK + 4)]
    assert sum(len(one.memories) for one in clustered(copies, {}, "similarity", 0.83, 10)) == len(copies)
    pairs, whole = duplicates(copies, {}, 0.88, 7)
    assert (len(pairs), whole) == (7, len(copies) * (len(copies) - 1) // 2)
    for shared, alike in ((6, [0.83]), (10, [1.0]), (0, [])):
        own, words = (10 - shared) // 2, [f"shared{n}" for n in range(shared)]
        one, other = ([*words, *(f"{name}{n}" for n in range(own))] for name in ("one", "other"))
        found = clustered([memory(0, "x", tags=(*one,)), memory(1, "x", tags=(*other,))], {}, "tags", 0.5, 2)
        assert [round(cluster.cohesion, 2) for cluster in found] == alike
