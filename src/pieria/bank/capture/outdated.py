"""What a session changes in older observations: debts that it closes, and choices that it reverses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.write.update import next_version
from pieria.record import debt
from pieria.record.changeset import Changeset
from pieria.record.debt import DEBT, DONE
from pieria.record.ids import new_id
from pieria.record.link import OVERTURNS, LinkRow
from pieria.record.time import iso, micros, moment
from pieria.record.trust import AGENT
from pieria.store.protocol import Writer

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.learning.distilling.completion import Completion

MOST = 200
"""The newest choices that are looked at."""
BY_RULES = '{"found_by":"rules"}'


def close_debts(
    core: Core, writer: Writer, changeset: Changeset, said: Sequence[Completion], written: Set[str]
) -> list[str]:
    """Mark the open debts that were said to be done, except those just `written`. Return their ids."""
    if not said:
        return []
    from pieria.learning.distilling.completion import find_completion
    from pieria.learning.distilling.observations import KIND

    closed = []
    asked = core.filter(kinds=KIND, types=DEBT)
    for memory in debt.newest(partial(writer.select, asked, "newest"), moment(core.now())):
        done = None if DONE in memory.body or memory.id in written else find_completion(memory.text, memory.at, said)
        if done is None:
            continue
        held = writer.states([memory.id])[memory.id]
        write = next_version(core, writer, held, held.state, {"body": {**memory.body, DONE: iso(done)}}, AGENT)
        if write is not None:
            changeset.writes.append(write)
            closed.append(memory.id)
    return closed


class _Choice(NamedTuple):
    """A decision: its text, the options that it left if it chose one, and whether the user said it."""

    id: str
    at: int
    text: str
    left: tuple[str, ...]
    is_users: bool

    @property
    def taken(self) -> str:
        return re.split(r"[:.]", self.text, maxsplit=1)[0]


def overturn_choices(core: Core, writer: Writer, changeset: Changeset) -> None:
    """Link a user's new decisions to the older choices whose other options they take, and to what agrees with those."""
    made = list(_made(changeset))
    if not any(later.is_users for later in made):
        return
    held = writer.select(core.filter(kinds="observation", types="decision"), "newest", MOST)
    older = [_choice(one.id, micros(one.at), one.text, one.body) for one in held]
    for later in made:
        for id in dict.fromkeys(_overturned(later, [*older, *made])) if later.is_users else ():
            link = LinkRow(new_id(), "memory", later.id, OVERTURNS, "memory", id, 1.0, None, BY_RULES, "")
            changeset.links.append(link)


def _made(changeset: Changeset) -> Iterator[_Choice]:
    """Yield the new decisions and plans."""
    from pieria.learning.distilling.observations import CHOSEN

    for write in changeset.writes:
        if write.fresh and write.content and write.state.type in CHOSEN:
            body = json.loads(write.content.body or "{}")
            yield _choice(write.state.id, write.state.at, write.content.text, body)


def _choice(id: str, at: int, text: str, body: Mapping[str, Any]) -> _Choice:
    from pieria.learning.distilling.observations import AGAINST, SAID_BY, USER

    left = body.get(AGAINST)
    return _Choice(id, at, text, tuple(map(str, left)) if isinstance(left, list) else (), body.get(SAID_BY) == USER)


def _overturned(later: _Choice, choices: Sequence[_Choice]) -> Iterator[str]:
    from pieria.language.note_words import affirms, takes

    for choice in choices:
        if choice.at >= later.at or affirms(later.text, choice.taken):
            continue
        if any(takes(later.text, option) for option in choice.left):
            yield choice.id
            between = [one for one in choices if choice.at <= one.at < later.at and one.id != choice.id]
            yield from (one.id for one in between if affirms(one.text, choice.taken))
