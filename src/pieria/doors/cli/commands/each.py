"""Doing one thing to several memories: what can be done is done, and every failure is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from pieria.doors.cli.call import Call
from pieria.errors import Framework, PieriaError, StorageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Memory


def for_each(call: Call, ids: Iterable[str], done: str, verb: Callable[[str], Memory]) -> None:
    """Answers with what was done, under its name; then raises what could not be."""
    memories: list[Memory] = []
    failures: list[PieriaError] = []
    for id in dict.fromkeys(ids):
        try:
            memories.append(verb(id))
        except StorageError:
            raise
        except PieriaError as failure:
            failures.append(failure)
    call.reply(
        {done: [memory.as_dict() for memory in memories]}, lambda: _said(done, memories), [m.id for m in memories]
    )
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise Framework(errors=failures)


def _said(done: str, memories: Iterable[Memory]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line
    from pieria.doors.cli.shown.memories import words

    for memory in memories:
        yield line((f"{done} ", "green"), (memory.id, "bold"), (f"  {words(memory)}", "dim"))
