"""What happened to a bank, as its journal tells it: never what was said, only to which ids and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One transaction. `at` is its known time: no two changes of a bank share one, and they never run backwards."""

    seq: int
    at: datetime
    who: str
    what: str
    ids: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        from pieria.record.time import iso

        return {"seq": self.seq, "at": iso(self.at), "who": self.who, "what": self.what, "ids": list(self.ids)}
