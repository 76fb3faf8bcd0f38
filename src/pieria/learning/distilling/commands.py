"""Parse command lines: the program, whether it only reads, and whether two commands do the same."""

from __future__ import annotations

import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


@cache
def _programs() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))


def listed(key: str) -> frozenset[str]:
    """Return a list of `programs.toml`."""
    return frozenset(_programs()[key].split())


def listed_by(key: str) -> dict[str, str]:
    """Return a table of `programs.toml`."""
    return dict(_programs()[key])


_LOOKING = listed("looking")
_LOOKING_GIT = listed("looking_git")
_READING = listed("reading")
_SEARCHING = listed("searching")
_OUTSIDE = listed("outside")
_OUTSIDE_GH = listed("outside_gh")
_WRAPPING = listed("wrapping")
_RUNNING = {program: tuple(verb.split()) for program, verb in listed_by("running").items()}
_PARTED = listed("parted")
_APART = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_REDIRECTED = re.compile(r"\s*(?:\d?>&\d|&>>?\s*\S+|\d?>>?\s*\S+|<\s*\S+)")
_ASSIGNED = re.compile(r"\A[A-Za-z_]\w*=")
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""")
_HOST = re.compile(r"(?:localhost|\[::1\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:[/?]\S*)?")
"""A word that may be an address without its scheme."""
_LOCAL = re.compile(
    r"(?:[a-z]+://)?(?:localhost|(?:[\w-]+\.)+localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\]|host\.docker\.internal)"
    r"(?::\d+)?(?:[/?#]|\Z)",
    re.IGNORECASE,
)
_LONGEST = 4_000


class Command(NamedTuple):
    """One command of a line: program without folder, subcommand and arguments."""

    program: str
    verb: str
    targets: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.program} {self.verb}".strip()


def commands(line: str) -> list[Command]:
    """Return the commands of a line in order. Only the first command of a pipe counts; the rest formats its output."""
    found = []
    for part in parts(line[:_LONGEST]):
        read = _read(part)
        if read is not None:
            found.append(read)
    return found


def main_command(line: str) -> Command | None:
    """Return the last command that does more than look around, or None."""
    doing = [command for command in commands(line) if not only_looks(command)]
    return doing[-1] if doing else None


def read_files(line: str) -> list[str]:
    """Return the files that a read-only line shows."""
    return [
        target
        for command in commands(line)
        if command.program in _READING
        for target in command.targets
        if _is_path(target)
    ]


def searched(line: str) -> str | None:
    """Return what a line searches for, if it does nothing else."""
    looking = [command for command in commands(line) if command.program in _SEARCHING]
    doing = [command for command in commands(line) if not only_looks(command) and command.program not in _SEARCHING]
    if not looking or doing or not looking[0].targets:
        return None
    return looking[0].targets[0]


_HIDDEN_ADDRESS = re.compile(
    r"[$`]|\{[^}\s]*,[^}\s]*\}|(?<!\S)(?:--(?:url|resolve|connect-to|proxy|config|input-file)|-[xK])(?![a-z-])"
)
"""What may hold another address than those that a command shows."""


def is_outside(line: str) -> bool:
    """Return whether the output comes from the network, such as a web page, and not from a server on this machine."""
    may_be_local = _HIDDEN_ADDRESS.search(line) is None
    return any(
        (command.program in _OUTSIDE and not (may_be_local and is_local(*command.targets)))
        or (command.program == "gh" and command.verb in _OUTSIDE_GH)
        for command in commands(line)
    )


def is_local(*words: str) -> bool:
    """Return whether the addresses among these words are of this machine, and there is one at least."""
    addresses = [word for word in words if "://" in word or _HOST.fullmatch(word)]
    return bool(addresses) and all(_LOCAL.match(address) for address in addresses)


def undone_files(line: str) -> list[str] | None:
    """Return the files that a line restores; an empty list means all files, None means it restores nothing."""
    for command in commands(line):
        if command.program != "git":
            continue
        paths = [target for target in command.targets if _is_path(target)]
        whole = any(target in (".", "--hard") for target in command.targets)
        if command.verb in ("checkout", "restore") and (paths or whole):
            return [] if whole else paths
        if command.verb == "reset" and whole:
            return []
    return None


def is_mended(failed: str, passed: str, error: str) -> bool:
    """Return whether success of the second command shows that the first failure is fixed.

    It must run the same program on the same targets, on more, or on a target that the error named.
    """
    before, after = main_command(failed), main_command(passed)
    if before is None or after is None or before.name != after.name:
        return False
    if not after.targets or before.targets == after.targets:
        return True
    if before.targets:
        return any(told.startswith(target) for told in before.targets for target in after.targets)
    return any(target.partition("::")[0].rpartition("/")[2] in error for target in after.targets)


def parts(line: str) -> list[str]:
    """Split a line at command separators, keeping quoted parts whole."""
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"\x00{len(held) - 1}\x00"

    bare = _QUOTED.sub(hold, line)
    inner = re.match(r"\s*(?:ba|z|da)?sh\s+-l?c\s+\x00(\d+)\x00\s*\Z", bare)
    if inner:
        return parts(held[int(inner[1])][1:-1])
    kept = [part.split("|")[0] for part in _APART.split(bare)]
    return [re.sub(r"\x00(\d+)\x00", lambda found: held[int(found[1])], part).strip() for part in kept if part.strip()]


def _read(part: str) -> Command | None:
    words = _unwrapped(_words(_REDIRECTED.sub("", part)))
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    rest = words[1:]
    if program.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        program, rest = rest[1], rest[2:]
    elif program.startswith("python") and rest and rest[0].endswith(".py"):
        program, rest = rest[0].rpartition("/")[2], rest[1:]
    verb = ""
    if program in _PARTED:
        plain = [word for word in rest if not word.startswith("-")]
        if plain[:1] == ["run"] and len(plain) > 1:
            plain = plain[1:]
            rest = [word for word in rest if word != "run"]
        verb = plain[0] if plain else ""
        if verb:
            rest = list(rest)
            rest.remove(verb)
    # Without options, except `--hard`, which changes what git does.
    return Command(program, verb, tuple(word for word in rest if word == "--hard" or not word.startswith("-")))


def _unwrapped(words: list[str]) -> list[str]:
    while words:
        word = words[0].rpartition("/")[2]
        if _ASSIGNED.match(words[0]) or word in _WRAPPING:
            words = words[1:]
        elif word == "timeout":
            words = words[1:]
            while words and (words[0].startswith("-") or words[0][:1].isdigit()):
                words = words[1:]
        elif word in _RUNNING and (not _RUNNING[word] or words[1:2] == list(_RUNNING[word])):
            words = words[1 + len(_RUNNING[word]) :]
            while words and words[0].startswith("-"):
                words = words[1:]
        else:
            return words
    return words


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:
        return part.split()


def only_looks(command: Command) -> bool:
    """Return whether the command only looks around or prepares something."""
    if command.program == "git":
        return command.verb in _LOOKING_GIT or not command.verb
    if command.program == "sed":
        return True
    return command.program in _LOOKING


def _is_path(word: str) -> bool:
    return bool(re.search(r"[./]", word)) and not word.startswith("-") and " " not in word and word not in (".", "..")


def is_same_file(one: str, other: str) -> bool:
    """Return whether two paths name one file, or the first is below the second."""
    return (
        one == other
        or one.endswith(f"/{other}")
        or other.endswith(f"/{one}")
        or one.startswith(f"{other.rstrip('/')}/")
    )
