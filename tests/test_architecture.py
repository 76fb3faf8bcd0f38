"""The shape of the tree, checked by machine: layers, sizes, docstrings, import cost, and the contents of the wheel.

Nothing here runs a verb.
"""

import ast
import itertools
import os
import re
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import grimp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pieria"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TYPES: dict[str, type[Contract]] = {"layers": LayersContract, "forbidden": ForbiddenContract}

# Left by runs and builds, or by other tools: not part of the project.
ASIDE = {".git", ".venv", ".hypothesis", "build", "dist", "htmlcov", "vendor", "__pycache__"}


def run(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- layers

# Of a submodule of every layer, present or planned, what it may import and what not. "pieria" is the package itself.
MAY_IMPORT = {
    "doors.cli": "toolsets.mnemex mining.trees bank.verbs workspace settings record.memory errors pieria",
    "doors.cli.overview": "glance",
    "glance": "project record.memory errors",
    "aio.mirroring": "bank.verbs workspace record.memory errors",
    "toolsets.mnemex": "bank.verbs workspace settings record.memory errors",
    "integrations.mem0": "toolsets.mnemex bank.verbs workspace record.memory errors",
    "mining.trees": "bank.verbs workspace settings project record.memory errors",
    "importers.mem0": "mining.trees bank.verbs record.memory errors",
    "exporters.csv_format": "bank.verbs record.memory errors",
    "capture.draining": "bank.verbs workspace settings project record.memory errors",
    "workspace": "settings project bank.verbs store.protocol models.rules",
    "bank.verbs": "learning.mind recall.rank facts.triples transfer.lines store.protocol",
    "learning.mind": "recall.rank facts.triples graph config.profile store.protocol models.rules notifier",
    "config.profile": "models.rules record.memory errors",
    "graph": "store.protocol record.memory errors telemetry",
    "upkeep.decay": "recall.rank facts.triples store.protocol models.rules",
    "transfer.lines": "store.protocol record.memory",
    "recall.rank": "store.protocol models.rules record.memory",
    "store.protocol": "language.words record.memory errors telemetry",
    "language.words": "record.memory errors",
    "record.memory": "errors",
}
MAY_NOT_IMPORT = {
    "glance": "doors.cli toolsets.mnemex",
    "doors.cli": "store.protocol recall.rank facts.triples transfer.lines learning.mind",
    "aio.mirroring": "store.protocol recall.rank models.rules toolsets.mnemex doors.cli pieria",
    "toolsets.mnemex": "store.protocol recall.rank facts.triples models.rules doors.cli pieria",
    "integrations.mem0": "store.protocol recall.rank models.rules mining.trees doors.cli pieria",
    "mining.trees": "store.protocol recall.rank models.rules toolsets.mnemex doors.cli importers.mem0 pieria",
    "importers.mem0": "store.protocol recall.rank models.rules toolsets.mnemex doors.cli exporters.csv_format pieria",
    "exporters.csv_format": "store.protocol transfer.lines models.rules toolsets.mnemex doors.cli importers.mem0",
    "capture.draining": "store.protocol recall.rank models.rules toolsets.mnemex doors.cli pieria",
    "workspace": "toolsets.mnemex mining.trees doors.cli capture.draining pieria",
    "bank.verbs": "workspace toolsets.mnemex pieria",
    "learning.mind": "upkeep.decay transfer.lines bank.verbs",
    "upkeep.decay": "learning.mind transfer.lines bank.verbs",
    "transfer.lines": "recall.rank facts.triples learning.mind bank.verbs",
    "recall.rank": "facts.triples graph transfer.lines learning.mind bank.verbs pieria",
    "graph": "recall.rank facts.triples learning.mind bank.verbs pieria",
    "facts.triples": "recall.rank upkeep.decay bank.verbs",
    "store.protocol": "models.rules recall.rank bank.verbs",
    "models.rules": "store.protocol config.profile learning.mind",
    "config.profile": "recall.rank bank.verbs settings workspace",
    "language.words": "store.protocol models.rules workspace pieria",
    "record.memory": "language.words store.protocol workspace pieria",
    "errors": "store.protocol settings",
}


def pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(importer, imported) for importer, row in table.items() for imported in row.split()]


def contracts() -> list[Contract]:
    options = read_configuration(str(ROOT / "pyproject.toml"))
    return [
        TYPES[contract["type"]](contract["name"], options["session_options"], contract)
        for contract in options["contracts_options"]
    ]


def broken_by(*imports: tuple[str, str]) -> list[str]:
    """Return the contracts that a package with every layer and only these imports would break."""
    graph = grimp.ImportGraph()
    layers = {name for pair in pairs(MAY_IMPORT) + pairs(MAY_NOT_IMPORT) for name in pair} - {"pieria"}
    for name in ("hermes", *layers):
        for module in ("pieria", f"pieria.{name.partition('.')[0]}", f"pieria.{name}"):
            graph.add_module(module)
    for importer, imported in imports:
        whole = imported if imported == "pieria" else f"pieria.{imported}"
        graph.add_import(importer=f"pieria.{importer}", imported=whole, line_number=1, line_contents="")
    return [contract.name for contract in contracts() if not contract.check(graph, verbose=False).kept]


def test_the_contracts_break_on_wrong_imports_and_no_other() -> None:
    assert broken_by(*pairs(MAY_IMPORT)) == []
    assert [pair for pair in pairs(MAY_NOT_IMPORT) if not broken_by(pair)] == []


def test_no_module_imports_itself_in_a_circle() -> None:
    """Imports within functions count too; those for type checkers alone do not, because nothing runs them."""
    graph = grimp.build_graph("pieria", exclude_type_checking_imports=True, cache_dir=None)
    waiting = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    while free := [module for module, imports in waiting.items() if not imports & waiting.keys()]:
        for module in free:
            del waiting[module]
    assert not waiting


def test_every_door_is_held_to_the_doors_contract() -> None:
    options = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
    row = set(re.findall(r"\w+", options["layers"]["layers"][0]))
    assert "doors" in row
    doors = (row & {path.stem for path in SOURCE.iterdir()}) - {"doors", "__main__", "results"}
    assert {f"pieria.{name}" for name in doors} <= set(options["doors"]["source_modules"])


# --- files


def project_files() -> list[Path]:
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ASIDE and not name.endswith("_cache")]
        found += [Path(folder, name) for name in names if name not in ASIDE and not name.startswith(".coverage")]
    return found


def python_files(folder: str) -> list[Path]:
    return [path for path in project_files() if path.suffix == ".py" and path.is_relative_to(ROOT / folder)]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts() -> dict[str, str]:
    """Return the text of every text file of the project, by name."""
    read = {}
    for path in project_files():
        try:
            read[shown(path)] = path.read_text()
        except UnicodeDecodeError:
            continue
    return read


def test_no_file_is_too_long() -> None:
    for folder, ceiling in (("src", 500), ("tests", 800)):
        lengths = {shown(path): len(path.read_text().splitlines()) for path in python_files(folder)}
        assert len(lengths) > 1
        assert {name: length for name, length in lengths.items() if length > ceiling} == {}


def test_names_of_tests_are_short() -> None:
    names = [name for path in python_files("tests") for name in re.findall(r"def (test_\w+)", path.read_text())]
    assert [name for name in names if len(name) > 60] == []


def test_every_module_says_why_it_exists() -> None:
    silent = [shown(path) for path in python_files("src") if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_no_module_is_named_after_nothing() -> None:
    nothing = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    assert [shown(path) for path in project_files() if path.stem in nothing] == []


def test_no_file_says_where_packages_come_from() -> None:
    # Split, so that this file passes its own test.
    hosts = [
        "py" + "pi.org",
        "python" + "hosted",
        "npm" + "js.",
        "crates" + ".io",
        "conda." + "anaconda",
        "jsdel" + "ivr",
    ]
    assert [(name, host) for name, text in texts().items() for host in hosts if host in text.lower()] == []


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    folder = re.compile(r"(?<![\w.~:/-])/(?:root|work|workspace|opt|mnt|Users)/\w+")
    named = {name: found for name, text in texts().items() if (found := folder.findall(text))}
    assert named == {}


# --- package


def loaded(code: str) -> set[str]:
    """Return the packages that a process has loaded when this code has run."""
    names = "print(*{name.partition('.')[0] for name in sys.modules})"
    return set(run(sys.executable, "-c", f"import sys\n{code}\n{names}").split())


def test_importing_pieria_loads_nothing_heavy() -> None:
    heavy = {"numpy", "pydantic", "click", "rich", "mcp", "starlette", "httpx2", "jinja2", "onnxruntime", "tokenizers"}
    packages = loaded("import pieria")
    assert "pieria" in packages
    assert packages & heavy == set()


def test_a_bank_that_embeds_nothing_loads_no_model(tmp_path: Path) -> None:
    """Opening, writing and closing load no model: pending vectors wait for a process that stays open longer."""
    opened = f"pieria.open('b', data={str(tmp_path)!r}, settings={{'embedder': 'auto'}})"
    packages = loaded(f"import pieria\nwith {opened} as b: b.remember('a word')")
    assert packages & {"numpy", "onnxruntime", "tokenizers", "httpx2"} == set()


def test_application_starts_without_the_package_of_mcp() -> None:
    """It takes longer to import than everything else. The running application imports it in a thread."""
    assert "mcp" not in loaded("import pieria.doors.app")


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    """Without the build's hook, which may fetch the scripts of the page."""
    run("env", "HATCH_BUILD_NO_HOOKS=true", sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        [metadata] = [archive.read(name).decode() for name in packed if name.endswith("/METADATA")]
    ours = {path.relative_to(ROOT / "src").as_posix() for path in project_files() if path.is_relative_to(SOURCE)}
    assert "pieria/py.typed" in ours
    assert ours - packed == set()
    assert {name.partition("/")[0].partition("-")[0] for name in packed - ours} == {"pieria"}
    assert re.findall(r"\]\((?![a-z]+:|#)[^)]*\)", metadata) == []
    paths = {path for path in re.findall(r"/pieria/(?:blob|raw)/v[\d.]+/([^)#]+)", metadata)}
    assert len(paths) > 20 and [path for path in paths if not (ROOT / path).exists()] == []


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text()
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.MULTILINE))


def test_the_pins_cover_what_the_project_declares() -> None:
    runtime, dev, groups = pins("runtime.txt"), pins("dev.txt"), PROJECT["dependency-groups"]
    for declared, pinned in ((PROJECT["project"]["dependencies"] + groups["build"], runtime), (groups["dev"], dev)):
        assert [item for item in declared if re.split(r"[^\w-]", item)[0].lower() not in pinned] == []
    assert runtime.items() <= dev.items()


def test_the_pins_are_hashed_and_name_no_source() -> None:
    for name in ("runtime.txt", "dev.txt"):
        lines = (ROOT / "requirements" / name).read_text().splitlines()
        assert [line for line in lines if line.lstrip().startswith("-") and "--hash=sha256:" not in line] == []
        for line, following in itertools.pairwise(lines):
            assert not re.match(r"\w", line) or "--hash=sha256:" in following, line


# --- isolation of the tests


def test_a_test_cannot_reach_another_machine() -> None:
    for family, host in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as other, pytest.raises(AssertionError, match=host):
            other.connect((host, 9))
    with pytest.raises(AssertionError, match="example"):
        socket.getaddrinfo("example.invalid", 80)


def test_a_test_sees_no_home_and_no_setting_of_the_user(home: Path) -> None:
    assert (Path.home(), Path.cwd()) == (home, home / "work")
    ours = {name.removeprefix("PIERIA_") for name in os.environ if name.startswith("PIERIA_")}
    assert ours == {"COUNT_USES", "DATA", "DURABILITY", "EMBEDDER", "FETCH_MODEL", "MODELS", "SLEEP"}
    assert not Path(os.environ["PIERIA_DATA"]).exists()


def drawn() -> list[tuple[str, int, float]]:
    examples = []

    @settings(database=None, max_examples=200)
    @given(st.text(), st.integers(), st.floats(allow_nan=False))
    def note(text: str, number: int, real: float) -> None:
        examples.append((text, number, real))

    note()
    return examples


@pytest.fixture
def repeated() -> Iterator[None]:
    """Run the test with the profile `ci`, and restore the chosen profile after it."""
    chosen = settings.get_current_profile_name()
    settings.load_profile("ci")
    yield
    settings.load_profile(chosen)


def test_examples_do_not_depend_on_loaded_modules(
    repeated: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    loaded = ModuleType("greenhouse")
    loaded.__file__ = str(tmp_path / "greenhouse.py")
    Path(loaded.__file__).write_text(f"HELD = {[(f'shelf {n}', 7_000 + n, n + 0.125) for n in range(100)]}\n")
    monkeypatch.setitem(sys.modules, "greenhouse", loaded)
    assert drawn() == before
