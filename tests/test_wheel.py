"""The sdist and the wheel: built from a copy without git, with and without npm, and installed in fresh environments."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from pieria.doors.web import vendor

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HERE = sysconfig.get_python_version()

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def built(folder: Path, to: Path, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", to]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, check=False, text=True, timeout=300, env={**own, **variables}
    )


def scripts(wheel: Path) -> set[str]:
    return {name.rpartition("/")[2] for name in zipfile.ZipFile(wheel).namelist() if "/static/vendor/" in name}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an sdist without the scripts."""
    to = tmp_path_factory.mktemp("sdist")
    done = built(ROOT, to, "sdist", HATCH_BUILD_NO_HOOKS="true")
    assert done.returncode == 0, done.stderr
    [packed] = to.glob("*.tar.gz")
    subprocess.run(["tar", "-xzf", packed, "-C", to], check=True)
    return to / packed.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked: Path) -> Path:
    done = built(unpacked, unpacked / "out", "wheel")
    assert done.returncode == 0, done.stderr
    [made] = (unpacked / "out").glob("*.whl")
    return made


def test_wheel_of_the_sdist_holds_the_checked_scripts(wheel: Path, tmp_path: Path) -> None:
    names = {*(file.name for file in vendor.listed()), vendor.LICENCES}
    assert scripts(wheel) == names
    with zipfile.ZipFile(wheel) as archive:
        for name in names:
            (tmp_path / name).write_bytes(archive.read(f"pieria/doors/web/static/vendor/{name}"))
    assert vendor.missing(tmp_path) == ()
    licences = (tmp_path / vendor.LICENCES).read_text()
    assert "force-graph 1." in licences and "Mike Bostock" in licences and "axe-core" not in licences


def test_build_without_npm_says_what_is_missing(unpacked: Path, tmp_path: Path) -> None:
    done = built(unpacked, tmp_path, "wheel", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "works as plain HTML: npm was not found" in " ".join((done.stdout + done.stderr).split())
    [made] = tmp_path.glob("*.whl")
    assert scripts(made) == set()


def test_build_refuses_a_script_that_differs(unpacked: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(unpacked, changed, ignore=shutil.ignore_patterns("out"))
    listed = changed / "src" / "pieria" / "doors" / "web" / "vendor.json"
    listed.write_text(listed.read_text().replace(vendor.listed()[0].sha256, "0" * 64))
    done = built(changed, tmp_path / "out", "wheel")
    assert done.returncode != 0
    assert "not the file that vendor.json names" in " ".join((done.stdout + done.stderr).split())


def interpreter(version: str) -> str | None:
    """Return a Python of this version, on the path or beside this one.

    What is on the path may be the stand-in of a version manager, which starts nothing: each is asked for its version.
    """
    beside = sorted(Path(sys.base_prefix).parent.glob(f"{version}*/bin/python3"))
    candidates = [sys.executable, shutil.which(f"python{version}"), *map(str, beside)]
    asked = "import sysconfig; print(sysconfig.get_python_version())"
    for python in filter(None, candidates):
        done = subprocess.run([python, "-c", asked], capture_output=True, check=False, text=True)
        if done.returncode == 0 and done.stdout.strip() == version:
            return python
    return None


FOUND = [version for version in PYTHONS if interpreter(version)]


@pytest.mark.parametrize("version", FOUND)
def test_installed_wheel_remembers_and_recalls(
    version: str, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This Python's own packages serve as dependencies; those of others come from the package index."""
    python = interpreter(version)
    assert python is not None
    for name in ("PYTHONPATH", "XDG_RUNTIME_DIR"):
        # The second leads to the developer's own services.
        monkeypatch.delenv(name, raising=False)

    def ran(*command: str | Path) -> str:
        done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=600, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    ran(python, "-m", "venv", tmp_path / "venv")
    pip: list[str | Path] = [tmp_path / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet"]
    if version == HERE:
        [packages] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
        others = [path for path in sysconfig.get_paths().values() if path.endswith("site-packages")]
        (packages / "dependencies.pth").write_text("\n".join(others[:1]))
        ran(*pip, "--no-deps", "--no-index", wheel)
    else:
        ran(*pip, wheel)
    pieria = tmp_path / "venv" / "bin" / "pieria"
    assert ran(pieria, "--version").startswith("pieria ")
    ran(pieria, "service", "install")
    ran(pieria, "remember", "We chose JWT for all new APIs.")
    [hit] = json.loads(ran(pieria, "recall", "JWT"))["hits"]
    assert hit["memory"]["text"] == "We chose JWT for all new APIs."
    plan = json.loads(ran(pieria, "uninstall", "--dry-run"))
    assert (plan["installed_by"], plan["where"]) == ("pip", str(tmp_path / "venv"))
    gone = ran(pieria, "uninstall", "--yes")
    assert not pieria.exists() and not Path(plan["service"]).exists()
    assert (Path(os.environ["PIERIA_DATA"]) / "default.db").exists() and json.loads(gone)["data"]
