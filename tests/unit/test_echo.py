"""Which texts only repeat a question."""

import tomllib
from pathlib import Path

from pieria.language.echo import query_of

CASES = tomllib.loads(Path(__file__).with_name("echo.toml").read_text("utf-8"))["asked"]


def repeated(question: str, text: str, *, is_said: bool = False) -> bool:
    query = query_of(question)
    return query is not None and query.is_repeated_by(text, is_said=is_said)


def test_text_that_only_repeats_a_question_is_recognised() -> None:
    said = {(case["question"], text): True for case in CASES for text in case.get("turns", ())}
    expected = {(case["question"], text): True for case in CASES for text in case.get("echoes", ())}
    expected |= {(case["question"], text): False for case in CASES for text in case["others"]}
    assert {case: repeated(*case) for case in expected} == expected
    assert {case: (repeated(*case), repeated(*case, is_said=True)) for case in said} == dict.fromkeys(
        said, (False, True)
    )
