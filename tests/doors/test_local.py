"""What a running server answers to other processes of its user: vectors, and the context for hooks."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pieria
from pieria.capture import context_hook
from pieria.doors.cli.call import Call
from pieria.doors.local import Neighbours
from pieria.errors import AdapterError
from pieria.models import Embedder
from pieria.models.embedders.shared import SharedEmbedding
from pieria.models.embedding import EmbeddingResponse, Identity
from pieria.recall.answer import Overturned, Recall
from pieria.runtime.calls import Calls
from pieria.runtime.local_call import RefusedError, asked
from pieria.runtime.local_server import LocalServer
from pieria.workspace import Workspace

SECONDS = 60.0
DEPLOY = "Deploys run on Fridays at noon, never later."
PAYLOAD = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "When do the deploys run?"}


class Model:
    """A model in this process that counts its texts. It stands for one that takes long to load."""

    def __init__(self, name: str = "local:small") -> None:
        self.identity = Identity(name, 2, {"version": 1})
        self.is_loaded = False
        self.room = 100
        self.read: list[str] = []

    def embed_batch(self, texts: list[str], opts: Any = None) -> EmbeddingResponse:
        self.is_loaded = True
        self.read += texts
        vectors = [[1.0, len(text) / 7] for text in texts]
        return EmbeddingResponse(vectors, self.identity.model, {"input_tokens": len(texts)}, (0,))


def shared(own: Model, folder: Path) -> SharedEmbedding:
    return SharedEmbedding(own, str(folder))  # type: ignore[arg-type]


def test_vectors_come_from_the_process_that_has_the_model(tmp_path: Path) -> None:
    theirs, ours = Model(), Model()
    serving = shared(theirs, tmp_path)
    server = LocalServer(tmp_path, {"embed": serving.served})
    server.start()
    assert server.is_serving.wait(SECONDS)
    try:
        asking = shared(ours, tmp_path)
        assert not asking.is_loaded
        told = asking.embed_batch(["seven c", "fourteen chars"])
        assert (told.vectors, told.usage, told.truncated) == ([[1, 1], [1, 2]], {"input_tokens": 2}, (0,))
        assert (ours.read, theirs.read, asking.is_loaded) == ([], ["seven c", "fourteen chars"], True)
        shared(other := Model("local:other"), tmp_path).embed("one")
        assert other.read == ["one"], "vectors of another model must not be mixed in"
    finally:
        server.close()
    asking.embed("two")
    assert ours.read == ["two"], "the model is loaded here once nobody serves it"
    with pytest.raises(AdapterError, match="not shared"):
        Embedder(lambda texts: []).served({})  # type: ignore[arg-type]


@pytest.fixture
def neighbours(tmp_path: Path) -> Iterator[Path]:
    """Serve the data folder, and yield it."""
    with pieria.open("notes", data=tmp_path / "data") as bank:
        bank.remember(DEPLOY)
    with Workspace(tmp_path / "data", by_door=True) as workspace:
        served = Neighbours(workspace, Calls())
        served.start()
        assert served._server.is_serving.wait(SECONDS)
        yield workspace.data
        served.close()


def context(folder: Path, payload: dict[str, Any] | str, host: str = "claude-code", **environment: str) -> Any:
    written = payload if isinstance(payload, str) else json.dumps(payload)
    zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}
    values = {
        "host": host,
        "payload": written,
        "environment": {**zone, **environment},
        "fallback": str(folder),
        "folder": "/",
    }
    return asked(str(folder), context_hook.WHAT, values, SECONDS)


def test_hooks_are_told_by_the_server_what_a_process_would_say(neighbours: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    with pieria.open("other", data=elsewhere) as bank:
        bank.remember("Deploys run on Mondays.")

    def told(payload: dict[str, Any], **environment: str) -> str:
        answer = context(neighbours, payload, **environment)["answer"]
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    assert DEPLOY in told(PAYLOAD, PIERIA_BANK="notes")
    assert DEPLOY in told({**PAYLOAD, "hook_event_name": "SessionStart"}, PIERIA_BANK="notes")
    assert "Mondays" in told(PAYLOAD, PIERIA_BANK="other", PIERIA_DATA=str(elsewhere))
    assert told(PAYLOAD, PIERIA_BANK="nobody") == told({**PAYLOAD, "hook_event_name": "Stop"}) == ""
    with pieria.open("notes", data=neighbours) as bank:
        bank.remember("Deploys run on Tuesdays in summer.")
    assert "Tuesdays" in told(PAYLOAD, PIERIA_BANK="notes"), "the open bank must follow other processes"
    assert "Mondays" in told(PAYLOAD, PIERIA_BANK="other", CORTEXGRAPH_STORAGE_PATH=str(elsewhere))
    for wrong in ("[]", "{", ""):
        with pytest.raises(RefusedError):
            context(neighbours, wrong)
    with pytest.raises(RefusedError, match="TZ: expected that of the server"):
        told(PAYLOAD, PIERIA_BANK="notes", TZ="Pacific/Kiritimati")


def test_server_recalls_for_the_command_line(neighbours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pieria.doors.cli.root import cli

    def run(*arguments: str) -> str:
        given = ["recall", "when do deploys run?", "--data", str(neighbours), *arguments]
        return CliRunner().invoke(cli, given).stdout

    own, opened = Call.opened, list[object]()

    def counted(*given: Any, **named: Any) -> Any:
        opened.append(given)
        return own(*given, **named)

    monkeypatch.setattr(Call, "opened", counted)
    [memory] = [hit["memory"] for hit in json.loads(run("--bank", "notes"))["hits"]]
    assert memory["text"] == DEPLOY
    assert json.loads(run("--bank", "notes", "--until", "2020-01-01"))["hits"] == []
    assert json.loads(run("--bank", "notes", "--jsonl"))["memory"] == memory
    assert run("--bank", "notes", "--quiet") == f"{memory['id']}\n"
    assert opened == [], "the command opened the bank itself"
    run("--bank", "nobody")
    assert len(opened) == 1, "the command meets by itself what a server refuses"
    (tmp_path / ".pieria.toml").write_text("bank = 'notes'\n")
    monkeypatch.chdir(tmp_path)
    run()
    assert len(opened) == 2, "the caller must see that the folder's settings are ignored"


def test_recall_is_the_same_after_its_way_as_json(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember(DEPLOY, tags=["ops"], body={"a": [1]}, valid_until="2099-01-01", author="Maya", meta={"b": None})
        bank.remember("Deploys run on Mondays in summer.", author="Maya")
        found = bank.recall("when do the deploys run?")
    whole = replace(found[0], overturned=Overturned("x", found[1].memory.at), reply=found[1].memory)
    found = replace(found, hits=(whole, found[1]), cursor="c")
    again = Recall.from_dict(json.loads(json.dumps(found.as_dict())))
    assert again.as_dict() == found.as_dict()
    assert [(hit.memory, hit.reply, hit.overturned) for hit in again] == [
        (hit.memory, hit.reply, hit.overturned) for hit in found
    ]


HOOK = "import sys; sys.path.append(sys.argv[1]); import context_hook; context_hook.run(sys.argv[2:])"


@pytest.mark.slow
def test_hook_asks_the_server_or_answers_by_itself(neighbours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_BANK", "notes")
    monkeypatch.delenv("PIERIA_DATA")
    folder = str(Path(context_hook.__file__).parent)

    def said(served: str) -> Any:
        command = [sys.executable, "-I", "-S", "-B", "-c", HOOK, folder, "claude-code", served, str(neighbours), "60"]
        done = subprocess.run(command, input=json.dumps(PAYLOAD), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]

    with_server, without = said(str(neighbours)), said("/nowhere")
    assert DEPLOY in with_server
    assert DEPLOY in without
