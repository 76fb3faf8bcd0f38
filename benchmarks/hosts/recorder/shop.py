"""The project in which hosts are recorded: a table of rates without yen, and a check that needs them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.hosts.place import FOREIGN

TELL = Path(__file__).with_name("tell.py")
RATES, MENDED = 'RATES = {"EUR": 1}', 'RATES = {"EUR": 1, "JPY": 163}'
CHECK = "python3 -B check.py"
FILES = {"rates.py": f"{RATES}\n", "check.py": "from rates import RATES\n\nprint('yen:', RATES['JPY'])\n"}
MEND, ASK = "Orders in yen break. Please mend the rates.", "Which currency should come next?"
MENDED_WORDS = "The table of rates has yen now."
FINDINGS = "Findings: check.py reads RATES['JPY'], and nothing else uses the table."
ENDED = "The next currency is the franc."


class Shop:
    """A made-up home with the project in it, and the file that the hook writes."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.log = folder / "home", folder / "home" / "shop", folder / "told.jsonl"
        self.project.mkdir(parents=True)
        for name, text in FILES.items():
            (self.project / name).write_text(text)
        usual = {name: value for name, value in os.environ.items() if not name.startswith((*FOREIGN, "OPENCODE"))}
        self.environment = {**usual, "HOME": str(self.home), "PWD": str(self.project)}

    @property
    def hook(self) -> list[str]:
        """Return the command of the hook that records."""
        return [sys.executable, str(TELL), str(self.log)]

    @property
    def told(self) -> list[str]:
        return self.log.read_text("utf-8").splitlines() if self.log.exists() else []
