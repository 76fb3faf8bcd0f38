"""ONNX Runtime without telemetry.

From 1.29 on, its packages for Linux and macOS send usage events, unless that is disabled before the first import.
Import ONNX Runtime only through this module.
"""

from __future__ import annotations

import os
from types import ModuleType

from pieria.errors import AdapterError

_SILENT = "ORT_DISABLE_TELEMETRY"


def silence() -> None:
    """Disable the telemetry, before another package imports the runtime."""
    os.environ[_SILENT] = "1"


def onnxruntime(model: str) -> ModuleType:
    """Return the runtime with telemetry disabled, even if it was imported before."""
    silence()
    # The runtime's own import of NumPy does not wait for another thread that is importing it, and breaks both.
    import numpy  # noqa: F401

    try:
        import onnxruntime as runtime  # type: ignore[import-untyped]
    except ImportError as problem:
        is_missing = isinstance(problem, ModuleNotFoundError)
        hint = "Install onnxruntime, or choose another embedder."
        reason = "the package onnxruntime is missing" if is_missing else f"onnxruntime cannot be imported: {problem}"
        raise AdapterError(model, "load", reason, hint=hint) from problem
    runtime.disable_telemetry_events()
    module: ModuleType = runtime
    return module
