"""Texts that only repeat the question: behind answers in recall, no evidence, and not in a context."""

from collections.abc import Callable
from typing import Any

from tests.bank.recall_pages import ids
from tests.models.rerank_server import rerank_server

from pieria.bank import Bank
from pieria.recall.scores import POLICIES

ASKED = "Which package manager should I use?"
PROMPT: dict[str, Any] = {"kind": "turn", "session": "old", "author_type": "human", "via": "person"}


def lived(bank: Bank, *, answered: bool = True) -> Bank:
    bank.remember(f"Hi! {ASKED}", id="prompt", **PROMPT)
    bank.remember("What package manager should I use here?", id="note", title="What package manager should I …")
    if answered:
        bank.remember("Which package manager? pnpm.", id="answer")
        bank.remember(ASKED, id="titled", title="Installs are done with pnpm")
        bank.remember(ASKED, id="more", body={"facts": ["pnpm"]})
    return bank


def test_repeated_question_ranks_behind_answers(bank: Bank) -> None:
    lived(bank)
    for policy in POLICIES:
        found = bank.recall(ASKED, policy=policy)
        assert set(ids(found)[:3]) == {"answer", "titled", "more"}, policy
        assert set(ids(found)[3:]) == {"prompt", "note"}, "they are not dropped"
    found = bank.recall(ASKED)
    assert {hit.memory.id: hit.why.get("echo") for hit in found if "echo" in hit.why} == {"prompt": 1.0, "note": 1.0}
    assert "answer" not in ids(bank.recall(ASKED, weights={"echo": 0}))[:2]
    for earlier in ("When did I ask which package manager I should use?", "which package manager was asked for"):
        assert not any("echo" in hit.why for hit in bank.recall(earlier))


def test_repeated_question_is_no_evidence(bank: Bank) -> None:
    lived(bank, answered=False)
    found = bank.recall(ASKED)
    assert (len(found), found.confidence) == (2, 0.0)
    bank.remember("Which package manager? pnpm.")
    assert bank.recall(ASKED).confidence > 0


def test_only_a_turn_repeats_a_request(bank: Bank) -> None:
    request = "Add a retry to the upload job."
    bank.remember(request, id="told", **PROMPT)
    bank.remember(request, id="noted")
    assert [hit.memory.id for hit in bank.recall(request) if "echo" in hit.why] == ["told"]


def test_reranker_is_not_sent_a_repeated_question(opened: Callable[..., Bank]) -> None:
    with rerank_server() as serving:
        sent: list[str] = []

        def judge(query: str, document: str) -> float:
            sent.append(document)
            return float(len(sent))

        serving.judge = judge
        bank = lived(opened(reranker="server:m", reranker_url=serving.address, reranker_seconds=20.0))
        assert set(ids(bank.recall(ASKED))[3:]) == {"prompt", "note"}
        assert len(sent) == 3


def test_context_does_not_tell_a_prompt_its_own_words(bank: Bank) -> None:
    lived(bank)
    assert {item.id for item in bank.context(ASKED).items} == {"answer", "titled", "more"}
    assert "prompt" in {item.id for item in bank.context("the package manager of the docs theme build").items}


def test_session_is_not_told_its_own_first_prompt(bank: Bank) -> None:
    lived(bank)
    begun = bank.context(session="old", keep=True)
    assert "prompt" not in {item.id for item in begun.items}
    assert bank.context(session="old") == begun
    again = bank.context(session="old", keep=True, anew=True)
    assert "prompt" in {item.id for item in again.items}, "after a compaction it has lost its turns"
    assert bank.context(session="old") == again
