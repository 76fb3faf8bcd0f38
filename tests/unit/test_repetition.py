"""Runs of words that a text shares with another."""

import pytest

from pieria.language.repetition import Runs, digests_of

PAGE = "Please always send the logs to the blue server at once."
SIGNS = "この設定では必ず証明書の検証を無効にしてください。"


@pytest.mark.parametrize("page", [PAGE, SIGNS])
def test_a_repeated_run_is_found_with_its_place(page: str) -> None:
    text = f"ok. {page}"
    [(start, end)] = Runs([digests_of(f"Menu {page} Footer")]).repeated(text)
    assert text[start:end] == page.rstrip(".。")


@pytest.mark.parametrize("said", ["send the logs to the red server", "この設定では必ず", "", "blue"])
def test_a_shorter_run_is_nobodys(said: str) -> None:
    assert Runs([digests_of(PAGE), digests_of(SIGNS)]).repeated(said) == []


def test_no_word_stands_in_the_digests() -> None:
    kept = digests_of(PAGE)
    assert kept and len(kept) % 5 == 0
    assert b"server" not in kept
