"""What real hosts handed to hooks in a session (`benchmarks.hosts.recorder`), and what arrives of it in a bank."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.capture.payloads import drained, ran

import pieria
from pieria.bank import Bank
from pieria.bank.capture.distill import piece_of
from pieria.capture import hook
from pieria.capture.tool_hook import questions_of
from pieria.learning.distilling.pieces import states
from pieria.learning.distilling.tools import deeds_of
from pieria.record.event import AgentEvent

FIXTURES = Path(__file__).parent / "fixtures"
"""HOST-VERSION/session.jsonl has the payloads, and HOST.jsonl the events that arrive."""
HOSTS = ("claude-code", "codex", "opencode")
SHOP = "/home/dev/shop"
CLIPPED = 200
FIXED = """rates.py (`RATES = {"EUR": 1}` became `RATES = {"EUR": 1, "JPY": 163}`) mended KeyError: 'JPY'"""
OBSERVED = {
    "claude-code": {
        ("bugfix", FIXED, ("rates.py",)),
        ("decision", "Franc (Which currency comes next?)", ()),
        ("decision", "From the treasury's spreadsheet, every Monday (Where do the rates come from?)", ()),
        ("plan", "A file for the rates", ()),
        ("change", "The rates are in a file of their own", ("rates.json",)),
    },
    "codex": {
        ("bugfix", FIXED, ("rates.py",)),
        ("change", "The rates are floats", ("rates.py", "rates.md")),
        ("decision", "Franc (Which currency comes next?)", ()),
        ("decision", "From the treasury's spreadsheet (Where do the rates come from?)", ()),
    },
    "opencode": {
        ("bugfix", FIXED, ("rates.py",)),
        ("decision", "The franc, because Zurich asks for it (Which currency comes next?)", ()),
        ("change", "The rates are described", ("rates.md", "rates.py")),
    },
}
"""What is noted in any case; a trained model may find more."""


def capture(data: Path, host: str, take: Callable[[Any], Any]) -> None:
    """Let the hook take each payload in the project as it was, and drain the spool."""
    shop = data / "shop"
    shop.mkdir(parents=True)
    (shop / "rates.py").write_text('RATES = {"EUR": 1}\n')
    [file] = FIXTURES.glob(f"{host}-*/session.jsonl")
    for line in file.read_text("utf-8").splitlines():
        take(json.loads(line.replace(SHOP, str(shop))))
    assert (drained(data).refused, (data / "spool" / hook.LOG).exists()) == (0, False)


def arrived(bank: Bank, host: str, shop: Path) -> list[Any]:
    """Return the events of all sessions, as the expected ones are written."""
    fields = ("what", "tool", "input", "files", "failed", "text")
    with bank.core.reading() as reader:
        names = [state.session for state in states(reader)]
    found = [event for name in names for event in piece_of(bank.core, host, name).events]
    events = [event.as_dict() for event in sorted(found, key=lambda event: event.at)]
    named = [json.loads(json.dumps(event).replace(str(shop), SHOP)) for event in events]
    told = [{name: event[name] for name in fields if name in event} for event in named]
    return [{**event, "text": event.get("text", "")[:CLIPPED]} for event in told]


def expected(host: str) -> list[Any]:
    return [json.loads(line) for line in (FIXTURES / f"{host}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("host", HOSTS)
def test_what_real_hosts_tell_arrives_and_is_distilled(tmp_path: Path, host: str) -> None:
    capture(tmp_path, host, lambda payload: hook.take(host, str(tmp_path / "spool"), payload))
    with pieria.open("default", data=tmp_path) as bank:
        assert arrived(bank, host, tmp_path / "shop") == expected(host)
        bank.distil()
        made = bank.list(kinds="observation", order="oldest")
        assert {(one.body["type"], one.title, one.files) for one in made} >= OBSERVED[host]
        assert '`RATES = {"EUR": 1}` became `RATES = {"EUR": 1, "JPY": 163}`' in made[0].text
        assert {one.trust for one in made} == {0.6}
        assert {seen.active for seen in bank.sessions.list()} == {False}
        summary = bank.upkeep.summarize("id-1")
        assert summary is not None
        assert set(summary.files) == {file for one in made for file in one.changed_files} != {"check.py"}


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_the_hooks_process_reads_what_real_hosts_tell(tmp_path: Path, host: str) -> None:
    capture(tmp_path, host, lambda payload: ran(payload, tmp_path / "spool", host))
    with pieria.open("default", data=tmp_path) as bank:
        assert arrived(bank, host, tmp_path / "shop") == expected(host)


def test_question_of_odd_form_keeps_what_can_be_read() -> None:
    asked = [7, {"question": "Which one?", "options": 3}, {"question": "When?", "id": ["x"], "options": ["now", None]}]
    odd: dict[tuple[Any, ...], Any] = {
        (): {}, ("abc",): {"questions": "abc"}, (1, 5): {"questions": asked, "answers": 5},
        ("named",): {"questions": asked, "answers": {"Which one?": "the blue one", "When?": {"answers": 4}}},
    }  # fmt: skip
    told = {case: [each["answer"] for each in questions_of(given, None)] for case, given in odd.items()}
    assert told == {(): [], ("abc",): [], (1, 5): ["", ""], ("named",): ["the blue one", ""]}


def test_agent_states_no_choice_of_a_person() -> None:
    asked = {"questions": [{"question": "Which one?", "answer": "the blue one", "options": ["the blue one", "red"]}]}
    typed = {"questions": [{**asked["questions"][0], "typed": False}]}

    def chosen(tool: str, given: dict[str, Any]) -> list[str]:
        event = {"what": "tool", "session": "s", "tool": tool, "input": given, "text": "", "at": "2026-03-02T09:00:00Z"}
        return [deed.what for deed in deeds_of(AgentEvent.from_dict({"host": "h", **event}))]

    assert chosen("AskUserQuestion", typed) == ["chosen"]
    assert chosen("AskUserQuestion", asked) == []
    for tool in ("mcp__evil__AskUserQuestion", "evil.question", "mcp.evil.AskUserQuestion"):
        assert "chosen" not in chosen(tool, typed), tool
