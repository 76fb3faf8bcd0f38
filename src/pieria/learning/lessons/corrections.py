"""What a person said to an agent that was at work, with what it had done just before: a correction is of something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pieria.learning.distilling import tools
from pieria.learning.distilling.calls import command_line
from pieria.learning.lessons.steps import shown_line
from pieria.models.mind import Told
from pieria.record.clip import clipped, plain
from pieria.record.event import Event

MOST_ACTS = 12
ACT = 160
BEFORE = 600


@dataclass(frozen=True, slots=True)
class Saying:
    """`reply` is what the agent had said last before it, where it had said something."""

    told: Told
    prompt: Event
    reply: Event | None


def sayings(events: Sequence[Event], told: frozenset[str]) -> list[Saying]:
    """Those of a person's own words that no earlier piece has told of. `events` in their order."""
    found: list[Saying] = []
    acts: list[str] = []
    reply: Event | None = None
    is_outside = False
    for event in events:
        if event.what == "reply":
            # What was said after a page was read may be the page's words.
            reply = None if is_outside else event
        elif event.what == "tool":
            acts += _acts(event)
            is_outside = is_outside or tools.is_outside(event)
        elif event.what == "prompt":
            if event.text.strip() and event.id not in told:
                before = "" if reply is None else clipped(plain(reply.text), BEFORE)
                found.append(Saying(Told(plain(event.text), tuple(acts[-MOST_ACTS:]), before), event, reply))
            acts, reply, is_outside = [], None, False
    return found


def _acts(event: Event) -> list[str]:
    """What the agent did, without what only looked: a command as it was, a file with what was changed in it."""
    kind = tools.kind_of(event)
    if kind == "run":
        line = shown_line(command_line(event.input))
        return [f"ran `{line}`"] if line else []
    if kind != "edit":
        return []
    return [
        clipped(f"changed `{deed.target}`" + (f" ({deed.detail})" if deed.detail else ""), ACT)
        for deed in tools.deeds_of(event)
    ]
