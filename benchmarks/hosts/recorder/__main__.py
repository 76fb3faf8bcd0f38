"""Record the hosts' payloads: `python -m benchmarks.hosts.recorder --npm FOLDER`.

FOLDER is where the caller installed the npm packages `@anthropic-ai/claude-code`, `@openai/codex` and `opencode-ai`.
Each host does the same short work in a made-up home, with a scripted model on loopback. What it hands to hooks replaces
the host's fixture in `tests/capture/fixtures`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hosts.recorder import claude_code, codex, opencode
from benchmarks.hosts.recorder.cleanup import clean_lines
from benchmarks.hosts.recorder.shop import Shop

FIXTURES = Path(__file__).parents[3] / "tests" / "capture" / "fixtures"
HOSTS: dict[str, tuple[str, Callable[[Path, Shop], None]]] = {
    "claude-code": ("claude", claude_code.record),
    "codex": ("codex", codex.record),
    "opencode": ("opencode", opencode.record),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hosts.recorder", description=__doc__)
    parser.add_argument("--npm", type=Path, required=True, help="The folder whose node_modules holds the hosts.")
    parser.add_argument("--only", choices=HOSTS, help="Record this host alone.")
    given = parser.parse_args()
    for name, (program, record) in HOSTS.items():
        if given.only in (None, name):
            # Codex refuses a home below the folder for temporary files.
            with TemporaryDirectory(dir=given.npm.resolve()) as folder:
                file = _recorded(name, given.npm.resolve() / "node_modules" / ".bin" / program, Path(folder), record)
            sys.stdout.write(f"{file}: {len(file.read_text().splitlines())} payloads\n")
    return 0


def _recorded(name: str, program: Path, folder: Path, record: Callable[[Path, Shop], None]) -> Path:
    shop = Shop(folder)
    said = subprocess.run([str(program), "--version"], env=shop.environment, capture_output=True, text=True, check=True)
    version = re.search(r"\d+\.\d+\.\d+", said.stdout)
    if version is None:
        raise RuntimeError(f"{program} --version: expected a version, got {said.stdout!r}")
    record(program, shop)
    for old in FIXTURES.glob(f"{name}-*"):
        shutil.rmtree(old)
    file = FIXTURES / f"{name}-{version[0]}" / "session.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{line}\n" for line in clean_lines(shop.told, shop.project, shop.home)))
    return file


if __name__ == "__main__":
    sys.exit(main())
