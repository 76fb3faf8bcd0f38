"""Write `expected.json` again from the reference: `python -m tests.models.make_expected FOLDER_OF_THE_MODEL`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.models.reference import Reference

TEXTS = (
    "We chose JWT for all new APIs.",
    "When did Caroline go to the LGBTQ support group?",
    "Der Vertrag läuft am 31. März 2026 aus; bitte rechtzeitig kündigen!",
    "東京の会議は三月に延期されました。",
    "Мы перенесли встречу на пятницу.",
    "تأجل الاجتماع إلى يوم الجمعة",
    "def total(prices: list[int]) -> int: return sum(prices)  # O(n)",
    "नमस्ते 🙂 naïve café — ½ price…",
)

if __name__ == "__main__":
    made = Reference(Path(sys.argv[1]))
    vectors = {text: [round(float(number), 4) for number in made.vector(text)] for text in TEXTS}
    lines = [f"{json.dumps(text, ensure_ascii=False)}: {json.dumps(vector)}" for text, vector in vectors.items()]
    target = Path(__file__).with_name("expected.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
