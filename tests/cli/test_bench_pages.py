"""`pieria bench pages` on a small bank: what it tells, not how fast anything is."""

import pytest

from pieria.doors.bench.pages import LATER, measure_pages
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
