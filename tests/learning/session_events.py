"""Build session events in a line each, for tests that need a few of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pieria.learning.distilling.observations import Observation, distilled
from pieria.models.minds.rules import RuleMind
from pieria.record.event import AgentEvent, event_id

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Session:
    """Each call returns the next event, a while later."""

    pace = timedelta(minutes=1)

    def __init__(
        self, name: str = "s1", host: str = "claude-code", folder: str = "/home/me/shop", begin: datetime = BEGIN
    ) -> None:
        self.name, self.host, self.folder, self.begin = name, host, folder, begin
        self.number = 0

    def event(self, what: str, **values: Any) -> AgentEvent:
        self.number += 1
        return AgentEvent(
            id=event_id(self.host, self.name, what, str(self.number)), what=what, host=self.host, session=self.name,
            folder=self.folder, at=self.begin + self.number * self.pace, **values,
        )  # fmt: skip

    def prompt(self, text: str) -> AgentEvent:
        return self.event("prompt", text=text)

    def reply(self, text: str) -> AgentEvent:
        return self.event("reply", text=text)

    def ran(self, command: str, output: str = "", failed: bool | None = None) -> AgentEvent:
        return self.event("tool", tool="Bash", input={"command": command}, text=output, failed=failed)

    def edited(self, path: str, old: str = "a = 1", new: str = "a = 2") -> AgentEvent:
        return self.event("tool", tool="Edit", input={"file_path": path, "old_string": old, "new_string": new})

    def read(self, path: str) -> AgentEvent:
        return self.event("tool", tool="Read", input={"file_path": path}, text="…")

    def fetched(self, url: str, text: str) -> AgentEvent:
        return self.event("tool", tool="WebFetch", input={"url": url}, text=text)

    def end(self) -> AgentEvent:
        return self.event("end")


def noticed(*events: AgentEvent) -> list[Observation]:
    return list(distilled(list(events), RuleMind(), scope="bank").observations)
