"""The progress bar: on stderr, so that it never mixes with an answer, and removed when the work is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

PATIENCE = 0.4
MANY = 5_000
"""Number of items, or of seconds, that makes a bar worth showing."""


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes the done and total counts. It shows a bar if the work takes long."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task(what)
    begun = time.monotonic()
    with ExitStack() as stack:

        def report(done: int, whole: int) -> None:
            progress.update(task, completed=done, total=whole)
            long = whole >= MANY or time.monotonic() - begun > PATIENCE
            if long and done < whole and not progress.live.is_started:
                stack.enter_context(progress)

        yield report
