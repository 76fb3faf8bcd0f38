"""No reader shows quarantined content, now or at any known time, and lifting a quarantine restores all answers.

Histories are random: memories of random sources, derivations, revisions, facts and links. A plain walk over the
derivations says what must be hidden. Every memory has a unique word, so a leak shows in the text of an answer.
"""

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pieria import Workspace
from pieria.bank import Bank
from pieria.bank.results.general import Page
from pieria.errors import ConflictError, PieriaError, QuarantinedError
from pieria.recall.answer import Context, Recall
from pieria.recall.scores import POLICIES
from pieria.toolsets import Banks, Host, Paths, called, registry

pytestmark = pytest.mark.timeout(900)

SOURCES = ("a.md", "b.md", "c.md")
COMMON = "harbour"
QUESTION = f"{COMMON} lantern"
TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mempalace_search", {"query": QUESTION}), ("mempalace_list_drawers", {}), ("mempalace_get_taxonomy", {}),
    ("mempalace_kg_query", {"entity": COMMON}), ("mempalace_kg_timeline", {}), ("mem-find", {"query": QUESTION}),
    ("mem-history", {}), ("search_memory", {"query": QUESTION}), ("search_unified", {"query": QUESTION}),
    ("cluster_memories", {}), ("analyze_for_recall", {"message": QUESTION}), ("mnemosyne_recall", {"query": QUESTION}),
    ("mnemosyne_triple_query", {"subject": COMMON}), ("sessions_recall", {"query": QUESTION}), ("sessions_latest", {}),
)  # fmt: skip
EXAMPLES = {"file": 40, "server": 8}  # each takes a second on a file, and five on a server
TIMINGS = ("ms", "seconds", "_us", "timings", "ursor")
"""Suffixes of fields that hold a duration, or the number of the last change that was read."""

picks = st.integers(0, 30)
steps = st.one_of(
    st.tuples(st.just("remember"), st.sampled_from(SOURCES), st.sampled_from(["s1", "s2", None]), st.booleans()),
    st.tuples(st.just("draw"), st.lists(picks, min_size=1, max_size=3)),
    st.tuples(st.just("alter"), picks, st.sampled_from(["revise", "update", "state"])),
    st.tuples(st.just("know"), st.sampled_from(SOURCES)),
    st.tuples(st.just("tie"), picks, picks),
)
histories = st.lists(steps, min_size=4, max_size=24)


class Story:
    """A bank with a random history, and the words to hide with each source."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.sources: dict[str, set[str]] = {}  # of each id, direct and indirect
        self.words: dict[str, set[str]] = {}  # to hide with each source
        self.numbers = itertools.count()

    def word(self, sources: set[str]) -> str:
        word = f"zq{next(self.numbers):03}x"
        for source in sources:
            self.words.setdefault(source, set()).add(word)
        return word

    def text(self, sources: set[str]) -> str:
        return f"{COMMON} {self.word(sources)} lantern"

    def tell(self, step: tuple[Any, ...]) -> None:
        what, *given = step
        live = [memory.id for memory in self.bank.list(limit=1_000)]
        if live or what in ("remember", "know"):
            getattr(self, what)(live, *given)

    def remember(self, live: list[str], source: str, session: str | None, is_turn: bool) -> None:
        kind = "turn" if is_turn and session is not None else "note"
        made = self.bank.remember(self.text({source}), kind=kind, source=source, session=session, tags=["sea"])
        self.sources[made.id] = {source}

    def draw(self, live: list[str], picks: list[int]) -> None:
        of = sorted({live[pick % len(live)] for pick in picks})
        sources = set().union(*(self.sources[id] for id in of))
        made = self.bank.remember(self.text(sources), kind="semantic")
        for other in of:
            self.bank.link(made.id, other, "provenance")
        self.sources[made.id] = sources

    def alter(self, live: list[str], pick: int, how: str) -> None:
        id = live[pick % len(live)]
        if how == "state":
            self.bank.facts.add(COMMON, "holds", self.word(self.sources[id]), memory=id)
        else:
            made = getattr(self.bank, how)(id, text=self.text(self.sources[id]))
            self.sources[made.id] = self.sources[id]

    def know(self, live: list[str], source: str) -> None:
        self.bank.facts.add(COMMON, "knows", self.word({source}), source=source)

    def tie(self, live: list[str], one: int, other: int) -> None:
        ends = live[one % len(live)], live[other % len(live)]
        if ends[0] != ends[1]:
            self.bank.link(*ends, "near")


def answers(story: Story, host: Host, moments: list[datetime | None]) -> dict[str, Any]:
    """Return everything that the readers show, by question."""
    bank = story.bank
    found: dict[str, Any] = {}

    def ask(name: str, verb: Callable[..., Any], *given: Any, **asked: Any) -> None:
        try:
            answer = _shown(verb(*given, **asked))
        except ConflictError as problem:
            # A refusal names the id and none of its content.
            answer = type(problem).__name__
        except PieriaError as problem:
            answer = f"{type(problem).__name__}: {problem}"
        found[" ".join(map(str, (name, given, asked)))] = answer

    for at in moments:
        for policy in POLICIES:
            ask("recall", bank.recall, QUESTION, k=50, policy=policy, known_at=at)
        ask("list", bank.list, known_at=at, limit=500, include=("removed", "revised"))
        ask("each", bank.list_each, "tags", ["sea"], known_at=at)
        ask("count", bank.count, by="source", known_at=at)
        ask("facts", bank.facts.query, known_at=at)
        ask("context", bank.context, known_at=at, session="s1")
        for id in story.sources:
            ask("get", bank.get, id, known_at=at)
    ask("context", bank.context, QUESTION)
    ask("timeline", bank.facts.timeline, COMMON)
    ask("entities", bank.facts.entities)
    ask("similar", bank.similar, QUESTION, k=50)
    ask("sessions", bank.sessions.list)
    ask("links", bank.links)
    ask("places", bank.places.all)
    ask("due", bank.upkeep.due)
    ask("graph", bank.graph.latest, 50, ["semantic", "episodic"])
    for id in story.sources:
        ask("version", bank.get, f"{id}@1")
        ask("history", bank.history, id, revisions=True)
        ask("neighbors", bank.neighbors, id)
        ask("around", bank.around, id)
        ask("usage", bank.usage, id)
        ask("node", bank.graph.get_node, id)
    for tool, arguments in TOOLS:
        found[f"tool {tool}"] = _timeless(called(registry(), tool, arguments, host).value)
    return found


def _shown(answer: Any) -> Any:
    """Return the shown part of an answer, without durations and the change it was read at."""
    if isinstance(answer, Recall):
        return [(hit.memory.id, hit.memory.text, hit.snippet) for hit in answer]
    if isinstance(answer, Context):
        return answer.text
    if isinstance(answer, Page):
        return [str(memory) for memory in answer]
    if isinstance(answer, dict):
        return {str(key): _shown(value) for key, value in answer.items()}
    return str(answer)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if not str(key).endswith(TIMINGS)}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


@contextmanager
def told(data: str, steps: list[tuple[Any, ...]]) -> Iterator[tuple[Story, Host, list[datetime | None]]]:
    now, ticks = [datetime(2026, 3, 1, tzinfo=UTC)], [timedelta(milliseconds=1)]

    def clock() -> datetime:
        """Advance the clock while the history is written. Stop it during the questions."""
        now[0] += ticks[0]
        return now[0]

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        workspace = stack.enter_context(Workspace(data or folder / "data", {"embedder": "hashing"}, clock=clock))
        bank = workspace.open(f"leaks{folder.name}")
        story = Story(bank)
        moments: list[datetime | None] = [None]
        for number, step in enumerate(steps):
            story.tell(step)
            if number == len(steps) // 2:
                moments.append(clock())
        moments.append(clock())
        bank.sync()
        ticks[0] = timedelta(0)
        banks = Banks(workspace, "test")
        stack.callback(banks.close)
        yield story, Host(banks, bank.name, "monday", Paths(folder, (folder,))), moments


def check_hidden(data: str, steps: list[tuple[Any, ...]], source: str) -> None:
    with told(data, steps) as (story, host, moments):
        words = story.words.get(source, set())
        if not words:
            return
        before = answers(story, host, moments)
        receipt = story.bank.quarantine(source=source, reason="poisoned")
        hidden = {id for id in story.sources if source in story.sources[id]}
        assert receipt.memories == len(hidden)
        story.bank.sync()
        during = answers(story, host, moments)
        for question, answer in during.items():
            spelt = json.dumps(answer, default=str)
            leaked = [word for word in words if word in spelt]
            assert not leaked, (question, leaked, answer)
        for id in hidden:
            with pytest.raises(QuarantinedError):
                story.bank.get(id)
        story.bank.lift(receipt.number or 0)
        story.bank.sync()
        after = answers(story, host, moments)
        changed = {name: (before[name], after[name]) for name in after if after[name] != before[name]}
        assert not changed, changed


EVERY_STEP: list[tuple[Any, ...]] = [
    ("remember", "a.md", "s1", True), ("remember", "b.md", "s1", True), ("remember", "a.md", None, False),
    ("draw", [0, 1]), ("alter", 2, "revise"), ("alter", 1, "update"), ("alter", 0, "state"), ("know", "a.md"),
    ("tie", 0, 1), ("draw", [3]),
]  # fmt: skip


def test_no_reader_shows_what_is_in_quarantine() -> None:
    check_hidden("", EVERY_STEP, "a.md")


@pytest.mark.slow
@pytest.mark.parametrize("store", EXAMPLES)
def test_no_history_leaks_from_quarantine(store: str, request: pytest.FixtureRequest) -> None:
    data = "" if store == "file" else request.getfixturevalue("database")

    @settings(max_examples=EXAMPLES[store])
    @given(histories, st.sampled_from(SOURCES))
    def checked(steps: list[tuple[Any, ...]], source: str) -> None:
        check_hidden(data, steps, source)

    checked()
