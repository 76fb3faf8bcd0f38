"""Keep a bank's vectors in step with its record: embed pending texts in the background or on request.

Writes never wait for a model. The store marks pending rows with each change; this module reads them, embeds their texts
and stores the vectors. One thread of the process does this for all banks; `sync` and comparisons of memories do it at
once instead.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pieria.bank.embedding.batches import Readiness, Refused, made
from pieria.bank.embedding.leads import Leads
from pieria.bank.embedding.on_the_spot import OnTheSpot, precedence
from pieria.bank.embedding.threads import asked
from pieria.bank.jobs.budget import BankMeter
from pieria.errors import AdapterError, BusyError, ClosedError, PieriaError, ReadOnlyError
from pieria.language.passages import lead
from pieria.models import FLOOR, Embedder
from pieria.runtime.background import LAST_STEP, LAST_STEP_AT_HAND, PATIENCE, Background
from pieria.runtime.patience import given_up
from pieria.store.protocol import Embedded, Pending, Progress, Reader, Space, Store, Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.bank.embedding.texts import Task

log = logging.getLogger(__name__)

AT_ONCE = 64
"""Pending texts read per step: few enough to finish within a second if they are short."""
STEP = 1.0
"""Seconds after which a background step ends, so that newer texts come first."""
LAST_CHANCE = 0.75
"""The share of the closing time for pending texts; the rest is for the step in progress."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds until a failed model is tried again; doubled each time."""
LOADING = "Pieria"
"""A text that is embedded only to load the model."""
DROPPED_AT_ONCE = 5_000
CATCHING_UP, CATCHING_UP_ELSEWHERE = 0.25, 1.0
"""Seconds that a comparison waits for pending texts; a remote model needs a round trip."""


class Embedding:
    """The vectors of one store by one embedder. Thread-safe."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        background: Background,
        meter: BankMeter,
        *,
        foreign: bool = False,
    ) -> None:
        """A `foreign` bank is read-only: only queries are embedded, no texts."""
        self._is_foreign = foreign
        self._store = store
        self._meter = meter
        self._embedder = embedder
        self._background = background
        self._closed = False
        self._problem: PieriaError | None = None
        self._pause = FIRST_PAUSE
        self._has_old = True
        self._is_expected = False
        self.refused = Refused()
        # Reentrant: the garbage collector may close a bank in the middle of a step of the same thread.
        self._at_work = threading.RLock()
        self._rested = threading.Event()
        self._aside: set[object] = set()
        self._on_the_spot = OnTheSpot()
        self._leads = Leads()

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder

    @property
    def is_loaded(self) -> bool:
        """Return whether embedding takes only a few milliseconds."""
        return self._embedder is not None and self._embedder.is_loaded

    def readiness(self, reader: Reader) -> Readiness:
        """Return the state of the vectors, without loading or calling a model."""
        held = reader.space()
        pending = reader.pending_count()
        if self._embedder is None:
            return Readiness(held.name if held else None, False, pending, "no embedder is set")
        if held is None:
            return Readiness(self._embedder.model, True, pending, self._complaint())
        ours = self._embedder.space_of(held.dimension).name
        if ours == held.name:
            return Readiness(held.name, True, pending, self._complaint())
        if self.takes_over(held):
            return Readiness(ours, False, pending, self._complaint() or "the bank is moving to this model")
        reason = f"the bank's vectors are from {held.name}; this process embeds with {ours}"
        return Readiness(held.name, False, pending, f"{reason}. `pieria models use` moves the bank to it")

    def question(self, text: str, seconds: float) -> NDArray[np.float32]:
        """Return the vector of a query. Raise `AdapterError` if the model fails; `seconds` limits a remote model."""
        vector: NDArray[np.float32] = self.questions([text], seconds)[0]
        return vector

    def questions(self, texts: Sequence[str], seconds: float) -> NDArray[np.float32]:
        """Return the vectors of several queries in one call."""
        embedder = self._embedder
        assert embedder is not None
        if embedder.is_at_hand:
            with precedence.taken():
                return embedder.queries(texts)
        try:
            replied: Future[NDArray[np.float32]] = asked(lambda: embedder.queries(texts, self._meter.of_readers))
        except RuntimeError as problem:
            reason = f"no thread could be started for it ({problem})"
            raise AdapterError(embedder.model, "embed", reason, retryable=True) from problem
        replied.add_done_callback(lambda _: self.wake())
        try:
            return replied.result(max(0.0, seconds))
        except TimeoutError:
            reason = f"it did not embed the question within {seconds:.2g} s"
            raise AdapterError(embedder.model, "embed", reason) from None

    def at_once(self, texts: Sequence[str], until: float) -> Mapping[str, NDArray[np.float32]]:
        """Return vectors of pending texts for a query in progress, or nothing if the model fails.

        Embed the texts in order until `perf_counter` reaches `until`. They are stored later. No text of a foreign bank
        goes to a remote model.
        """
        is_elsewhere = self._embedder is not None and not self._embedder.is_at_hand
        if self._embedder is None or self._problem is not None or (self._is_foreign and is_elsewhere):
            return {}
        try:
            with precedence.taken():
                return self._on_the_spot.made(self._embedder, texts, until, self._meter.of_readers)
        except PieriaError as problem:
            self._failed(problem)
            self.wake()
            return {}

    @property
    def problem(self) -> PieriaError | None:
        """The error that keeps the model from embedding, as far as known without loading the model."""
        if self._problem is not None or self._embedder is None:
            return self._problem
        try:
            self._embedder.check()
        except PieriaError as problem:
            return problem
        return None

    # --- vectors supplied by the caller

    def dimension(self) -> int | None:
        """Return the dimension of the bank's vectors, or None if the bank has none and this process has no embedder."""
        with self._store.reading() as reader:
            held = reader.space()
        if held is not None and not self.takes_over(held):
            return held.dimension
        return None if self._embedder is None else self._embedder.told(self._meter).dimension

    def enter(self, writer: Writer) -> Space | None:
        """Return the space for new vectors, created if missing, or None if there is no embedder to create one."""
        held = writer.space()
        if held is not None and not self.takes_over(held):
            return held
        return None if self._embedder is None else self._entered(writer)

    # --- embedding pending texts

    def wake(self, *, counts: bool = False) -> None:
        """Schedule embedding after a write. With `counts`, also write counts of model calls soon."""
        if (counts or self._embedder is not None) and not self._closed and not self._is_foreign:
            self._background.add(self)

    def expect(self) -> None:
        """Load a local model in the background, because a query will follow. Remote models are not called."""
        if self._embedder is not None and self._embedder.is_at_hand and not self.is_loaded and not self._closed:
            self._is_expected = True
            self._background.add(self)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Pause the background while the caller embeds its own writes, so that no text is embedded twice."""
        caller = object()
        self._aside.add(caller)
        try:
            yield
        finally:
            self._aside.discard(caller)

    @property
    def last_step(self) -> float:
        """Seconds that the process waits at its end for a step. Cutting off a local model would crash it."""
        at_hand = self._embedder is not None and self._embedder.is_at_hand
        return LAST_STEP_AT_HAND if at_hand else LAST_STEP

    def step(self) -> float | None:
        """Embed some pending texts in the background. Return the seconds until the next step, or None."""
        if self._aside and not self._closed:
            return PATIENCE
        self._meter.flush()
        try:
            self._load_if_expected()
            done = self._closed or self._some()
        except PieriaError as problem:
            self._rested.set()
            return self._failed(problem)
        self._problem, self._pause = None, FIRST_PAUSE
        if done and not self._closed:
            return 0.0
        self._rested.set()
        return None

    def _load_if_expected(self) -> None:
        embedder, self._is_expected, is_expected = self._embedder, False, self._is_expected
        if not is_expected or embedder is None or self.is_loaded:
            return
        with self._at_work:
            if self._closed:
                return
            with self._store.reading() as reader:
                held = reader.space()
            if held is not None and self._is_ours(held):
                embedder.query(LOADING)

    def sync(self, timeout: float | None = None, progress: Progress | None = None) -> bool:
        """Wait until nothing is pending. Without an embedder, return True at once.

        Return False on timeout, if the caller is gone, or if this process cannot embed for the bank. Raise
        `AdapterError` if the model fails.
        """
        if self._embedder is None:
            return True
        deadline = None if timeout is None else time.monotonic() + timeout
        done = 0
        stuck: int | None = None
        while True:
            with self._store.reading() as reader:
                held, left = reader.space(), reader.pending_count()
            if self._closed or not self._is_ours(held):
                return False
            if not left and not (held and self.takes_over(held)):
                return True
            if progress is not None:
                progress(done, done + left)
            made = None if given_up() else self._some(deadline)
            if made is None or (not made and stuck == left):
                self.wake()
                return False
            done += made
            stuck = None if made else left
            if progress is not None:
                progress(done, max(done, done + left - made))

    def embed(self, pending: Sequence[Pending], progress: Callable[[int], None]) -> None:
        """Embed these texts, just written, and report the number of each batch to `progress`.

        If the model fails, log the error and leave the rest pending.
        """
        if self._embedder is None:
            return
        try:
            with self._store.reading() as reader:
                held = reader.space()
            for start in range(0, len(pending), AT_ONCE) if self._is_ours(held) else ():
                with self._at_work:
                    if self._embed(pending[start : start + AT_ONCE], None) is None:
                        return
                progress(len(pending[start : start + AT_ONCE]))
        except PieriaError as problem:
            self._failed(problem)

    def catch_up(self, most: int, seconds: float) -> None:
        """Embed the pending texts before a comparison if there are at most `most`; stop after `seconds`.

        That includes waiting for other threads and writers. Remote models embed in the background, because their calls
        cannot be interrupted. Errors of the model are not raised.
        """
        if self._embedder is None or self._closed or self._is_foreign or self._problem is not None:
            return
        with self._store.reading() as reader:
            pending = len(self.refused.others(reader, most + 1))
        if not pending:
            return
        if pending > most:
            self.wake()
            return
        if not self._embedder.is_at_hand:
            self._rested.clear()
            if self._background.hurry(self):
                self._rested.wait(min(seconds, CATCHING_UP_ELSEWHERE))
            return
        try:
            self.sync(min(seconds, CATCHING_UP))
        except PieriaError as problem:
            self._failed(problem)
            self.wake()

    def close(self, seconds: float) -> None:
        """Embed pending texts if the model is loaded, wait for the step in progress, and leave the rest pending."""
        deadline = time.monotonic() + seconds
        if self.is_loaded and self._problem is None and not self._background.is_current():
            self._rested.clear()
            if self._background.hurry(self):
                self._rested.wait(seconds * LAST_CHANCE)
        self._closed = True
        self._background.drop(self)
        if self._at_work.acquire(timeout=max(0.0, deadline - time.monotonic())):
            self._at_work.release()
        self._meter.flush(max(0.0, deadline - time.monotonic()))

    def use(self) -> Space | None:
        """Move the bank to this process's embedder; all texts are embedded again in the background."""
        return None if self._embedder is None else self._use(None)

    def _use(self, deadline: float | None) -> Space:
        assert self._embedder is not None
        self._embedder.check()
        # Before the transaction, because the model may have to be asked for its dimension.
        space = self._embedder.told(self._meter)
        with self._store.writing(_left(deadline)) as writer:
            entered = writer.set_space(space.name, space.dimension)
        self._leads = Leads()
        self._has_old = True
        self.refused.clear()
        self.wake()
        return entered

    def _is_ours(self, held: Space | None) -> bool:
        """Return whether this process's embedder may embed for the bank."""
        if self._embedder is None:
            return False
        return held is None or held.name == self._embedder.space_of(held.dimension).name or self.takes_over(held)

    def takes_over(self, held: Space) -> bool:
        """Return whether the bank moves to this embedder: from hashing to a model, or to a newer hasher."""
        if self._embedder is None or not held.name.startswith(FLOOR):
            return False
        ours = self._embedder.space_of(held.dimension)
        return not ours.is_floor or (held.name != ours.name and held.name.startswith(f"{ours.model}@"))

    def _entered(self, writer: Writer) -> Space:
        assert self._embedder is not None
        ours = self._embedder.space
        return writer.set_space(ours.name, ours.dimension)

    def _some(self, deadline: float | None = None) -> int | None:
        """Run one step and return the number of texts done. Return None on timeout or for a closed or foreign bank."""
        if self._is_foreign:
            return None
        if not self._at_work.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
            return None
        try:
            return self._done(deadline)
        except BusyError:
            # Wait for another writer only until the deadline.
            if deadline is None:
                raise
            return None
        finally:
            self._at_work.release()

    def _done(self, deadline: float | None) -> int | None:
        with self._store.reading() as reader:
            held = reader.space()
        if not self._is_ours(held):
            return 0
        if held is not None and self.takes_over(held):
            self._use(deadline)
        with self._store.reading() as reader:
            pending = self.refused.others(reader, AT_ONCE)
        return self._embed(pending, deadline) if pending else self._tidied(deadline)

    def _embed(self, pending: Sequence[Pending], deadline: float | None) -> int | None:
        """Return the number of texts done, or None on timeout or if the bank was closed.

        In the background it stops after `STEP` seconds, so that newer texts come first.
        """
        from pieria.bank.embedding.texts import in_parts, tasks_of

        if self._background.is_current() and not self._lead(deadline):
            return None
        with self._store.reading() as reader:
            seen = reader.head().seq
            tasks = tasks_of(reader, pending)
        empty = sorted(set(pending).difference(task.item for task in tasks))
        if empty:
            self._put([], seen, deadline, empty)
        over, done = time.monotonic() + STEP, set(empty)
        for part in in_parts(tasks):
            if not self._embed_part(part, seen, deadline):
                return None
            done.update(task.item for task in part)
            if self._background.is_current() and time.monotonic() > over:
                break
        return len(done)

    def _lead(self, deadline: float | None) -> bool:
        """Store the leads of long texts before any passages. Return False on timeout or if the bank was closed."""
        assert self._embedder is not None
        while self._embedder.is_at_hand:
            with self._store.reading() as reader:
                seen, tasks = reader.head().seq, self._leads.next(reader)
            if tasks is None:
                break
            if not self._may_go_on(deadline):
                return False
            if tasks:
                made = self._on_the_spot.ahead(self._embedder, [task.text for task in tasks], self._meter)
                self._put([task.put_as(made[task.text]) for task in tasks], seen, deadline)
        return True

    def _embed_part(self, tasks: Sequence[Task], seen: int, deadline: float | None) -> bool:
        """Embed and store whole memories in one transaction. Return False on timeout or if the bank was closed."""
        assert self._embedder is not None
        known = self._on_the_spot.kept([task.text for task in tasks])
        missing = [task.text for task in tasks if task.text not in known]
        found = made(self._embedder, missing, lambda: self._may_go_on(deadline), self._meter)
        if found is None:
            return False
        found.vectors.update(known)
        refused = {task.item: found.refused[task.text] for task in tasks if task.text in found.refused}
        self.refused.add(refused)
        vectors = [task.put_as(found.vectors[task.text]) for task in tasks if task.item not in refused]
        if vectors:
            self._put(vectors, seen, deadline)
        self._on_the_spot.let_go([*known, *(lead(task.text) for task in tasks if task.number == 0)])
        return True

    def _put(
        self, vectors: Sequence[Embedded], seen: int, deadline: float | None, empty: Sequence[Pending] = ()
    ) -> None:
        assert self._embedder is not None
        space = self._embedder.space
        with self._store.writing(_left(deadline)) as writer:
            held = writer.space()
            # Another process may have moved the bank to another model; then these vectors are useless.
            if held is None or held.name == space.name:
                writer.put_vectors(self._entered(writer).number, vectors, seen, empty)

    def _may_go_on(self, deadline: float | None) -> bool:
        if self._background.is_current():
            precedence.let_go_first()
        if self._closed or (self._background.has_ended and self._background.is_current()):
            return False
        return deadline is None or time.monotonic() < deadline

    def _tidied(self, deadline: float | None) -> int:
        """Delete a batch of vectors of earlier spaces."""
        if not self._has_old:
            return 0
        with self._store.writing(_left(deadline)) as writer:
            dropped = writer.drop_old_vectors(DROPPED_AT_ONCE)
        self._has_old = dropped == DROPPED_AT_ONCE
        return dropped

    def _complaint(self) -> str | None:
        """Return a note about the model, if there is one."""
        assert self._embedder is not None
        if (problem := self.problem) is not None:
            return f"{problem.message}; it will be tried again"
        return self.refused.told or self._embedder.note

    def _failed(self, problem: PieriaError) -> float | None:
        """Return the seconds until the next try, or None if trying again cannot help."""
        if isinstance(problem, ClosedError) and self._closed:
            return None
        if isinstance(problem, ReadOnlyError):
            log.info("the bank is not writable, so nothing is embedded: %s", problem.message)
            return None
        log.warning("embedding for a bank failed, next try in %d s: %s", self._pause, problem.message)
        pause, self._problem = self._pause, problem
        self._pause = min(2 * pause, LONGEST_PAUSE)
        return pause


def _left(deadline: float | None) -> float | None:
    """Return the seconds left to wait for another writer."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())
