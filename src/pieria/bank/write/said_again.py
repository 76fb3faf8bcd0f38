"""Remember on which days a text was said again that the bank holds already: what is repeated lasts.

The text itself is not stored a second time. A sleep reads the days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pieria.record.changeset import Record
from pieria.record.draft import Draft
from pieria.record.memory import Memory
from pieria.record.time import moment
from pieria.store.protocol import Reader
from pieria.store.rows import first_trust

SAID_AGAIN = "said again"
"""The collection of records with the days, by the id of the memory."""
KEPT = 30


def said_again(reader: Reader, drafts: Sequence[Draft], existing: Mapping[int, Memory], now: int) -> list[Record]:
    """Return the records to write for drafts whose text exists. A less trusted text does not count."""
    days: dict[str, list[str]] = {}
    for number, memory in existing.items():
        draft = drafts[number]
        if draft.new.unless_exists != "text" or first_trust(draft) < memory.trust:
            continue
        day = f"{moment(now if draft.at is None else draft.at):%Y-%m-%d}"
        held = days.get(memory.id) or list(reader.records(SAID_AGAIN, memory.id).get(memory.id, ()))
        if day not in (*held, f"{memory.at:%Y-%m-%d}"):
            days[memory.id] = [*held, day]
    return [Record(SAID_AGAIN, id, each[-KEPT:]) for id, each in days.items()]


def without_days(reader: Reader, ids: Sequence[str]) -> list[Record]:
    """Return the records to delete when these memories are erased."""
    return [Record(SAID_AGAIN, id, None) for id in reader.records(SAID_AGAIN).keys() & set(ids)]
