"""Ways to plant a text in a bank: each channel as a stranger, an agent or a person would use it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tests.learning.session_events import Session

import pieria
from pieria import Bank
from pieria.mining import mine
from pieria.record.event import AgentEvent
from pieria.record.trust import AGENT, HEARSAY, OUTSIDE, PERSON, TRUST
from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

BANK = "notes"
Payload = Mapping[str, Any]


@dataclass
class Planting:
    """A data folder, and the folder for files."""

    data: Path
    files: Path

    @classmethod
    def within(cls, folder: Path) -> Planting:
        (folder / "files").mkdir(parents=True)
        return cls(folder / "data", folder / "files")

    @contextmanager
    def bank(self, via: str = AGENT, **more: Any) -> Iterator[Bank]:
        with pieria.open(BANK, data=self.data, via=via, **more) as bank:
            yield bank

    def tool(self, name: str, arguments: dict[str, Any]) -> None:
        banks = Banks(Workspace(self.data), "test")
        reply = called(registry(), name, arguments, Host(banks, BANK, "s", Paths(self.files, (self.files,))))
        banks.close()
        assert reply.error is None, reply.text

    def observe(self, session: Session, events: list[Any]) -> None:
        """Hand over events like the spool of a person's hooks."""
        with self.bank(PERSON) as bank:
            bank.observe([*events, session.end()])
            bank.distil()


Plant = Callable[[Planting, Payload, int], None]


def text_of(payload: Payload) -> str:
    """Return the longest text of a payload: what a caller would hand on as the content."""
    return max((value for value in payload.values() if isinstance(value, str)), key=len)


def _tool(name: str, arguments: Callable[[Payload], dict[str, Any]]) -> tuple[Plant, str]:
    """Return a way to plant a text by a tool call of an agent."""
    return lambda at, payload, number: at.tool(name, arguments(payload)), AGENT


def _content(name: str = "content", **more: Any) -> Callable[[Payload], dict[str, Any]]:
    return lambda payload: {name: text_of(payload), **more}


def _triple_of(payload: Payload) -> dict[str, Any]:
    values = [str(value) for value in payload.values() if isinstance(value, str)]
    subject, predicate, object = (*values, "x", "says", "x")[:3]
    return {"subject": subject, "predicate": predicate, "object": object}


def _decision(payload: Payload) -> dict[str, Any]:
    return {"title": str(payload.get("title", "A note")), "type": "decision", "narrative": text_of(payload)}


def _said(payload: Payload) -> dict[str, Any]:
    author = {"author_type": "human"} if "human" in json.dumps(payload) else {}
    return {"content": text_of(payload), **author}


def _step(at: Planting, payload: Payload, number: int) -> None:
    with at.bank() as bank, bank.session(goal=f"Work {number}") as session:
        session.append(observation=f"User: {text_of(payload)}", action="Noted.")


def _turn(at: Planting, payload: Payload, number: int) -> None:
    session = Session(f"s{number}")
    at.observe(session, [session.prompt("go on please"), session.reply(text_of(payload))])


def _happened(session: Session, each: Payload) -> AgentEvent:
    if "output" not in each:
        return session.reply(each["text"])
    return session.event("tool", tool=each["tool"], input=each.get("input") or {}, text=str(each["output"]))


def _output(at: Planting, payload: Payload, number: int) -> None:
    session = Session(f"s{number}")
    at.observe(session, [session.prompt("have a look at it"), _happened(session, payload), session.reply("Done.")])


def _repeated(at: Planting, payload: Payload, number: int) -> None:
    session = Session(f"s{number}")
    prompt = session.prompt("what does it say?")
    at.observe(session, [prompt, *(_happened(session, each) for each in payload["events"])])


def _prompt(at: Planting, payload: Payload, number: int) -> None:
    session = Session(f"s{number}")
    at.observe(session, [session.prompt(payload["text"]), session.reply("Done.")])


def _mined_file(at: Planting, payload: Payload, number: int) -> None:
    project = at.files / f"project{number}"
    path = project / payload["path"]
    path.parent.mkdir(parents=True)
    path.write_text(payload["text"])
    with at.bank(PERSON) as bank:
        mine(bank, project)


def _mined_slack(at: Planting, payload: Payload, number: int) -> None:
    folder = at.files / f"slack{number}"
    (folder / "general").mkdir(parents=True, exist_ok=True)
    users = {each["user"] for each in payload["messages"]}
    (folder / "users.json").write_text(json.dumps([{"id": f"U{name}", "name": name} for name in users]))
    (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "general"}]))
    said = [
        {"type": "message", "user": f"U{each['user']}", "text": each["text"], "ts": f"17300000{number}{place}.0"}
        for place, each in enumerate(payload["messages"])
    ]
    (folder / "general" / "2026-03-02.json").write_text(json.dumps(said))
    with at.bank(PERSON) as bank:
        assert mine(bank, folder, conversations=True).as_dict()


def _mined_transcript(at: Planting, payload: Payload, number: int) -> None:
    path = at.files / f"talk{number}" / "talk.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(payload["lines"]))
    with at.bank(PERSON) as bank:
        mine(bank, path, conversations=True)


def _imported(at: Planting, payload: Payload, number: int) -> None:
    export = at.files / f"theirs{number}.jsonl"
    with pieria.open("theirs", data=at.files / f"theirs{number}", via=PERSON) as theirs:
        for each in payload["memories"]:
            theirs.remember(text_of(each), author="Maya", author_type="human")
        theirs.export(export)
    with at.bank(PERSON) as bank:
        bank.import_(export)


def _vault(at: Planting, payload: Payload, number: int) -> None:
    note = at.files / "vault" / str(number) / Path(payload["path"]).name
    note.parent.mkdir(parents=True)
    note.write_text(payload["text"])
    with at.bank(PERSON, settings={"vault": str(at.files / "vault")}) as bank:
        bank.vault.sync()


def _command(at: Planting, payload: Payload, number: int) -> None:
    from pieria.doors.cli.root import cli

    text = payload["text"]
    done = CliRunner().invoke(cli, ["remember", "--data", str(at.data), "--bank", BANK, "--author-type", "human", text])
    assert done.exit_code == 0, done.output


def _person(at: Planting, payload: Payload, number: int) -> None:
    """Words typed at a terminal, or in a form by a signed-in person."""
    with at.bank(PERSON) as bank:
        bank.remember(payload["text"])


CHANNELS: dict[str, tuple[Plant, str]] = {
    "tool:mnemosyne_remember": _tool("mnemosyne_remember", _said),
    "tool:mempalace_add_drawer": _tool("mempalace_add_drawer", _content(wing="notes", room="rules")),
    "tool:mem-create": _tool("mem-create", _decision),
    "tool:save_memory": _tool("save_memory", _content(tags=["rule"])),
    "tool:diary": _tool("mempalace_diary_write", _content("entry", agent_name="claude")),
    "tool:triple_add": _tool("mnemosyne_triple_add", _triple_of),
    "tool:scratchpad": _tool("mnemosyne_scratchpad_write", _content()),
    "tool:sessions_append": (_step, AGENT),
    "hook:assistant_turn": (_turn, AGENT),
    "hook:tool_output": (_output, OUTSIDE),
    "hook:repeated": (_repeated, OUTSIDE),
    "hook:prompt_with_paste": (_prompt, HEARSAY),
    "mined:file": (_mined_file, HEARSAY),
    "mined:slack": (_mined_slack, HEARSAY),
    "mined:transcript": (_mined_transcript, HEARSAY),
    "import:jsonl": (_imported, HEARSAY),
    "vault:note": (_vault, HEARSAY),
    "cli:not_a_terminal": (_command, AGENT),
    "http:token": _tool("mnemosyne_remember", _said),
    "hook:prompt": (_prompt, PERSON),
    "cli:terminal": (_person, PERSON),
    "page:form": (_person, PERSON),
}
"""How to plant a text, and the highest trust its channel can have."""


def plain(text: str) -> str:
    """Return the text for comparison: folded, without format characters, white space as one space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign for sign in folded if unicodedata.category(sign) != "Cf").split())


def rules_of(context: str) -> str:
    """Return the part of a context that an agent obeys."""
    return plain(context.partition("# Standing rules")[2].partition("\n# ")[0])


def most(channel: str) -> float:
    return TRUST[CHANNELS[channel][1]]
