import pytest
from click.testing import CliRunner
from tests.cli.conftest import Answer, Ask

from benchmarks.__main__ import bench as benchmarks


@pytest.fixture
def bench() -> Ask:
    """Return a function that runs `python -m benchmarks ARGS` in this process, into a pipe."""

    def asked(*args: str, stdin: str | bytes | None = None) -> Answer:
        result = CliRunner().invoke(benchmarks, list(args), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return asked
