"""The verb `recall`: checks what is asked, reads the banks concerned in one moment, hands the work to `recall/`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pieria import telemetry
from pieria.bank.asking import Asked, Names
from pieria.bank.core import Core
from pieria.errors import InputError, NewerVersionError, PieriaError
from pieria.recall.answer import Recall
from pieria.recall.gathering import LATE, OFF
from pieria.recall.page import Question
from pieria.recall.part import Source
from pieria.recall.policies import FEATURES, MOST, POLICIES, PRODUCT, Policy, custom
from pieria.recall.reading import reading
from pieria.recall.search import search
from pieria.recall.walk import EXPECTED, Walk, walk_of
from pieria.record import check
from pieria.record.analyser import ANALYSER_VERSION
from pieria.record.cursor import foreign
from pieria.record.draft import Instant, Problems
from pieria.record.end import End
from pieria.record.filter import Filter
from pieria.record.memory import KINDS, ROUTING_KINDS
from pieria.record.time import moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K_LIMIT = 10_000
QUERY_LIMIT = 1 << 20
ANSWERING_KINDS = tuple(kind for kind in KINDS if kind not in ROUTING_KINDS)
LONGEST_DEADLINE, MOST_TOKENS = 600_000, 10_000_000
EMBEDDED = 8_000
"""Characters of a question that are embedded: more than any model reads of one."""
QUESTION_SECONDS = 5.0
"""How long a model that is elsewhere may take to embed a question, before recall goes on without."""
VECTOR_FEATURES = ("dense", "window", "rule_fit", "wish_fit")
CAUGHT_UP = 16
"""So many pending texts are embedded before a recall; where there are more, they are left to the background."""
CATCHING_UP_SHARE, QUESTION_SHARE = 0.25, 0.5
"""Of the time there is for an answer, what these may take of what is left: words need some of it too."""


class Recalling(Core):
    def recall(
        self,
        query: str,
        *,
        k: int = 10,
        kinds: Names | None = None,
        types: Names | None = None,
        tags: Names | None = None,
        entities: Names | None = None,
        files: Names | None = None,
        author: str | None = None,
        author_type: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        scope: Names | None = None,
        source: str | None = None,
        place: str | End | None = None,
        meta: Mapping[str, Any] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        used_since: Instant | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        min_score: float | None = None,
        least_retention: float | None = None,
        review: bool | float = False,
        cursor: str | None = None,
        policy: str | Callable[..., float] = "hybrid",
        weights: Mapping[str, float] | None = None,
        deadline_ms: int | None = None,
        budget_tokens: int | None = None,
        by_meaning: bool = True,
        matching: bool = False,
        counted: bool = True,
    ) -> Recall:
        """What the bank, and the user's own, hold on a question: best first, each with its reasons.

        Lists mean any of theirs. `valid_at` asks what held at a time, `known_at` answers from what was known then.
        Any text is a question; an empty one finds nothing. With `review`, memories that are about to be forgotten come
        with the `k` answers, a share of these. `matching` leaves out what holds nothing of the question itself, and
        only stands beside what does. What is not `counted` is no use of what it finds.
        """
        problems = Problems()
        filter = problems.of(
            self._filter,
            Asked(
                kinds, types, tags, entities, files, author, author_type, channel, session, scope, source, place, meta,
                since, until, valid_at, known_at, status, used_since=used_since,
            ),
        )  # fmt: skip
        problems.of(check.whole, k, "k", 1, K_LIMIT)
        least = 0.0 if min_score is None else problems.of(check.number, min_score, "min_score")
        left = (
            0.0 if least_retention is None else problems.of(check.number, least_retention, "least_retention", 0, MOST)
        )
        share = problems.of(_share, review, self.fading.review_share)
        asked = problems.of(question_text, query)
        ranking = problems.of(_policy, policy, weights)
        seconds = math.inf if deadline_ms is None else problems.of(deadline_seconds, deadline_ms)
        tokens = None if budget_tokens is None else problems.of(_tokens, budget_tokens)
        problems.of(check.flag, by_meaning, "by_meaning")
        problems.of(check.flag, matching, "matching")
        problems.of(check.flag, counted, "counted")
        problems.settle()
        if kinds is None:
            filter = filter.having(kinds=ANSWERING_KINDS)
        question = Question(
            text=asked,
            reading=reading(asked, moment(filter.now)),
            policy=ranking,
            min_score=least,
            budget=self._text_budget,
            mark=self._mark(asked, filter, least, ranking, left, share, by_meaning, matching),
            fading=self.fading,
            deadline=perf_counter() + seconds,
            tokens=tokens,
            by_meaning=by_meaning,
            matching=matching,
            least_left=left,
            review=share,
            fades=self._fades,
        )
        found = self._answer(question, filter, k, cursor)
        if self._count_uses and counted:
            self._note(found)
        return found

    def _answer(self, question: Question, filter: Filter, k: int, cursor: str | None = None) -> Recall:
        """Without counting what is found as used."""
        begun, asked = perf_counter(), question.text
        seconds = question.deadline - begun
        by_vector = question.by_meaning and question.policy.needs(VECTOR_FEATURES) and asked.strip() != ""
        until = begun + CATCHING_UP_SHARE * seconds
        with ExitStack() as stack:
            sources = self._sources(stack, filter)
            if by_vector and self._is_behind(sources):
                stack.close()
                self._catch_up(until)
                sources = self._sources(stack, filter)
            walk = None
            if cursor is not None:
                walk, sources = _resumed(cursor, question, sources)
                # Yesterday is the day before the first page was asked for.
                question = replace(question, reading=reading(asked, moment(walk.pins.now)))
            standing = self._embedding.readiness(sources[0].reader)
            pending = sum(source.reader.pending_count() for source in sources)
            embedded = perf_counter()
            if by_vector:
                sources = self._with_vectors(sources, asked, question.deadline)
            elif not question.by_meaning:
                sources = [replace(source, without="by_meaning is false") for source in sources]
            embedded = perf_counter() - embedded
            found = search(sources, question, k, walk)
        if telemetry.is_heard():
            self._measured(found, perf_counter() - begun, embedded)
        told = {**standing.as_dict(), "pending": pending, "ms": round(1000 * embedded, 3)}
        if by_vector and len(asked) > EMBEDDED:
            told["question"] = {"characters": EMBEDDED, "of": len(asked)}
        return replace(found, plan={**found.plan, "embedding": told})

    def _measured(self, found: Recall, seconds: float, embedded: float) -> None:
        """How it went, in sizes, names and ids. That an arm was left out is told; why might quote somebody."""
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
                "repo_id": self.name,
                "session_id": self.viewer.session,
                "ids": [hit.memory.id for hit in found],
                "policy": found.plan["policy"],
                "arms": {name: (arm["candidates"], arm["ms"]) for name, arm in found.plan["arms"].items()},
                "left_out": [name for name, why in left_out.items() if why not in (LATE, OFF)],
                "late": [name for name, why in left_out.items() if why == LATE],
            },
        )

    def _mark(self, question: str, filter: Filter, least: float, policy: Policy, *more: object) -> str:
        """Tells whose cursor it is: bank, question and all that is asked of an answer, but not the moment of asking."""
        ranking = (policy.name, sorted(policy.weights.items()))
        said = repr((self.name, ANALYSER_VERSION, question, filter.having(now=0), least, ranking, *more))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _with_vectors(self, sources: Sequence[Source], text: str, deadline: float) -> list[Source]:
        """The question's vector for each source whose vectors are of the same space; for the others why it has none."""
        standings = [self._embedding.readiness(source.reader) for source in sources]
        failed: str | None = None
        vector: NDArray[np.float32] | None = None
        if any(standing.usable for standing in standings):
            try:
                vector = self._meaning(text, deadline)
            except PieriaError as problem:
                failed = problem.message
        given = []
        for source, standing in zip(sources, standings, strict=True):
            reason = failed if standing.usable else standing.reason or "nothing was embedded yet"
            meant = None if vector is None or not standing.usable else partial(self._meaning, deadline=deadline)
            vector_here = vector if standing.usable else None
            given.append(replace(source, vector=vector_here, without=reason, meant=meant))
        return given

    def _meaning(self, text: str, deadline: float) -> NDArray[np.float32]:
        left = QUESTION_SHARE * (deadline - perf_counter())
        return self._embedding.question(embeddable(text), min(QUESTION_SECONDS, left))

    def _note(self, found: Recall) -> None:
        """What was found was used, in whichever bank it is."""
        theirs = [] if self.is_user_bank else [hit.memory.id for hit in found if hit.memory.scope == "user"]
        user = self._me(False) if theirs else None
        if user is not None:
            user._uses.note(theirs)
        self._uses.note(hit.memory.id for hit in found if user is None or hit.memory.scope != "user")

    def _is_behind(self, sources: Sequence[Source]) -> bool:
        return any(source.reader.pending_count() for source in sources)

    def _catch_up(self, until: float) -> None:
        """What little is still to be embedded, before it is looked for."""
        user = None if self.is_user_bank else self._me(False)
        for bank in (self, user):
            if bank is not None:
                bank._embedding.catch_up(CAUGHT_UP, max(0.0, until - perf_counter()))

    def _sources(self, stack: ExitStack, filter: Filter) -> list[Source]:
        """This bank and, for what belongs to the user, `@me`: each in one read transaction."""
        wanted = filter.scopes
        found = []
        user = None if self.is_user_bank else self._me(False)
        if user is None or wanted is None or set(wanted) != {"user"}:
            found.append(Source(self.name, stack.enter_context(self._reading()), filter))
        if user is not None and (wanted is None or "user" in wanted):
            found.append(Source(user.name, stack.enter_context(user._reading()), filter))
        for source in found:
            _check_index(source)
        return found


def _check_index(source: Source) -> None:
    """Another process may have brought the bank to a newer analyser meanwhile: our terms would find half of it."""
    held = source.reader.head().analyser
    if held > ANALYSER_VERSION:
        reason = (
            f"a newer Pieria made the text index of {source.name} (analyser {held}; this one has {ANALYSER_VERSION})"
        )
        raise NewerVersionError("recall", reason, hint="Upgrade Pieria; until then `get` and `list` still answer.")


def _policy(policy: object, weights: object) -> Policy:
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


def _share(review: object, usual: float) -> float:
    if isinstance(review, bool):
        return usual if review else 0.0
    return check.number(review, "review")


def deadline_seconds(deadline_ms: object) -> float:
    return check.whole(deadline_ms, "deadline_ms", 1, LONGEST_DEADLINE) / 1000


def _tokens(budget_tokens: object) -> int:
    return check.whole(budget_tokens, "budget_tokens", 1, MOST_TOKENS)


def embeddable(question: str) -> str:
    """Half of a surrogate pair is no letter, and no model reads it."""
    return question[:EMBEDDED].encode("utf-8", "replace").decode("utf-8")


def question_text(query: object) -> str:
    """Any text is a legal question."""
    if not isinstance(query, str):
        raise InputError("query", "a text", query)
    if len(query) > QUERY_LIMIT:
        raise InputError("query", f"at most {QUERY_LIMIT:,} characters", query, hint="Ask for the part that matters.")
    return query


def _resumed(cursor: object, question: Question, sources: list[Source]) -> tuple[Walk, list[Source]]:
    """The walk, and the sources it began with as they stood then. One that came since had nothing to say yet."""
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
