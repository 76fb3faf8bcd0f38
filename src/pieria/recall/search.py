"""A page of results: the best candidates of the arms, then every other memory that shares a term with the query.

Memories that are about to fade and fit the query come along, on places of their own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from pieria.errors import CorruptError
from pieria.recall.answer import Hit, Recall
from pieria.recall.bm25 import behind_sources
from pieria.recall.candidates import LATE
from pieria.recall.page import EVERYTHING, Page, Question, Scored, hit_of, plan_of
from pieria.recall.part import Source
from pieria.recall.past import drawn_on
from pieria.recall.query import Key as CandidateKey
from pieria.recall.rerank import Reranks, placed, rerank, with_score
from pieria.recall.scores import relevance
from pieria.recall.walk import LISTED, PASSED, Pins, Walk
from pieria.record.clip import estimated_tokens
from pieria.record.decay import may_go
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import Memory
from pieria.runtime import effort

AT_ONCE, ROUNDS = 300, 10
"""Further candidates to score in one round, and rounds per page, if a least score is asked for."""
UNLIKELY = "what is unlikely to score enough is left to the next page"
STANDS_BEHIND = 0.5
"""A source ranks before its derived memory if it has at least this share of that memory's worth."""
EVIDENCE = ("turn", "episodic")
"""Kinds of memories that hold all of what is drawn from them."""
WordsKey = tuple[float, int, int]
NOWHERE: CandidateKey = (-1, -1)
Place = tuple[int, str]
"""(index of the source, id in it): two banks may use the same id."""
Each = TypeVar("Each")
RELEVANT = 1 / 3
"""The least relevance, as a share of the most relevant candidate's."""
LOOKED_AT = 20
"""Due memories ranked besides the candidates, of those that share terms with the query."""
BETWEEN = 2
"""Answers between two due memories."""


class Taken(NamedTuple):
    """A candidate for the page. `listed` and `last` are the position of the walk after it."""

    scored: Scored
    listed: int
    """Listed rows up to and including this one."""
    last: WordsKey | None
    """Its own key, if it comes after the listed rows."""


def search(
    sources: Sequence[Source], question: Question, k: int, walk: Walk | None = None, reranks: Reranks | None = None
) -> Recall:
    """Return the best `k` hits, or the next `k` of a walk. The sources must be those of the walk's first page.

    `reranks` reorders the first candidates of a first page. The steps move `page.walk` forward, in this order: rank and
    list candidates, take `k` of them, take back those beyond the budget, and add memories due for review.
    """
    begun = perf_counter()
    page, reranked = _open_page(sources, question, k, walk, reranks)
    start = page.walk
    taken = _take(page, k, first=walk is None)
    if start.reranked:
        taken = [one._replace(scored=placed(one.scored, start)) for one in taken]
    effort.pause()
    memories = _memories(sources, [one.scored for one in taken], replies=True)
    _find_passages(sources, [one.scored for one in taken])
    kept = _within_tokens(taken, memories, question.tokens)
    if len(kept) < len(taken):
        page.walk = _after(start, kept)
    order, moved = _behind_sources(sources, [one.scored for one in kept], memories, _brought(page))
    hits = _hits(page, order, memories, start)
    if walk is None and question.review > 0:
        hits = blended(hits, _take_due(page, order, hits))
    plan = plan_of(page, frozenset(one.evidence.key for one in order), first=walk is None)
    plan |= {**reranked, "behind_sources": moved}
    if len(kept) < len(taken):
        plan["truncated"]["tokens"] = {
            "budget": question.tokens,
            "left_out": len(taken) - len(kept),
            "next": tokens_of(memories[taken[len(kept)].scored.evidence.key]),
        }
    plan["ms"] = round(1000 * (perf_counter() - begun), 3)
    hits = _with_falling_scores(hits, start.lowest)
    more = bool(page.walk.listed) or page.walk.stage != "done"
    cursor = replace(page.walk, lowest=hits[-1].score if hits else start.lowest).cursor() if more else None
    return Recall(question.text, tuple(hits), page.walk.pins.confidence, cursor, plan)


def _open_page(
    sources: Sequence[Source], question: Question, k: int, walk: Walk | None, reranks: Reranks | None
) -> tuple[Page, dict[str, Any]]:
    """Return a page with its candidates ranked and listed, and the plan's entry of the reranker."""
    if walk is not None:
        page = Page(sources, question, walk)
        page.settle()
        page.rank(k, walk.passed)
        return page, {}
    pins = Pins(sources[0].filter.now, tuple((source.name, _known(source)) for source in sources), 0, 0, ())
    page = Page(sources, question, Walk(question.mark, pins))
    _list_candidates(page, k)
    if page.walk.pins.confidence < question.min_confidence:
        page.withhold()
    elif reranks is not None:
        return page, rerank(page, reranks, partial(_memories, sources))
    return page, {}


def _hits(page: Page, order: Sequence[Scored], memories: Mapping[CandidateKey, Memory], start: Walk) -> list[Hit]:
    """Return the hits in order, with the reranker's scores and with replies."""
    hits = [hit_of(one, memories[one.evidence.key], page) for one in order]
    if start.reranked:
        hits = [with_score(hit, one, start) for hit, one in zip(hits, order, strict=True)]
    shown = {one.evidence.key for one in order}
    replies = [None if one.evidence.reply in shown else memories.get(one.evidence.reply or NOWHERE) for one in order]
    return _with_replies(hits, replies, page.question.tokens) if any(replies) else hits


def _known(source: Source) -> int:
    """Return the known time to pin: at most the time of the newest write, so that later writes stay out of
    later pages."""
    head, asked = source.reader.head().known, source.filter.known_at
    return head if asked is None else max(0, min(asked, head))


def _list_candidates(page: Page, k: int) -> None:
    """Choose and rank. Rows not shown are listed for later pages, without another look-up.

    Rows over the limit of the list come with all other text matches.
    """
    order = page.choose(k)
    listed, beyond = order[: k + LISTED], frozenset(order[k + LISTED :])
    known = {*listed, *beyond}
    passed = [*listed, *[code for code in page.scored if code not in known]][:PASSED]
    matched = set()
    for which, match in enumerate(page.matches):
        matched |= {(which, candidate.row) for candidate in match.candidates}
    whole = not beyond and all(match.exact for match in page.matches) and matched <= page.keys
    stage = "done" if whole or (not page.terms and not beyond) else "everything"
    page.walk = replace(page.walk, stage=stage, passed=tuple(passed), listed=tuple(listed))


def _take(page: Page, k: int, *, first: bool) -> list[Taken]:
    """Return the next listed candidates, then the other text matches. Purged rows are skipped.

    Reading all text matches is slow. A first page leaves them to the next page if it is late. It also does so if none
    of them is likely to score enough.
    """
    taken: list[Taken] = []
    behind = 0
    for code in page.walk.listed:
        if len(taken) == k:
            break
        behind += 1
        scored = page.scored.get(code)
        if scored is not None and (not page.is_picky or page.passes(scored)):
            taken.append(Taken(scored, behind, page.walk.last))
    page.walk = replace(page.walk, listed=page.walk.listed[behind:])
    if len(taken) < k and page.walk.stage != "done":
        if first and page.question.by_relevance:
            page.leave_further(UNLIKELY)
        elif first and page.is_late:
            page.leave_further(LATE)
        else:
            _take_further(page, k, taken, behind)
    return taken


def _take_further(page: Page, k: int, taken: list[Taken], behind: int) -> None:
    """Add text matches that are not candidates yet, best first."""
    page.look_up(EVERYTHING, EVERYTHING)
    passed, last = set(page.walk.passed), page.walk.last
    fresh = [
        entry
        for entry in page.by_words()
        if (last is None or entry.key > last) and page.walk.code(entry.which, entry.candidate.row) not in passed
    ]
    if page.question.least_left > 0:
        fresh = [entry for entry, left in page.left_of(fresh) if left >= page.question.least_left]
    at_once = AT_ONCE if page.question.by_relevance else k - len(taken)
    looked_at = 0
    seen = list(page.order)
    for start in range(0, min(len(fresh), ROUNDS * at_once), at_once):
        if start and page.is_late:
            page.leave_further(LATE)
            break
        codes = [page.walk.code(entry.which, entry.candidate.row) for entry in fresh[start : start + at_once]]
        page.rank(len(codes), [*page.walk.passed, *seen, *codes])
        said = _said(page, seen)
        for code, entry in zip(codes, fresh[start:], strict=False):
            if len(taken) == k:
                break
            last, looked_at = entry.key, looked_at + 1
            scored = page.scored.get(code)
            if scored is None or not page.passes(scored):
                continue
            alike = scored.evidence.copy_of
            if alike is not None and alike in said:
                page.passed_over.setdefault(said[alike], []).append(scored.evidence.id)
                continue
            said[alike] = scored.evidence.id
            seen.append(code)
            taken.append(Taken(scored, behind, last))
        if len(taken) == k:
            break
    # A truncated look-up has more rows, unless it brought nothing new.
    is_whole = not fresh or all(match.exact for match in page.matches)
    page.walk = replace(page.walk, last=last, stage="done" if looked_at == len(fresh) and is_whole else "everything")


def _said(page: Page, codes: Sequence[int]) -> dict[Hashable, str]:
    """Return the copy keys of these candidates, each with the id of the first that scores enough."""
    said: dict[Hashable, str] = {}
    for code in codes:
        scored = page.scored.get(code)
        if scored is not None and page.passes(scored):
            said.setdefault(scored.evidence.copy_of, scored.evidence.id)
    return said


def _take_due(page: Page, shown: Sequence[Scored], hits: Sequence[Hit]) -> list[Hit]:
    """Return memories due for review to show with these hits, as far as the budget allows. No later page
    repeats them."""
    maybe = due(page, {page.walk.code(*one.evidence.key) for one in shown})
    memories = _memories(page.sources, [one.scored for one in maybe])
    lasting = {key for key, memory in memories.items() if not may_go(memory, page.question.fades)}
    lasting |= _drawn_on(page.sources, memories)
    chosen = [one for one in maybe if one.scored.evidence.key not in lasting][
        : math.ceil(page.question.review * len(hits))
    ]
    if page.question.tokens is not None:
        left = page.question.tokens - sum(tokens_of(hit.memory) for hit in hits)
        chosen = _fitting(chosen, memories, left)
    taken = {page.walk.code(*one.scored.evidence.key) for one in chosen}
    listed = tuple(code for code in page.walk.listed if code not in taken)
    page.walk = replace(page.walk, listed=listed, passed=(*page.walk.passed, *taken - set(page.walk.passed)))
    return [hit_of(one.scored, memories[one.scored.evidence.key], page, one.urgency) for one in chosen]


def _drawn_on(sources: Sequence[Source], memories: Mapping[CandidateKey, Memory]) -> set[CandidateKey]:
    found: set[CandidateKey] = set()
    for which, source in enumerate(sources):
        theirs = {memory.id: key for key, memory in memories.items() if key[0] == which}
        found |= {theirs[id] for id in drawn_on(source.reader, list(theirs)) if id in theirs}
    return found


def _fitting(chosen: Sequence[Due], memories: Mapping[CandidateKey, Memory], left: int) -> list[Due]:
    kept = []
    for one in chosen:
        left -= tokens_of(memories[one.scored.evidence.key])
        if left < 0:
            break
        kept.append(one)
    return kept


def _after(before: Walk, kept: Sequence[Taken]) -> Walk:
    """Return the walk's position if only these are shown."""
    if not kept:
        return before
    return replace(before, listed=before.listed[kept[-1].listed :], last=kept[-1].last)


def _memories(
    sources: Sequence[Source], shown: Sequence[Scored], *, replies: bool = False
) -> dict[CandidateKey, Memory]:
    """Return the shown memories and, with `replies`, the replies to those that are questions."""
    found: dict[CandidateKey, Memory] = {}
    wanted = {one.evidence.key for one in shown}
    keys = wanted | {one.evidence.reply for one in shown if replies and one.evidence.reply is not None}
    for which, source in enumerate(sources):
        rows = [row for of, row in keys if of == which]
        if rows:
            memories = source.reader.memories(rows, source.filter)
            found.update({(which, row): memory for row, memory in memories.items()})
    if not wanted <= found.keys():
        raise CorruptError("recall", "the index names a version that is not there", hint="Run `pieria doctor`.")
    return found


def _with_replies(hits: Sequence[Hit], replies: Sequence[Memory | None], budget: int | None) -> list[Hit]:
    """Return the hits with their replies, as far as the budget allows after the hits."""
    left = math.inf if budget is None else budget - sum(tokens_of(hit.memory) for hit in hits)
    told: list[Hit] = []
    for hit, reply in zip(hits, replies, strict=True):
        size = 0 if reply is None else tokens_of(reply)
        fits = size <= left
        left -= size if fits else 0
        told.append(replace(hit, reply=reply) if reply is not None and fits else hit)
    return told


def _find_passages(sources: Sequence[Source], shown: Sequence[Scored]) -> None:
    """Find the most similar passage of each shown hit that lacks one."""
    for which, source in enumerate(sources):
        unknown = {
            one.evidence.key[1]: one.evidence
            for one in shown
            if one.evidence.key[0] == which and one.evidence.near is None and one.evidence.dense is not None
        }
        if unknown and source.vector is not None:
            for row, span in source.reader.similarities(source.vector, list(unknown)).items():
                unknown[row].pool.near[unknown[row].number] = span.start


def tokens_of(memory: Memory) -> int:
    return estimated_tokens(f"{memory.title or ''}\n{memory.text}")


def _within_tokens(taken: list[Taken], memories: Mapping[CandidateKey, Memory], budget: int | None) -> list[Taken]:
    """Return the longest prefix within the budget."""
    if budget is None:
        return taken
    left = budget
    for number, one in enumerate(taken):
        left -= tokens_of(memories[one.scored.evidence.key])
        if left < 0:
            return taken[:number]
    return taken


def _brought(page: Page) -> set[CandidateKey]:
    """Return the rules in places reserved for them: they rank lower by themselves."""
    if page.gathered is None or page.arranged is None:
        return set()
    return {page.gathered.pool.keys[number] for number in page.arranged.forward}


def _behind_sources(
    sources: Sequence[Source],
    shown: Sequence[Scored],
    memories: Mapping[CandidateKey, Memory],
    brought: Set[CandidateKey],
) -> tuple[list[Scored], list[str]]:
    """Return the candidates with derived ones after their sources, and the ids moved back.

    Rules that were `brought` to their reserved places stay there.
    """
    by_place: dict[Place, Scored] = {(one.evidence.key[0], memories[one.evidence.key].id): one for one in shown}
    drawn_from: list[tuple[Place, Place]] = []
    for which, source in enumerate(sources):
        drawn_from += _drawn_from(which, source, [id for of, id in by_place if of == which])
    before = list(by_place)
    drawn_from = [pair for pair in drawn_from if by_place.keys() >= set(pair)]
    # A weak source that is here only by a link must not drag down a good answer.
    drawn_from = [pair for pair in drawn_from if by_place[pair[1]].worth >= STANDS_BEHIND * by_place[pair[0]].worth]
    if not drawn_from:
        return list(shown), []
    fixed = {number: place for number, place in enumerate(before) if by_place[place].evidence.key in brought}
    last = _repeating(drawn_from, by_place, memories)
    movable = [place for number, place in enumerate(before) if number not in fixed]
    after = behind_sources(sorted(movable, key=last.__contains__), drawn_from)
    for number, place in fixed.items():
        after.insert(number, place)
    rank = {place: number for number, place in enumerate(before)}
    moved = [place[1] for number, place in enumerate(after) if rank[place] < number]
    return [by_place[place] for place in after], moved


def _repeating(
    drawn_from: Sequence[tuple[Place, Place]],
    by_place: Mapping[Place, Scored],
    memories: Mapping[CandidateKey, Memory],
) -> set[Place]:
    """Return the places of what only repeats a turn or a step on the page: all others come before."""
    said = {source for _, source in drawn_from if memories[by_place[source].evidence.key].kind in EVIDENCE}
    return {derived for derived, source in drawn_from if source in said}


def _with_falling_scores(hits: Sequence[Hit], most: float) -> list[Hit]:
    """Return the hits with falling scores of at most `most`: a moved hit gets the score of its new place."""
    scores = sorted([min(hit.score, most) for hit in hits], reverse=True)
    return [hit if hit.score == score else replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]


def _drawn_from(which: int, source: Source, ids: Sequence[str]) -> list[tuple[Place, Place]]:
    """Return (derived, evidence) pairs among the links of these memories, within one bank."""
    if not ids:
        return []
    ends = [End("memory", id) for id in ids]
    links = source.reader.links(ends=ends, relation=DRAWN_FROM, known_at=source.filter.known_at)
    return [((which, link.source.name), (which, link.target.name)) for link in links]


class Due(NamedTuple):
    scored: Scored
    urgency: float


def due(page: Page, shown: Set[int]) -> list[Due]:
    """Return what may be added to the hits with these codes, most urgent first."""
    if not shown:
        return []
    ranked = page.order
    urgent = [entry for entry, left in page.left_of(page.by_words()) if page.question.fading.urgency(left) > 0]
    words = [page.walk.code(entry.which, entry.candidate.row) for entry in urgent]
    beyond = [code for code in words if code not in page.walk.passed][:LOOKED_AT]
    if beyond:
        page.rank(len(beyond), [*page.walk.passed, *beyond])
    relevant = relevance(next(iter(page.scored.values())).columns).tolist()
    said = {page.scored[code].evidence.copy_of for code in shown if code in page.scored} - {None}
    found = []
    for code in (*ranked, *beyond):
        one = page.scored.get(code)
        if one is None or code in shown or not page.passes(one) or one.evidence.copy_of in said:
            continue
        urgency = page.question.fading.urgency(page.left(one.evidence))
        urgency = urgency if one.evidence.kind in page.question.fades else 0.0
        if urgency > 0 and relevant[one.number] >= RELEVANT * max(relevant):
            found.append(Due(one, urgency))
            said |= {one.evidence.copy_of} - {None}
    return sorted(found, key=lambda one: (-one.urgency, -one.scored.worth))


def blended(answers: Sequence[Each], reviewed: Sequence[Each]) -> list[Each]:
    """Return the answers with one reviewed item after every two; both keep their order."""
    left = list(reviewed)
    found: list[Each] = []
    for number, answer in enumerate(answers, 1):
        found.append(answer)
        if left and number % BETWEEN == 0:
            found.append(left.pop(0))
    return [*found, *left]
