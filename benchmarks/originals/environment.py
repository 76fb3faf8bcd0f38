"""A throwaway environment with one original at a pinned version, its tests, and Pieria beside it.

Holds no test and no knowledge of what the originals do.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pieria

REPOSITORY = Path(__file__).resolve().parents[2]
MADE = "made"
"""The file that says that an environment is complete, and of which version."""


@dataclass(frozen=True)
class Original:
    """An original on the package index. `tests` are paths in its sdist."""

    name: str
    package: str
    version: str
    tests: tuple[str, ...]
    extras: str = ""
    requirements: tuple[str, ...] = ("pytest",)
    plugins: tuple[str, ...] = ()
    """Pytest plugins that its tests need; no other is loaded."""

    @property
    def pinned(self) -> str:
        return f"{self.package}{self.extras}=={self.version}"


CORTEXGRAPH_TESTS = tuple(
    f"tests/{name}.py"
    for name in (
        "contract/test_analyze_message_api", "integration/activation/test_analyze_message_tool", "test_issue_97",
        "test_search_unified", "test_tools_graph_operations", "test_tools_memory_management",
    )
)  # fmt: skip
"""The files that test its tools."""

ORIGINALS = {
    one.name: one
    for one in (
        Original(
            "mnemosyne",
            "mnemosyne-memory",
            "3.15.1",
            (
                "tests/test_provider_all_15_tools.py",
                "tests/test_triples_lifecycle.py",
                "tests/test_configurable_scoring.py",
                "tests/test_recall_precision_regressions.py",
            ),
            extras="[mcp]",
        ),
        Original(
            "cortexgraph",
            "cortexgraph",
            "1.2.1",
            CORTEXGRAPH_TESTS,
            requirements=("mcp<2", "pytest", "pytest-asyncio"),
            plugins=("pytest_asyncio.plugin",),
        ),
        Original(
            "mempalace",
            "mempalace",
            "3.11.0",
            (
                *(f"tests/mcp/test_{name}.py" for name in ("diary", "kg", "read_tools", "search", "write_tools")),
                "tests/test_bulk_drawer_tools.py",
            ),
        ),
        Original(
            "langgraph",
            "langgraph-checkpoint",
            "4.3.2",
            ("tests/test_store.py",),
            requirements=("pytest", "pytest-asyncio", "pytest-mock"),
            plugins=("pytest_asyncio.plugin", "pytest_mock"),
        ),
        Original(
            "openai_agents",
            "openai-agents",
            "0.24.0",
            ("tests/memory/test_session.py", "tests/memory/test_session_limit.py"),
            requirements=("pytest", "pytest-asyncio"),
            plugins=("pytest_asyncio.plugin",),
        ),
    )
}


@dataclass(frozen=True)
class Environment:
    """An interpreter that imports the original and Pieria, and the original's unpacked sdist."""

    original: Original
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    @property
    def sources(self) -> Path:
        return next(path for path in (self.folder / "sdist").iterdir() if path.is_dir())

    def run(self, arguments: Sequence[str], *, timeout: float) -> subprocess.CompletedProcess[str]:
        """Run the interpreter in the sdist's folder, with an empty home and without settings of the caller."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=self.sources,
            env={
                **kept,
                "HOME": str(home),
                "HF_HUB_OFFLINE": "1",
                "PIERIA_FETCH_MODEL": "off",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def prepare(original: Original, folder: Path, say: Callable[[str], None]) -> Environment:
    """Return the environment in the folder. Make it if the folder does not hold this version yet."""
    folder = folder.resolve()
    if folder.is_relative_to(REPOSITORY):
        raise ValueError(f"{folder}: expected a folder outside the repository")
    made, environment = folder / MADE, Environment(original, folder)
    if made.exists() and made.read_text("utf-8") == original.pinned:
        return environment
    folder.mkdir(parents=True, exist_ok=True)
    say(f"installing {original.pinned} in {folder}")
    venv.create(folder / "venv", with_pip=True, clear=True)
    _pip(environment, "install", original.pinned, *original.requirements, *_our_requirements(original))
    _show_pieria(environment)
    say("fetching its sdist, which ships its tests")
    _unpack(environment)
    made.write_text(original.pinned, "utf-8")
    return environment


def _pip(environment: Environment, *arguments: str) -> None:
    command = [str(environment.python), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(command, check=True)


def _our_requirements(original: Original) -> list[str]:
    """Return what Pieria needs, without packages that the original's requirements name: it may need an older version.

    What Pieria's developers need stays out: the originals would use such packages, too.
    """
    requirements: list[str] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"][
        "dependencies"
    ]
    theirs = {_package(one) for one in original.requirements}
    return [one for one in requirements if _package(one) not in theirs]


def _package(requirement: str) -> str:
    return re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0]


def _show_pieria(environment: Environment) -> None:
    """Let the interpreter import Pieria and the benchmarks from their sources, after its own packages."""
    [site] = environment.folder.glob("venv/lib/python*/site-packages")
    ours = [REPOSITORY, Path(pieria.__file__).parents[1]]
    (site / "pieria_beside.pth").write_text("".join(f"{path}\n" for path in ours), "utf-8")


def _unpack(environment: Environment) -> None:
    original, folder = environment.original, environment.folder / "sdist"
    wanted = f"{original.package}=={original.version}"
    _pip(environment, "download", "--no-deps", "--no-binary", original.package, "--dest", str(folder), wanted)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def say(line: str) -> None:
    """Write a line of progress to stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
