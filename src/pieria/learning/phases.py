"""How long each phase of a piece of learning took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeVar

from pieria.errors import PieriaError, PipelineError

T = TypeVar("T")


class Phases:
    """Microseconds of each phase. Threads may share it, one phase each."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        self._begun = perf_counter()

    @property
    def total(self) -> int:
        return int((perf_counter() - self._begun) * 1_000_000)

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        begun = perf_counter()
        try:
            yield
        finally:
            self.taken[phase] = int((perf_counter() - begun) * 1_000_000)

    def run(self, phase: str, ask: Callable[[], T]) -> T:
        """Run a phase that asks a mind. Raises `PipelineError` (`task_crashed`) if the mind crashed."""
        try:
            with self.timed(phase):
                return ask()
        except PieriaError:
            raise
        # The caller's mind may raise anything; keep it as the cause.
        except Exception as problem:
            raise PipelineError("task_crashed", hint=f"The mind raised {type(problem).__name__}.") from problem
