"""Tool calls that say more than their output: questions with a person's answers, plans, findings, patches.

The hook file loads this for such calls only. Each host's form becomes one form, short enough for an event: the hook
shortens each argument, and a bank keeps few of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Event = dict[str, Any]

_SHELLS = ("Bash", "shell", "exec_command")
_PATCHES = ("command", "patchText", "patch", "input")
_NOTE = "user_note: "
"""How Codex marks the words that a person typed."""
LARGEST = 1 << 20
"""Bytes of a file that a patch may change, to be compared with the patch."""


def with_questions(event: Event, told: Any) -> Event | None:
    """Return the event with its questions; None if the call failed. Its text stays only if it alone has the answers."""
    if event["failed"]:
        return None
    questions = questions_of(event["input"], told)
    has_answers = any(question["answer"] for question in questions)
    return {**event, "input": {"questions": questions}, "text": "" if has_answers else event["text"]}


def with_plan(event: Event, told: Any) -> Event | None:
    """Return the event with the approved plan; None if the call failed.

    None also for a plan that another agent approved, which is no decision of a person.
    """
    answer = told if isinstance(told, dict) else {}
    plan = answer.get("plan") or event["input"].get("plan")
    if not plan or event["failed"] or answer.get("isAgent") is True:
        return None
    return {**event, "input": {}, "text": str(plan)}


def with_findings(event: Event, told: Any) -> Event:
    return {**event, "text": _between(event["text"], "<task_result>", "</task_result>")}


def with_waited(event: Event, told: Any) -> Event | None:
    """Return what the sub-agents that Codex waited for have found; None if nothing came."""
    status = _object(told).get("status")
    states = status.values() if isinstance(status, dict) else ()
    found = [str(state["completed"]) for state in states if isinstance(state, dict) and state.get("completed")]
    return {**event, "tool": "Agent", "text": "\n\n".join(found)} if found else None


def _object(told: Any) -> Mapping[str, Any]:
    """Return the answer as an object: Codex writes it as JSON."""
    from json import loads

    try:
        answer = loads(told) if isinstance(told, str) else told
    except ValueError:
        # Words, such as those of an interruption.
        return {}
    return answer if isinstance(answer, dict) else {}


def with_edits(event: Event, told: Any = None) -> Event:
    from pieria.record.patch import edits_of

    given = event["input"]
    edits = edits_of(next((given[name] for name in _PATCHES if isinstance(given.get(name), str)), ""))
    return {**event, "input": {"edits": edits}} if edits else event


REWRITING: dict[str, Callable[[Event, Any], Event | None]] = {
    "questions": with_questions,
    "plan": with_plan,
    "findings": with_findings,
    "waited": with_waited,
    "patch": with_edits,
}
"""How the answer of a tool changes its event; None drops an event that tells of nothing done."""


def questions_of(given: Mapping[str, Any], told: Any) -> list[Event]:
    """Return each question with its answer, whether a person typed the answer, and the choices that were offered."""
    answer = _object(told)
    answers = answer.get("answers") or given.get("answers") or ()
    notes = answer.get("annotations") or given.get("annotations") or {}
    found = []
    for number, asked in enumerate(_listed(given.get("questions"))):
        if not isinstance(asked, dict):
            continue
        words = str(asked.get("question") or "")
        said = _said(answers, number, (words, asked.get("id")))
        labels = [str(option.get("label")) for option in _listed(asked.get("options")) if isinstance(option, dict)]
        own = [one.removeprefix(_NOTE) for one in said if one.startswith(_NOTE)]
        said = [one for one in said if not one.startswith(_NOTE)]
        note = notes.get(words) if isinstance(notes, dict) else None
        own += [str(note["notes"])] if isinstance(note, dict) and note.get("notes") else []
        if asked.get("isSecret"):
            said, own = ["[secret]"], []
        elif not said:
            said, own = own, []
        found.append(
            {
                "question": words,
                "answer": ", ".join(said),
                "typed": any(one not in labels for each in said for one in _parts(each, labels)),
                **({"note": " ".join(own)} if own else {}),
                "options": labels,
            }
        )
    return found


def _said(answers: Any, number: int, names: tuple[Any, ...]) -> list[str]:
    """Return the answers to a question: hosts list them in order, or name them by the question or its id."""
    if isinstance(answers, dict):
        said = next((answers[name] for name in names if isinstance(name, str) and name in answers), None)
    else:
        said = next(iter(_listed(answers)[number : number + 1]), None)
    said = said.get("answers") if isinstance(said, dict) else said
    return [said] if isinstance(said, str) else [str(one) for one in _listed(said)]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _parts(answer: str, labels: list[str]) -> list[str]:
    """Return the labels of an answer that chose several, or the whole answer."""
    parts = answer.split(", ")
    return parts if all(part in labels for part in parts) else [answer]


def notified(text: str) -> Event | None:
    """Return what a notice says that a sub-agent found: it worked in the background. None for another notice."""
    call, found = (_between(text, f"<{tag}>", f"</{tag}>", "") for tag in ("tool-use-id", "result"))
    if not call or not found:
        return None
    about = _between(text, "<summary>", "</summary>", "")
    told = {"tool": "Agent", "input": {"description": about}, "text": found, "failed": None}
    return {"what": "tool", "own": f"{call} found", **told}


def _between(text: str, begin: str, end: str, otherwise: str | None = None) -> str:
    start, stop = text.find(begin), text.rfind(end)
    if start < 0 or stop < start:
        return text if otherwise is None else otherwise
    return text[start + len(begin) : stop].strip()


def before(event: Event) -> Event | None:
    """Return the edit that a shell's call of `apply_patch` is about to make; None for other calls.

    Codex takes such a call out of the shell, and tells no hook how it went. So compare the patch with the files.
    """
    from pieria.record.patch import is_shell_patch

    command = event["input"].get("command")
    if event["tool"] not in _SHELLS or not isinstance(command, str) or not is_shell_patch(command):
        return None
    made = with_edits({**event, "tool": "apply_patch", "text": ""})
    return made if _applies(made["input"].get("edits") or (), event["folder"] or "") else None


def _applies(edits: Any, folder: str) -> bool:
    import os

    from pieria.record.patch import fits

    read: dict[str, str | None] = {}
    for edit in edits:
        path = os.path.join(folder, edit.get("moved_from") or edit["file_path"])
        if path not in read:
            read[path] = _read(path)
        if not fits(edit, read[path]):
            return False
        read[os.path.join(folder, edit["file_path"])] = read[path]
    return bool(edits)


def _read(path: str) -> str | None:
    import os

    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(LARGEST)
