"""The end of a link: a memory or a place. Apart from `link`, because every place argument accepts this form."""

from __future__ import annotations

from typing import NamedTuple


class End(NamedTuple):
    """`what` is `memory` or `place`; `name` is a memory's id or a place's `wing/room`."""

    what: str
    name: str

    def __str__(self) -> str:
        return self.name
