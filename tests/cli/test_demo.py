"""`pieria demo`: the story that a newcomer sees first. The test checks its output against the bank."""

import json
import math
import re
import shlex
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.capture.payloads import on_disk
from tests.cli.conftest import Answer, Ask, Run
from tests.doors.http.conftest import started

from pieria.doors.cli.root import cli
from pieria.doors.demo.scenes import NEWS
from pieria.doors.demo.show import show
from pieria.doors.demo.story import BANK, lines
from pieria.language.analyser import query_terms, terms

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder that `pieria demo --keep` keeps, and what it prints.

    It runs in this process, where no test can reach another machine.
    """
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("demo") / "a kept bank"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"HOME": str(home), "PIERIA_SECRETS": "refuse", "PIERIA_SESSION": "mine"}.items():
            patch.setenv(name, value)
        patch.chdir(home)
        done = CliRunner().invoke(cli, ["demo", "--scenes", "all", "--keep", str(folder)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert list(home.iterdir()) == []
    return folder, done.stdout


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        done = CliRunner().invoke(cli, ["demo", "--scenes", "all", "--json"])
    return dict(json.loads(done.stdout))


def scene(told: dict[str, Any], begins: str) -> dict[str, Any]:
    [found] = [scene for scene in told["scenes"] if scene["title"].startswith(begins)]
    return dict(found)


def results(told: dict[str, Any], call: str) -> list[Any]:
    return [each["result"] for scene in told["scenes"] for each in scene["calls"] if each["call"].startswith(call)]


def answers(told: dict[str, Any], begins: str) -> list[Any]:
    """Return the results of a scene's calls."""
    return [call["result"] for call in scene(told, begins)["calls"]]


def test_pipe_gets_plain_text_and_commands_that_work(ask: Ask, played: tuple[Path, str]) -> None:
    kept, printed = played
    assert "\x1b" not in printed
    assert "✗" not in printed.replace("✗  text: refused", "").replace("✗  change 95 was undone already", "")
    assert all(line == line.rstrip() and len(line) <= 100 for line in printed.splitlines() if "pieria " not in line)
    *asked, served = re.findall(r"^ *(pieria .*)$", printed, flags=re.MULTILINE)
    assert len(asked) >= 4
    for command in asked:
        tried = ask(*shlex.split(command)[1:])
        assert tried.code == 0, f"{command}\n{tried.err}"
        assert tried.out.strip() not in ("", "[]")
    assert shlex.split(served)[1:] == ["serve", "--data", str(kept)]
    again = ask("demo", "--keep", str(kept))
    assert again.code != 0
    assert "error: --keep:" in again.err and "another folder" in again.err


def test_three_scenes_remember_correct_and_erase(ask: Ask) -> None:
    told = ask("demo", "--json").json
    new, known, *_ = answers(told, "Remember")[2:]
    assert (new["hits"][0]["memory"]["text"], known["hits"][0]["memory"]["status"]) == (NEWS, "active")
    history, then, now, *_ = answers(told, "Correct")
    assert [answer["hits"][0]["memory"]["version"] for answer in (then, now)] == [one["version"] for one in history]
    found = scene(told, "Erase")["found"]["occurrences"]
    assert found["before"] > 0 == found["after"]
    assert len(told["scenes"]) == 3
    assert "pieria demo --scenes all" in ask("demo").out
    assert "--scenes" in ask("demo", "--scenes", "many").failed(2)


def test_story_is_long_and_kept_whole(told: dict[str, Any]) -> None:
    remembered = [line for line in lines() if line.get("do", "remember") == "remember"]
    days = [line["on"] for line in lines()]
    assert len(remembered) >= 60
    assert days == sorted(days)
    assert len({day[:7] for day in days}) >= 5
    scripts = {unicodedata.name(char).split()[0] for line in remembered for char in line["text"] if char.isalpha()}
    assert scripts >= set(["LATIN", "CJK", "HIRAGANA", "ARABIC", "CYRILLIC", "GREEK", "DEVANAGARI", "HANGUL", "HEBREW"])
    assert len({line["author"] for line in remembered}) >= 5
    today = "2025-07-01"
    called = scene(told, "Half a year")["found"]["told"]
    assert called == Counter(line.get("do", "remember") for line in lines())
    hidden = [line for line in lines() if line.get("scope") == "session" or line.get("valid_until", "9") < today]
    assert results(told, "bank.count()") == [called["remember"] - len(hidden)]


def test_questions_are_answered_with_reasons_and_for_their_time(told: dict[str, Any]) -> None:
    *found, nothing = answers(told, "Ask, and see why")
    for answer in found:
        [hit] = answer["hits"]
        worth = sum(answer["plan"]["weights"][name] * value for name, value in hit["why"].items())
        assert hit["score"] == pytest.approx(1 - math.exp(-worth), abs=1e-6)
        assert answer["confidence"] > 0.9
    assert (nothing["hits"], nothing["confidence"]) == ([], 0)
    assert [answer["hits"] for answer in answers(told, "Search by meaning")] == [[], []]
    assert scene(told, "Search by meaning")["found"]["model"].startswith("none")
    held = [answer["hits"][0]["memory"] for answer in answers(told, "What did we believe")]
    then, now, office, new_office = held
    assert (then["id"], then["version"], now["version"]) == (now["id"], 1, 2)
    assert then["text"] != now["text"]
    assert office["id"] != new_office["id"]


@pytest.mark.slow
def test_with_a_model_meaning_alone_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "local")
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    told = show(scenes="all", shown=False)
    assert scene(told, "Search by meaning")["found"]["model"].startswith("local:")
    for answer in answers(told, "Search by meaning"):
        [hit] = answer["hits"]
        asked = {word.term for word in query_terms(answer["query"]) if not word.stop}
        assert asked.isdisjoint(terms(hit["memory"]["text"]))
        assert hit["why"]["dense"] > 0
    assert [len(answer["hits"]) for answer in answers(told, "Ask, and see why")] == [1, 1, 1, 1, 1, 0]


def test_facts_asides_and_lessons_are_shown(told: dict[str, Any]) -> None:
    timeline, known_then, known_now, hosted, *_ = answers(told, "Facts")
    assert [fact["object"] for fact in timeline] == [known_then[0]["object"], known_now[0]["object"]]
    assert hosted[0]["valid_until"] == hosted[1]["valid_from"]
    [conflict] = results(told, "bank.facts.conflicts")[0]
    assert len(conflict["facts"]) == 2
    nobody, session, mine, elsewhere = answers(told, "Who may see it")
    assert (len(nobody["hits"]), len(session["hits"])) == (0, 1)
    assert elsewhere["hits"][0]["memory"]["id"] == mine["id"]
    *_, learnt, recall = answers(told, "Learning")
    assert {memory["kind"] for memory in learnt["memories"]} == {"semantic", "procedural"}
    assert recall["hits"][0]["memory"]["kind"] in ("semantic", "episodic")


def test_private_and_purged_texts_are_in_no_file(told: dict[str, Any], played: tuple[Path, str]) -> None:
    [private] = re.findall(r"<private>(.+?)</private>", "".join(line.get("text", "") for line in lines()))
    found = scene(told, "Forget")["found"]["occurrences"]
    held = on_disk(played[0])
    assert max(private.split(), key=len).encode() not in held
    assert found["word"].lower().encode() not in held.lower()
    assert found["before"] > 0 == found["after"]
    assert "private:cut" in json.dumps(told)
    refused = answers(told, "Private text stays out")
    assert "privacy" in [answer.get("code") for answer in refused if isinstance(answer, dict)]


def test_removal_is_undone_and_the_copy_is_equal(told: dict[str, Any]) -> None:
    calls = scene(told, "Forget")["calls"]
    removed, undone = (call["result"] for call in calls if call["call"].startswith("bank.recall"))
    assert removed["hits"][0]["memory"]["id"] != "rule"
    assert undone["hits"][0]["memory"]["id"] == "rule"
    assert removed["confidence"] < undone["confidence"]
    assert [call["result"].get("code") for call in calls if call["call"].startswith("bank.undo")] == [None, "conflict"]
    found = scene(told, "Take it with you")["found"]
    assert found["equal"] is True and found["records"] > 200
    assert [diagnosis["well"] for diagnosis in results(told, "bank.doctor")] == [True]


def test_figures_follow_the_story() -> None:
    changed = [
        {**line, "text": line["text"].replace("27 April", "4 May")} if line.get("id") == "winter-end" else line
        for line in lines()
    ]
    changed.append({"on": "2025-06-27T10:00:00Z", "text": "One more, about nothing.", "author": "Nobody"})
    told = show(scenes="all", shown=False, told=changed)
    assert "4 May" in results(told, 'bank.recall("When does')[1]["hits"][0]["memory"]["text"]
    assert results(told, 'bank.count(by="author")')[0]["Nobody"] == 1


@pytest.mark.slow
def test_terminal_gets_colours(terminal: Callable[..., Answer]) -> None:
    shown = terminal("demo")
    assert (shown.code, "\x1b[1" in shown.out) == (0, True)


@pytest.mark.slow
def test_process_shows_the_demo_and_its_bank_is_served(run: Run, tmp_path: Path, home: Path) -> None:
    assert run("demo", "--keep", str(tmp_path / "kept")).returncode == 0
    assert not (home / "data").exists()
    with started("--data", str(tmp_path / "kept")) as server, server.client() as client:
        there = client.get("/", headers={"accept": "text/html"}).headers["location"]
    assert there.endswith(f"/{BANK}")
