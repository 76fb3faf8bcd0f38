"""A model of a few bytes, its package, and ways to damage both: installing does not inspect the model."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from pieria.models.catalogue import Model, Package, Pinned

FILES = {
    "config.json": b'{"a": 1}\n',
    "tokenizer.json": b"[" + b"1, " * 400 + b"2]",
    "weights.bin": bytes(range(256)) * 9,
}
WHEEL = "small_model-1.0-py3-none-any.whl"


def package(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    """Return a wheel that pip accepts."""
    folder.mkdir(parents=True, exist_ok=True)
    about = "small_model-1.0.dist-info"
    held = {f"small_model/{name}": content for name, content in (FILES if files is None else files).items()}
    held[f"{about}/METADATA"] = (
        b"Metadata-Version: 2.1\nName: small-model\nVersion: 1.0\nRequires-Dist: no-such-thing\n"
    )
    held[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    held[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in held).encode()
    with zipfile.ZipFile(folder / WHEEL, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in held.items():
            wheel.writestr(zipfile.ZipInfo(name), content)
    return folder / WHEEL


def model(wheel: Path) -> Model:
    pins = {
        name: Pinned(f"small_model/{name}", len(content), hashlib.sha256(content).hexdigest())
        for name, content in FILES.items()
    }
    content = wheel.read_bytes()
    pinned = Package("small-model==1.0", len(content), hashlib.sha256(content).hexdigest())
    return Model("small", 8, 16, "Apache-2.0", pinned, pins)
