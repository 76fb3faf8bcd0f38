"""The handlers of the odd tools."""

import os
import sys
import time
from typing import Any

from pieria.toolsets import Call


def work(call: Call, steps: int) -> dict[str, Any]:
    told: Any = call.host.progress
    for step in range(steps):
        time.sleep(0.12)
        told(step + 1, steps)
    return {"steps": steps}


def sleep(call: Call, seconds: float) -> dict[str, Any]:
    sys.stderr.write("sleeping\n")
    time.sleep(seconds)
    return {"slept": seconds}


def fill(call: Call, count: int) -> dict[str, Any]:
    sys.stderr.write(f"filling {count}\n")
    return {"filled": len(call.bank.remember_many([{"text": f"number {number}"} for number in range(count)]))}


def echo(call: Call, letters: int) -> dict[str, Any]:
    return {"letters": "x" * letters}


def say(call: Call) -> dict[str, Any]:
    print("printed by a tool")  # noqa: T201 - what this tool is for
    sys.stdout.write("written by a tool\n")
    os.write(1, b"written to the descriptor by a tool\n")
    return {"printed": True}


def fault(call: Call) -> dict[str, Any]:
    raise RuntimeError("the secret of the tool")


def thing(call: Call) -> Any:
    return {"value": object()}


def nan(call: Call) -> dict[str, Any]:
    return {"value": float("nan")}


def half(call: Call) -> dict[str, Any]:
    return {"name": "caf\udce9"}


def list_(call: Call) -> list[int]:
    return [1, 2]


def job(call: Call) -> dict[str, Any]:
    before = call.bank.jobs.counts()
    call.bank.jobs.add("embed")
    return {"before": before}
