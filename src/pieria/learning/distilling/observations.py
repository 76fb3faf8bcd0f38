"""Build observations from what a mind noticed: ids, times, lineage and trust, which no mind decides.

An id depends only on the observation's content, so the same events give the same ids with any mind.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pieria.errors import PieriaError
from pieria.language.analyser import terms
from pieria.language.repetition import Runs
from pieria.learning.distilling.completion import Completion, find_completion, find_completions
from pieria.learning.distilling.due import due_date
from pieria.learning.distilling.pieces import alike, runs_of, turn_id
from pieria.learning.distilling.tasks import Read, Span, read, sources_of
from pieria.models.mind import NOTICED, TITLE, Deed, Mind, Noticed
from pieria.models.minds.rules import RuleMind
from pieria.record.clip import clipped, estimated_tokens
from pieria.record.debt import DEBT, DONE, DUE
from pieria.record.draft import NewMemory
from pieria.record.event import AgentEvent
from pieria.record.ids import derived_id
from pieria.record.time import iso
from pieria.record.trust import AGENT, OUTSIDE, lowest

log = logging.getLogger(__name__)

KIND = "observation"
IMPORTANCE = {
    "decision": 0.7, "plan": 0.6, "debt": 0.65, "fact": 0.6, "howto": 0.65, "bugfix": 0.65, "feature": 0.6,
    "refactor": 0.55, "change": 0.55, "discovery": 0.5,
}  # fmt: skip
LEAST_WORTH = 0.6
"""The share of its type's importance that a note has which is hardly worth keeping."""
SAID = frozenset({"decision", "plan", "debt", "fact"})
"""Types that rest on words more than on deeds."""
DATED = frozenset({DEBT, "plan"})
"""Types that a date makes due."""
AGAINST = "against"
"""The key in a decision's body for the options that it left."""
CHOSEN = ("decision", "plan")
SAID_BY, USER = "said_by", "user"
"""The key and value in the body of a decision or plan in the user's own words: only such a one reverses a choice."""
MOSTLY = 0.6
"""The share of a model's terms that a user's own words have if they say the same."""
OPEN_IMPORTANCE, OUTSIDE_IMPORTANCE = 0.65, 0.35
OPEN = "open"
"""Tag of a failure that is still open; it ranks above other discoveries."""
CHARACTERS_A_TOKEN = 4
FILES = 20
FACTS = 10
TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation to write. `sources` are turn ids; `times` counts the similar observations folded into it."""

    new: NewMemory
    sources: tuple[str, ...]
    times: int = 1

    def id(self, session_key: str, number: int) -> str:
        """Return the id of observation `number` among those of the session with this type and title."""
        told = [session_key, str(self.new.body["type"]), (self.new.title or "").casefold()]
        return derived_id("observation", *told, *([str(number)] if number else []))


@dataclass(frozen=True, slots=True)
class Distilled:
    """`waiting` holds events that the next piece needs, `completions` what was said to be done.

    `problem` says why rules replaced the model.
    """

    observations: tuple[Observation, ...]
    waiting: tuple[AgentEvent, ...]
    completions: tuple[Completion, ...] = ()
    problem: str | None = None


def distilled(
    events: Sequence[AgentEvent],
    mind: Mind,
    *,
    told: frozenset[str] = frozenset(),
    scope: str,
    heard: Runs | None = None,
) -> Distilled:
    """Return the observations of a session's piece. `told` holds ids of events that an earlier piece covered.

    `heard` are the runs of tool output in the session; by default those of these events.
    """
    found = read(events, told)
    noticed, by, problem = _noticed(found, mind)
    heard = runs_of(events) if heard is None else heard
    made = [_observation(found.spans[each.task], each, by, scope, heard) for each in noticed]
    last = [event for span in found.spans[-1:] for event in (span.prompt, span.outside) if event is not None]
    said = find_completions(found.spans, (Completion(*item) for item in found.done))
    kept = [_closed(each, said) for each in _folded(made)]
    return Distilled(tuple(kept), (*last, *found.open), tuple(said), problem)


def _noticed(found: Read, mind: Mind) -> tuple[list[Noticed], str, str | None]:
    """Return what a mind noticed, which mind it was, and why rules replaced the requested one."""
    tasks = [span.task for span in found.spans]
    rules = RuleMind()
    by_rules = rules.notice(tasks)
    if mind.name == rules.name or not tasks:
        return by_rules, rules.name, None
    try:
        noticed = mind.notice(tasks)
    except PieriaError as problem:
        log.warning("%s could not tell what was done, so rules do: %s", mind.name, problem.message)
        return by_rules, rules.name, problem.message
    # No model sees fetched pages; rules report them.
    pages = [each for each in by_rules if each.deeds and all(_is_page(found, each, place) for place in each.deeds)]
    own = [each for each in by_rules if each.type in CHOSEN and each.replies == ()]
    return [*(_grounded(found.spans[each.task], each, own) for each in noticed), *pages], mind.name, None


def _is_page(found: Read, noticed: Noticed, place: int) -> bool:
    return found.spans[noticed.task].task.deeds[place].what == "fetched"


def _grounded(span: Span, noticed: Noticed, own: Sequence[Noticed]) -> Noticed:
    """Attach the deeds that a model's words name, or else all edits and commands. Models see no fetched pages.

    A choice rests on the user's words alone if rules find it among them, as one of `own`.
    """
    if noticed.type in SAID:
        said = {*terms(noticed.text)}
        is_users = noticed.type in CHOSEN and any(
            each.task == noticed.task and len(said & {*terms(each.text)}) >= MOSTLY * len(said) for each in own
        )
        replies = () if is_users else noticed.replies
        return replace(noticed, is_outside=span.outside is not None, replies=replies)
    shown = [(place, deed) for place, deed in enumerate(span.task.deeds) if deed.what != "fetched"]
    told = f"{noticed.title} {noticed.text}"
    named = [place for place, deed in shown if deed.target.rpartition("/")[2] in told]
    deeds = named or [place for place, deed in shown if deed.what in ("edited", "ran")]
    return replace(noticed, deeds=tuple(deeds), is_outside=span.outside is not None)


def _observation(span: Span, noticed: Noticed, by: str, scope: str, heard: Runs) -> Observation:
    events = list(sources_of(span, noticed.deeds)) if noticed.deeds else []
    replies = _quoted_replies(span, noticed)
    about = [event for event in (*events, span.prompt, *replies, *span.replies) if event is not None]
    about = about or [event for held in span.sources for event in held]
    own = [*events, *(replies if noticed.replies else ())]
    at = max(event.at for event in own) if own else (span.prompt or about[0]).at
    changed, looked = _files(span, noticed)
    type = noticed.type if noticed.type in NOTICED else "change"
    body: dict[str, object] = {"type": type, "by": by}
    if noticed.facts:
        body["facts"] = [clipped(fact, 500) for fact in noticed.facts[:FACTS]]
    if looked:
        body["files_read"] = looked
    if type in CHOSEN and noticed.replies == ():
        body[SAID_BY] = USER
    if left := [option for deed in _deeds(span, noticed) if deed.what == "chosen" for option in deed.others]:
        body[AGAINST] = left
    due = due_date(noticed.text, at) if type in DATED else None
    if due is not None:
        body[DUE] = due.isoformat()
    spent = sum(_tokens(event) for event in events)
    if spent:
        body["discovery_tokens"] = spent
    new = NewMemory(
        clipped_text(noticed.text),
        title=clipped(noticed.title, TITLE),
        kind=KIND,
        body=body,
        tags=noticed.concepts,
        files=list(dict.fromkeys((*changed, *looked)))[:FILES],
        importance=_importance(type, noticed),
        scope=scope,
        source=about[0].host,
        author_type="agent",
        session=about[0].session,
        at=at,
        via=OUTSIDE if noticed.is_outside or _quotes(noticed, heard) else AGENT,
    )
    return Observation(new, _sources(span, noticed))


def _closed(observation: Observation, said: Sequence[Completion]) -> Observation:
    """Mark what is owed as done if the same session said so later."""
    new = observation.new
    if new.body["type"] != DEBT or not isinstance(new.at, datetime):
        return observation
    done = find_completion(new.text, new.at, said)
    return observation if done is None else replace(observation, new=replace(new, body={**new.body, DONE: iso(done)}))


def _quotes(noticed: Noticed, heard: Runs) -> bool:
    """Return whether the text repeats tool output, such as an error line."""
    return any(heard.repeated(text) for text in (noticed.title, noticed.text, *noticed.facts))


def _tokens(event: AgentEvent) -> int:
    """Estimate the tokens of the full output, from its length if only a part was kept."""
    return event.length // CHARACTERS_A_TOKEN if event.length else estimated_tokens(event.text)


def clipped_text(text: str) -> str:
    """Return the text, cut with an ellipsis if it is too long."""
    return text if len(text) <= TEXT else text[: TEXT - 1].rsplit(" ", 1)[0] + "…"


def _importance(type: str, noticed: Noticed) -> float:
    if OPEN in noticed.concepts:
        return OPEN_IMPORTANCE
    if noticed.is_outside:
        return OUTSIDE_IMPORTANCE
    return round(IMPORTANCE[type] * (LEAST_WORTH + (1 - LEAST_WORTH) * noticed.worth), 3)


def _files(span: Span, noticed: Noticed) -> tuple[list[str], list[str]]:
    """Return the changed files and the files that were only read."""
    deeds = _deeds(span, noticed)
    changed = [deed.target for deed in deeds if deed.what == "edited"]
    told = deeds if any(deed.what == "read" for deed in deeds) else span.task.deeds if changed else ()
    looked = [deed.target for deed in told if deed.what == "read" and deed.target not in changed]
    return _named(changed), _named(looked)


def _deeds(span: Span, noticed: Noticed) -> list[Deed]:
    return [span.task.deeds[place] for place in noticed.deeds]


def _named(paths: Sequence[str]) -> list[str]:
    """Return the paths that are valid labels."""
    return [path for path in dict.fromkeys(paths) if 0 < len(path) <= 300 and path.isprintable()][:FILES]


def _sources(span: Span, noticed: Noticed) -> tuple[str, ...]:
    """Return the ids of the turns that the observation quotes."""
    said = [span.prompt, span.before if noticed.type in SAID else None, *_quoted_replies(span, noticed)]
    return tuple(dict.fromkeys(turn_id(event.id) for event in said if event is not None))


def _quoted_replies(span: Span, noticed: Noticed) -> list[AgentEvent]:
    places = range(len(span.replies)) if noticed.replies is None else noticed.replies
    return [span.replies[place] for place in places]


def _folded(observations: Sequence[Observation]) -> list[Observation]:
    """Fold similar observations into the first one and count them."""
    kept: list[Observation] = []
    told: list[frozenset[str]] = []
    for each in observations:
        telling = frozenset(terms(each.new.text))
        for place, held in enumerate(kept):
            if held.new.body["type"] == each.new.body["type"] and alike(told[place], telling):
                sources = tuple(dict.fromkeys((*held.sources, *each.sources)))
                new = replace(held.new, via=lowest(str(held.new.via), str(each.new.via)))
                kept[place] = Observation(new, sources, held.times + each.times)
                break
        else:
            kept.append(each)
            told.append(telling)
    return kept
