"""An agent's life with the provider: sessions, turns, notes, delegation, compression, restarts."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.doors.hermes.conftest import Begin
from tests.waiting import soon

import pieria
from pieria import Bank
from pieria.errors import PieriaError
from pieria.hermes.options import save


def turns(bank: Bank, session: str | None = None) -> list[tuple[str | None, str]]:
    listed = bank.list(kinds="turn", session=session, order="oldest", limit=500)
    return [(memory.author, memory.text) for memory in listed]


def notes(bank: Bank) -> set[str]:
    return {memory.text for memory in bank.list(kinds="note")}


def test_a_session_is_recalled_in_the_next_one(begin: Begin, bank: Bank) -> None:
    first = begin("monday", user_name="Maya")
    assert first.turn("My dog is called Biscuit.", "Biscuit, noted.") == ""
    first.settle()
    assert first.turn("What is my dog called?", "Biscuit.") == "", "the present conversation is not recalled to itself"
    first.compress()
    assert "Biscuit" in first.turn("Tell me again what my dog is called?", "Biscuit.")
    first.leave()
    assert turns(bank)[:2] == [("Maya", "My dog is called Biscuit."), ("hermes", "Biscuit, noted.")]
    second = begin("tuesday", user_name="Maya")
    context = second.turn("What is my dog called?", "Biscuit.")
    assert "My dog is called Biscuit." in context and "Maya (human)" in context and "trust 0.9" in context
    second.switch("wednesday", reset=True)
    assert "Biscuit" in second.turn("And what is my dog called?", "Biscuit.")
    second.leave()
    assert {memory.session for memory in bank.list(kinds="turn")} == {"monday", "tuesday", "wednesday"}
    assert len(turns(bank, "wednesday")) == 2


def test_a_turn_has_author_session_and_channel(begin: Begin, bank: Bank) -> None:
    agent = begin("s", user_name="Maya", platform="telegram", chat_id="77", agent_identity="default")
    agent.turn("The pilot begins on Friday.", "I see.")
    agent.settle()
    said, answered = bank.list(kinds="turn", order="oldest")
    assert (said.session, said.source, said.at <= answered.at) == ("s", "hermes", True)
    assert said.channel == answered.channel == "telegram:77"
    agent.turn("I like figs.", "Good.", turn_author={"id": "9", "name": "Ben", "is_bot": False})
    agent.turn("Beep, the build is red.", "Oh.", turn_author={"id": "ci", "is_bot": True})
    agent.leave()
    written = {memory.text: (memory.author, memory.author_type) for memory in bank.list(kinds="turn")}
    assert written == {
        "The pilot begins on Friday.": ("Maya", "human"), "I see.": ("hermes", "agent"),
        "I like figs.": ("Ben", "human"), "Good.": ("hermes", "agent"),
        "Beep, the build is red.": ("ci", "agent"), "Oh.": ("hermes", "agent"),
    }  # fmt: skip


def test_the_end_of_the_process_keeps_what_waits(hermes_home: Path) -> None:
    # A busy machine is not a failure.
    code = """if True:
        from pieria.hermes import joined
        from pieria.hermes.provider import provider
        joined.LAST_SECONDS = 60
        agent = provider()
        agent.initialize('s', platform='cli')
        agent.sync_turn('The vault is in room nine.', 'Room nine.')
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    with pieria.open("hermes") as bank:
        assert len(turns(bank)) == 2


def test_sessions_without_a_person_are_not_kept(begin: Begin, bank: Bank) -> None:
    for context in ("cron", "subagent", "flush"):
        agent = begin(context, agent_context=context)
        agent.turn("Do the nightly report.", "Done.")
        agent.notes("add", "The report is nightly.")
        agent.delegated("Count lines.", "12")
        agent.leave()
    assert bank.count() == 0 and bank.jobs.counts() == {}


def test_private_parts_and_recalled_text_are_cut(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("Call Ana. <private>Her number is 555 0142.</private>", "I will.")
    agent.turn("<private>My PIN is 9912.</private>", "Understood.")
    agent.turn("<memory-context>\nrecalled: old things\n</memory-context>\nNew things.", "Yes.\0\ud800")
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:…"}}]
    agent.flush()
    agent.provider.sync_turn(parts, "A cat.", session_id="first")
    agent.settle()
    texts = ["Call Ana.", "I will.", "Understood.", "New things.", "Yes.?", "What is this?", "A cat."]
    assert [text for _, text in turns(bank)] == texts
    part = "word " * 60_000
    agent.turn(f"{part}<private>{'secret ' * 50_000}</private>{part}end", "Long.")
    agent.leave()
    long = [text for author, text in turns(bank) if author == "user"][3:]
    assert len(long) == 3 and long[-1].endswith("end") and "secret" not in "".join(long)


def test_notes_are_mirrored_replaced_and_removed(begin: Begin, bank: Bank) -> None:
    agent = begin()
    for _ in range(2):
        agent.notes("add", "Maya prefers tea.", "user")
    agent.notes("add", "The repo uses uv.")
    agent.settle()
    sources = {memory.text: memory.source for memory in bank.list(kinds="note")}
    assert sources == {"Maya prefers tea.": "hermes/default/user", "The repo uses uv.": "hermes/default/memory"}
    agent.notes("replace", "Maya prefers coffee.", "user", previous_content="Maya prefers tea.")
    agent.notes("replace", "The repo uses pip.", old_text="uses uv")
    agent.settle()
    assert notes(bank) == {"Maya prefers coffee.", "The repo uses pip."}
    agent.notes("remove", "", "user", previous_content="Maya prefers coffee.")
    agent.notes("remove", "The repo uses pip.")
    agent.notes("remove", "What never was there.")
    agent.notes("replace", "Maya prefers tea.", "user", previous_content="What never was there.")
    for text in ("Builds run on Linux.", "Builds run on macOS."):
        agent.notes("add", text)
    agent.notes("remove", "", old_text="Builds run")
    agent.settle()
    assert notes(bank) == {"Maya prefers tea.", "Builds run on Linux.", "Builds run on macOS."}
    agent.switch("later", reset=True)
    assert agent.turn("What does Maya prefer?", "Tea.") == "", "they are in its prompt already"


def test_delegated_tasks_are_kept_with_their_results(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.delegated("Count the tests.", "There are 1,204.")
    agent.leave()
    [memory] = bank.list(kinds="turn")
    assert "Count the tests." in memory.text and "There are 1,204." in memory.text
    assert (memory.author_type, memory.meta["child_session"]) == ("agent", "child")


def test_a_checkpoint_keeps_everything_once(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("ok", "Fine.")
    agent.turn("ok", "Fine.")
    assert bank.hooks.last() is None
    cut_short = {"role": "user", "content": "A message that was cut short. <private>x</private>"}
    messages = [*agent.messages, cut_short, {"role": "tool", "content": "what a tool said"}]
    expected = ["ok", "Fine.", "ok", "Fine.", "A message that was cut short."]
    for _ in range(2):
        agent.messages = list(messages)
        assert "mnemosyne_recall" in agent.compress(required=True)
        assert [text for _, text in turns(bank)] == expected
    last = bank.hooks.last()
    assert last is not None and (last.session, last.messages) == ("first", 5)
    agent.turn("No, on Monday.", "On Monday, then.")
    agent.switch("child", parent="first")
    agent.messages = list(messages)
    agent.compress(required=True)
    assert [text for _, text in turns(bank)] == [*expected, "No, on Monday.", "On Monday, then."]


def test_a_checkpoint_that_cannot_be_made_is_refused_if_required(begin: Begin, hermes_home: Path) -> None:
    save(hermes_home, {"autosave": False})
    agent = begin()
    agent.messages = [{"role": "user", "content": "This must not be lost."}]
    with pytest.raises(PieriaError, match="autosave"):
        agent.compress(required=True)
    assert agent.compress() == ""


def test_the_end_of_a_session_queues_a_sleep(begin: Begin, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_SLEEP", "idle")
    agent = begin()
    agent.turn("One.", "Two.")
    agent.switch("two", reset=True)
    agent.settle()
    [job] = bank.jobs.list(kinds="sleep")
    assert (job.state, job.payload) == ("later", {"by": "session end"})


@pytest.mark.parametrize("said", [{}, {"agent_context": "cron"}])
def test_jobs_are_done_while_the_agent_lives(begin: Begin, bank: Bank, said: dict[str, str]) -> None:
    memory = bank.remember("Maya works on billing.")
    left = bank.jobs.add("extract", {"id": memory.id, "entities": True, "statements": True})
    agent = begin(**said)
    soon(lambda: bank.jobs.get(left.id).state == "done")
    kept = agent.tool("mnemosyne_remember", {"content": "Ben works on search."})
    later = bank.jobs.add("extract", {"id": kept["memory_id"], "entities": True, "statements": True})
    soon(lambda: bank.jobs.get(later.id).state == "done")
    agent.leave()
    soon(lambda: not any(thread.name == "pieria-worker" for thread in threading.enumerate()))
