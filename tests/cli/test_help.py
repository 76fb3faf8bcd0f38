"""Help, its page, and completion: each covers every command."""

import click
import pytest
from tests.cli.conftest import Ask, Run
from tests.cli.reference import PAGE, commands, documented, leaves, printed

from pieria.doors.cli.root import COMMANDS, SECTIONS, cli


def test_the_page_prints_the_help_of_every_command_word_for_word() -> None:
    outdated = [path for path, help in printed().items() if documented().get(path) != help]
    assert outdated == [], "run: python tests/cli/reference.py"
    assert set(documented()) == set(printed())


def test_every_command_explains_itself_by_the_same_words_however_it_is_reached() -> None:
    """click caches the help option of the first context: one without settings must not take `-h` away."""
    for path, context in commands():
        assert context.command.get_help_option_names(click.Context(context.command)) == ["-h", "--help"], path


def test_the_page_names_every_exit_code() -> None:
    from pieria.doors.cli import run as running

    page = PAGE.read_text()
    for code in (
        running.DONE, running.REFUSED, running.ASKED_WRONGLY, running.FAILED, running.TRY_AGAIN, running.OUR_FAULT,
        running.INTERRUPTED, running.CLOSED_PIPE,
    ):  # fmt: skip
        assert f"\n| {code} | " in page


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_says_of_a_command_what_its_own_help_begins_with(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert COMMANDS[name].help
    assert command.help


def test_the_overview_has_every_command_under_one_heading(ask: Ask) -> None:
    overview = ask("--help").out
    for section, listed in SECTIONS.items():
        assert f"\n{section}:\n" in overview
        for name, command in listed.items():
            assert f"  {name} " in overview
            assert command.help in overview
    assert sum(len(listed) for listed in SECTIONS.values()) == len(COMMANDS)


def test_every_command_and_every_option_is_explained() -> None:
    for path, context in commands():
        assert context.command.help, path
        for parameter in context.command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (path, parameter.name)


def test_every_command_points_to_the_shared_options(ask: Ask) -> None:
    for path in leaves():
        if path != "pieria demo":
            assert "--bank NAME" in ask(*path.split()[1:], "-h").out


# --- completion


def completed(run: Run, words: str) -> set[str]:
    done = run(
        env={"_PIERIA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    )
    return {line.partition(",")[2] for line in done.stdout.decode().splitlines() if line}


def test_the_shell_completes_commands_options_names_and_banks(run: Run, ask: Ask) -> None:
    assert completed(run, "pieria re") == {"remember", "recall", "revise", "rekey", "restore", "remove-bank", "review"}
    assert {"add", "query"} <= completed(run, "pieria facts ")
    assert completed(run, "pieria remember --valid-") == {"--valid-from", "--valid-until"}
    assert completed(run, "pieria remember --kind d") == {"drawer", "diary"}
    ask("remember", "x", "--bank", "notes")
    assert completed(run, "pieria recall --bank n") == {"notes"}
    assert completed(run, "pieria recall --data /dev/null --bank n") == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(run: Run, shell: str) -> None:
    script = run(env={"_PIERIA_COMPLETE": f"{shell}_source"})
    assert script.returncode == 0
    assert b"_PIERIA_COMPLETE" in script.stdout
