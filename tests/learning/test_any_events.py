"""Any output of agents, tools and people is distilled without an error, and the result can be stored."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.learning.working import BEGIN

from pieria.learning.distilling.observations import distilled
from pieria.models.mind import NOTICED, TITLE
from pieria.models.minds.rules import RuleMind
from pieria.record.draft import checked
from pieria.record.event import WHAT, AgentEvent

_PARTS = (
    "pytest -q tests/a.py|git commit -m 'x|git checkout .|cd a && |make|cat a.py|npm test 2>&1 | tail|curl http://x"
    "|1 failed, 2 passed in 0.1s|3 passed in 0.1s|E   KeyError: 'a'|Traceback (most recent call last)"
    "|--- FAIL: T (1s)\n|error: no|FAILED a::b|*** Begin Patch\n*** Update File: a.py\n-x\n+y|always use tabs"
    "|let's go with a, not b|yes|?|.|fix|add a flag|please|no, revert that|“|`| |\n|\t|\x1b[31m|\x7f|日本|😀|é|…|;"
    "|pieria|\\|''|\""
)
PARTS = _PARTS.split("|")
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
TOOLS = ["Bash", "Edit", "Read", "Grep", "WebFetch", "apply_patch", "TodoWrite", "mcp__x__y", "shell"]
EDIT = ["file_path", "path", "old_string", "new_string", "content", "edits"]
NAMES = [*EDIT, "command", "cmd", "pattern", "url", "input"]
VALUES = TEXTS | st.lists(TEXTS, max_size=3) | st.none() | st.integers() | st.lists(st.dictionaries(TEXTS, TEXTS))
TOLD = st.fixed_dictionaries({
    "what": st.sampled_from([*WHAT, *["tool"] * 6, "prompt"]),
    "text": TEXTS,
    "tool": st.sampled_from([*TOOLS, ""]),
    "input": st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
    "failed": st.sampled_from([None, True, False]),
})  # fmt: skip


@given(st.lists(TOLD, max_size=8), st.integers(0, 8))
def test_any_events_become_observations_that_can_be_kept(given: list[dict[str, Any]], cut: int) -> None:
    events = [
        AgentEvent.from_dict({**each, "host": "any", "session": "s", "at": BEGIN + timedelta(minutes=number)}).capped()
        for number, each in enumerate(given)
    ]
    first = distilled(events[:cut], RuleMind(), scope="bank")
    assert first == distilled(events[:cut], RuleMind(), scope="bank")
    waiting = frozenset(event.id for event in first.waiting)
    second = distilled([*first.waiting, *events[cut:]], RuleMind(), told=waiting, scope="bank")
    for observation in (*first.observations, *second.observations):
        checked(observation.new)
        assert observation.new.body["type"] in NOTICED
        assert 0 < len(observation.new.title or "") <= TITLE
        assert observation.times >= 1
