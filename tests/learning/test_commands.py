"""Command lines: what they run, which only read, and which are equivalent."""

import tomllib
from pathlib import Path

from pieria.learning.distilling import commands
from pieria.learning.distilling.outcomes import outcome_of

TOLD = tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))


def test_main_command_of_a_line_and_its_targets() -> None:
    main = {line: commands.main_command(line) for line in (*TOLD["runs"], *TOLD["looks"]["around"])}
    runs = {line: [command.name, *command.targets] for line, command in main.items() if command is not None}
    assert runs == TOLD["runs"]


def test_success_mends_the_failure_of_an_equivalent_command() -> None:
    for answer, cases in TOLD["mended"].items():
        assert [case for case in cases if commands.is_mended(*case) is not (answer == "yes")] == []


def test_files_that_a_line_puts_back() -> None:
    assert commands.undone_files("git checkout -- src/a.py") == ["src/a.py"]
    assert commands.undone_files("git reset --hard HEAD") == []
    assert commands.undone_files("git restore .") == []
    assert commands.undone_files("git checkout main") is None
    assert commands.undone_files("rm src/a.py") is None


def test_files_and_patterns_that_a_line_reads() -> None:
    assert commands.read_files("cat src/a.py && head -5 b.txt") == ["src/a.py", "b.txt"]
    assert commands.searched("grep -rn 'KeyError' src | head") == "KeyError"
    assert commands.searched("grep x a && make") is None


def test_output_of_a_server_on_this_machine_is_not_the_web() -> None:
    told = {answer: [line for line in lines if commands.is_outside(line)] for answer, lines in TOLD["outside"].items()}
    assert told == {"yes": TOLD["outside"]["yes"], "no": []}


def test_error_line_is_found_in_an_output() -> None:
    assert {output: outcome_of(output, True).error for output in TOLD["errors"]} == TOLD["errors"]
    assert [output for output in TOLD["errors"] if outcome_of(output, None).failed is not True] == []


def test_counts_stand_above_what_the_host_reports() -> None:
    assert outcome_of("3 failed, 12 passed in 1.2s", False).failed is True
    assert outcome_of("15 passed in 1.2s", None) == (None, "15 passed", "")
    assert outcome_of("0 failed, 15 passed", False).failed is False
    assert outcome_of("Error: something that was expected", False).failed is False
