"""The end of a link: a memory or a place. Apart from links, since whatever takes a place takes it in this form, too."""

from __future__ import annotations

from typing import NamedTuple


class End(NamedTuple):
    """`what` is `memory` or `place`; `name` a memory's id or a place's `wing/room`."""

    what: str
    name: str

    def __str__(self) -> str:
        return self.name
