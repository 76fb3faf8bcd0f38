"""A journal entry of a bank: the ids, the time, the verb and the author. It never holds text of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One transaction. `at` is its known time, which strictly increases within a bank."""

    seq: int
    at: datetime
    who: str
    what: str
    ids: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        from pieria.record.time import iso

        return {"seq": self.seq, "at": iso(self.at), "who": self.who, "what": self.what, "ids": list(self.ids)}
