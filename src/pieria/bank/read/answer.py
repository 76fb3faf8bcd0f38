"""Answer a query: open the banks in one read transaction each, and pass the work to `recall/`.

Kept apart from `read.recall`, so that only processes with a query load this code. The reranker is called here, within
the time that is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from pieria import telemetry
from pieria.bank.core import Core
from pieria.bank.embedding.threads import asked
from pieria.bank.filters import EMBEDDED, QUESTION_SECONDS, embeddable
from pieria.errors import AdapterError, InputError, NewerVersionError, PieriaError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.models import FLOOR
from pieria.models.reranker import STEP
from pieria.recall.answer import Recall
from pieria.recall.candidates import LATE, OFF
from pieria.recall.page import Question
from pieria.recall.part import Source
from pieria.recall.query import reading, without_named
from pieria.recall.rerank import Reranks
from pieria.recall.scores import FEATURES, MOST, POLICIES, PRODUCT, Policy, custom
from pieria.recall.search import search
from pieria.recall.walk import EXPECTED, Walk, walk_of
from pieria.record import check
from pieria.record.cursor import foreign, mark_of
from pieria.record.filter import Filter
from pieria.record.time import moment
from pieria.runtime import effort

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

VECTOR_FEATURES = ("dense", "window", "rule_fit", "wish_fit")
QUESTION_SHARE, ON_THE_SPOT_SHARE = 0.5, 0.25
"""The shares of the remaining time for embedding the query and pending texts; term search needs time too."""
ON_THE_SPOT_SECONDS = 0.1
"""The most seconds for embedding pending texts; their words find most of them as well."""
SHARE = 0.5
"""The share of the remaining time for the reranker."""


def question_of(core: Core, text: str, filter: Filter, deadline: float = math.inf) -> Question:
    """Return the query with the default settings of `recall`."""
    ranking = POLICIES["hybrid"]
    return Question(
        text=text,
        reading=reading(text, moment(filter.now), core.zone),
        policy=ranking,
        min_score=0.0,
        budget=core.text_budget,
        mark=mark(core, text, filter, 0.0, ranking),
        fading=core.fading,
        deadline=deadline,
    )


def answer(
    core: Core,
    question: Question,
    filter: Filter,
    k: int,
    cursor: str | None = None,
    *,
    vectors: Vectors | None = None,
) -> Recall:
    """Answer a query without counting uses.

    `vectors` is for one search of several that make a recall: it takes known query vectors from there and adds new
    ones, and sends no telemetry.
    """
    begun, asked = perf_counter(), question.text
    filter = filter.having(tells_past=filter.valid_at is None)
    by_vector = question.by_meaning and question.policy.needs(VECTOR_FEATURES) and asked.strip() != ""
    effort.pause()
    with ExitStack() as stack:
        sources = sources_of(core, stack, filter, question.deadline)
        walk = None
        if cursor is not None:
            walk, sources = _resumed(cursor, question, sources)
            # On later pages, "yesterday" is relative to the first page.
            question = replace(question, reading=reading(asked, moment(walk.pins.now), question.reading.zone))
        standing = core.embedding.readiness(sources[0].reader)
        pending = sum(source.reader.pending_count() for source in sources)
        embedded = perf_counter()
        if by_vector:
            sources = _with_vectors(core, sources, question, vectors)
        elif not question.by_meaning:
            sources = [replace(source, without="by_meaning is false") for source in sources]
        embedded = perf_counter() - embedded
        found = search(sources, question, k, walk, reranks_of(core, question.deadline))
    if telemetry.is_heard() and vectors is None:
        _measured(core, found, perf_counter() - begun, embedded)
    told = {**standing.as_dict(), "pending": pending, "ms": round(1000 * embedded, 3)}
    if by_vector and len(asked) > EMBEDDED:
        told["question"] = {"characters": EMBEDDED, "of": len(asked)}
    return replace(found, plan={**found.plan, "embedding": told})


def is_by_words(found: Recall) -> bool:
    """Return whether meaning had no part in an answer: without a model, or while it is fetched or fails."""
    model = found.plan["embedding"].get("model") or ""
    return "dense" in found.plan["left_out"] or model.startswith(FLOOR)


def _measured(core: Core, found: Recall, seconds: float, embedded: float) -> None:
    """Report sizes, names and ids to telemetry. Omit why an arm was left out: the reason may quote user text."""
    left_out: Mapping[str, str] = found.plan["left_out"]
    telemetry.point(
        "recall.answered",
        {
            "duration": int(1e9 * seconds),
            "embedding": int(1e9 * embedded),
            "hits": len(found),
            "confidence": round(found.confidence, 3),
        },
        {
            "repo_id": core.name,
            "session_id": core.viewer.session,
            "ids": [hit.memory.id for hit in found],
            "policy": found.plan["policy"],
            "arms": {name: (arm["candidates"], arm["ms"]) for name, arm in found.plan["arms"].items()},
            "left_out": [name for name, why in left_out.items() if why not in (LATE, OFF)],
            "late": [name for name, why in left_out.items() if why == LATE],
        },
    )


def mark(core: Core, question: str, filter: Filter, least: float, policy: Policy, *more: object) -> str:
    """Return a digest of bank, query and all options of a recall, to check a cursor.

    The time of asking is not in it.
    """
    ranking = (policy.name, sorted(policy.weights.items()))
    return mark_of(core.name, ANALYSER_VERSION, question, filter.having(now=0), least, ranking, *more)


def _with_vectors(core: Core, sources: Sequence[Source], question: Question, known: Vectors | None) -> list[Source]:
    """Return the sources with the query's vector where the space is the same, or else the reason why not."""
    standings = [core.embedding.readiness(source.reader) for source in sources]
    failed: str | None = None
    vectors: Vectors = {} if known is None else known
    if any(standing.usable for standing in standings) and question.reading.about not in vectors:
        try:
            vectors |= _foreseen(core, question)
        except PieriaError as problem:
            failed = problem.message
    vector, deadline = vectors.get(question.reading.about), question.deadline
    given = []
    for source, standing in zip(sources, standings, strict=True):
        reason = failed if standing.usable else standing.reason or "nothing was embedded yet"
        meant = None if vector is None or not standing.usable else partial(_meaning, core, vectors, deadline)
        vector_here = vector if standing.usable else None
        embed = None if vector_here is None else partial(_on_the_spot, core, deadline=deadline)
        given.append(replace(source, vector=vector_here, without=reason, meant=meant, embed=embed))
    return given


def _foreseen(core: Core, question: Question) -> Vectors:
    """Return vectors of the query and its likely variants; of the query alone if the model refuses the variants."""
    alone = [question.reading.about]
    both = [*alone, *without_named(question.reading)]
    try:
        return _meanings(core, both, question.deadline)
    except PieriaError as problem:
        if both == alone or problem.retryable:
            raise
        return _meanings(core, alone, question.deadline)


def _meanings(core: Core, texts: Sequence[str], deadline: float) -> Vectors:
    left = QUESTION_SHARE * (deadline - perf_counter())
    made = core.embedding.questions([embeddable(text) for text in texts], min(QUESTION_SECONDS, left))
    return dict(zip(texts, made, strict=True))


def _meaning(core: Core, known: Vectors, deadline: float, text: str) -> NDArray[np.float32]:
    """Return the vector of the query in other words, which is usually known already."""
    if text not in known:
        known |= _meanings(core, [text], deadline)
    return known[text]


def _on_the_spot(core: Core, texts: Sequence[str], deadline: float) -> Mapping[str, NDArray[np.float32]]:
    now = perf_counter()
    return core.embedding.at_once(texts, now + min(ON_THE_SPOT_SECONDS, ON_THE_SPOT_SHARE * (deadline - now)))


def sources_of(core: Core, stack: ExitStack, filter: Filter, deadline: float = math.inf) -> list[Source]:
    """Return this bank and, for the user's memories, `@me`, each in one read transaction.

    Wait for locks until the deadline.
    """
    seconds = None if deadline == math.inf else max(0.0, deadline - perf_counter())
    wanted = filter.scopes
    found = []
    user = None if core.is_user_bank else core.user_core(False)
    if user is None or wanted is None or set(wanted) != {"user"}:
        found.append(Source(core.name, stack.enter_context(core.reading(seconds)), filter, is_foreign=core.is_foreign))
    if user is not None and (wanted is None or "user" in wanted):
        found.append(Source(user.name, stack.enter_context(user.reading(seconds)), filter, is_foreign=user.is_foreign))
    for source in found:
        _check_index(source)
    return found


def _check_index(source: Source) -> None:
    """Raise if a newer version has rebuilt the text index: the terms of this version would find only half of it."""
    held = source.reader.head().analyser
    if held > ANALYSER_VERSION:
        reason = (
            f"a newer Pieria made the text index of {source.name} (analyser {held}; this one has {ANALYSER_VERSION})"
        )
        raise NewerVersionError("recall", reason, hint="Upgrade Pieria; until then `get` and `list` still answer.")


def ranking_of(policy: object, weights: object) -> Policy:
    if callable(policy):
        if weights is not None:
            raise InputError("weights", "none, where the policy is a callable", weights)
        return custom(policy)
    ranking = POLICIES.get(policy) if isinstance(policy, str) else None
    if ranking is None:
        raise InputError(
            "policy", f"one of {', '.join(POLICIES)}, or a callable", policy, hint=_nearest(policy, POLICIES)
        )
    return ranking if weights is None else ranking.weighing(_weights(weights, ranking))


def _weights(weights: object, ranking: Policy) -> dict[str, float]:
    if not isinstance(weights, Mapping):
        raise InputError("weights", "a mapping of features to numbers", weights)
    least = 0.0 if ranking.scoring == PRODUCT else -MOST
    kept: dict[str, float] = {}
    for name, value in weights.items():
        if name not in FEATURES:
            raise InputError("weights", f"features: {', '.join(FEATURES)}", name, hint=_nearest(name, FEATURES))
        kept[name] = check.number(value, f"weights.{name}", least, MOST)
    return kept


def _nearest(given: object, names: Iterable[str]) -> str | None:
    close = get_close_matches(str(given), list(names), n=1)
    return f"Did you mean {close[0]}?" if close else None


def _resumed(cursor: object, question: Question, sources: list[Source]) -> tuple[Walk, list[Source]]:
    """Return the walk, and its sources in their state at the first page. Sources added since are left out."""
    walk = walk_of(cursor, question.mark, len(question.reading.considered), [source.name for source in sources])
    known = dict(walk.pins.known)
    then = [
        replace(source, filter=source.filter.having(now=walk.pins.now, known_at=known[source.name]))
        for source in sources
        if source.name in known
    ]
    if any(known[source.name] > source.reader.head().known for source in then):
        raise foreign(cursor, EXPECTED)
    return walk, then


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
