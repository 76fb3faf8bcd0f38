"""The verb `recall`: checks the arguments. `read.answer`, loaded with the first query, finds the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pieria.bank.core import Core
from pieria.bank.filters import Asked, Names
from pieria.errors import InputError
from pieria.record import check, effort
from pieria.record.draft import Instant, Problems
from pieria.record.end import End
from pieria.record.memory import KINDS, ROUTING_KINDS
from pieria.record.time import moment

if TYPE_CHECKING:
    from pieria.recall.answer import Recall

K_LIMIT = 10_000
QUERY_LIMIT = 1 << 20
ANSWERING_KINDS = tuple(kind for kind in KINDS if kind not in ROUTING_KINDS)
LONGEST_DEADLINE, MOST_TOKENS = 600_000, 10_000_000
EMBEDDED = 8_000
"""Characters of a query that are embedded: more than any model reads."""
QUESTION_SECONDS = 5.0
"""Seconds that a remote model may take to embed a query; then recall goes on without its vector."""
CAUGHT_UP = 16
"""The most pending texts embedded before memories are compared; the background embeds more."""


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
        min_confidence: float | None = None,
        least_retention: float | None = None,
        review: bool | float = False,
        cursor: str | None = None,
        policy: str | Callable[..., float] = "hybrid",
        weights: Mapping[str, float] | None = None,
        deadline_ms: int | None = None,
        budget_tokens: int | None = None,
        time_zone: str | None = None,
        by_meaning: bool = True,
        matching: bool = False,
        counted: bool = True,
    ) -> Recall:
        """Return what this bank and the user's bank hold on a query: best first, each with its reasons.

        Lists match any of their values. `valid_at` selects memories valid at a time, `known_at` those known then. Any
        text is a query; an empty one finds nothing. With `review`, a share of the `k` answers are memories about to be
        forgotten. `matching` leaves out neighbours of matches that do not match the query themselves. `time_zone` sets
        the days of "yesterday" and "last week". With `counted=False` the recall is no use of the memories. With
        `min_confidence`, return nothing if the answer is less sure, and no hit worth less than half of the best.
        """
        from pieria.bank.read.answer import answer, mark, ranking_of
        from pieria.recall.page import Question
        from pieria.recall.policies import MOST
        from pieria.recall.query import reading
        from pieria.record.zones import checked_zone

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
        surest = 0.0 if min_confidence is None else problems.of(check.number, min_confidence, "min_confidence")
        left = (
            0.0 if least_retention is None else problems.of(check.number, least_retention, "least_retention", 0, MOST)
        )
        share = problems.of(_share, review, self.fading.review_share)
        asked = problems.of(question_text, query)
        ranking = problems.of(ranking_of, policy, weights)
        seconds = math.inf if deadline_ms is None else problems.of(deadline_seconds, deadline_ms)
        tokens = None if budget_tokens is None else problems.of(_tokens, budget_tokens)
        zone = None if time_zone is None else problems.of(checked_zone, time_zone, "time_zone")
        problems.of(check.flag, by_meaning, "by_meaning")
        problems.of(check.flag, matching, "matching")
        problems.of(check.flag, counted, "counted")
        problems.settle()
        if kinds is None:
            filter = filter.having(kinds=ANSWERING_KINDS)
        due = perf_counter() + seconds
        question = Question(
            text=asked,
            reading=reading(asked, moment(filter.now), zone or self.zone),
            policy=ranking,
            min_score=least,
            budget=self._text_budget,
            mark=mark(self, asked, filter, least, ranking, left, share, by_meaning, matching, time_zone, surest),
            fading=self.fading,
            deadline=due,
            tokens=tokens,
            by_meaning=by_meaning,
            matching=matching,
            min_confidence=surest,
            least_left=left,
            review=share,
            fades=self._fades,
        )
        with effort.until(due):
            found = answer(self, question, filter, k, cursor)
        if self._count_uses and counted:
            self._note(found)
        return found

    def _note(self, found: Recall) -> None:
        """Count a use of the memories found, in the bank of each."""
        told = [memory for hit in found for memory in (hit.memory, hit.reply) if memory is not None]
        theirs = [] if self.is_user_bank else [memory.id for memory in told if memory.scope == "user"]
        user = self._me(False) if theirs else None
        if user is not None:
            user._uses.note(theirs, self.viewer.session)
        ours = [memory.id for memory in told if user is None or memory.scope != "user"]
        self._uses.note(ours, self.viewer.session)


def _share(review: object, usual: float) -> float:
    if isinstance(review, bool):
        return usual if review else 0.0
    return check.number(review, "review")


def deadline_seconds(deadline_ms: object) -> float:
    return check.whole(deadline_ms, "deadline_ms", 1, LONGEST_DEADLINE) / 1000


def _tokens(budget_tokens: object) -> int:
    return check.whole(budget_tokens, "budget_tokens", 1, MOST_TOKENS)


def embeddable(question: str) -> str:
    """Return the text to embed, without unpaired surrogates, which no model reads."""
    return question[:EMBEDDED].encode("utf-8", "replace").decode("utf-8")


def question_text(query: object) -> str:
    """Return the query. Any text is legal up to `QUERY_LIMIT` characters."""
    if not isinstance(query, str):
        raise InputError("query", "a text", query)
    if len(query) > QUERY_LIMIT:
        raise InputError("query", f"at most {QUERY_LIMIT:,} characters", query, hint="Ask for the part that matters.")
    return query
