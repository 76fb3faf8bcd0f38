"""Running one verb on several memories: it does all it can, and reports every failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from pieria.doors.cli.call import Call
from pieria.errors import Framework, PieriaError, StorageError
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Memory


def for_each(call: Call, ids: Iterable[str], done: str, verb: Callable[[str], Memory]) -> None:
    """Run the verb on each id and print the results under `done`; then raise the failures."""
    begun = system_clock()
    memories: list[Memory] = []
    failures: list[PieriaError] = []
    for id in dict.fromkeys(ids):
        try:
            memories.append(verb(id))
        except StorageError:
            raise
        except PieriaError as failure:
            failures.append(failure)
    document = {done: [memory.as_dict() for memory in memories]}
    call.reply(document, lambda: _said(done, memories, begun), [memory.id for memory in memories])
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise Framework(errors=failures)


def became(done: str, memory: Memory, begun: datetime) -> tuple[str, str]:
    """Return a label and its style. A memory whose version is older than the command was left unchanged."""
    return (f"{done} ", "green") if memory.known_from >= begun else ("unchanged ", "dim")


def _said(done: str, memories: Iterable[Memory], begun: datetime) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line
    from pieria.doors.cli.shown.memories import words

    for memory in memories:
        yield line(became(done, memory, begun), (memory.id, "bold"), (f"  {words(memory)}", "dim"))
