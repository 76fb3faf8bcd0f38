"""Isolate every test: no settings of the caller, no home of the caller, no network.

Only what holds for the whole suite belongs here; fixtures live beside the tests that use them.
"""

import compileall
import ipaddress
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from tests.contract.store_helpers import HandClock
from tests.servers import bare_database, database, empty_database, server, template
from tests.template import copy_or_migrate

import pieria
from pieria import Bank

__all__ = ["bare_database", "database", "empty_database", "server", "template"]

SOURCE = Path(__file__).parents[1] / "src"
HOMES = ("HOME", "USERPROFILE")
# Other folders a program may look up; unset, they fall back to the home of the test.
ELSEWHERE = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
ORIGINALS = ("MNEMEX_", "CORTEXGRAPH_", "LTM_VAULT_PATH", "MNEMOSYNE_", "MEMPALACE_")

# API keys of other programs: no test may find one and call a real model.
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY")

OURS = "PIERIA_TEST_"
"""The prefix of settings for the tests themselves."""

for variable in [name for name in os.environ if name.startswith(("PIERIA_", *ORIGINALS, *KEYS))]:
    if not variable.startswith(OURS):
        del os.environ[variable]

EMBEDDER = "none"
"""Tests run without vectors; a test about vectors asks for an embedder."""
# Set for the whole run: some processes are started once for many tests.
os.environ["PIERIA_EMBEDDER"] = EMBEDDER
# Nor does a test fetch a model, unless it asks.
os.environ["PIERIA_FETCH_MODEL"] = "off"
# A write some seconds after a read would disturb later tests; tests of usage counts turn it on.
os.environ["PIERIA_COUNT_USES"] = "false"
# A job at the end of each session would disturb tests of other jobs; tests of automatic sleep turn it on.
os.environ["PIERIA_SLEEP"] = "off"
# Few tests are about a power cut; those ask for `durable`.
os.environ["PIERIA_DURABILITY"] = "off"

# A busy machine is not a failure. `ci` and `gate` repeat the same examples in every run. So a red run stays red, and a
# change is judged alone. `nightly` looks for new failures. Choose with --hypothesis-profile.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", PATIENT, max_examples=50)
settings.register_profile("ci", PATIENT, max_examples=25, derandomize=True)
settings.register_profile("gate", PATIENT, max_examples=1000, derandomize=True)
settings.register_profile("nightly", PATIENT, max_examples=1000)
settings.load_profile("dev")


class NetworkUsedError(AssertionError):
    """A test reached for another machine; an assertion, so that no code under test handles it as an error."""


def _is_here(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if host is None or host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_other_machines(event: str, args: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if not _is_here(host):
        raise NetworkUsedError(f"tests stay on this machine: {event} to {host!r}")


# An audit hook sees every socket of the process and lasts as long as the process.
sys.addaudithook(_refuse_other_machines)


_constants_of_loaded_modules = providers._get_local_constants


def _constants() -> Constants:
    """Return the constants that Hypothesis draws from, for the profile in force.

    Constants of loaded modules would make examples depend on the tests that a worker ran before.
    """
    is_repeated = settings.get_profile(settings.get_current_profile_name()).derandomize
    return Constants() if is_repeated else _constants_of_loaded_modules()


patch.object(providers, "_get_local_constants", _constants).start()
patch("pieria.store.sqlite.store.migrate", copy_or_migrate).start()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--over", choices=("http",), help="run tests of verbs on banks behind HTTP")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Over HTTP, keep the tests that open their bank by the fixtures, without those that need its file."""
    if config.getoption("over") is None:
        return
    table = tomllib.loads((Path(__file__).parent / "over_http.toml").read_text())
    embedded = {test for tests in table.values() for test in tests}
    kept = [item for item in items if "opened" in getattr(item, "fixturenames", ()) and _named(item) not in embedded]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _named(item: pytest.Item) -> str:
    return item.nodeid.removeprefix("tests/").partition("[")[0]


def pytest_configure(config: pytest.Config) -> None:
    """Compile the sources once for a run: otherwise each of hundreds of test processes compiles its imports."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(SOURCE, quiet=2)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an empty home and working folder without banks, project settings or a time zone."""
    folder = Path(tempfile.mkdtemp(dir=homes))
    work = folder / "work"
    work.mkdir()
    for variable in HOMES:
        monkeypatch.setenv(variable, str(folder))
    for variable in ELSEWHERE:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("PIERIA_DATA", str(folder / "data"))
    monkeypatch.setenv("PIERIA_EMBEDDER", EMBEDDER)
    monkeypatch.setenv("PIERIA_FETCH_MODEL", "off")
    monkeypatch.setenv("PIERIA_MODELS", str(folder / "models"))
    monkeypatch.setenv("PIERIA_COUNT_USES", "false")
    monkeypatch.setenv("PIERIA_SLEEP", "off")
    monkeypatch.setenv("PIERIA_DURABILITY", "off")
    monkeypatch.chdir(work)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def durable(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the default durability: writers wait for the disk. For tests that stop a server or simulate a crash."""
    monkeypatch.delenv("PIERIA_DURABILITY")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(scope="session")
def wire(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yield a server for banks behind HTTP; None if the tests run on embedded banks."""
    if request.config.getoption("over") != "http":
        yield None
        return
    from tests.over_http import listening

    with listening() as found:
        yield found


@pytest.fixture
def opened(tmp_path: Path, clock: HandClock, wire: Any) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens a bank under these settings. One bank may be open under several."""
    if wire is not None:
        from tests.over_http import opening

        with opening(wire, tmp_path, clock) as remote:
            yield remote
        return
    workspaces = []

    def made(name: str = "notes", **settings: Any) -> Bank:
        workspaces.append(pieria.Workspace(tmp_path, settings, clock=clock))
        return workspaces[-1].open(name)

    yield made
    for workspace in workspaces:
        workspace.close()


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    """Return the bank `notes`, whose clock stands still until it is moved."""
    return opened()
