"""Rows of the table of effects: the settings for callers, their tokens, paths and limits."""

from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any

import anyio

import pieria
from pieria.errors import InputError, LimitError
from pieria.runtime import effort


def seen_of_paths(data: Path, value: str | None) -> list[bool]:
    """Return whether network callers reach a file in each of two folders."""
    from pieria.toolsets.host import over_the_network

    allowed = over_the_network(data, pieria.Workspace(data, {"paths": value}).resolved.roots)
    return [reaches(allowed, f"/{folder}/file") for folder in "ab"]


def reaches(paths: Any, file: str) -> bool:
    try:
        paths.allowed(file, "path")
    except InputError:
        return False
    return True


def seen_of_token(data: Path, value: str | None) -> list[bool]:
    """Return for each of two tokens whether HTTP lets its caller in."""
    from pieria.doors.http.callers import Door
    from pieria.doors.http.tokens import Tokens

    setting = pieria.Workspace(data, {"token": value}).resolved.settings.token
    door = Door(Tokens(data), None if setting is None else setting.get_secret_value(), always=False)
    return [door.still({"authorization": f"Bearer {shown}"}) for shown in ("hunter1", "hunter2")]


def seen_of_request_seconds(data: Path, value: float) -> str:
    """Return the outcome of a request that takes somewhat more than one second of processor time."""
    from pieria.doors.http.service import service
    from pieria.toolsets import registry

    def work() -> str:
        began = thread_time()
        while thread_time() - began < 1.05:
            effort.check()
        effort.check()
        return "done"

    async def asked() -> str:
        served = service(pieria.Workspace(data, {"request_seconds": value}), registry())
        try:
            return await served.call(work)
        except LimitError as problem:
            return problem.limit

    return anyio.run(asked)


def seen_of_request_memory(data: Path, value: int) -> int:
    """Return the HTTP status for a body of two MiB."""
    from starlette.testclient import TestClient

    from pieria.doors.app import application
    from pieria.doors.http.callers import Door
    from pieria.doors.http.guard import Hosts
    from pieria.doors.http.service import service
    from pieria.doors.http.tokens import Tokens
    from pieria.toolsets import registry

    served = service(pieria.Workspace(data, {"request_memory": value}), registry())
    app = application(served, Door(Tokens(data), None, always=False), Hosts(), None)
    with TestClient(app, base_url="http://localhost:7411") as client:
        text = {"text": "heron", "meta": {"wide": " " * (2 << 20)}}
        return client.post("/v1/banks/notes/recall", json=text).status_code


DOORS: dict[str, tuple[Callable[[Path, Any], object], dict[Any, object]]] = {
    "paths": (seen_of_paths, {None: [False, False], "/a": [True, False], "/a:/b": [True, True]}),
    "request_seconds": (seen_of_request_seconds, {1: "1 seconds", 3_600: "done"}),
    "request_memory": (seen_of_request_memory, {1: 503, 64: 422}),
    "token": (seen_of_token, {None: [True, True], "hunter1": [True, False], "hunter2": [False, True]}),
}
