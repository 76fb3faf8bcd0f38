"""What an agent may not do to rules that a person said or accepted. The verbs check this before they write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pieria.errors import AccessError
from pieria.record.changeset import FOREVER, State
from pieria.record.memory import VISIBLE_STATUSES
from pieria.record.trust import AGENT, PERSON, RULING, lowered, lowest

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.store.protocol import Reader

DECISIONS = ("accept", "decline")
"""Changes that decide on a rule or a lesson."""


def told_again(core: Core, reader: Reader, held: State, changed: State) -> State:
    """Return the changed state. A rule that an agent restores or prolongs waits for a person."""
    if core.via == PERSON or held.via not in RULING or not _lasts_longer(held, changed):
        return changed
    return lowered(changed, AGENT) if _told(reader, held) else changed


def check_undo(core: Core, reader: Reader, what: str, pairs: Iterable[tuple[State, State]]) -> None:
    """Raise `AccessError` if an agent undoes a decision, or restores a rule that only a person may lay down.

    `pairs` are the current states and the states after the undo.
    """
    if core.via == PERSON:
        return
    if what in DECISIONS or any(_brings_back(reader, held, old) for held, old in pairs):
        raise AccessError("not_a_person")


def check_hidden(core: Core, reader: Reader, ids: Iterable[str]) -> None:
    """Raise `AccessError` if an agent hides an active rule."""
    if core.via == PERSON:
        return
    for stored in reader.states(list(ids)).values():
        state = stored.state
        if state.via in RULING and not state.ended and _told(reader, state):
            raise AccessError("not_a_person")


def _brings_back(reader: Reader, held: State, old: State) -> bool:
    if old.ended or old.via not in RULING:
        return not old.ended and _is_above(old.via, held.via)
    if _is_above(old.via, held.via):
        return True
    told = _told(reader, old)
    return bool(told) and (_lasts_longer(held, old) or told != _told(reader, held))


def _is_above(via: str, other: str) -> bool:
    return lowest(via, other) != lowest(via)


def _lasts_longer(held: State, changed: State) -> bool:
    """Return whether the changed state is active when the current one is not."""
    if changed.ended or changed.status not in VISIBLE_STATUSES:
        return False
    is_back = bool(held.ended) or held.status not in VISIBLE_STATUSES
    ends_later = (changed.valid_until or FOREVER) > (held.valid_until or FOREVER)
    return is_back or ends_later or (changed.valid_from or 0) < (held.valid_from or 0)


def _told(reader: Reader, state: State) -> str:
    """Return the rules that the text of this state lays down."""
    from pieria.recall.context.rules import words_of

    kept = [memory for memory in reader.history(state.id) if (memory.row, memory.via) == (state.row, state.via)]
    return words_of(kept[-1]).told
