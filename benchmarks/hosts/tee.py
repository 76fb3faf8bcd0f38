"""Run an MCP server and write down its traffic: `python tee.py LOG COMMAND ARGUMENT…`.

Each line of the log is a message with its sender. It uses only Python's standard library, because hosts start it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from typing import IO, Any


def main(log: str, *command: str) -> int:
    process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with open(log, "a", encoding="utf-8") as file:
        lock = threading.Lock()

        def write(sender: str, message: Any) -> None:
            with lock:
                file.write(json.dumps({"from": sender, "message": message}) + "\n")
                file.flush()

        def pass_on(number: int) -> None:
            write("host", {"signal": signal.Signals(number).name})
            process.send_signal(number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: pass_on(number))
        there = (process.stdin, sys.stdin.buffer, "host", write)
        threading.Thread(target=_copy, args=there, daemon=True).start()
        _copy(sys.stdout.buffer, process.stdout, "server", write)
        status = int(process.wait())
        write("server", {"exit": status})
    return status


def _copy(target: IO[bytes], source: IO[bytes], sender: str, write: Any) -> None:
    for line in source:
        write(sender, json.loads(line))
        try:
            target.write(line)
            target.flush()
        except BrokenPipeError:
            break
    write(sender, {"end": True})
    if sender == "host":
        target.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
