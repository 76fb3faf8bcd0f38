"""Days of work learned by rules, asked about what they answer and what they do not."""

from pathlib import Path

import pytest
from tests.learning.answerable import auc, days, learn, questions, replies, settings

from pieria import Workspace

DAY = "held_out/day7"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_a_day_answers_is_answered_and_what_it_does_not_is_often_kept_back(tmp_path: Path) -> None:
    asked = {**days("tuning"), **days("held_out")}
    with Workspace(tmp_path, settings("local")) as workspace:
        told = list(replies(workspace, questions(asked, DAY), learn(workspace, DAY)))
    presented = {
        kind: [bool(each.presented) for each in told if each.kind == kind] for kind in {one.kind for one in told}
    }
    assert sum(presented["answered"]) >= 0.85 * len(presented["answered"])
    assert sum(presented["other work"]) <= 0.75 * len(presented["other work"])
    sure = {kind: [each.confidence for each in told if each.kind == kind] for kind in presented}
    assert auc(sure["answered"], sure["same work"] + sure["other work"]) > 0.7
