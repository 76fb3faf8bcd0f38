"""Restore a rule when the correction that ended it is removed, and end it again when the correction comes back.

This applies to every change, through any verb: the correction may be removed, forgotten with its source or session,
purged, or ended. A superseded correction is not gone. `capture.lessons` handles declined corrections.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pieria.bank.read.revisions import REVISES, reached
from pieria.record.changeset import Changeset, State, Stored, Write
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.lesson import KINDS, RULE, TAG
from pieria.record.memory import PROPOSAL_STATUSES, VISIBLE_STATUSES
from pieria.record.time import is_over
from pieria.store.protocol import Reader

MOST = 2_000
"""The number of newest rules that are examined."""
HOLDS_AGAIN = "the correction that said otherwise is gone"


def hold_to_corrections(reader: Reader, changeset: Changeset, now: int) -> None:
    """Add the rules that become valid again, and those that end again."""
    planned = {write.state.id: write.state for write in changeset.writes}
    rules = [id for id, state in planned.items() if state.type == RULE]
    if not rules and not changeset.erase:
        return
    held = {id: each for id, each in reader.states([*rules, *changeset.erase]).items() if each.state.type == RULE}
    erased = set(changeset.erase)
    gone = {id for id, each in held.items() if not each.state.ended and (id in erased or _is_gone(planned[id], now))}
    back = [held[id] for id in rules if id in held and _is_gone(held[id].state, now) and _holds(planned[id], now)]
    known = {*planned, *changeset.erase}
    if gone:
        changeset.writes += [Write(each.state) for each in _woken(reader, gone, now) if each.state.id not in known]
    for correction in back:
        ended = _ended_again(reader, correction, now)
        changeset.writes += [Write(each.state) for each in ended if each.state.id not in known]


def _is_gone(state: State, now: int) -> bool:
    has_ended = is_over(state.valid_until, now) and state.superseded_by is None
    return state.ended == "removed" or (has_ended and not state.ended)


def _holds(state: State, now: int) -> bool:
    """Return whether the rule is in force. A lesson seen again after its end is only a proposal."""
    return not state.ended and state.status not in PROPOSAL_STATUSES and not _is_gone(state, now)


def _woken(reader: Reader, gone: Collection[str], now: int) -> Iterator[Stored]:
    by = set(_under_any_id(reader, gone))
    ended = [rule.id for rule in reader.select(_rules(now), "newest", MOST) if rule.standing.superseded_by in by]
    for held in reader.states(ended).values():
        yield held._replace(state=held.state._replace(superseded_by=None, valid_until=None, reason=HOLDS_AGAIN))


def _ended_again(reader: Reader, correction: Stored, now: int) -> Iterator[Stored]:
    """Yield the earlier states of the rules, unless they have changed since."""
    by = set(_under_any_id(reader, [correction.state.id]))
    rules = reader.states([rule.id for rule in reader.select(_rules(now), "newest", MOST)])
    woken = [id for id, held in rules.items() if held.known_from == correction.known_from]
    before = Filter(now, Viewer(everything=True)).anything().having(known_at=correction.known_from - 1)
    for held in reader.states(woken, before).values():
        if held.state.superseded_by in by:
            yield held


def _under_any_id(reader: Reader, ids: Collection[str]) -> list[str]:
    """Return the ids with all revisions: a revised correction ended rules under its former id."""
    return reached(reader, ids, lambda link, _: link.relation == REVISES)


def _rules(now: int) -> Filter:
    return Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=(KINDS[RULE],),
        types=(RULE,),
        tags=(TAG,),
        valid_at=ANY_TIME,
        status=(*VISIBLE_STATUSES, *PROPOSAL_STATUSES, "archived"),
    )
