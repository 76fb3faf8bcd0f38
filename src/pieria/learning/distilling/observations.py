"""What was noticed of a session's tasks as observations: with ids, times, lineage and trust, which no mind decides.

The ids follow from what an observation says, so that the same events come to the same ones, whoever reads them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pieria.errors import PieriaError
from pieria.learning.distilling.pieces import alike, runs_of, turn_id
from pieria.learning.distilling.tasks import Read, Span, read, sources_of
from pieria.models.mind import NOTICED, TITLE, Mind, Noticed
from pieria.models.minds.rules import RuleMind
from pieria.record.analyser import terms
from pieria.record.clip import clipped
from pieria.record.draft import NewMemory
from pieria.record.event import Event
from pieria.record.ids import derived_id
from pieria.record.repetition import Runs
from pieria.record.tokens import estimated_tokens
from pieria.record.trust import AGENT, OUTSIDE, lowest

log = logging.getLogger(__name__)

KIND = "observation"
IMPORTANCE = {"decision": 0.7, "bugfix": 0.65, "feature": 0.6, "refactor": 0.55, "change": 0.55, "discovery": 0.45}
OPEN_IMPORTANCE, OUTSIDE_IMPORTANCE = 0.65, 0.35
OPEN = "open"
"""The tag of what is still broken, which counts for more than other discoveries."""
CHARACTERS_A_TOKEN = 4
FILES = 20
FACTS = 10
TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Observation:
    """What is to be written: `sources` are ids of turns; of alike ones that were folded into it, `times` counts all."""

    new: NewMemory
    sources: tuple[str, ...]
    times: int = 1

    def id(self, session_key: str, number: int) -> str:
        """The id of the so-manieth of a session with this type and title."""
        told = [session_key, str(self.new.body["type"]), (self.new.title or "").casefold()]
        return derived_id("observation", *told, *([str(number)] if number else []))


@dataclass(frozen=True, slots=True)
class Distilled:
    """`waiting` are the events that the next piece needs to know. `problem` says why rules did what a model should."""

    observations: tuple[Observation, ...]
    waiting: tuple[Event, ...]
    problem: str | None = None


def distilled(
    events: Sequence[Event],
    mind: Mind,
    *,
    told: frozenset[str] = frozenset(),
    scope: str,
    heard: Runs | None = None,
) -> Distilled:
    """Return the observations of a session's piece. `told` are ids of events that an earlier piece has told of.

    `heard` are the runs of what tools put out in the session; by default those of these events.
    """
    found = read(events, told)
    noticed, by, problem = _noticed(found, mind)
    heard = runs_of(events) if heard is None else heard
    made = [_observation(found.spans[each.task], each, by, scope, heard) for each in noticed]
    last = [event for span in found.spans[-1:] for event in (span.prompt, span.outside) if event is not None]
    return Distilled(tuple(_folded(made)), (*last, *found.open_failures), problem)


def _noticed(found: Read, mind: Mind) -> tuple[list[Noticed], str, str | None]:
    """What a mind noticed, whose words these are, and why it is not the mind that was asked."""
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
    # Pages are shown to no model: they are told of as they are.
    pages = [each for each in by_rules if each.deeds and all(_is_page(found, each, place) for place in each.deeds)]
    return [*(_grounded(found.spans[each.task], each) for each in noticed), *pages], mind.name, None


def _is_page(found: Read, noticed: Noticed, place: int) -> bool:
    return found.spans[noticed.task].task.deeds[place].what == "fetched"


def _grounded(span: Span, noticed: Noticed) -> Noticed:
    """With the deeds that a model's words name, or else all that changed something; no page was shown to it."""
    if noticed.type == "decision":
        return noticed
    shown = [(place, deed) for place, deed in enumerate(span.task.deeds) if deed.what != "fetched"]
    told = f"{noticed.title} {noticed.text}"
    named = [place for place, deed in shown if deed.target.rpartition("/")[2] in told]
    deeds = named or [place for place, deed in shown if deed.what in ("edited", "ran")]
    return replace(noticed, deeds=tuple(deeds), is_outside=span.outside is not None)


def _observation(span: Span, noticed: Noticed, by: str, scope: str, heard: Runs) -> Observation:
    events = list(sources_of(span, noticed.deeds)) if noticed.deeds else []
    about = [event for event in (*events, span.prompt, span.reply) if event is not None]
    at = max(event.at for event in about) if events else (span.prompt or about[0]).at
    changed, looked = _files(span, noticed)
    type = noticed.type if noticed.type in NOTICED else "change"
    body: dict[str, object] = {"type": type, "by": by}
    if noticed.facts:
        body["facts"] = [clipped(fact, 500) for fact in noticed.facts[:FACTS]]
    if looked:
        body["files_read"] = looked
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


def _quotes(noticed: Noticed, heard: Runs) -> bool:
    """Return whether its words repeat what a tool put out, such as the line of an error."""
    return any(heard.repeated(text) for text in (noticed.title, noticed.text, *noticed.facts))


def _tokens(event: Event) -> int:
    """Of the whole output; where only some of it was kept, by its length."""
    return event.length // CHARACTERS_A_TOKEN if event.length else estimated_tokens(event.text)


def clipped_text(text: str) -> str:
    """A narrative is short; one that is not is cut, and says so."""
    return text if len(text) <= TEXT else text[: TEXT - 1].rsplit(" ", 1)[0] + "…"


def _importance(type: str, noticed: Noticed) -> float:
    if OPEN in noticed.concepts:
        return OPEN_IMPORTANCE
    return OUTSIDE_IMPORTANCE if noticed.is_outside else IMPORTANCE[type]


def _files(span: Span, noticed: Noticed) -> tuple[list[str], list[str]]:
    """Those that were changed, and those that were only read."""
    deeds = [span.task.deeds[place] for place in noticed.deeds]
    changed = [deed.target for deed in deeds if deed.what == "edited"]
    told = deeds if any(deed.what == "read" for deed in deeds) else span.task.deeds if changed else ()
    looked = [deed.target for deed in told if deed.what == "read" and deed.target not in changed]
    return _named(changed), _named(looked)


def _named(paths: Sequence[str]) -> list[str]:
    """Those that can be labels."""
    return [path for path in dict.fromkeys(paths) if 0 < len(path) <= 300 and path.isprintable()][:FILES]


def _sources(span: Span, noticed: Noticed) -> tuple[str, ...]:
    """The turns whose words are in it."""
    said = [span.prompt, span.before if noticed.type == "decision" else span.reply]
    return tuple(turn_id(event.id) for event in said if event is not None)


def _folded(observations: Sequence[Observation]) -> list[Observation]:
    """Of those that say the same the first, with how many there were."""
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
