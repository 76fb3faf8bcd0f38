"""A path that no system accepts is wrong input, for every tool and verb that takes one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.errors import InputError
from pieria.mining import mine
from pieria.record.address import LONGEST, LONGEST_PART
from pieria.toolsets.host import over_the_network

LONG = ["x" * 70_000, "/".join(["a" * 100] * 700), "é" * LONGEST_PART, f"{'b' * 200}/" * (LONGEST // 200)]
VERBS: dict[str, Callable[[pieria.Bank, str], Any]] = {
    "export": lambda bank, path: bank.export(path),
    "import": lambda bank, path: bank.import_(path),
    "backup": lambda bank, path: bank.backup(path),
    "restore": lambda bank, path: pieria.restore(path, data=bank.data),
    "data": lambda bank, path: pieria.open("other", data=path),
    "vault": lambda bank, path: pieria.open("other", data=bank.data, settings={"vault": path}),
    "mine": mine,
    "tools": lambda bank, path: over_the_network(Path(bank.data), []).allowed(path, "output_path"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_too_long_path_is_wrong_input(bank: pieria.Bank, verb: str) -> None:
    for path in LONG:
        with pytest.raises(InputError, match="at most 4,000 bytes, each part of at most 255"):
            VERBS[verb](bank, path)
