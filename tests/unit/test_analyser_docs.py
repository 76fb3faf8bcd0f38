"""Every example of the page that tells users what finds what."""

import re
from pathlib import Path

import pytest

from pieria.language.analyser import query_terms, terms

PAGE = Path(__file__).parents[2] / "docs" / "text.md"
EXAMPLE = re.compile(r"`([^`]+)`")


def examples() -> list[tuple[str, str, bool]]:
    """Return (question, text, is it found) from every table of the page."""
    found: list[tuple[str, str, bool]] = []
    columns: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells[:1] == ["question"]:
            columns = cells
        elif cells and "`" in line:
            [question] = EXAMPLE.findall(cells[0])
            for column, cell in zip(columns[1:], cells[1:], strict=True):
                found += [(question, text, column == "finds") for text in EXAMPLE.findall(cell)]
    return found


def finds(question: str, text: str) -> bool:
    asked = query_terms(question)
    telling = {found.term for found in asked if not found.stop} or {found.term for found in asked}
    return not telling.isdisjoint(terms(text))


@pytest.mark.parametrize(("question", "text", "found"), examples())
def test_the_page_tells_the_truth(question: str, text: str, found: bool) -> None:
    assert finds(question, text) is found, (query_terms(question), terms(text))


def test_the_page_is_read() -> None:
    assert len(examples()) > 100
    assert {found for _, _, found in examples()} == {True, False}
