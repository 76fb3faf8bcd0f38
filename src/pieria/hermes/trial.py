"""A trial of the memory provider: a process of its own loads the plugin as Hermes does, remembers a text, recalls it.

That process runs this file, and imports Pieria only through the plugin.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds for the whole trial."""
LAST_WORDS = 300


class _Context:
    """Takes the provider, as Hermes does."""

    provider: Any = None

    def register_memory_provider(self, provider: Any) -> None:
        self.provider = provider


def try_out(plugin: Path, bank: str, text: str, question: str, env: Mapping[str, str]) -> tuple[Any, str | None]:
    """Return the reply to the question, or else the reason why there is none. The process gets only `env`."""
    from pieria.hermes import options

    with tempfile.TemporaryDirectory() as home:
        given = {**asdict(options.options_in(plugin.parents[2])), "bank": bank, "tools": None}
        told = {name: value for name, value in given.items() if value is not None}
        (Path(home) / options.FILE).write_text(json.dumps(told), "utf-8")
        command = [sys.executable, "-P", __file__, str(plugin), home, text, question]
        try:
            done = subprocess.run(  # noqa: S603 - this very file
                command,
                cwd=home,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"no answer within {PATIENCE:.0f} seconds"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no output"]
        return None, f"the provider ended with status {done.returncode}: {said[-1][-LAST_WORDS:]}"
    return json.loads(done.stdout.splitlines()[-1]), None


def _run(plugin: str, home: str, text: str, question: str) -> None:
    context = _Context()
    runpy.run_path(plugin)["register"](context)
    memory = context.provider
    memory.initialize("setup", hermes_home=home)
    try:
        memory.handle_tool_call("mnemosyne_remember", {"content": text})
        reply = json.loads(memory.handle_tool_call("mnemosyne_recall", {"query": question}))
    finally:
        memory.shutdown()
    # The plugin may print, too: the reply is the last line.
    sys.stdout.write(f"\n{json.dumps(reply)}\n")


if __name__ == "__main__":
    _run(*sys.argv[1:])
