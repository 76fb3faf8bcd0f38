"""The hook file, which an agent's host runs at every event: it appends one line to the spool and exits.

Run as `python -I -S hook.py HOST SPOOL`, with the host's payload on stdin. The command in `install.commands` saves
compiling it each time. The agent waits for it, so it opens no bank, asks no model, and imports only the pure files
that remove private text. It fails open: no output, exit code 0, and one short line without content in `hook.log`.
"""

from __future__ import annotations

import os
import sys
import time

# mypy: disable-error-code="no-any-return"
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    Cleaner = Callable[[str, str, int], tuple[str, int]]

LIVE, LOG = "events.jsonl", "hook.log"
ASKING = "asking.json"
"""The folders whose banks want agents to be reminded to save, as of the last drain."""
READ_MOST, LOG_MOST, TRIES = 64 << 20, 64 << 10, 50
SPOKEN = ("prompt", "reply")
SPECIAL = {
    **dict.fromkeys(("AskUserQuestion", "question", "request_user_input"), "questions"),
    **dict.fromkeys(("Agent", "Task", "task"), "findings"),
    **dict.fromkeys(("apply_patch", "patch"), "patch"),
    **dict.fromkeys(("wait_agent", "multi_agent_v1wait_agent"), "waited"),
    "ExitPlanMode": "plan",
}
"""Tools whose calls `tool_hook` rewrites, and what it reads in them."""
SPOKEN_LIMIT, REPORT_LIMIT, OUTPUT_LIMIT, ARGUMENT_LIMIT = 250_000, 8_000, 2_000, 600
"""Characters kept of spoken text, of a plan or of findings, of tool output, and of each tool argument."""
SEARCHED = 40_000
"""Characters of a shortened text that are searched for secrets, half at either end."""
ITEMS, DEPTH, PUT_OUT_DEPTH = 20, 4, 20
FULL = 256 << 20
"""Most bytes in the spool. A larger spool means that no drain runs."""
REGULAR, KIND = 0o100000, 0o170000
LONGEST = 5.0
"""Seconds that a hook may take."""
FIRST_WORD, SILENCE = 2.0, 0.25
"""Seconds to wait for the payload's first and next bytes: some hosts never close the pipe."""

PATCH = "*** Begin Patch"
OFF = ("0", "false", "no", "off")
OWN_MARKS = ("pieria", "mnemosyne_", "mempalace_")
OWN_TOOLS = (
    "mem-find", "mem-history", "mem-get", "mem-create", "mem-revise", "mem-remove", "mem-export", "mem-import", "_gc",
    "mem-maintenance", "mem-help", "_remember", "_recall", "state_fact", "save_memory", "search_memory", "edit_memory",
    "search_unified", "touch_memory", "observe_memory_usage", "analyze_message", "analyze_for_recall", "forget_memory",
    "promote_memory", "cluster_memories", "consolidate_memories", "open_memories", "read_graph", "create_relation",
    "recover_memory",
    *(f"sessions_{verb}" for verb in ("start", "append", "close", "commit", "discard", "state", "recall", "latest",
                                      "node", "neighbors", "nodes", "maintain", "list_banks")),
)  # fmt: skip
_OWN_COMMAND = r"""(?x)
    (?: ^ | [;&|(\n`] ) \s* (?: \w+=\S*\s+ )*
    (?: (?: sudo|time|env|exec|command|nohup|uvx | (?:pipx|uv|poetry)\ run
        | (?:\S*/)?python[\d.]*(?:\ -\w+)*\ -m ) \s+ )*
    (?: \S*/ )? pieria (?= [\s;&|)] | $ )"""
OUTPUT_KEYS = ("stdout", "stderr", "error", "result", "output", "content", "text", "message", "file", "filenames")
COMMANDS = ("command", "cmd", "script")
LOOKED_AT = 4_000
"""Characters of a command that are checked."""
_EXIT = r"(?:Process exited with code|[Ee]xit code:?|exited with code) (\d+)"


def main(arguments: list[str]) -> None:
    if os.environ.get("PIERIA_CAPTURE", "").strip().lower() in OFF:
        return
    take(arguments[0], _folder(arguments[1]), _payload())


def take(host: str, spool: str, payload: dict[str, Any]) -> None:
    """Append a payload's event to the spool, unless it is Pieria's own or has no text."""
    event = READERS.get(host, _generic)(payload)
    if event is None or _is_own(event):
        return
    own = event.pop("own", None) or f"{time.time_ns():x}-{os.getpid():x}-{os.urandom(4).hex()}"
    event = {"host": host, "at": event.get("at") or _now(), **screened(event)}
    if event["what"] in SPOKEN and not event["text"].strip():
        return
    bank = os.environ.get("PIERIA_BANK")
    _append(spool, {**({"bank": bank} if bank else {}), "own": str(own), "event": event})
    if payload.get("hook_event_name") in ("UserPromptSubmit", "Stop"):
        _ask(spool, payload, event)


def _folder(given: str) -> str:
    """Return the folder that the environment names, or the one noted at installation."""
    data = os.environ.get("PIERIA_DATA", "")
    return os.path.join(os.path.expanduser(data), "spool") if data and "://" not in data else given


def _payload() -> dict[str, Any]:
    """Read one JSON object. Try to parse before the end of input, which may never come."""
    import select

    read = bytearray()
    while len(read) < READ_MOST and select.select([0], [], [], SILENCE if read else FIRST_WORD)[0]:
        part = os.read(0, 1 << 20)
        read += part
        if not part:
            break
        if select.select([0], [], [], 0)[0]:
            # Parse only when no more input is ready: parsing after each part would take quadratic time.
            continue
        if read.rstrip().endswith(b"}") and (payload := _object(bytes(read), whole=False)) is not None:
            return payload
    if (payload := _object(bytes(read), whole=True)) is None:
        raise TypeError("no object")
    return payload


def _object(read: bytes, *, whole: bool) -> dict[str, Any] | None:
    """Return the JSON object; None if it is no object, or incomplete and not `whole`.

    Use the C scanner if possible: importing the package `json` takes a third of the hook's time.
    """
    try:
        found = _scanned(read.decode())
    except Exception:  # noqa: BLE001 - not as we know it, or no JSON: the package itself says which
        from json import detect_encoding, loads

        try:
            # A byte that does not decode costs one character, not the event.
            found = loads(read.decode(detect_encoding(read), "replace"))
        except ValueError:
            if whole:
                raise
            return None
    return found if isinstance(found, dict) else None


class _Scanning:
    """Settings of the C scanner, as `json` has them."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012 - the names are the scanner's


def _scanned(text: str) -> object:
    import _json

    make: Any = _json.make_scanner
    found, end = make(_Scanning)(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise ValueError("more than one")
    return found


def _written(line: dict[str, Any]) -> str:
    try:
        import _json

        make: Any = _json.make_encoder
        return "".join(make(None, None, _json.encode_basestring, None, ":", ",", False, False, False)(line, 0))
    except Exception:  # noqa: BLE001 - the package itself says what is wrong
        from json import dumps

        return dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# --- what each host says


def _claude_code(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Read a Claude Code payload. Claude Code has a separate event for failed tools."""
    if payload.get("permission_mode") == "plan" and payload.get("tool_name") in ("Write", "Edit"):
        # Only the draft of a plan can be written then. The approved plan comes with `ExitPlanMode`.
        return None
    event = _codex(payload)
    if event is not None and event["what"] == "tool" and event["failed"] is None:
        event["failed"] = False
    return event


def _codex(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Read a payload in the format of Claude Code, which Codex adopted."""
    name = payload["hook_event_name"]
    if name not in _NAMED:
        return None
    what, key = _NAMED[name]
    if what != "tool" and payload.get("agent_id"):
        # Skip sub-agents: their prompts come from an agent, and they do not start or end the session.
        return None
    event = {"what": what, "session": payload["session_id"], "folder": payload.get("cwd")}
    if what == "tool":
        told = payload.get(key)
        event |= {"own": payload.get("tool_use_id"), "tool": payload["tool_name"], "input": _input(payload)}
        if name == "PreToolUse":
            return _loaded("capture.tool_hook").before(event) if PATCH in str(event["input"]) else None
        failed = True if name.endswith("Failure") else _failed(told)
        return _rewritten(event | {"text": _put_out(told), "failed": failed}, told)
    text = payload.get(key) or ""
    if what == "prompt" and ("<" in text or "# " in text):
        event["text"] = _loaded("language.typed").typed(text)
        found = "<result>" in text and not event["text"].strip() and _loaded("capture.tool_hook").notified(text)
        return event | (found or {"own": _turn(payload)})
    event["text"] = text
    if what in SPOKEN:
        # Other events may occur several times in one turn.
        event["own"] = _turn(payload)
    return event


def _turn(payload: dict[str, Any]) -> Any:
    return payload.get("turn_id") or payload.get("prompt_id")


_NAMED = {
    "SessionStart": ("start", "source"),
    "UserPromptSubmit": ("prompt", "prompt"),
    "PreToolUse": ("tool", ""),
    "PostToolUse": ("tool", "tool_response"),
    "PostToolUseFailure": ("tool", "error"),
    "Stop": ("reply", "last_assistant_message"),
    "PreCompact": ("compact", "trigger"),
    "SessionEnd": ("end", "reason"),
}


def _input(payload: dict[str, Any]) -> dict[str, Any]:
    given = payload.get("tool_input")
    return given if isinstance(given, dict) else {} if given is None else {"input": given}


def _opencode(payload: dict[str, Any]) -> dict[str, Any] | None:
    event, answer = _loaded("capture.opencode_hook").event_of(payload, _put_out, _failed)
    return event if event is None or event["what"] != "tool" else _rewritten(event, answer)


def _rewritten(event: dict[str, Any], told: Any) -> dict[str, Any] | None:
    what = SPECIAL.get(event["tool"])
    return event if what is None else _loaded("capture.tool_hook").REWRITING[what](event, told)


def _generic(payload: dict[str, Any]) -> dict[str, Any]:
    kept = ("what", "session", "folder", "text", "tool", "input", "files", "failed", "at")
    event = {name: payload[name] for name in kept if payload.get(name) is not None}
    return {"folder": os.getcwd(), **event, "own": payload.get("id")}


READERS: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "claude-code": _claude_code, "codex": _codex, "opencode": _opencode,
    "gemini": lambda payload: _loaded("capture.gemini_hook").event_of(payload, _put_out),
}  # fmt: skip


def _put_out(told: Any, depth: int = 0) -> str:
    """Return the text in a tool's answer, in any structure."""
    if isinstance(told, str):
        return told
    if isinstance(told, (dict, list)):
        parts = [told[key] for key in OUTPUT_KEYS if told.get(key)] if isinstance(told, dict) else told
        found = [_put_out(part, depth + 1) for part in parts] if depth < PUT_OUT_DEPTH else []
        return "\n".join(part for part in found if part)
    return "" if told is None or isinstance(told, bool) else str(told)


def _failed(told: Any) -> bool | None:
    """Return whether the answer says that it failed; None if it does not say."""
    if isinstance(told, dict):
        for key in ("exit_code", "exitCode", "exit", "returncode"):
            if isinstance(told.get(key), int):
                return told[key] != 0
        if any(told.get(key) is True for key in ("is_error", "isError", "interrupted")):
            return True
        return not told["success"] if isinstance(told.get("success"), bool) else None
    if isinstance(told, str) and "code" in told[:200]:
        import re

        said = re.search(_EXIT, told[:200])
        return None if said is None else said[1] != "0"
    return None


# --- what is never kept


def _is_own(event: dict[str, Any]) -> bool:
    """Return whether the event is a call of Pieria: recalled memories must not be captured as new."""
    tool = event.get("tool")
    if not isinstance(tool, str):
        return False
    if any(mark in tool for mark in OWN_MARKS) or tool.endswith(OWN_TOOLS):
        return True
    for command in (event["input"].get(name) for name in COMMANDS if isinstance(event.get("input"), dict)):
        line = " ".join(map(str, command)) if isinstance(command, list) else command
        if isinstance(line, str) and "pieria" in line:
            import re

            return re.search(_OWN_COMMAND, line[:LOOKED_AT]) is not None
    return False


def screened(event: dict[str, Any]) -> dict[str, Any]:
    """Return the event without private text and secrets, shortened to the limits."""
    clean = _cleaner()
    kept = {name: value for name, value in event.items() if value is not None}
    limit = SPOKEN_LIMIT if kept["what"] in SPOKEN else REPORT_LIMIT if kept.get("tool") in SPECIAL else OUTPUT_LIMIT
    text, length = clean(kept.get("text", ""), "", limit)
    kept |= {"text": _ends(text, limit, length)}
    if length > limit:
        from hashlib import sha256

        kept |= {"length": length, "digest": sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}
    for name in ("tool", "input", "files"):
        if name in kept:
            kept[name] = _shortened(kept[name], clean, "", 0)
    return kept


def _cleaner() -> Cleaner:
    privacy = _loaded("record.privacy")

    def clean(text: str, key: str, limit: int) -> tuple[str, int]:
        """Return the cleaned text and its full length. `key` may mark the text as a secret.

        Only the kept ends of a long text are searched for secrets.
        """
        if "<<<" in text:
            text = _loaded("record.unfence").unfenced(text)
        text = privacy.cut_private(text)[0]
        length = len(text)
        half = max(limit, SEARCHED // 2)
        parts = [text] if length <= 2 * half else [text[:half], text[-half:]]
        lead = f"{key}: " if key else ""
        return "".join(privacy.redact(lead + part)[0].removeprefix(lead) for part in parts), length

    return clean


def _loaded(name: str) -> ModuleType:
    """Import a pure file without the packages above it, whose import would double the hook's time."""
    from importlib import import_module
    from types import ModuleType

    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for package in ("pieria", f"pieria.{name.partition('.')[0]}"):
        if package not in sys.modules:
            made = ModuleType(package)
            made.__path__ = [os.path.join(root, *package.split(".")[1:])]
            sys.modules[package] = made
    return import_module(f"pieria.{name}")


def _ends(text: str, limit: int, length: int) -> str:
    if len(text) <= limit:
        return text
    gap = f"\n[… {length - limit:,} characters left out …]\n"
    head = max(limit - len(gap), 0) * 2 // 5
    return text[:head] + gap + text[len(text) - max(limit - len(gap) - head, 0) :]


def _shortened(value: Any, clean: Cleaner, key: str, depth: int) -> Any:
    if isinstance(value, str):
        text, length = clean(value, key, ARGUMENT_LIMIT)
        return _ends(text, ARGUMENT_LIMIT, length)
    if isinstance(value, dict):
        return dict(_shortened_items(value, clean, depth)) if depth < DEPTH else f"{len(value)} entries"
    if isinstance(value, list):
        return [_shortened(item, clean, key, depth + 1) for item in value[:ITEMS]] if depth < DEPTH else len(value)
    return value


def _shortened_items(value: dict[str, Any], clean: Cleaner, depth: int) -> Iterator[tuple[str, Any]]:
    for key, item in list(value.items())[:ITEMS]:
        yield _shortened(key, clean, "", depth), _shortened(item, clean, key, depth + 1)


# --- where it goes


def _append(spool: str, line: dict[str, Any]) -> None:
    """Append with one write to the live file, checking that no drain renamed it before the write.

    The leading line break protects the line if the line before it was cut off.
    """
    import fcntl

    written = f"\n{_written(line)}\n".encode("utf-8", "surrogatepass")
    if os.path.exists(pair := os.path.join(spool, "seal.json")):
        with open(pair, encoding="ascii") as file_of_pair:
            written = _loaded("record.spool_seal").sealed(file_of_pair.read(), written)
    path = os.path.join(spool, LIVE)
    for _ in range(TRIES):
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if _is_at(path, here := os.fstat(file)):
                if here.st_size > FULL:
                    raise BufferError("the spool is full: no process drains it")
                if os.write(file, written) < len(written):
                    raise BufferError("the disk, or a quota, is full: an event is lost")
                return
        except BlockingIOError:
            # A drain has just renamed the file; open the new one.
            continue
        finally:
            os.close(file)
    raise TimeoutError("the spool is held")


def _opened(path: str) -> int:
    """Open a file for appending. Refuse links, which could lead to another file, and pipes, which would block."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(os.path.dirname(path)), 0o700, exist_ok=True)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        file = os.open(path, flags, 0o600)
    if os.fstat(file).st_mode & KIND != REGULAR:
        os.close(file)
        raise BufferError("a spool file was replaced by something else")
    return file


def _is_at(path: str, here: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), here)
    except FileNotFoundError:
        return False


def _ask(spool: str, payload: dict[str, Any], event: dict[str, Any]) -> None:
    """Remind the agent to save after every `EVERY` prompts, if the bank wants it. Never twice in a row."""
    try:
        with open(os.path.join(spool, ASKING), encoding="utf-8") as file:
            wanted = file.read()
    except FileNotFoundError:
        return
    _loaded("capture.reminder_hook").remind(spool, wanted, payload, event)


def _now() -> str:
    now = time.time_ns()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 1_000_000_000)) + f".{now // 1000 % 1_000_000:06d}Z"


def _log(arguments: list[str], problem: Exception) -> None:
    """Log an error. Its message may quote captured text, so only safe messages are written."""
    said = str(problem) if isinstance(problem, (BufferError, TimeoutError, OSError)) else ""
    note(_folder(arguments[1]), f"{arguments[0]}: {type(problem).__name__} {said[:200]}".rstrip())


def note(spool: str, said: str) -> None:
    """Write one line with the time to the log, which is emptied when it grows too large."""
    file = _opened(os.path.join(spool, LOG))
    try:
        if os.fstat(file).st_size > LOG_MOST:
            os.ftruncate(file, 0)
        os.write(file, f"{_now()} {' '.join(said.split())}\n".encode("utf-8", "replace"))
    finally:
        os.close(file)


def _late(*_: object) -> None:
    raise TimeoutError(f"it took more than {LONGEST:g} s, and was abandoned")


def run(arguments: list[str]) -> None:
    """Run the hook and exit the process."""
    import _signal  # type: ignore[import-not-found]  # what lies behind `signal`, which takes longer to load

    os.umask(0o077)
    _signal.signal(_signal.SIGALRM, _late)
    # Repeat the signal, since the first may arrive where errors are suppressed.
    _signal.setitimer(_signal.ITIMER_REAL, LONGEST, 0.5)
    try:
        main(arguments)
    except Exception as problem:  # noqa: BLE001 - the agent goes on, whatever it is
        from contextlib import suppress

        _signal.setitimer(_signal.ITIMER_REAL, 0)
        # There is no other place to report it.
        with suppress(Exception):
            _log(arguments, problem)
    # Nothing needs cleanup, and Python's own exit takes as long as the write.
    os._exit(0)


if __name__ == "__main__":
    run(sys.argv[1:])
