"""Call the bank's reranker within the time that a recall has left. `recall` uses the scores."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from time import perf_counter

from pieria.bank.core import Core
from pieria.bank.embedding.threads import asked
from pieria.bank.read.question import embeddable
from pieria.errors import AdapterError
from pieria.models.reranker import STEP
from pieria.recall.rerank import Reranks

SHARE = 0.5
"""The share of the remaining time for the reranker."""


def reranks_of(core: Core, deadline: float) -> Reranks | None:
    """Return the bank's reranker with the deadline applied, or None if none is set."""
    reranker = core.reranker
    if reranker is None:
        return None

    def scores(query: str, documents: Sequence[str]) -> Sequence[float | None]:
        seconds = min(reranker.seconds, SHARE * max(0.0, deadline - perf_counter()))
        meter = core.meter.of_readers
        try:
            replied: Future[list[float | None]] = asked(lambda: reranker.scores(embeddable(query), documents, meter))
        except RuntimeError as problem:
            reason = f"no thread could be started for it ({problem})"
            raise AdapterError(reranker.model, STEP, reason, retryable=True) from problem
        replied.add_done_callback(lambda _: core.embedding.wake(counts=True))
        try:
            return replied.result(seconds)
        except TimeoutError:
            raise AdapterError(reranker.model, STEP, f"it did not answer within {seconds:.2g} s") from None

    return Reranks(reranker.model, scores)
