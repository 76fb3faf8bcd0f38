"""`python -m benchmarks rooms` on conversations with figures known in advance, by words alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks import finding
from tests.cli.conftest import Ask

from benchmarks.rooms import lines


def shares(told: dict[str, Any]) -> set[float]:
    return {told[name]["mean"] for name in ("rooms R@5", "rooms R@10", "rooms")}


@pytest.mark.parametrize(
    "how", [pytest.param((), marks=pytest.mark.slow), ("--undated",)], ids=["dated", "by the tool"]
)
def test_rooms_are_found_in_the_wing_that_is_asked(bench: Ask, tmp_path: Path, how: tuple[str, ...]) -> None:
    file = finding.locomo(tmp_path, finding.small_talk("one"), finding.contrary_talk("two"))
    told = bench("rooms", file, *how, "--questions", str(tmp_path / "found.jsonl"), "--json").json
    assert told["kinds"]["all"]["questions"] == 4 + len(finding.TOPICS)
    # Both rooms of two questions, one of the two that the third needs, none of the fourth.
    rows = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["shares"]["rooms"] for row in rows if row["conversation"] == "one"] == [1.0, 1.0, 0.5, 0.0]
    assert all(set(row["rooms"]) <= {"session_1", "session_2"} for row in rows if row["conversation"] == "one")
    assert told["conversations"]["one"] == 0.625
    # Thirteen rooms mention each topic alike: the wanted one is among them, but not among the first.
    assert {row["shares"]["rooms"] for row in rows if row["conversation"] == "two"} == {1.0}
    assert told["kinds"]["all"]["rooms R@10"]["mean"] < told["kinds"]["all"]["rooms"]["mean"]
    assert told["by_conversation"]["mean"] == told["kinds"]["all"]["rooms R@10"]["mean"]
    assert next(lines(told)).split()[:2] == ["all", str(4 + len(finding.TOPICS))]


def test_limit_takes_the_first_conversations(bench: Ask, tmp_path: Path) -> None:
    file = finding.locomo(tmp_path, finding.small_talk("one"), finding.small_talk("two"))
    told = bench("rooms", file, "--limit", "1", "--json").json
    assert told["conversations"] == {"one": 0.625}
    assert shares(told["kinds"]["all"]) == {0.625}
