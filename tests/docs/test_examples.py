"""Run every example in the documents, page by page and in order, on one data folder per page.

Each Python example has `pieria` imported and `bank` open on the page's own bank `notes`. The output must match the
comment behind the `print`, or the `text` block that follows; `…` matches anything. Commands are parsed, not run: this
finds misspelt commands and options.
"""

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

import pieria
from pieria.doors.cli.root import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEMPLATES = sorted((ROOT / "src" / "pieria" / "doors" / "web").rglob("*.html"))
SHELLS = ("console", "sh", "bash", "shell")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    """The line number of the first line in the page, from 1."""


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    language, text, start = "", [""], 0
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        fence = re.fullmatch(r"\s*```(\w*).*", line)
        if fence and not start:
            language, text, start = fence[1], [], number + 1
        elif fence:
            found.append(Block(language, "\n".join(text), start))
            start = 0
        else:
            text.append(line)
    assert not start, f"{page.name}:{start - 1}: the block is not closed"
    return found


def shown(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def matches(printed: str, promised: str) -> bool:
    pattern = ".*".join(map(re.escape, promised.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), flags=re.DOTALL) is not None


class Printer:
    """Replaces `print` in the examples of a page and records the source line of each text."""

    def __init__(self) -> None:
        self.printed: list[tuple[int, str]] = []

    def __call__(self, *values: object, sep: str = " ", end: str = "\n") -> None:
        self.printed.append((sys._getframe(1).f_lineno, sep.join(map(str, values))))

    def take(self) -> list[tuple[int, str]]:
        taken, self.printed = self.printed, []
        return taken


def promises(block: Block) -> Iterator[tuple[int, str]]:
    """Yield (line, expected output) for every `print(…)  # …`."""
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        found = re.match(r"\s*(?:for .*: )?print\(.*\)\s+# (.+)", line)
        if found:
            yield number, found[1]


def run(page: Path, block: Block, names: dict[str, Any]) -> list[tuple[int, str]]:
    """Run one block and return what it printed; tracebacks show the line numbers of the page."""
    bank = names.get("bank")
    if bank is None or "closed" in repr(bank):
        names["bank"] = pieria.open("notes")
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    exec(code, names)  # noqa: S102 - running our own documents is the point
    printed: list[tuple[int, str]] = names["print"].take()
    return printed


def with_python(page: Path) -> bool:
    return any(block.language == "python" for block in blocks(page))


@pytest.mark.parametrize("embedder", ["none", pytest.param("hashing", marks=pytest.mark.slow)])
@pytest.mark.parametrize("page", [page for page in PAGES if with_python(page)], ids=shown)
def test_examples_run_and_print_what_they_promise(page: Path, embedder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers may have an embedder or none, so each page runs with both."""
    monkeypatch.setenv("PIERIA_EMBEDDER", embedder)
    names: dict[str, Any] = {"__name__": "example", "pieria": pieria, "print": Printer()}
    found = blocks(page)
    wrong = []
    try:
        for block, following in zip(found, [*found[1:], None], strict=True):
            if block.language != "python":
                continue
            printed = run(page, block, names)
            promised_lines = dict(promises(block))
            for line, promised in promised_lines.items():
                first = next((text for where, text in printed if where == line), "(nothing)")
                if not matches(first, promised):
                    wrong.append(f"{shown(page)}:{line} prints {first!r}, not {promised!r}")
            if following is not None and following.language == "text":
                whole = "\n".join(text for line, text in printed if line not in promised_lines)
                if not matches(whole, following.text):
                    wrong.append(f"{shown(page)}:{following.line} should be\n{whole}")
    finally:
        names["bank"].close()
    assert not wrong, "\n".join(wrong)


def commands(page: Path) -> list[tuple[int, list[str]]]:
    """Return (line, arguments) of every `pieria …` in a shell block, without pipes and redirections."""
    found = []
    for block in blocks(page):
        if block.language not in SHELLS:
            continue
        joined = block.text.replace("\\\n", "  ")
        for number, line in enumerate(joined.splitlines(), start=block.line):
            for part in re.split(r"\s(?:\||>|>>|&&)\s", line.removeprefix("$ ")):
                words = shlex.split(part, comments=True)
                while words and "=" in words[0] and not words[0].startswith("-"):
                    words.pop(0)
                if words[:1] == ["pieria"]:
                    found.append((number, words[1:]))
    return found


def parsed(arguments: list[str]) -> None:
    """Find the named command and parse its options like the command line, without running it."""
    command: click.Command = cli
    context = click.Context(cli, info_name="pieria")
    while isinstance(command, click.Group) and arguments:
        name, *rest = arguments
        if name.startswith("-"):
            break
        below = command.get_command(context, name)
        if below is None:
            raise click.UsageError(f"there is no command {name}")
        context = click.Context(below, info_name=name, parent=context)
        command, arguments = below, rest
    if "--help" not in arguments and "--version" not in arguments:
        command.make_context(context.info_name, list(arguments), parent=context.parent)


def test_documented_commands_exist_and_take_these_options() -> None:
    wrong = []
    for page in PAGES:
        for line, arguments in commands(page):
            try:
                parsed(arguments)
            except click.UsageError as problem:
                wrong.append(f"{shown(page)}:{line}: pieria {' '.join(arguments)}: {problem.format_message()}")
    assert not wrong, "\n".join(wrong)


def test_commands_on_the_web_page_exist() -> None:
    named = [said for path in TEMPLATES for said in re.findall(r"<code>pieria ([^<]+)</code>", path.read_text())]
    assert named
    for said in named:
        arguments = shlex.split(re.sub(r"\{\{.*?\}\}", "notes", said))
        # A document may name a command without its required arguments.
        with contextlib.suppress(click.MissingParameter):
            parsed(arguments)


def test_the_readme_shows_a_short_python_example_first() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert 10 <= len(first.text.splitlines()) <= 25


def test_printed_text_is_compared_with_the_promise() -> None:
    same = [("a b", "a b"), ("id 7x", "id …"), ("0.46 JWT", "… JWT")]
    different = [("a b", "a"), ("b", "… JWT")]
    assert [pair for pair in same if not matches(*pair)] == []
    assert [pair for pair in different if matches(*pair)] == []
