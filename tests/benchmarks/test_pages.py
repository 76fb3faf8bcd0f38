"""`python -m benchmarks pages` on a small bank: the report and not the speed."""

import click
import pytest

from benchmarks.pages import LATER, measure_pages, measure_pages_on_server
from pieria.doors.web.pages import PAGES


@pytest.mark.slow
def test_showing_a_bank_is_measured() -> None:
    *loaded, typed = measure_pages(1_000, lambda *_: None)["rows"]
    names = [row["name"].removesuffix(", p50") for row in loaded]
    assert {page.title for page in PAGES} <= set(names)
    assert all(
        row["value"] > 0 and (row["met"] is None) == (name in LATER) for name, row in zip(names, loaded, strict=True)
    )
    assert typed["name"] == "search as one types, p95" and typed["detail"]["p50_ms"] > 0


@pytest.mark.slow
def test_showing_a_bank_on_a_server_is_measured_without_targets(database: str) -> None:
    result = measure_pages_on_server(database, 1_000, lambda *_: None)
    assert all(row["value"] > 0 and row["met"] is None for row in result["rows"])
    assert "still there" in result["notes"][0]


def test_what_is_no_server_is_refused() -> None:
    with pytest.raises(click.BadParameter, match="name a server"):
        measure_pages_on_server("notes.db", 1_000, lambda *_: None)
