"""The settings of who comes in, and what they may reach, and what each does: a part of the table of effects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pieria
from pieria.errors import InputError


def seen_of_paths(data: Path, value: str | None) -> list[bool]:
    """Whether callers from elsewhere reach files in each of two folders."""
    from pieria.toolsets.paths import over_the_network

    allowed = over_the_network(data, pieria.Workspace(data, {"paths": value}).resolved.roots)
    return [reaches(allowed, f"/{folder}/file") for folder in "ab"]


def reaches(paths: Any, file: str) -> bool:
    try:
        paths.allowed(file, "path")
    except InputError:
        return False
    return True


def seen_of_token(data: Path, value: str | None) -> list[bool]:
    """Who is let in over HTTP, of two who show different tokens."""
    from pieria.doors.http.callers import Door
    from pieria.doors.http.tokens import Tokens

    setting = pieria.Workspace(data, {"token": value}).resolved.settings.token
    door = Door(Tokens(data), None if setting is None else setting.get_secret_value(), always=False)
    return [door.still({"authorization": f"Bearer {shown}"}) for shown in ("hunter1", "hunter2")]


DOORS: dict[str, tuple[Callable[[Path, Any], object], dict[Any, object]]] = {
    "paths": (seen_of_paths, {None: [False, False], "/a": [True, False], "/a:/b": [True, True]}),
    "token": (seen_of_token, {None: [True, True], "hunter1": [True, False], "hunter2": [False, True]}),
}
