"""A person's words to a working agent, with what the agent did just before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pieria.learning.distilling import tools
from pieria.learning.distilling.calls import command_line
from pieria.learning.lessons.steps import shown_line
from pieria.models.mind import Told
from pieria.record.clip import clipped, plain
from pieria.record.event import AgentEvent

MOST_ACTS = 12
ACT = 160
BEFORE = 600


@dataclass(frozen=True, slots=True)
class Saying:
    """A person's prompt; `reply` is the agent's last reply before it, if any."""

    told: Told
    prompt: AgentEvent
    reply: AgentEvent | None


def sayings(events: Sequence[AgentEvent], told: frozenset[str]) -> list[Saying]:
    """Return the person's prompts that no earlier piece covered. `events` must be in order."""
    found: list[Saying] = []
    acts: list[str] = []
    reply: AgentEvent | None = None
    is_outside = False
    for event in events:
        if event.what == "reply":
            # A reply after a fetched page may repeat the page.
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


def _acts(event: AgentEvent) -> list[str]:
    """Return what the agent changed: commands that act, and files with their edits."""
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
