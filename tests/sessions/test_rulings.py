"""Every promise on sessions names a test that exists."""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
DEFECTS, RULINGS = 20, 22
"""The number of promises of each kind, over all parts of Pieria."""


def test_every_defect_and_ruling_has_its_test() -> None:
    told = {"defects": set[str](), "rulings": set[str]()}
    named: set[str] = set()
    for file in sorted(HERE.parent.rglob("*rulings.toml")):
        for part, numbers in tomllib.loads(file.read_text("utf-8")).items():
            if isinstance(numbers, list):
                number = part.removeprefix("D-")
                told["rulings" if number == part else "defects"].add(number)
                named |= set(numbers)
            else:
                told.setdefault(part, set()).update(numbers)
                named |= {name for names in numbers.values() for name in names}
    assert told["defects"] == {str(number) for number in range(1, DEFECTS + 1)}
    assert told["rulings"] == {str(number) for number in range(1, RULINGS + 1)}
    tests = "".join(file.read_text("utf-8") for file in HERE.parent.rglob("test_*.py"))
    assert [name for name in sorted(named) if f"def {name}(" not in tests] == []
