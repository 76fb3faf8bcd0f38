"""What a session changes in older observations: debts that it closes, and choices that it reverses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.write.update import next_version
from pieria.record.changeset import Changeset
from pieria.record.ids import new_id
from pieria.record.link import OVERTURNS, LinkRow
from pieria.record.time import iso, micros
from pieria.record.trust import AGENT
from pieria.store.protocol import Writer

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.learning.distilling.completion import Completion

MOST = 200
"""The newest debts and choices that are looked at."""
CHOSEN = ("decision", "plan")
BY_RULES = '{"found_by":"rules"}'


def close_debts(
    core: Core, writer: Writer, changeset: Changeset, said: Sequence[Completion], written: Set[str]
) -> list[str]:
    """Mark the open debts that were said to be done, except those just `written`. Return their ids."""
    if not said:
        return []
    from pieria.learning.distilling.completion import find_completion
    from pieria.learning.distilling.observations import DEBT, DONE, KIND

    closed = []
    for memory in writer.select(core.filter(kinds=KIND, types=DEBT), "newest", MOST):
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
    """A decision: its text, and the options that it left if it chose one."""

    id: str
    at: int
    text: str
    left: tuple[str, ...]

    @property
    def taken(self) -> str:
        return re.split(r"[:.]", self.text, maxsplit=1)[0]


def overturn_choices(core: Core, writer: Writer, changeset: Changeset) -> None:
    """Link new decisions to the older choices whose other options they take, and to decisions that agree with those."""
    new = [write for write in changeset.writes if write.fresh and write.state.type in CHOSEN and write.content]
    if not new:
        return
    held = writer.select(core.filter(kinds="observation", types=CHOSEN[0]), "newest", MOST)
    older = [_Choice(one.id, micros(one.at), one.text, _left(one.body)) for one in held]
    made = [
        _Choice(write.state.id, write.state.at, write.content.text, _left(json.loads(write.content.body or "{}")))
        for write in new
        if write.content
    ]
    for later in made:
        for id in dict.fromkeys(_overturned(later, [*older, *made])):
            link = LinkRow(new_id(), "memory", later.id, OVERTURNS, "memory", id, 1.0, None, BY_RULES, "")
            changeset.links.append(link)


def _overturned(later: _Choice, choices: Sequence[_Choice]) -> Iterator[str]:
    from pieria.language.note_words import affirms

    for choice in choices:
        if choice.at < later.at and any(affirms(later.text, option) for option in choice.left):
            yield choice.id
            between = [one for one in choices if choice.at <= one.at < later.at and one.id != choice.id]
            yield from (one.id for one in between if affirms(one.text, choice.taken))


def _left(body: Mapping[str, Any]) -> tuple[str, ...]:
    from pieria.learning.distilling.observations import AGAINST

    held = body.get(AGAINST)
    return tuple(map(str, held)) if isinstance(held, list) else ()
