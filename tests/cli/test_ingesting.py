"""Whole trajectories from a file, each taken in once."""

import json
from pathlib import Path

from tests.cli.conftest import Ask

from pieria import Workspace

TRIP = {
    "source_id": "run-7",
    "goal": "Plan a trip",
    "steps": [{"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}],
    "metadata": {"ticket": 7},
}


def steps() -> list[str]:
    with Workspace() as workspace, workspace.open() as bank:
        return [memory.text for memory in bank.list(kinds="episodic")]


def test_trajectories_are_ingested_once(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(json.dumps({**TRIP, "source_id": name}) for name in ("run-7", "run-8")))
    first = ask("ingest", str(file)).json
    assert (first["new"], [one["source_id"] for one in first["receipts"]]) == (2, ["run-7", "run-8"])
    assert ask("ingest", str(file)).json == {**first, "new": 0}
    assert "already ingested run-7" in ask("ingest", str(file), "--no-json").out
    assert ask("ingest", str(file), "-q").out == "run-7\nrun-8\n"
    step = {"observation": "A note:\u2028two lines.\x85", "action": "Read it."}
    marked = (json.dumps({**TRIP, "source_id": name, "steps": [step]}, ensure_ascii=False) for name in ("a", "b"))
    assert ask("ingest", "-", stdin="\r\n".join(marked)).json["new"] == 2
    whole = ask("ingest", "-", stdin=json.dumps([TRIP])).json
    assert whole["receipts"] == first["receipts"][:1]
    changed = ask("ingest", "-", stdin=json.dumps({**TRIP, "goal": "Another"}))
    assert (changed.code, "another payload" in changed.err) == (1, True)


def test_wrong_file_is_refused_before_anything_is_ingested(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([TRIP, {**TRIP, "steps": [{"observation": "x"}]}]))
    refused = ask("ingest", str(file))
    assert (refused.code, "trajectories[1].steps[0].action" in refused.err) == (1, True)
    file.write_text('{"source_id": 1}\nno JSON\n')
    assert "line 2" in ask("ingest", str(file)).err
    assert ask("ingest", str(tmp_path / "nowhere")).code == 3
    assert steps() == []
