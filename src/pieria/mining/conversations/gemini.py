"""Gemini: the activity of a Google export (`MyActivity.json`), and the sessions of Gemini CLI.

A record of the activity is a prompt with its answer, newest first and without a conversation; those of one day make a
session. Gemini CLI keeps a file for each session, `~/.gemini/tmp/<project>/chats/session-*.json` or `.jsonl`. In JSON
lines a message may be written several times, and the last time counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pieria.errors import InputError
from pieria.language.typed import typed
from pieria.mining.conversations.html_text import text_of
from pieria.mining.conversations.records import Record, json_elements, json_lines
from pieria.mining.files import digest_of_text
from pieria.mining.said import BY_SUB_AGENTS, SPEAKERS, Heard, Left, Said, Turn, Turns, Wrong, clean, unheard, wrong
from pieria.record.time import instant, iso

NAME = "gemini"
NO_PROMPT = "records of other activity"
REWOUND = "taken back by the person"
_ROLES = {"user": "user", "gemini": "assistant"}
_PROMPTS = (
    "Prompted with: ",
    "Asked Gemini: ",
    "Asked Bard: ",
    "Prompted ",
    "Asked ",
    "Said ",
    "Branched ",
    "Answered ",
)
"""Verbs that Google writes before a prompt, in English. In other languages the title stays whole."""
_NO_PROMPTS = (
    "Created ", "Used ", "Added ", "Gave ", "Selected ", "Shared ", "Deleted ", "Viewed ", "Visited ", "Searched ",
    "Edited ", "Pinned ", "Renamed ", "Exported ", "Updated ",
)  # fmt: skip
_PATHS = ("file_path", "absolute_path", "path")
_ROOT_FILE = ".project_root"


def is_activity(head: Mapping[str, Any]) -> bool:
    return {"title", "time"} <= head.keys() and ("header" in head or "products" in head)


def is_session(head: Mapping[str, Any]) -> bool:
    return "sessionId" in head and "projectHash" in head


def is_known(head: Mapping[str, Any]) -> bool:
    return is_activity(head) or is_session(head)


def matches(heads: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether JSON lines are a session of Gemini CLI."""
    return bool(heads) and is_session(heads[0])


def read(path: Path, heard: Heard) -> Iterator[Said]:
    if path.suffix.lower() != ".json":
        yield from _session(path, json_lines(path, heard))
        return
    first = next(json_elements(path, unheard), None)
    head = first.value if isinstance(first, Record) else None
    if isinstance(head, dict) and is_session(head):
        yield from _session(path, json_elements(path, heard))
    else:
        yield from _activity(path, heard)


# --- the activity of an export


def _activity(path: Path, heard: Heard) -> Iterator[Said]:
    days = _times(path)
    for record in json_elements(path, heard):
        if isinstance(record, Record):
            yield from _prompt(record, days)
        else:
            yield record


def _times(path: Path) -> Mapping[str, list[str]]:
    """Return the times of each day's records in order, since a turn's number follows from them."""
    days: dict[str, list[str]] = defaultdict(list)
    for record in json_elements(path, unheard):
        told = record.value if isinstance(record, Record) else None
        at = _at(told) if isinstance(told, dict) else None
        if at is not None:
            days[at[:10]].append(at)
    return {day: sorted(times) for day, times in days.items()}


def _at(told: Mapping[str, Any]) -> str | None:
    try:
        return iso(instant(told.get("time"), "time"))
    except InputError:
        return None


def _prompt(record: Record, days: Mapping[str, list[str]]) -> Iterator[Said]:
    told = record.value
    title = told.get("title") if isinstance(told, dict) else None
    at = _at(told) if isinstance(title, str) else None
    if not isinstance(title, str) or at is None:
        yield wrong(record.number, "an activity with a title and a time", told)
        return
    answer = clean(_answer(told))
    asked = _asked(title, bool(answer)) if _is_of_gemini(told) else ""
    if not asked:
        yield Left(NO_PROMPT)
        return
    times = days[at[:10]]
    number = 2 * bisect_left(times, at) + 1 if bisect_right(times, at) else 1
    unit, session = f"{at}:{digest_of_text(asked)}", f"gemini-{at[:10]}"
    yield Turn(f"{unit}:user", session, number, *SPEAKERS["user"], asked, at)
    if answer:
        yield Turn(f"{unit}:assistant", session, number + 1, *SPEAKERS["assistant"], answer, at)


def _is_of_gemini(told: Mapping[str, Any]) -> bool:
    """Return whether the record is of Gemini: exports hold the activity of other products, too."""
    products = told.get("products")
    labels = [told.get("header"), *(products if isinstance(products, list) else ())]
    return any(name in str(label).lower() for label in labels for name in ("gemini", "bard"))


def _asked(title: str, is_answered: bool) -> str:
    """Return the words of the person; nothing if the record is of another deed."""
    if title.startswith(_NO_PROMPTS):
        return ""
    verb = next((verb for verb in _PROMPTS if title.startswith(verb)), None)
    if verb is None and not is_answered:
        return ""
    return clean(title.removeprefix(verb or ""))


def _answer(told: Mapping[str, Any]) -> str:
    items = told.get("safeHtmlItem")
    found = (item.get("html") for item in items if isinstance(item, dict)) if isinstance(items, list) else ()
    return "\n\n".join(text_of(html) for html in found if isinstance(html, str))


# --- the sessions of Gemini CLI


def _session(path: Path, records: Iterator[Record | Wrong | Left]) -> Iterator[Said]:
    """Yield the turns of a session, after reading all of it: later lines change earlier messages."""
    about: dict[str, Any] = {}
    messages: dict[str, tuple[int, Mapping[str, Any]]] = {}
    taken_back = 0
    for record in records:
        if not isinstance(record, Record):
            yield record
            continue
        told = record.value
        if not isinstance(told, dict):
            yield wrong(record.number, "an object", told)
        elif "$rewindTo" in told:
            ids = list(messages)
            begin = ids.index(told["$rewindTo"]) if told["$rewindTo"] in messages else len(ids)
            taken_back += sum(messages.pop(id)[1].get("type") in _ROLES for id in ids[begin:])
        elif isinstance(told.get("$set"), dict) or is_session(told):
            patch = told.get("$set", told)
            about |= {name: value for name, value in patch.items() if name != "messages"}
            for number, message in enumerate(_listed(patch.get("messages"))):
                messages[_id_of(message, number)] = (record.number, message)
        elif "type" in told:
            messages[_id_of(told, record.number)] = (record.number, told)
    for _ in range(taken_back):
        yield Left(REWOUND)
    yield from _turns(path, about, list(messages.values()))


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _id_of(message: Mapping[str, Any], number: int) -> str:
    held = message.get("id")
    return held if isinstance(held, str) and held else f"#{number}"


def _turns(path: Path, about: Mapping[str, Any], messages: list[tuple[int, Mapping[str, Any]]]) -> Iterator[Said]:
    session = about.get("sessionId")
    session = session if isinstance(session, str) and session.strip() else path.stem
    folder = _folder_of(path)
    turns = Turns()
    for number, message in messages:
        role = _ROLES.get(str(message.get("type")))
        if role is None:
            continue
        if about.get("kind") == "subagent":
            yield Left(BY_SUB_AGENTS)
            continue
        if role == "assistant":
            turns.files |= dict.fromkeys(_files(message))
        shown = message.get("displayContent") or message.get("content")
        if not isinstance(shown, str | list | dict | None):
            yield wrong(number, "a message with content, a text or parts", message)
            continue
        text = _text(shown)
        text = clean(typed(text) if role == "user" else text)
        if text:
            yield turns.turn(
                role, f"{session}:{_id_of(message, number)}", session, text, message.get("timestamp"), folder
            )


def _text(content: object) -> str:
    """Return the text of a content: a text, a part or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) and not content.get("thought") else ""
    return "\n\n".join(text for text in map(_text, content) if text.strip()) if isinstance(content, list) else ""


def _files(message: Mapping[str, Any]) -> Iterator[str]:
    for call in _listed(message.get("toolCalls")):
        given = call.get("args")
        for name in _PATHS:
            if isinstance(given, dict) and isinstance(given.get(name), str):
                yield given[name]


def _folder_of(path: Path) -> str | None:
    """Return the project's folder, which Gemini CLI notes beside the folder `chats`."""
    try:
        folder = next(parent for parent in path.parents if parent.name == "chats").parent
        return (folder / _ROOT_FILE).read_text("utf-8").strip() or None
    except (StopIteration, OSError, UnicodeDecodeError):
        return None
