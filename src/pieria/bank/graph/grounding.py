"""Penalties on the rewards of weakly grounded memories, recorded so that each applies once and can be returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pieria.record.changeset import Record
from pieria.store.protocol import Reader

TAKEN = "grounding"


def taken(reader: Reader, ids: Sequence[str]) -> dict[str, float]:
    return reader.records(TAKEN, keys=ids) if ids else {}


def noted(reader: Reader, penalties: Mapping[str, float]) -> list[Record]:
    """Return the records of penalties that differ from the recorded ones."""
    before = taken(reader, list(penalties))
    return [Record(TAKEN, id, penalty or None) for id, penalty in penalties.items() if penalty != before.get(id, 0.0)]


def strangers(reader: Reader) -> list[str]:
    """Return recorded ids whose memories no longer exist."""
    ids = list(reader.records(TAKEN))
    held = reader.states(ids) if ids else {}
    return [id for id in ids if id not in held]
