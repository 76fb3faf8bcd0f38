"""ONNX Runtime, kept from reporting home.

From 1.29 on its packages for Linux and macOS send usage events unless told otherwise before they are first imported;
nothing of Pieria may import it but through here.
"""

from __future__ import annotations

import os
from types import ModuleType

from pieria.errors import AdapterError

_SILENT = "ORT_DISABLE_TELEMETRY"


def silence() -> None:
    """For what imports the runtime by itself."""
    os.environ[_SILENT] = "1"


def onnxruntime(model: str) -> ModuleType:
    """The runtime. Where something else imported it before, its further events are stopped."""
    silence()
    try:
        import onnxruntime as runtime  # type: ignore[import-untyped]
    except ImportError as problem:
        hint = "Install onnxruntime, or choose another embedder."
        raise AdapterError(model, "load", "the package onnxruntime is missing", hint=hint) from problem
    runtime.disable_telemetry_events()
    module: ModuleType = runtime
    return module
