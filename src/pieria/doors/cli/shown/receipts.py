"""What a purge erased and what it could not reach, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, pairs

if TYPE_CHECKING:
    from pieria import Receipt


def erased(receipt: Receipt, is_told: bool) -> Iterator[RenderableType]:
    yield line(("would be erased for good" if is_told else "erased for good", "bold red"))
    yield pairs(
        [
            ("ids", " ".join(receipt.ids)),
            ("erased with them", " ".join(receipt.also)),
            *((name, f"{number:,}") for name, number in receipt.erased.items()),
            *([("digest", receipt.digest)] if is_told else []),
        ]
    )
    for place in receipt.unreached:
        yield line(("not reached: ", "yellow"), place)
