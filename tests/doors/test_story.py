"""The same story through every door: over a pipe, over HTTP, and on the command line."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.doors.http.conftest import started, until
from tests.doors.mcp.conftest import begun_in, environment_of

import pieria

NOTES, COPY = "notes", "copy"
REMEMBERED = {
    "dark": "Maya prefers a dark colour scheme in her editor.",
    "tea": "Omar drinks green tea in the morning.",
    "deploy": "The payment service is deployed on Fridays at noon.",
}
KEEPER = "The old lighthouse keeper is called Ines."
SAID = [
    "Shall we go through the plans of the summer?",
    "The launch of project Kittiwake was moved to the autumn.",
    "Then the summer is free for the harbour office.",
    "Ines will tell the harbour office on Monday.",
]


class Answer(NamedTuple):
    value: Any
    is_error: bool


Tools = Callable[..., Answer]

TOKEN = "the-herons-come-back-in-march-0123456789"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    monkeypatch.setenv("PIERIA_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@contextmanager
def over_stdio(folder: Path, bank: str) -> Iterator[Tools]:
    server = begun_in(folder, "--bank", bank).begun()

    def call(tool: str, /, **arguments: Any) -> Answer:
        result = server.call(tool, **arguments)
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return Answer(result["structuredContent"], result["isError"])

    try:
        yield call
    finally:
        server.close()


@contextmanager
def over_rest(folder: Path, bank: str, token: str | None = None) -> Iterator[Tools]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with started() as server, server.client(headers=headers) as client:

        def call(tool: str, /, **arguments: Any) -> Answer:
            reply = client.post(f"/v1/banks/{bank}/tools/{tool}", json=arguments)
            return Answer(reply.json(), reply.status_code >= 400)

        yield call


@contextmanager
def on_the_line(folder: Path, bank: str) -> Iterator[Tools]:
    def call(tool: str, /, **arguments: Any) -> Answer:
        line = [sys.executable, "-m", "pieria", "call", tool, json.dumps(arguments), "--bank", bank, "--session", "one"]
        environment = environment_of(folder) | {"PIERIA_DATA": str(folder / "data")}
        done = subprocess.run(
            line, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        return Answer(json.loads(done.stdout), done.returncode == 1)

    yield call


OPENED = {"stdio": over_stdio, "rest": over_rest, "call": on_the_line}


@pytest.fixture(params=["stdio", *(pytest.param(door, marks=pytest.mark.slow) for door in ("rest", "call"))])
def opened(request: pytest.FixtureRequest, data: Path) -> Callable[[str], Any]:
    return lambda bank: OPENED[request.param](data.parent, bank)


def test_an_agents_life_through_each_door(opened: Callable[[str], Any], data: Path) -> None:
    check_life(opened, data)


@pytest.mark.slow
def test_an_agents_life_with_its_banks_on_a_server(
    data: Path, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIERIA_DATA", empty_database)
    monkeypatch.setenv("PIERIA_TOKEN", TOKEN)
    check_life(lambda bank: over_rest(data.parent, bank, TOKEN), empty_database)
    assert not data.exists()


def check_life(opened: Callable[[str], Any], data: str | Path) -> None:
    prepare(data)
    with opened(NOTES) as tools:
        for text in REMEMBERED.values():
            assert tools("mnemosyne_remember", content=text).value["status"] == "stored"

        # The query shares no word with the answer; on a busy machine the model may not be loaded yet.
        until(lambda: recalled(tools, "Which theme does she like for programming?")[0] == REMEMBERED["dark"])

        # An old memory without consolidation is still found after newer writes.
        assert KEEPER in recalled(tools, "lighthouse keeper")

        # A late triple about an earlier time does not change today's.
        now = tools("mnemosyne_triple_query", subject="Maya", predicate="assigned_to").value["results"]
        then = tools("mnemosyne_triple_query", subject="Maya", as_of="2021-06-01").value["results"]
        assert ([one["object"] for one in now], [one["object"] for one in then]) == (["new"], ["old"])

        wrong = {"importance": 7, "scope": "planet", "author_type": "robot", "extract": "yes", "sauce": "a"}
        refused = tools("mnemosyne_remember", content="x", **wrong)
        assert refused.is_error
        assert {one["parameter"] for one in refused.value["error"]["violations"]} == set(wrong)

        [summary] = tools("mnemosyne_sleep").value["result"]["summaries"]
        assert "Kittiwake" in summary["text"]
        forgotten = tools("mnemosyne_forget", memory_id="said-1").value
        assert (forgotten["status"], forgotten["also"]) == ("deleted", [summary["id"]])
        tools("mnemosyne_sleep")
        assert "Kittiwake" not in json.dumps(recalled(tools, "When is the launch of project Kittiwake?"))
        for tool in ("triple_query", "scratchpad_read", "get_stats", "diagnose"):
            assert "Kittiwake" not in json.dumps(tools(f"mnemosyne_{tool}").value)

        exported = tools("mnemosyne_export", output_path="life.json")
        assert not exported.is_error, exported.value
        assert b"Kittiwake" not in written("life.json").read_bytes()
    with opened(COPY) as tools:
        assert tools("mnemosyne_import", input_path=exported.value["path"]).value["status"] == "imported"
    assert everything(data, COPY) == everything(data, NOTES)


def written(name: str) -> Path:
    """Return the file, in the working folder or in the exchange folder."""
    [file] = [found for folder in (Path.cwd(), Path.home()) for found in folder.rglob(name)]
    return file


def prepare(data: str | Path) -> None:
    """Write old memories: an agent cannot set the time."""
    now = datetime.now(UTC)
    with pieria.open(NOTES, data=data) as bank:
        bank.remember(KEEPER, at=now - timedelta(days=10))
        begun = now - timedelta(days=2)
        bank.remember_many(
            {"id": f"said-{n}", "text": text, "kind": "turn", "session": "talk", "at": begun + timedelta(minutes=n)}
            for n, text in enumerate(SAID)
        )
        bank.facts.declare("assigned_to")
        bank.facts.add("Maya", "assigned_to", "new", valid_from="2026-01-01")
        bank.facts.add("Maya", "assigned_to", "old", valid_from="2020-01-01")


def recalled(tools: Tools, query: str) -> list[str]:
    answer = tools("mnemosyne_recall", query=query, top_k=50)
    assert not answer.is_error, answer.value
    return [result["content"] for result in answer.value["results"]]


def everything(data: str | Path, name: str) -> str:
    """Return all that a bank holds, except row numbers and trust: a copy is hearsay."""
    with pieria.open(name, data=data) as bank:
        memories = [
            memory.as_dict() | {"row": None, "via": None, "trust": None}
            for memory in bank.list(limit=1_000, order="oldest")
        ]
        facts = [fact.as_dict() for fact in bank.facts.query(history=True)]
        assert len(memories) > len(SAID)
    return json.dumps([memories, facts], default=str, sort_keys=True)
