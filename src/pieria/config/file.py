"""The one file that a configuration can come from, and the one variable that names it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pieria.errors import ConfigError

VARIABLE = "PIERIA_CONFIG"
_EXAMPLE = 'Write: llm = { model = "ollama:qwen3" }'


def named_by(environ: Mapping[str, str] | None) -> dict[str, Any]:
    named = (os.environ if environ is None else environ).get(VARIABLE)
    if not named:
        raise ConfigError("no_config", hint=f"Name a TOML file in {VARIABLE}.")
    file = Path(named).expanduser()
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as problem:
        hint = f"{VARIABLE} names it; make the file, or make it readable."
        raise ConfigError(f"{file}: cannot be read ({problem.strerror})", hint=hint) from problem
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file}: not valid TOML: {problem}", hint=_EXAMPLE) from problem
