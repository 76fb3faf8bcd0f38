"""Write each step's request into `prompts/`, for review before a commit: `python -m tests.models.make_prompts`.

It refuses a request that changed while the version of its prompt did not. If only the data of a case changed, remove
its file first.
"""

from __future__ import annotations

import sys

from tests.models.prompt_cases import GOLDEN, requests

if __name__ == "__main__":
    unversioned = []
    for name, text in requests().items():
        path = GOLDEN / f"{name}.txt"
        held = path.read_text("utf-8") if path.exists() else ""
        if held != text and held.partition("\n")[0] == text.partition("\n")[0]:
            unversioned.append(name)
        else:
            path.write_text(text, "utf-8")
    if unversioned:
        sys.exit(f"Changed without a new version: {', '.join(unversioned)}. Raise it in the prompt's file.")
