"""From a question to its candidates and all that is known of them: every arm is asked, and what it missed filled in.

Exists so that each candidate comes with the evidence of every arm, whichever found it. Nothing is scored here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from pieria.recall.arms import ARMS, LENDING, QUOTA, REACH, Look
from pieria.recall.evidence import Asked, Evidence, Held
from pieria.recall.part import Part, Source
from pieria.recall.ranking import Corpus
from pieria.recall.reading import Reading
from pieria.record.changeset import Content
from pieria.record.fading import DAY
from pieria.record.usage import UNUSED, Usage
from pieria.store.protocol import Kind, Outline, TextMatch

COMPARED: Mapping[str, Kind] = {"dense": "passage", "window": "window"}
NOTHING = Held()
UNSEEN = 5.0
"""What a word weighs that the bank never saw."""
QUESTION_LENGTH = 80
WORTH_FOLDING = 60
"""Characters from which on a text takes up room if it is shown twice."""
LATE = "there was no time left for it"
OFF = "none of its features has a weight"

_TIME = re.compile(
    r"""\b(?: yesterday | today | tonight | tomorrow | ago | recently | since | (?:last|next|this|every) \s \w+
      | (?:mon|tues|wednes|thurs|fri|satur|sun)day
      | january | february | march | april | june | july | august | september | october | november | december
      | (?:morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall)s?
      | \d{1,2} (?:st|nd|rd|th) | (?:19|20)\d\d )\b""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be gathered: by which arms, how many candidates from each, until when.

    `further` are rows of each source that must be candidates; where there are any, the arms choose no others.
    """

    needs: Callable[[Sequence[str]], bool]
    want: int = QUOTA
    budget: int = 5_000
    deadline: float = math.inf
    by_use: bool = True
    further: Mapping[int, Sequence[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Gathered:
    """The pool, and for the plan what each arm did and why others were left out."""

    asked: Asked
    pool: list[Evidence]
    arms: dict[str, dict[str, Any]]
    left_out: dict[str, str]


class Gathering:
    """One question's look-ups, over every source."""

    def __init__(
        self, sources: Sequence[Source], reading: Reading, known: Corpus, matches: Sequence[TextMatch]
    ) -> None:
        self._parts = [Part(which, source, matches[which] if matches else None) for which, source in enumerate(sources)]
        self._reading = reading
        self._known = known
        self._arms: dict[str, dict[str, Any]] = {}
        self._left_out: dict[str, str] = {}

    def gathered(self, wanted: Wanted) -> Gathered:
        look = Look(self._reading, self._known, self._parts, wanted.want, wanted.budget, not wanted.further)
        for part in self._parts:
            part.add(wanted.further.get(part.which, ()))
        asked_arms = frozenset(name for name, arm in ARMS.items() if wanted.needs(arm.features))
        for name in ARMS:
            if name not in asked_arms:
                self._left_out[name] = OFF
            elif perf_counter() >= wanted.deadline:
                self._left_out[name] = LATE
            else:
                self._ask(name, look)
        self._fill(look)
        pool = [evidence for part in self._parts for evidence in self._evidence(part, look, by_use=wanted.by_use)]
        return Gathered(self._asked(look), pool, self._arms, self._left_out)

    def _ask(self, name: str, look: Look) -> None:
        """Runs one arm on every source, and notes what it brought and how long it took."""
        arm = ARMS[name]
        begun = perf_counter()
        brought = 0
        without = [part for part in self._parts if arm.by_vector and part.source.vector is None]
        if without:
            self._left_out[name] = without[-1].source.without or "there is no vector of the question"
        if len(without) == len(self._parts):
            return
        for part in self._parts:
            rows = [] if part in without else list(arm.look(look, part))
            part.add(rows)
            brought += len(rows)
        ms = round(1000 * (perf_counter() - begun), 3)
        self._arms[name] = {"features": list(arm.features), "candidates": brought, "ms": ms}

    def _fill(self, look: Look) -> None:
        kinds = [what for arm, what in COMPARED.items() if arm in self._arms]
        for part in self._parts:
            if "context" in self._arms:
                part.line_up(REACH, LENDING)
            part.fill(self._reading.considered, self._reading.pairs, LENDING, kinds)
            if "rules" in self._arms:
                part.compare_rules()

    def _asked(self, look: Look) -> Asked:
        read = self._reading
        unseen = sum(1 for term in read.considered if term not in self._known.weights)
        of_authors = frozenset[str]().union(*look.authors.values())
        return Asked(
            weights=self._known.weights,
            whole=math.fsum(self._known.weights.values()) + UNSEEN * unseen,
            mean_length=self._known.mean_length,
            now=read.now,
            spans=read.spans,
            entities=[entity for entity in read.named if not entity <= of_authors],
            wants_done=read.wants_done,
            is_overview=read.is_overview,
            is_when=read.is_when,
            heeds_rules=look.heeds_rules,
        )

    def _evidence(self, part: Part, look: Look, *, by_use: bool) -> Iterator[Evidence]:
        outlines = part.outlined()
        seen = [row for row in part.found if row in outlines]
        used = part.source.reader.usage([outlines[row].id for row in seen]) if by_use else {}
        held = {
            row: Held(found.length, found.distinct, found.counts, len(found.pairs)) for row, found in part.held.items()
        }
        for row in seen:
            yield self._of(part, row, look, used, held)

    def _of(self, part: Part, row: int, look: Look, used: Mapping[str, Usage], held: Mapping[int, Held]) -> Evidence:
        outline = part.outlines[row]
        before = part.before.get(row)
        content = part.contents.get(row)
        text = content.text if content is not None else ""
        passage = part.alike.get("passage", {}).get(row)
        fit = part.alike.get("rule", {}).get(row, passage or 0.0)
        return Evidence(
            key=(part.which, row),
            id=outline.id,
            held=held.get(row, NOTHING),
            around=[(distance, held.get(other, NOTHING)) for distance, other in part.neighbours(row, LENDING)],
            before=None if before is None else (part.which, before),
            session=outline.session,
            at=outline.at,
            dense=passage,
            near=part.nearest.get(row),
            window=part.alike.get("window", {}).get(row),
            rule=fit if row in part.rules else None,
            wish=fit if row in part.wishes else None,
            by_named=outline.author in look.named,
            is_turn=outline.kind == "turn",
            by_agent=outline.author_type == "agent" and outline.kind == "turn",
            asks=_asks(text),
            tells_time=self._reading.is_when and _TIME.search(text) is not None,
            place=part.places.get(row),
            importance=outline.importance,
            strength=outline.strength,
            says_when=outline.valid_from is not None,
            used=used.get(outline.id, UNUSED),
            fact=part.facts.get(row, 0.0),
            tied=[(part.which, other) for other in part.tied.get(row, ())],
            copy_of=None if content is None or len(text) < WORTH_FOLDING else _said(part.which, outline, content),
        )


def _said(which: int, one: Outline, content: Content) -> Hashable:
    """What two memories have in common that say the same on the same occasion."""
    occasion = (which, one.author, one.kind, one.session, one.scope, one.at // DAY, one.valid_from)
    return (*occasion, content.title, content.body, content.text)


def _asks(text: str) -> bool:
    stripped = text.rstrip(" \t\n\"'”’)*_")
    return stripped.endswith(("?", "？")) or ("?" in text and len(text) < QUESTION_LENGTH)
