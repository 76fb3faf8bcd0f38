"""The memories that a context may show, best first, all read at one moment.

Only indexed ones are read: the newest, the most important, the pinned, those that name a file, standing rules, and open
threads. With a question, hits of recall replace the first two. Open threads are debts that are not done, failures
without a later fix, and sentences that leave work open.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import NamedTuple

from pieria.language.analyser import query_terms, terms
from pieria.language.echo import Query, query_of
from pieria.language.sentences import sentences
from pieria.recall.answer import Overturned, Recall
from pieria.recall.context.lines import DOUBTED
from pieria.recall.context.rules import ruling, words_of
from pieria.recall.part import Source
from pieria.recall.past import find_overturning
from pieria.recall.query import asks_of_before
from pieria.record import debt, lesson
from pieria.record.debt import DEBT, DONE, due_of
from pieria.record.decay import recency
from pieria.record.filter import Filter
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import STATEMENT, End, Memory
from pieria.record.time import micros
from pieria.record.trust import PERSON
from pieria.store.parts import Outline
from pieria.store.protocol import Reader

KNOWN = ("note", "observation", "diary", "summary", "semantic", "procedural")
SAID = ("turn", "drawer", "episodic")
WEIGHT = {"turn": 0.5, "drawer": 0.6, "episodic": 0.6, "summary": 0.9}
"""Kinds that count for less without a question: evidence says little alone, and derived memories are secondary."""
IMPORTANT, RECENT, TRUSTED = 0.55, 0.3, 0.15
RECENT_DAYS = 14.0
BY_FILE, BY_NAME = 1.0, 0.6
"""Score of a memory that names a file: by its path, or by its name alone."""
BESIDE_THE_POINT = 0.4
"""A hit below this share of the best score is no answer."""
NEWEST, MOST_IMPORTANT, LAST_SAID, NAMING = 120, 80, 30, 60
RULES, PINNED, RANKED = 60, 40, 80
DIGESTS, FAILURES, FIXES = 6, 20, 60
TURNS, LAST_ASKED = 40, 2
ASKED = "last asked"
SEARCHED = 2_000
"""Characters of a turn to search for terms."""
SUFFIXES = 8
"""Endings of a path that count as spellings of the file."""
RULE = "rule"
TELLING = 2
"""Terms that are not stop words. A turn with fewer says yes, go on, or thank you."""
NEARLY_ALL = 0.75
"""A memory is redundant if a standing rule repeats at least this share of its text."""
SAID_BY = re.compile(r" Said by the user(?:, asked “[^”]*”)?\.\Z")
"""The end of a note that has a person's words."""
PROPOSALS = 500
"""The newest proposals to read."""
OPEN = "open"
"""The tag of an observation about an open failure."""
POINTS = 3
"""Most sentences from one memory."""
READ = 20_000
"""Characters of a text to search."""
ALIKE = 0.5
"""Share of a failure's terms that its fix must mention."""
NEXT = ("next_steps", "nextSteps")
"""Keys of next steps in the bodies of summaries from other systems."""
_CUE = re.compile(
    r"""\b(?: to-?dos? | fixme | tbd | next \s steps? | next [:,]
        | open \s (?: points? | questions? | issues? | items? | ends? ) | (?: is|are|was|were|left|remains?) \s open
        | still \s (?: to\b | open | fail \w* | broken | missing | needs? | unclear | unknown | have \s to | has \s to )
        | not \s (?: yet | finished | resolved | fixed | solved ) | yet \s to | remain (?: s|ing )
        | left \s to \s \w+ | unfinished | unresolved | pending | blocked | waiting \s (?: for|on )
        | follow [- ]? ups? | needs? \s to | postponed | deferred )\b""",
    re.VERBOSE | re.IGNORECASE,
)


class Rule(NamedTuple):
    """A standing rule, in the words of its author."""

    memory: Memory
    words: str


class Thread(NamedTuple):
    """An open point; `said` is the kind of point."""

    memory: Memory
    text: str
    said: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The request. `session` will read the context, `told` are ids it has read before, `found` answers its question."""

    now: datetime
    place: str | None = None
    files: tuple[str, ...] = ()
    session: str | None = None
    told: frozenset[str] = frozenset()
    found: Recall | None = None


@dataclass(slots=True)
class Found:
    """The candidates by part, each list best first. `passages` are those that answer the question, by id."""

    rules: list[Rule] = field(default_factory=list)
    pinned: list[Memory] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    ranked: list[Memory] = field(default_factory=list)
    passages: Mapping[str, str] = field(default_factory=dict)
    overturned: Mapping[str, Overturned] = field(default_factory=dict)
    """Memories among all these that no longer hold, by id."""


def found(sources: Sequence[Source], wanted: Wanted) -> Found:
    rules = _rules(sources, wanted)
    shown = {_same(one.memory) for one in rules if " ".join(one.words.split()) == _same(one.memory)[1]}
    pinned = _once([one for source in sources for one in _pinned(source, wanted)], wanted, shown)
    shown |= {_same(memory) for memory in pinned}
    ranked = _from_hits(sources, wanted) if wanted.found is not None else _unasked(sources, wanted)
    laid_down = {rule.memory.id for rule in rules}
    threads = [each for source in sources for each in _threads(source, wanted)]
    kept = _unrepeated(_once(ranked, wanted, shown), rules)[:RANKED]
    fails = {hit.memory.id: hit.overturned for hit in wanted.found or () if hit.overturned is not None}
    fails |= _overturning(sources, [*pinned, *kept, *(rule.memory for rule in rules)])
    if wanted.found is None or not asks_of_before(wanted.found.query):
        told = laid_down.union(memory.id for memory in kept)
        kept = [one for one in kept if one.kind == STATEMENT or one.id not in fails or fails[one.id].by not in told]
    return Found(
        rules=rules,
        pinned=pinned,
        threads=_once_open([one for one in threads if one.said != ASKED or one.memory.id not in laid_down]),
        ranked=kept,
        passages={hit.memory.id: hit.snippet for hit in wanted.found or ()},
        overturned=fails,
    )


def _overturning(sources: Sequence[Source], memories: Sequence[Memory]) -> dict[str, Overturned]:
    ids = list(dict.fromkeys(memory.id for memory in memories))
    return {id: by for source in sources for id, by in find_overturning(source.reader, source.filter, ids).items()}


def _rules(sources: Sequence[Source], wanted: Wanted) -> list[Rule]:
    """Return the rules that people gave for the bank or themselves, each wording once."""
    own = [source for source in sources if not source.is_foreign]
    held = [one for source in own for one in ruling(source.reader, source.filter)]
    held.sort(key=lambda one: (one[0], -one[1].importance, *_newest(one[1])))
    if all(memory.id in wanted.told for _, memory in held):
        # Parsing the rules of a text costs a new process a fifth of its time.
        return []
    told = {source.name: spoken_for(source, [memory for _, memory in held]) for source in sources}
    elsewhere = {id: quotes for found in told.values() for id, quotes in found.items()}
    by_words: dict[str, Rule] = {}
    for memory in {_key(memory): memory for _, memory in held}.values():
        words = words_of(memory, elsewhere.get(memory.id, ())).told
        if not words:
            continue
        by_words.setdefault(" ".join(words.casefold().split()), Rule(memory, words))
    return [rule for rule in by_words.values() if rule.memory.id not in wanted.told][:RULES]


def _pinned(source: Source, wanted: Wanted) -> list[Memory]:
    asked = _placed(source, wanted).having(pinned=True)
    held = source.reader.select(asked, "important", PINNED)
    return sorted(held, key=lambda memory: (-memory.importance, *_newest(memory)))


def _unasked(sources: Sequence[Source], wanted: Wanted) -> list[Memory]:
    """Return memories ranked by importance and recency, and by the files in question."""
    now = micros(wanted.now)
    ranked: list[tuple[float, Memory]] = []
    for source in sources:
        asked = _placed(source, wanted)
        known = asked.having(kinds=KNOWN)
        rows = dict.fromkeys(source.reader.rows(known, "newest", NEWEST))
        rows |= dict.fromkeys(source.reader.rows(known, "important", MOST_IMPORTANT))
        rows |= dict.fromkeys(source.reader.rows(asked.having(kinds=SAID), "newest", LAST_SAID))
        heads = source.reader.outlines(list(rows), asked)
        noted = {head.session for head in heads.values() if head.kind == "observation"}
        heads = {row: head for row, head in heads.items() if head.kind != "turn" or head.session not in noted}
        best = sorted(heads.values(), key=lambda head: (-_worth(head, now), -head.at, head.id))[:RANKED]
        naming = _naming(source, wanted)
        ranked += [(_worth(head, now) + bonus, memory) for memory, bonus, head in naming]
        named = {memory.row for memory, _, _ in naming}
        by_row = source.reader.memories([head.row for head in best], asked)
        ranked += [
            (_worth(head, now), by_row[head.row]) for head in best if head.row not in named and head.row in by_row
        ]
    left = [one for one in ranked if one[1].body.get("type") != DEBT or DONE not in one[1].body]
    return [memory for _, memory in sorted(left, key=lambda one: (-round(one[0], 9), *_newest(one[1])))]


def _from_hits(sources: Sequence[Source], wanted: Wanted) -> list[Memory]:
    """Return memories ranked by recall and by the files in question. Skip hits that only repeat the question."""
    hits = [hit for hit in wanted.found or () if not hit.why.get("echo")]
    best = max((hit.score for hit in hits), default=0.0)
    worth: dict[tuple[str, str], tuple[float, Memory]] = {}
    for hit in hits:
        if best and hit.score >= BESIDE_THE_POINT * best:
            worth[_key(hit.memory)] = (hit.score / best, hit.memory)
    now = micros(wanted.now)
    for source in sources:
        for memory, bonus, head in _naming(source, wanted):
            held = worth.get(_key(memory))
            worth[_key(memory)] = (bonus + (held[0] if held else _worth(head, now) / 2), memory)
    return [memory for _, memory in sorted(worth.values(), key=lambda one: (-round(one[0], 9), *_newest(one[1])))]


def _naming(source: Source, wanted: Wanted) -> list[tuple[Memory, float, Outline]]:
    """Return the newest memories that name one of the files, in any spelling of its path, with their scores."""
    if not wanted.files:
        return []
    asked = _placed(source, wanted)
    rows = source.reader.rows(asked.having(files=spellings(wanted.files)), "newest", NAMING)
    heads = source.reader.outlines(rows, asked)
    memories = _memories(source, list(heads), asked)
    return [(memory, _fits(memory, wanted.files), heads[memory.row]) for memory in memories]


def spellings(files: Iterable[str]) -> tuple[str, ...]:
    """Return the spellings of these files: as given, normalized, and by endings of the path."""
    spelt: dict[str, None] = {}
    for file in files:
        whole = posixpath.normpath(file.replace("\\", "/"))
        parts = whole.lstrip("/").split("/")
        spelt |= dict.fromkeys((file, whole, *("/".join(parts[-length:]) for length in range(SUFFIXES, 0, -1))))
    return tuple(spelt)


def _fits(memory: Memory, files: Iterable[str]) -> float:
    """A bare name may belong to many files."""
    names = set(memory.files)
    return max(
        (BY_FILE if "/" in spelt or spelt == file else BY_NAME
         for file in files for spelt in spellings([file]) if spelt in names),
        default=0.0,
    )  # fmt: skip


def _worth(head: Outline, now: int) -> float:
    spoken = IMPORTANT * head.importance + RECENT * recency(now - head.at, RECENT_DAYS) + TRUSTED * head.trust
    return spoken * WEIGHT.get(head.kind, 1.0)


def _threads(source: Source, wanted: Wanted) -> list[Thread]:
    asked = _placed(source, wanted)
    reader = source.reader
    failures = reader.select(asked.having(kinds=("observation",), tags=(OPEN,)), "newest", FAILURES)
    fixes = reader.select(asked.having(types=("bugfix",)), "newest", FIXES) if failures else []
    owed = debt.newest(partial(reader.select, asked.having(types=(DEBT,)), "newest"), wanted.now)
    debts = _by_date([one for one in owed if debt.is_open(one, wanted.now)])
    open_ = [Thread(one, one.title or one.text, "still fails") for one in unmended(failures, fixes)]
    digests = reader.select(asked.having(kinds=("summary", "diary")), "newest", DIGESTS)
    # A failure is already listed itself, even if it was fixed since.
    failing = [one.title.rstrip(".…") for one in failures if one.title]
    # A point may have only the first sentence of the title.
    points = [(one, point) for one in digests for point in open_points(one) if not _is_noted(point, owed)]
    open_ += [
        Thread(one, point)
        for one, point in points
        if not any(title in point or point.rstrip(".…") in title for title in failing)
    ]
    # The author of text in a foreign bank is unknown.
    last = [] if source.is_foreign else _last_asked(reader, asked, wanted.session)
    query = None if wanted.found is None else query_of(wanted.found.query)
    open_ += [Thread(one, one.text, ASKED) for one in last if not (_repeats(one, query) or _is_noted(one.text, owed))]
    open_ = [*debts, *sorted(open_, key=lambda one: _newest(one.memory))]
    return [one for one in open_ if one.memory.id not in wanted.told]


def _by_date(debts: Sequence[Memory]) -> list[Thread]:
    """Return the debts with a date first, the earliest first, then the others by importance and age."""
    ordered = sorted(debts, key=lambda one: (due_of(one) or date.max, -one.importance, *_newest(one)))
    return [Thread(one, _told(one), f"due {due}" if (due := due_of(one)) else None) for one in ordered]


def _told(owed: Memory) -> str:
    """Return the text of a debt; of a doubted one the title."""
    return owed.text if owed.trust >= DOUBTED else owed.title or owed.text


def _is_noted(point: str, debts: Sequence[Memory]) -> bool:
    """Return whether a debt says what a sentence leaves open. It may be done by now."""
    said = set(terms(point))
    return any(len(said & set(terms(f"{one.title or ''} {one.text[:READ]}"))) >= ALIKE * len(said) for one in debts)


def _last_asked(reader: Reader, asked: Filter, session: str | None) -> list[Memory]:
    """Return the last request of each of the latest sessions, except the present one."""
    turns = asked.having(kinds=("turn",), via=(PERSON,))
    heads = reader.outlines(reader.rows(turns, "newest", TURNS), turns).values()
    theirs = [head for head in heads if head.session not in (None, session)]
    held = reader.memories([head.row for head in theirs], turns)
    last: dict[str | None, Memory] = {}
    for head in sorted(theirs, key=lambda head: (-head.at, head.id)):
        if head.row in held and _tells_something(held[head.row]):
            last.setdefault(head.session, held[head.row])
    return [one for one in list(last.values())[:LAST_ASKED] if not _is_answered(reader, asked, one)]


def _is_answered(reader: Reader, asked: Filter, request: Memory) -> bool:
    """Return whether the agent replied to a request, other than with a question."""
    turns = asked.having(kinds=("turn",), session=request.session)
    last = reader.select(turns, "newest", 1)[0]
    return last.author_type == "agent" and last.at >= request.at and not last.text.rstrip().endswith(("?", "？"))


def _repeats(memory: Memory, query: Query | None) -> bool:
    return query is not None and query.is_repeated_by(memory.text, is_said=True)


def _once_open(threads: Iterable[Thread]) -> list[Thread]:
    """Return each wording once, the first in the list."""
    by_words: dict[str, Thread] = {}
    for thread in threads:
        by_words.setdefault(" ".join(thread.text.split()), thread)
    return list(by_words.values())


def _placed(source: Source, wanted: Wanted) -> Filter:
    return source.filter.having(place=wanted.place)


def _memories(source: Source, rows: Sequence[int], filter: Filter) -> list[Memory]:
    held = source.reader.memories(rows, filter)
    return [held[row] for row in rows if row in held]


def _newest(memory: Memory) -> tuple[float, str]:
    """Return a sort key: the latest `at` first, regardless of when it was stored."""
    return -micros(memory.at), memory.id


def _key(memory: Memory) -> tuple[str, str]:
    return memory.scope, memory.id


def _same(memory: Memory) -> tuple[str, str]:
    return memory.title or "", " ".join(memory.text.split())


def _once(memories: Iterable[Memory], wanted: Wanted, shown: Collection[tuple[str, str]]) -> list[Memory]:
    """Return each text once, the first in the list, without those already shown or read before."""
    by_words: dict[tuple[str, str], Memory] = {}
    for memory in memories:
        if memory.id not in wanted.told and _same(memory) not in shown:
            by_words.setdefault(_same(memory), memory)
    return list(by_words.values())


def _unrepeated(memories: Iterable[Memory], rules: Sequence[Rule]) -> list[Memory]:
    """Drop turns that say nothing, and turns that an earlier entry quotes. Also drop memories that a rule nearly
    repeats, and further failures of the same title."""
    kept: list[Memory] = []
    quoted: list[str] = []
    failures: set[str | None] = set()
    words = [set(terms(rule.words)) for rule in rules]
    for memory in memories:
        text = " ".join(memory.text.split())
        if memory.kind == "turn" and (not _tells_something(memory) or any(text in other for other in quoted)):
            continue
        laid_down = set(terms(SAID_BY.sub("", text))) if RULE in memory.tags else set()
        if laid_down and any(len(one & laid_down) >= NEARLY_ALL * len(laid_down) for one in words):
            continue
        if OPEN in memory.tags:
            if memory.title in failures:
                continue
            failures |= {memory.title} - {None}
        kept.append(memory)
        quoted.append(text)
    return kept


def _tells_something(memory: Memory) -> bool:
    return len({found.term for found in query_terms(memory.text[:SEARCHED]) if not found.stop}) >= TELLING


def waiting(source: Source) -> int:
    """Return the number of undecided proposals that are worth a look."""
    asked = source.filter.having(
        kinds=tuple(lesson.KINDS.values()), types=lesson.TYPES, tags=(lesson.TAG,), status=("proposed",)
    )
    if not source.reader.count(asked)["total"]:
        return 0
    held = source.reader.select(asked, "newest", PROPOSALS)
    return sum((memory.confidence or 0) >= lesson.WORTH_A_LOOK for memory in held)


def spoken_for(source: Source, memories: Sequence[Memory]) -> dict[str, set[str]]:
    """Return by turn id the sentences of lessons that were accepted, declined or superseded."""
    turns = {memory.id for memory in memories if memory.kind == "turn"}
    if not turns:
        return {}
    known = source.filter.known_at
    links = source.reader.links([End("memory", id) for id in turns], DRAWN_FROM, known)
    drawn: dict[str, set[str]] = {}
    for link in links:
        if link.target.name in turns:
            drawn.setdefault(link.source.name, set()).add(link.target.name)
    if not drawn:
        return {}
    asked = source.filter.having(ids=tuple(drawn)).anything()
    states = source.reader.states(list(drawn), asked)
    held = source.reader.memories([one.state.row for one in states.values()], asked)
    found: dict[str, set[str]] = {}
    for memory in held.values():
        if lesson.TAG in memory.tags and memory.body.get("type") == lesson.RULE and memory.status != "proposed":
            for turn in drawn[memory.id]:
                found.setdefault(turn, set()).update(_quotes(memory))
    return found


def _quotes(memory: Memory) -> list[str]:
    evidence = memory.body.get("evidence")
    told = evidence if isinstance(evidence, list) else []
    return [str(each["said"]) for each in told if isinstance(each, dict) and each.get("said")]


def open_points(memory: Memory) -> list[str]:
    """Return the sentences of a memory that leave work open, and the next steps it names."""
    return list(dict.fromkeys([*_named(memory), *_said(memory.text[:READ])]))[:POINTS]


def unmended(failures: Sequence[Memory], fixes: Sequence[Memory]) -> list[Memory]:
    """Return the failures that no later fix covers: none shares a changed file, and none mentions them."""
    return [failure for failure in failures if not any(_mends(fix, failure) for fix in fixes)]


def _named(memory: Memory) -> Iterator[str]:
    for key in NEXT:
        held = memory.body.get(key)
        for step in held if isinstance(held, list) else [held]:
            if isinstance(step, str) and step.strip():
                yield step


def _said(text: str) -> Iterable[str]:
    return (text[start:end] for start, end in sentences(text) if _CUE.search(text, start, end))


def _mends(fix: Memory, failure: Memory) -> bool:
    if fix.at <= failure.at:
        return False
    # Every session reads the same few files.
    if set(fix.changed_files) & set(failure.changed_files):
        return True
    of_failure = set(terms(failure.title or failure.text[:READ]))
    of_fix = set(terms(f"{fix.title or ''} {fix.text[:READ]}"))
    return bool(of_failure) and len(of_failure & of_fix) >= ALIKE * len(of_failure)
