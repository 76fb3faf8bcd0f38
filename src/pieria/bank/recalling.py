"""The verb `recall`: checks what is asked, reads the banks concerned in one moment, hands the work to `recall/`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from pieria.bank.asking import Asked, Names
from pieria.bank.core import Core
from pieria.errors import InputError, NewerVersionError, UnavailableError
from pieria.recall.answer import Recall
from pieria.recall.search import Question, Source, question_of, search
from pieria.recall.walk import EXPECTED, Walk, walk_of
from pieria.record import check
from pieria.record.analyser import ANALYSER_VERSION
from pieria.record.cursor import foreign
from pieria.record.draft import Instant, Problems
from pieria.record.end import End
from pieria.record.filter import Filter
from pieria.record.memory import KINDS, ROUTING_KINDS

K_LIMIT = 10_000
QUERY_LIMIT = 1 << 20
ANSWERING_KINDS = tuple(kind for kind in KINDS if kind not in ROUTING_KINDS)
POLICY = "hybrid"
TO_COME = ("value", "decay", "weighted", "similarity")
"""Policies that are not there yet: they are refused as such, and offered to nobody."""


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
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        status: Names | None = None,
        min_score: float | None = None,
        cursor: str | None = None,
        policy: str | Callable[..., float] = "hybrid",
        weights: Mapping[str, float] | None = None,
        deadline_ms: int | None = None,
        budget_tokens: int | None = None,
    ) -> Recall:
        """What the bank, and the user's own, hold on a question: best first, each with its reasons.

        Lists mean any of theirs. `valid_at` asks what held at a time, `known_at` answers from what was known then.
        Any text is a question; an empty one finds nothing.
        """
        problems = Problems()
        filter = problems.of(
            self._filter,
            Asked(
                kinds, types, tags, entities, files, author, author_type, channel, session, scope, source, place, meta,
                since, until, valid_at, known_at, status,
            ),
        )  # fmt: skip
        problems.of(check.whole, k, "k", 1, K_LIMIT)
        least = 0.0 if min_score is None else problems.of(check.number, min_score, "min_score")
        asked = problems.of(_question, query)
        problems.of(_policy, policy)
        problems.settle()
        _check_offered(policy, weights, deadline_ms, budget_tokens)
        if kinds is None:
            filter = filter.having(kinds=ANSWERING_KINDS)
        question = question_of(asked, least, self._text_budget, self._mark(asked, filter, least))
        with ExitStack() as stack:
            sources = self._sources(stack, filter)
            walk = None
            if cursor is not None:
                walk, sources = _resumed(cursor, question, sources)
            found = search(sources, question, k, walk)
            found.plan["embedding"] = self._embedding.standing(sources[0].reader).as_dict()
        next_cursor = None if found.walk is None else found.walk.cursor()
        return Recall(asked, tuple(found.hits), found.confidence, next_cursor, found.plan)

    def _mark(self, question: str, filter: Filter, least: float) -> str:
        """Tells whose cursor it is: bank, question and all that is asked of an answer, but not the moment of asking."""
        said = repr((self.name, ANALYSER_VERSION, question, filter.having(now=0), least))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]

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


def _policy(policy: object) -> None:
    if not callable(policy) and policy not in (POLICY, *TO_COME):
        raise InputError("policy", POLICY, policy)


def _check_offered(
    policy: object, weights: Mapping[str, float] | None, deadline_ms: int | None, budget_tokens: int | None
) -> None:
    if policy != POLICY:
        raise UnavailableError("policy", f"this bank ranks by text alone, which only {POLICY} does")
    for value, parameter in ((weights, "weights"), (deadline_ms, "deadline_ms"), (budget_tokens, "budget_tokens")):
        if value is not None:
            raise UnavailableError(parameter, "there is one arm, and nothing to weigh or cut")


def _question(query: object) -> str:
    """Any text is a legal question; what no store could hold cannot be in one and is left out."""
    if not isinstance(query, str):
        raise InputError("query", "a text", query)
    if len(query) > QUERY_LIMIT:
        raise InputError("query", f"at most {QUERY_LIMIT:,} characters", query, hint="Ask for the part that matters.")
    return query


def _resumed(cursor: object, question: Question, sources: list[Source]) -> tuple[Walk, list[Source]]:
    """The walk, and the sources it began with as they stood then. One that came since had nothing to say yet."""
    walk = walk_of(cursor, question.mark, len(question.considered), [source.name for source in sources])
    known = dict(walk.pins.known)
    then = [
        replace(source, filter=source.filter.having(now=walk.pins.now, known_at=known[source.name]))
        for source in sources
        if source.name in known
    ]
    if any(known[source.name] > source.reader.head().known for source in then):
        raise foreign(cursor, EXPECTED)
    return walk, then
