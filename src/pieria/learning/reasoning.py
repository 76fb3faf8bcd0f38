"""Answer a question from the candidates of each type, and record which candidates each answer cites.

One thread answers each type; if one fails, the other answers remain. A mind sees numbers instead of ids, so it can
only cite nodes that it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, get_args

from pieria import telemetry
from pieria.errors import PieriaError
from pieria.graph.nodes import ARROW, Episodic, Node, Procedural, Semantic
from pieria.graph.value_function import values_of
from pieria.language.sentences import sentences
from pieria.learning.models import Options, judging
from pieria.learning.recalled import ReasonedMemory, RetrievalResult, TaggedCandidate, in_order
from pieria.models.meter import Tally
from pieria.models.mind import Found, Knowledge, Mind

if TYPE_CHECKING:
    from pieria.config import Config

TYPES: tuple[Knowledge, ...] = get_args(Knowledge)
_MARKS = re.compile(r"(?<![A-Za-z0-9\]])(?:\[\d{1,4}(?:\s*,\s*\d{1,4})*\]\s*)+")
"""Numbers in brackets, but not those in code such as `table[1][2]`."""
_NUMBER = re.compile(r"\d+")
_CLAUSE = re.compile(r"(?:when(?:ever)?|if|before|after|once|while|(?:every|each) time|in case)\b", re.IGNORECASE)
_REPEATED, _LEAST = 60, 8
"""How many leading characters of a sentence must occur in an answer to count as repeated, and a sentence's minimum."""


class _Answer(NamedTuple):
    text: str | None
    shown: tuple[str, ...]
    cited: tuple[str, ...] = ()
    problem: str | None = None
    error: str = ""
    """Code of the error behind `problem`."""


def reason(
    result: RetrievalResult, llm: object, query: str, llm_opts: Options = (), config: Config | None = None
) -> ReasonedMemory:
    """Answer from the best `top_k` candidates of each type. An error in one answer is recorded, not raised."""
    return reasoned(result, query, judging(llm, config, llm_opts, Tally()), config)


def reasoned(
    result: RetrievalResult,
    query: str,
    mind: Mind,
    config: Config | None = None,
    *,
    repo_id: str | None = None,
    session_id: str | None = None,
    in_context: bool = False,
) -> ReasonedMemory:
    """Answer a question from the candidates of each type.

    The answer thresholds were measured on questions without context. A question asked `in_context` skips them.
    """
    types = _sure_enough(result) if getattr(mind, "repeats", False) and not in_context else TYPES
    if not types:
        return ReasonedMemory(withheld=_why(result))
    params = values_of(None, config)["params"]
    shown = {
        kind: in_order(result.candidates[kind])[: int(params[kind]["top_k"])]
        for kind in types
        if result.candidates.get(kind)
    }
    with telemetry.during("reasoning.reason", repo_id=repo_id, session_id=session_id) as measured:
        measured["candidate_types"] = list(shown)
        answers = dict(zip(shown, _answered(mind, query, shown), strict=True))
    return ReasonedMemory(
        **{kind: answer.text for kind, answer in answers.items()},
        cited={kind: answer.cited for kind, answer in answers.items()},
        shown={kind: answer.shown for kind, answer in answers.items()},
        problems=tuple(answer.problem for answer in answers.values() if answer.problem is not None),
        failures=tuple(
            {"step": f"answer {kind}", "error": answer.error}
            for kind, answer in answers.items()
            if answer.problem is not None
        ),
    )


def _sure_enough(result: RetrievalResult) -> tuple[Knowledge, ...]:
    """Return the types that rules may answer. Rules repeat candidates word for word, so they need a sure one."""
    if not result.sure and result.all:
        return TYPES
    return tuple(kind for kind in TYPES if kind in result.sure and result.sure[kind] >= result.floors.get(kind, 0.0))


def _why(result: RetrievalResult) -> str:
    told = [f"{sure:.2f}, below {result.floors[kind]:g} ({kind})" for kind, sure in result.sure.items()]
    why = f"the highest confidence is {'; '.join(told)}" if told else "nothing was found"
    return f"Nothing that is known answers that: {why}."


def _answered(mind: Mind, query: str, shown: Mapping[Knowledge, Sequence[TaggedCandidate]]) -> Iterator[_Answer]:
    if len(shown) < 2:
        return iter([_answer(mind, query, kind, candidates) for kind, candidates in shown.items()])
    with ThreadPoolExecutor(len(shown), "pieria-reasoning") as threads:
        return iter(list(threads.map(lambda each: _answer(mind, query, *each), shown.items())))


def _answer(mind: Mind, query: str, kind: Knowledge, candidates: Sequence[TaggedCandidate]) -> _Answer:
    found = [found_of(each) for each in candidates]
    ids = tuple(each.node.id for each in candidates)
    try:
        text = mind.synthesize(query, kind, found)
    except PieriaError as problem:
        return _Answer(None, ids, problem=f"no {kind} answer: {problem}", error=problem.code)
    if not text.strip():
        return _Answer(None, ids)
    places = sorted({*_marked(text, len(ids)), *([] if _MARKS.search(text) else _repeated(text, found))})
    return _Answer(text, ids, tuple(ids[place] for place in places))


def found_of(candidate: TaggedCandidate) -> Found:
    """Return the candidate in the form that a mind reads."""
    node = candidate.node
    at = f"{node.created_at:%Y-%m-%d %H:%M:%S}"
    return Found(node.node_type, _told(node), at, _score(node), candidate.hop or 0)


def _told(node: Node) -> str:
    if isinstance(node, Procedural):
        when = f"{_condition(node.condition)}: " if node.condition else ""
        expected = f" Expected: {node.expected_outcome}" if node.expected_outcome else ""
        return f"{when}{node.instruction}{expected}"
    if isinstance(node, Episodic):
        # Rules build the state from the observation's words; do not show them twice.
        state = f"\n({node.state})" if node.state and node.observation not in node.state else ""
        return f"{node.observation}{ARROW}{node.action}{state}" if node.action else f"{node.observation}{state}"
    return node.text


def _condition(text: str) -> str:
    """Return the condition as a clause; many minds already write one."""
    return text if _CLAUSE.match(text) else f"When {text}"


def _score(node: Node) -> float | None:
    if isinstance(node, Semantic):
        return node.confidence
    if isinstance(node, Procedural):
        return node.return_score
    return node.reward if isinstance(node, Episodic) else None


def _marked(text: str, count: int) -> Iterator[int]:
    """Yield the indexes of the candidates that the text cites: `[2]`, `[1, 3]`, `[1][3]`."""
    for marks in _MARKS.finditer(text):
        for number in _NUMBER.findall(marks[0]):
            if 1 <= int(number) <= count:
                yield int(number) - 1


def _repeated(text: str, found: Sequence[Found]) -> Iterator[int]:
    """Yield the indexes of the candidates that the text repeats a sentence of."""
    for place, each in enumerate(found):
        if any(
            len(sentence) >= _LEAST and sentence[:_REPEATED] in text
            for sentence in (each.text[part.start : part.end] for part in sentences(each.text))
        ):
            yield place
