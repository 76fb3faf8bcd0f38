"""Command lines: what they run, which only read, and which are equivalent."""

from __future__ import annotations

import pytest

from pieria.learning.distilling import commands
from pieria.learning.distilling.outcomes import outcome_of


@pytest.mark.parametrize(
    ("line", "name", "targets"),
    [
        ("cd shop && .venv/bin/pytest -q tests 2>&1 | tail -5", "pytest", ("tests",)),
        ("python -m pytest tests/a.py", "pytest", ("tests/a.py",)),
        ("PYTHONPATH=. timeout 60 uv run pytest", "pytest", ()),
        ("bash -lc 'npm run build'", "npm build", ()),
        ("npx playwright test e2e/a.spec.ts", "playwright test", ("e2e/a.spec.ts",)),
        ("./manage.py migrate shop", "manage.py migrate", ("shop",)),
        ("git add -A && git commit -m 'a; b && c'", "git commit", ("a; b && c",)),
        ("go test ./...", "go test", ("./...",)),
        ("make -j4 test", "make test", ()),
    ],
)
def test_what_a_line_does_and_to_what(line: str, name: str, targets: tuple[str, ...]) -> None:
    command = commands.main_command(line)
    assert command is not None
    assert (command.name, command.targets) == (name, targets)


@pytest.mark.parametrize("line", ["ls", "cd a; pwd", "git diff | head", "cat a.py && git log -3", "", "  ", "'"])
def test_what_only_looks_around_does_nothing(line: str) -> None:
    command = commands.main_command(line)
    assert command is None or command.program == "'"


@pytest.mark.parametrize(
    ("failed", "passed", "error", "mended"),
    [
        ("pytest -q", "pytest -q", "", True),
        ("pytest -q tests/a.py::test_x", "pytest tests/a.py", "", True),
        ("pytest tests/a.py", "pytest", "", True),
        ("pytest", "pytest tests/a.py", "FAILED tests/a.py::test_x", True),
        ("pytest", "pytest tests/b.py", "FAILED tests/a.py::test_x", False),
        ("pytest tests/a.py", "pytest tests/b.py", "", False),
        ("npm test", "npm run build", "", False),
        (".venv/bin/mypy src", "cd x && mypy src | tail", "", True),
        ("make image ARCH=arm64", "make image ARCH=arm64", "", True),
    ],
)
def test_which_success_shows_that_a_failure_is_mended(failed: str, passed: str, error: str, mended: bool) -> None:
    assert commands.is_mended(failed, passed, error) is mended


def test_what_is_put_back_as_it_was() -> None:
    assert commands.undone_files("git checkout -- src/a.py") == ["src/a.py"]
    assert commands.undone_files("git reset --hard HEAD") == []
    assert commands.undone_files("git restore .") == []
    assert commands.undone_files("git checkout main") is None
    assert commands.undone_files("rm src/a.py") is None


def test_what_a_line_reads_and_looks_for() -> None:
    assert commands.read_files("cat src/a.py && head -5 b.txt") == ["src/a.py", "b.txt"]
    assert commands.searched("grep -rn 'KeyError' src | head") == "KeyError"
    assert commands.searched("grep x a && make") is None
    assert commands.is_outside("curl -s https://example.com | jq .")
    assert not commands.is_outside("pytest")


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("Traceback (most recent call last):\n  File 'a'\nValueError: no such colour", "ValueError: no such colour"),
        ("E   KeyError: 'JPY'\n1 failed in 0.1s", "KeyError: 'JPY'"),
        ("--- FAIL: TestPool (3.0s)\n    pool_test.go:88: got 37 errors\nFAIL", "TestPool: got 37 errors"),
        ("  ● shows the name\n\n    expected 1\n\nTests: 1 failed, 2 passed, 3 total", "shows the name: expected 1"),
        ("src/a.ts(3,5): error TS2345: no good\nFound 1 error.", "src/a.ts(3,5): error TS2345: no good"),
        ("error[E0382]: borrow of moved value\n --> a.rs", "error[E0382]: borrow of moved value"),
        ("make: *** [image] Error 1", "make: *** [image] Error 1"),
        (
            "Exit code 2\nmake: *** No rule to make target 'test'.  Stop.",
            "make: *** No rule to make target 'test'. Stop.",
        ),
        ("bash: foo: command not found", "bash: foo: command not found"),
    ],
)
def test_the_line_that_says_what_is_wrong(output: str, error: str) -> None:
    assert outcome_of(output, None).failed is True or "not found" in output
    assert outcome_of(output, True).error == error


def test_what_was_counted_stands_above_what_the_host_says() -> None:
    assert outcome_of("3 failed, 12 passed in 1.2s", False).failed is True
    assert outcome_of("15 passed in 1.2s", None) == (None, "15 passed", "")
    assert outcome_of("0 failed, 15 passed", False).failed is False
    assert outcome_of("Error: something that was expected", False).failed is False
