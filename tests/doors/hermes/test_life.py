"""An agent's life with the provider: sessions, turns, notes, delegation, compression, restarts."""

import threading
from pathlib import Path

import pytest
from tests.doors.hermes.conftest import Begin
from tests.doors.hermes.host import Hermes

import pieria
from pieria import Bank
from pieria.errors import PieriaError
from pieria.hermes.options import save


def turns(bank: Bank, session: str | None = None) -> list[tuple[str | None, str]]:
    listed = bank.list(kinds="turn", session=session, order="oldest", limit=500)
    return [(memory.author, memory.text) for memory in listed]


def test_what_was_said_in_one_session_comes_before_a_message_of_the_next(begin: Begin, bank: Bank) -> None:
    first = begin("monday", user_name="Maya")
    assert first.turn("My dog is called Biscuit.", "Biscuit, noted.") == ""
    first.leave()
    assert turns(bank) == [("Maya", "My dog is called Biscuit."), ("hermes", "Biscuit, noted.")]
    second = begin("tuesday", user_name="Maya")
    context = second.turn("What is my dog called?", "Biscuit.")
    assert "My dog is called Biscuit." in context
    assert "Maya (human)" in context
    assert "trust 0.9" in context
    assert first.failures == second.failures == []


def test_a_turn_says_who_when_and_where(begin: Begin, bank: Bank) -> None:
    agent = begin("s", user_name="Maya", platform="telegram", chat_id="77", agent_identity="default")
    agent.turn("The pilot begins on Friday.", "I see.")
    agent.leave()
    said, answered = bank.list(kinds="turn", order="oldest")
    assert (said.author, said.author_type, said.session, said.source) == ("Maya", "human", "s", "hermes")
    assert (answered.author, answered.author_type) == ("hermes", "agent")
    assert said.channel == answered.channel == "telegram:77"
    assert said.at <= answered.at


def test_whoever_wrote_a_turn_is_its_author(begin: Begin, bank: Bank) -> None:
    agent = begin(user_name="Maya")
    agent.turn("I like figs.", "Good.", turn_author={"id": "9", "name": "Ben", "is_bot": False})
    agent.turn("Beep, the build is red.", "Oh.", turn_author={"id": "ci", "is_bot": True})
    agent.leave()
    written = {memory.text: (memory.author, memory.author_type) for memory in bank.list(kinds="turn")}
    assert written["I like figs."] == ("Ben", "human")
    assert written["Beep, the build is red."] == ("ci", "agent")


def test_the_present_conversation_is_not_recalled_to_itself(begin: Begin) -> None:
    agent = begin()
    agent.turn("My dog is called Biscuit.", "Noted.")
    agent.flush()
    agent.provider._join().behind.flush(5)
    assert agent.turn("What is my dog called?", "Biscuit.") == ""
    agent.compress()
    assert "Biscuit" in agent.turn("Tell me again what my dog is called?", "Biscuit.")


def test_a_session_that_begins_anew_recalls_the_one_before(begin: Begin, bank: Bank) -> None:
    agent = begin("one")
    agent.turn("The deploy key expires in May.", "Noted.")
    agent.switch("two", reset=True)
    assert "May" in agent.turn("When does the deploy key expire?", "In May.")
    agent.leave()
    assert {memory.session for memory in bank.list(kinds="turn")} == {"one", "two"}
    assert len(turns(bank, "two")) == 2


def test_an_agent_that_is_gone_without_a_word_has_kept_what_it_heard(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("Ana marries in June.", "Lovely.")
    agent.crash()
    agent.provider._join().behind.flush(5)
    assert ("hermes", "Lovely.") in turns(bank)


def test_the_end_of_the_process_keeps_what_waits(tmp_path: Path, hermes_home: Path) -> None:
    import os
    import subprocess
    import sys

    code = (
        "from pieria.hermes.provider import provider\n"
        "agent = provider()\n"
        "agent.initialize('s', platform='cli')\n"
        "agent.sync_turn('The vault is in room nine.', 'Room nine.')\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    with pieria.open("hermes") as bank:
        assert len(turns(bank)) == 2


def test_what_others_tell_the_agent_to_do_is_not_kept(begin: Begin, bank: Bank) -> None:
    for context in ("cron", "subagent", "flush"):
        agent = begin(context, agent_context=context)
        agent.turn("Do the nightly report.", "Done.")
        agent.notes("add", "The report is nightly.")
        agent.delegated("Count lines.", "12")
        agent.leave()
        assert agent.failures == []
    assert bank.count() == 0
    assert bank.jobs.counts() == {}


# --- privacy


def test_what_is_private_is_cut_and_what_is_nothing_else_is_left_out(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("Call Ana. <private>Her number is 555 0142.</private>", "I will.")
    agent.turn("<private>My PIN is 9912.</private>", "Understood.")
    agent.leave()
    assert [text for _, text in turns(bank)] == ["Call Ana.", "I will.", "Understood."]
    assert agent.failures == []


def test_a_long_text_is_kept_in_parts_and_its_private_part_in_none(begin: Begin, bank: Bank) -> None:
    part = "word " * 60_000
    agent = begin()
    agent.turn(f"{part}<private>{'secret ' * 50_000}</private>{part}end", "Long.")
    agent.leave()
    texts = [text for author, text in turns(bank) if author == "user"]
    assert len(texts) == 3
    assert texts[-1].endswith("end")
    assert "secret" not in "".join(texts)


def test_what_the_host_put_before_a_message_is_not_remembered_as_if_it_were_new(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("<memory-context>\nrecalled: old things\n</memory-context>\nNew things.", "Yes.\0\ud800")
    agent.leave()
    assert [text for _, text in turns(bank)] == ["New things.", "Yes.?"]


def test_messages_of_several_parts_are_kept_as_text(begin: Begin, bank: Bank) -> None:
    agent = begin()
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:…"}}]
    agent.provider.sync_turn(parts, "A cat.", session_id="first")
    agent.leave()
    assert [text for _, text in turns(bank)] == ["What is this?", "A cat."]


# --- notes and delegation


def test_its_own_notes_are_mirrored_replaced_and_removed(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.notes("add", "Maya prefers tea.", "user")
    agent.notes("add", "Maya prefers tea.", "user")
    agent.notes("add", "The repo uses uv.")
    agent.provider._join().behind.flush(5)
    assert {(memory.text, memory.source) for memory in bank.list(kinds="note")} == {
        ("Maya prefers tea.", "hermes/default/user"),
        ("The repo uses uv.", "hermes/default/memory"),
    }
    agent.notes("replace", "Maya prefers coffee.", "user", previous_content="Maya prefers tea.")
    agent.notes("replace", "The repo uses pip.", old_text="uses uv")
    agent.provider._join().behind.flush(5)
    assert {memory.text for memory in bank.list(kinds="note")} == {"Maya prefers coffee.", "The repo uses pip."}
    agent.notes("remove", "", "user", previous_content="Maya prefers coffee.")
    agent.notes("remove", "The repo uses pip.")
    agent.notes("remove", "What never was there.")
    agent.notes("replace", "Maya prefers tea.", "user", previous_content="What never was there.")
    agent.provider._join().behind.flush(5)
    assert {memory.text for memory in bank.list(kinds="note")} == {"Maya prefers tea."}
    assert agent.failures == []


def test_a_note_that_a_part_does_not_tell_apart_is_not_touched(begin: Begin, bank: Bank) -> None:
    agent = begin()
    for text in ("Builds run on Linux.", "Builds run on macOS."):
        agent.notes("add", text)
    agent.notes("remove", "", old_text="Builds run")
    agent.leave()
    assert bank.count(kinds="note") == 2


def test_its_own_notes_are_in_its_prompt_and_not_recalled_to_it(begin: Begin) -> None:
    agent = begin()
    agent.notes("add", "The deploy key expires in May.")
    agent.provider._join().behind.flush(5)
    agent.switch("later", reset=True)
    assert agent.turn("When does the deploy key expire?", "In May.") == ""
    other = begin("other", agent_identity="coder")
    assert other.provider._join().bank_name == "hermes-coder"


def test_what_was_given_away_is_kept_with_what_came_back(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.delegated("Count the tests.", "There are 1,204.")
    agent.leave()
    [memory] = bank.list(kinds="turn")
    assert "Count the tests." in memory.text
    assert "There are 1,204." in memory.text
    assert (memory.author_type, memory.meta["child_session"]) == ("agent", "child")


def test_what_is_saved_is_told_as_hooks_tell_it(begin: Begin, bank: Bank) -> None:
    agent = begin("monday")
    agent.turn("The pilot begins on Friday.", "I see.")
    assert bank.hooks.last() is None
    agent.compress(required=True)
    last = bank.hooks.last()
    assert last is not None
    assert (last.session, last.messages) == ("monday", 2)
    agent.turn("No, on Monday.", "On Monday, then.")
    agent.leave()
    last = bank.hooks.last()
    assert last is not None
    assert (last.session, last.messages) == ("monday", 4)


# --- compression


def test_a_checkpoint_keeps_what_was_not_kept_yet_and_nothing_twice(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("ok", "Fine.")
    agent.turn("ok", "Fine.")
    agent.messages.append({"role": "user", "content": "A message that was cut short. <private>x</private>"})
    agent.messages.append({"role": "tool", "content": "what a tool said"})
    expected = ["ok", "Fine.", "ok", "Fine.", "A message that was cut short."]
    messages = list(agent.messages)
    for _ in range(2):
        agent.messages = list(messages)
        assert "mnemosyne_recall" in agent.compress(required=True)
        assert [text for _, text in turns(bank)] == expected
    agent.switch("child", parent="first")
    agent.messages = list(messages)
    agent.compress(required=True)
    assert [text for _, text in turns(bank)] == expected


def test_a_checkpoint_that_cannot_be_made_is_told_where_it_is_required(
    begin: Begin, hermes_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(hermes_home, {"autosave": False})
    agent = begin()
    agent.messages = [{"role": "user", "content": "This must not be lost."}]
    with pytest.raises(PieriaError, match="autosave"):
        agent.compress(required=True)
    assert agent.compress() == ""


# --- sleep


def test_the_end_of_a_session_queues_one_sleep_which_is_done_behind(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.turn("One.", "Two.")
    agent.switch("two", reset=True)
    agent.provider._join().behind.flush(5)
    assert sum(bank.jobs.counts().values()) >= 1
    for job in bank.jobs.list(kinds="sleep"):
        _wait_for(lambda id=job.id: bank.jobs.get(id).state == "done")


@pytest.mark.parametrize("said", [{}, {"agent_context": "cron"}])
def test_jobs_of_every_kind_are_done_while_the_agent_is_there(begin: Begin, bank: Bank, said: dict[str, str]) -> None:
    memory = bank.remember("Maya works on billing.")
    left = bank.jobs.add("extract", {"id": memory.id, "entities": True, "statements": True})
    agent = begin(**said)
    _wait_for(lambda: bank.jobs.get(left.id).state == "done")
    kept = agent.tool("mnemosyne_remember", {"content": "Ben works on search."})
    later = bank.jobs.add("extract", {"id": kept["memory_id"], "entities": True, "statements": True})
    _wait_for(lambda: bank.jobs.get(later.id).state == "done")
    agent.leave()
    _wait_for(lambda: not any(thread.name == "pieria-worker" for thread in threading.enumerate()))


def _wait_for(holds: object, seconds: float = 30.0) -> None:
    import time

    until = time.monotonic() + seconds
    assert callable(holds)
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


# --- several agents at once


def test_two_agents_on_one_bank_keep_everything(begin: Begin, bank: Bank) -> None:
    agents = [begin("a", user_name="Maya"), begin("b", user_name="Ben")]

    def live(agent: Hermes) -> None:
        for number in range(15):
            agent.turn(f"{agent.session} says {number}", f"{agent.session} hears {number}")
        agent.leave()

    threads = [threading.Thread(target=live, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for agent in agents:
        assert agent.failures == []
        said = [text for _, text in turns(bank, agent.session)]
        assert said[::2] == [f"{agent.session} says {number}" for number in range(15)]
        assert said[1::2] == [f"{agent.session} hears {number}" for number in range(15)]


def test_one_provider_serves_many_threads(begin: Begin, bank: Bank) -> None:
    agent = begin()

    def speak(number: int) -> None:
        session = f"s{number}"
        for turn in range(5):
            agent.provider.sync_turn(f"{session} {turn}", "yes", session_id=session)
            agent.provider.prefetch(f"{session} {turn}", session_id=session)
            agent.provider.queue_prefetch(f"{session} {turn}", session_id=session)

    threads = [threading.Thread(target=speak, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    agent.leave()
    assert bank.count(kinds="turn") == 80
    for number in range(8):
        assert [text for _, text in turns(bank, f"s{number}")][::2] == [f"s{number} {turn}" for turn in range(5)]
