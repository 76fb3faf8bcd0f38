"""Trains a model that judges sentences, and measures it.

python -m training rule             # cross-validate, train on everything, write the weights
python -m training rule --measure   # cross-validate alone
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pieria.language
from training import remarks, rules
from training.fit import cross_validate, train, written

MODELS = {"rule": rules, "remark": remarks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--measure", action="store_true", help="cross-validate alone; write nothing")
    given = parser.parse_args()
    source = MODELS[given.model]
    examples = source.read_examples()
    print(json.dumps(cross_validate(examples, source.TASK), indent=2))
    if given.measure:
        return
    path = Path(next(iter(pieria.language.__path__))) / f"{given.model}_weights.json"
    path.write_text(written(train(examples, source.TASK)), encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
