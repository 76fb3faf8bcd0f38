"""The table of verbs and the classes behind HTTP agree with the embedded ones."""

import inspect
import re
from pathlib import Path

from pieria.bank import Bank
from pieria.bank.capture.sources import Intake
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.surface import GROUPS, public_verbs
from pieria.remote.bank import RemoteBank
from pieria.remote.calls import KEYWORDS
from pieria.remote.classes import GROUP_CLASSES, RemoteIntake
from pieria.remote.session import RemoteSession
from pieria.remote.verbs import ADMIN, OWN, PROPERTIES, REFUSED, UNSENT, VERBS
from pieria.sessions import Session

CLASSES = {
    "": Bank, "session": Session, "sources.intake": Intake, "graph.everything": BankGraph, **GROUPS,
}  # fmt: skip
PAGE = (Path(__file__).parents[2] / "docs" / "remote.md").read_text()


def names(path: str) -> set[str]:
    return {f"{path}.{name}".lstrip(".") for name in public_verbs(CLASSES[path])}


def test_every_public_verb_has_its_access_or_its_reason() -> None:
    public = {name for path in CLASSES for name in names(path)}
    later = {name for name in public if name.startswith("session.") and name.endswith("_async")}
    offered = {*VERBS, *REFUSED, *OWN} - PROPERTIES - {"session.leave"}
    assert public - later == offered
    for verb, unsent in UNSENT.items():
        path, _, name = verb.rpartition(".")
        assert set(unsent) <= set(inspect.signature(public_verbs(CLASSES[path])[name]).parameters)


def test_every_verb_is_sent_and_none_is_inherited() -> None:
    """An inherited verb would look for a file."""
    made = {"": RemoteBank, "session": RemoteSession, "sources.intake": RemoteIntake, **GROUP_CLASSES}
    for path, kind in made.items():
        embedded = CLASSES[path]
        for name, verb in public_verbs(embedded).items():
            assert inspect.getattr_static(kind, name) is not verb, f"{path}.{name}"
            if name not in ("session", "import_", "intake"):
                assert inspect.signature(getattr(kind, name)) == inspect.signature(verb), f"{path}.{name}"


def test_verbs_with_free_keywords_have_their_table() -> None:
    free = {
        name
        for path in CLASSES
        for name, verb in public_verbs(CLASSES[path]).items()
        if any(one.kind is one.VAR_KEYWORD for one in inspect.signature(verb).parameters.values())
    }
    assert set(KEYWORDS) == free


def test_the_page_lists_the_verbs_of_administrators() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `admin`"))
    told = set(re.findall(r"`([\w.]+)`", row))
    for verb, access in VERBS.items():
        short = verb.removeprefix("sessions.")
        if access == ADMIN and not verb.startswith("jobs."):
            assert verb in told or short in told, verb
