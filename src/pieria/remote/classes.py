"""The classes of a bank behind HTTP, made from the embedded ones: each verb keeps its name, signature and docstring."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from pieria.bank.capture.sources import Intake, check_intake
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.surface import GROUPS, public_verbs
from pieria.remote.calls import Calls, bound, refuse
from pieria.remote.verbs import PROPERTIES, REFUSED, VERBS

EVERYTHING = "graph.everything"


def verbs_of(original: type, path: str) -> dict[str, Any]:
    """Return the members that send the verbs of a class."""
    prefix = f"{path}." if path else ""
    members: dict[str, Any] = {}
    for name, verb in public_verbs(original).items():
        if prefix + name in VERBS:
            members[name] = _verb(prefix + name, verb)
        elif prefix + name in REFUSED:
            members[name] = _refusal(prefix + name, verb)
    names = (name.removeprefix(prefix) for name in PROPERTIES if name.startswith(prefix))
    return members | {name: _property(prefix + name) for name in names if "." not in name}


def _verb(verb: str, original: Callable[..., Any]) -> Any:
    @wraps(original)
    def sent(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = bound(original, verb, args, kwargs)
        progress = given.pop("progress", None)
        calls: Calls = self._calls
        return calls.value(calls.send(verb, given, on=self._on, progress=progress))

    return sent


def _refusal(verb: str, original: Callable[..., Any]) -> Any:
    @wraps(original)
    def refused(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        refuse(verb)

    return refused


def _property(verb: str) -> property:
    return property(lambda self: self._calls.value(self._calls.send(verb, {}, on=self._on)))


def _begun(self: Any, calls: Calls, on: Mapping[str, Any] | None = None) -> None:
    self._calls, self._on = calls, on


def class_of(original: type, path: str, **more: Any) -> Any:
    """Return a subclass whose verbs are sent; `more` are further members."""
    told = {"__module__": __name__, "__doc__": original.__doc__, "__init__": _begun}
    return type(original.__name__, (original,), {**told, **verbs_of(original, path), **more})


def group(name: str, kind: type) -> property:
    return property(lambda self: kind(self._calls))


RemoteIntake = class_of(Intake, "sources.intake")


def _intake(
    self: Any, *, force: bool = False, dry_run: bool = False, via: str | None = None, follows: Sequence[str] = ()
) -> Any:
    """Begin an intake, which the server remembers by its handle."""
    calls: Calls = self._calls
    calls.check_open()
    check_intake(force=force, dry_run=dry_run, via=via, follows=follows)
    asked = {"force": force, "dry_run": dry_run, "via": via, "follows": list(follows)}
    return RemoteIntake(calls, {"handle": secrets.token_hex(8), **asked})


_everything = class_of(BankGraph, EVERYTHING)
_MORE: Mapping[str, Mapping[str, Any]] = {
    "graph": {"everything": group(EVERYTHING, _everything)},
    "sources": {"intake": _intake},
}
GROUP_CLASSES: Mapping[str, Any] = {
    name: class_of(original, name, **_MORE.get(name, {})) for name, original in GROUPS.items()
}
"""The groups of verbs, by their attribute of the bank."""
