"""The ten tools of a real server, line by line: one shape of reply in every version of the protocol."""

import json
from pathlib import Path

import pytest
from tests.doors.mcp.conftest import INITIALIZE, begun_in
from tests.toolsets.conftest import requirement

from pieria.toolsets import registry

OLD = ("2024-11-05", "1999-01-01")
SAID = {"title": "The cache", "type": "decision", "narrative": "SQLite keeps it. <private>Not the door code.</private>"}


@requirement("envelope.protocol", "envelope.codes")
@pytest.mark.parametrize("version", ["2025-06-18", *(pytest.param(old, marks=pytest.mark.slow) for old in OLD)])
def test_clients_of_any_version_get_one_shape_of_reply(tmp_path: Path, version: str) -> None:
    piped = begun_in(tmp_path, "--toolset", "open-mem", "--bank", "notes")
    told = piped.ask("initialize", {**INITIALIZE, "protocolVersion": version})["result"]
    assert (told["protocolVersion"] == version) is (version > "2000")
    piped.send("notifications/initialized")
    listed = [tool["name"] for tool in piped.ask("tools/list")["result"]["tools"]]
    assert listed == [tool.name for tool in registry().toolsets["open-mem"].tools]
    made = piped.call("mem-create", **SAID)
    refused = piped.call("mem-remove", id="nope")
    assert (refused["isError"], refused["structuredContent"]["error"]["code"]) == (True, "NOT_FOUND")
    for reply in (made, refused):
        [block] = reply["content"]
        assert json.loads(block["text"]) == reply["structuredContent"]
        assert reply["structuredContent"].keys() == {"data", "error", "meta"}
    piped.close()
    files = [path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file()]
    assert files and not any(b"door code" in content for content in files)
