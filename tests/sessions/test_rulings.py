"""Every promise on sessions has a test that is there."""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def test_every_promise_has_a_test() -> None:
    promised = tomllib.loads((HERE / "rulings.toml").read_text())
    named = {name for numbers in promised.values() for names in numbers.values() for name in names}
    written = {
        name for file in HERE.glob("test_*.py") for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    assert named <= written, named - written
    assert set(promised["defects"]) == {"4", "5", *map(str, range(7, 13))}
    assert set(promised["rulings"]) == {"5", "13", "17", "21"}
