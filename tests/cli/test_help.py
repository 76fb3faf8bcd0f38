"""Help, its page, and completion: each covers every command."""

from collections.abc import Callable

import click
import pytest
from tests.cli.conftest import Ask
from tests.cli.reference import PAGE, commands, documented, leaves, printed

from pieria.doors.cli import run
from pieria.doors.cli.root import COMMANDS, SECTIONS, cli

Completed = Callable[[str], set[str]]


def test_page_covers_every_command_and_exit_code() -> None:
    """click caches the help option of the first context: one without settings must not take `-h` away."""
    outdated = [path for path, help in printed().items() if documented().get(path) != help]
    assert outdated == [], "run: python tests/cli/reference.py"
    assert set(documented()) == set(printed())
    for path, context in commands():
        assert context.command.get_help_option_names(click.Context(context.command)) == ["-h", "--help"], path
    codes = (run.DONE, run.REFUSED, run.ASKED_WRONGLY, run.FAILED, run.TRY_AGAIN, run.OUR_FAULT, run.INTERRUPTED)
    for code in (*codes, run.CLOSED_PIPE):
        assert f"\n| {code} | " in PAGE.read_text()


def test_every_command_is_explained_in_the_overview(ask: Ask) -> None:
    overview = ask("--help").out
    for section, listed in SECTIONS.items():
        assert f"\n{section}:\n" in overview
        for name, described in listed.items():
            command = cli.get_command(click.Context(cli), name)
            assert command is not None and command.name == name
            assert f"  {name} " in overview and described.help in overview
    assert sum(len(listed) for listed in SECTIONS.values()) == len(COMMANDS)
    for path, context in commands():
        assert context.command.help, path
        unexplained = [one.name for one in context.command.params if isinstance(one, click.Option) and not one.help]
        assert unexplained == [], path
    for path in leaves():
        assert "--bank NAME" in ask(*path.split()[1:], "-h").out or path == "pieria demo"


@pytest.fixture
def completed(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Completed:
    def completing(words: str) -> set[str]:
        with monkeypatch.context() as patch:
            patch.setenv("_PIERIA_COMPLETE", "bash_complete")
            patch.setenv("COMP_WORDS", words)
            patch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
            return {line.partition(",")[2] for line in ask().out.splitlines() if line}

    return completing


def test_shell_completes_words(completed: Completed, ask: Ask) -> None:
    assert completed("pieria re") == {"remember", "recall", "revise", "rekey", "restore", "remove-bank", "review"}
    assert {"add", "query"} <= completed("pieria facts ")
    assert completed("pieria remember --valid-") == {"--valid-from", "--valid-until"}
    assert completed("pieria remember --kind d") == {"drawer", "diary"}
    ask("remember", "x", "--bank", "notes")
    assert completed("pieria recall --bank n") == {"notes"}
    assert completed("pieria recall --data /dev/null --bank n") == set()
    assert completed("pieria call mnemosyne_rem") == {"mnemosyne_remember"}
    assert "mnemosyne" in {name.rpartition(",")[2] for name in completed("pieria mcp --toolset mn")}
    assert "all" in {name.rpartition(",")[2] for name in completed("pieria mcp --toolset mnemosyne,")}
