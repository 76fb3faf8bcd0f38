"""The page on fading: due memories, how a memory fades, and upkeep previewed before it runs."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import facing, over, seal_in

import pieria

FADING = "/banks/notes/fading"
OLD = 90


def until_due() -> timedelta:
    """Return how long an unused memory waits for its review."""
    with pieria.open("probe") as bank:
        fresh = bank.upkeep.curve(bank.remember("As any other.").id)
        assert fresh.review_from is not None
        return timedelta(microseconds=fresh.review_from - fresh.at)


@pytest.fixture
def served() -> Iterator[Served]:
    """A bank of three memories: one that has faded, one that is about to, and one that is fresh."""
    for id, text, ago in (
        ("old", "The rollback of March went wrong.", timedelta(days=OLD)),
        ("friday", "Nobody deploys on a Friday.", until_due() + timedelta(hours=1)),
        ("new", "We chose JWT.", timedelta(0)),
    ):
        with pieria.open("notes", clock=lambda ago=ago: datetime.now(UTC) - ago) as bank:  # type: ignore[misc]
            bank.remember(text, id=id)
    with facing() as found:
        yield found


def worked(served: Served, **fields: str) -> str:
    seal = seal_in(served.client.get(FADING))
    return over(served, served.client.post(f"{FADING}/work", data={"seal": seal, **fields}))


def test_a_curve_is_drawn_of_the_latest_or_a_chosen_memory(served: Served) -> None:
    served.bank.remember("releases", kind="tag")
    assert "/banks/notes/memory?id=new" in served.page(FADING).partition('id="curve-title"')[2]
    old, new = (served.page(f"{FADING}?id={id}") for id in ("old", "new"))
    assert "The rollback of March" in old and "We chose JWT." in new
    points = [re.findall(r'class="left" points="([^"]+)"', page)[0] for page in (old, new)]
    assert points[0] != points[1] and all(len(each.split()) > 10 for each in points)
    assert served.client.get(f"{FADING}?id=nowhere").status_code == 404


def test_due_memories_are_shown_until_reviewed(served: Served) -> None:
    page = served.client.get(f"{FADING}/due")
    assert "Nobody deploys on a Friday." in page.text and "We chose JWT." not in page.text
    answer = served.client.post(f"{FADING}/review", data={"seal": seal_in(page), "id": "friday"})
    assert answer.headers["location"] == FADING
    assert "Nobody deploys on a Friday." not in served.page(f"{FADING}/due")
    served.bank.remove("friday")
    late = served.client.post(f"{FADING}/review", data={"seal": seal_in(page), "id": "friday"})
    assert late.status_code == 409 and "it was removed" in late.text


@pytest.mark.parametrize(("what", "left"), [("gc", "removed"), ("archive", "archived")])
def test_upkeep_is_previewed_before_it_is_done(served: Served, what: str, left: str) -> None:
    shown = worked(served, what=what)
    assert "Nothing was changed." in shown and "The rollback of March" in shown and "We chose JWT." not in shown
    assert served.page("/banks/notes/memories").count("data-item") == 3
    assert 'name="really"' in shown and "Would be " in shown
    done = worked(served, what=what, really="yes")
    assert "Done. Each memory" in done and "Would be " not in done and "The rollback of March" in done
    [memory] = served.bank.history("old")[-1:]
    assert left in (memory.standing.ended, memory.status)
    assert "There was nothing to do." in worked(served, what=what)


def test_a_threshold_has_its_effect(served: Served) -> None:
    assert "There was nothing to do." in worked(served, what="gc", threshold="0")
    some = worked(served, what="gc", threshold="0.5")
    assert "The rollback of March" in some and some.count('name="threshold" value="0.5"') == 1


def test_previews_show_summaries_and_forget_the_purged(served: Served) -> None:
    with pieria.open("rest", clock=lambda: datetime.now(UTC) - timedelta(days=OLD)) as bank:
        for number in range(8):
            bank.remember(f"The deployment of billing number {number} failed because of the cache.", id=f"m{number}")
    seal = seal_in(served.client.get("/banks/rest/fading"))
    with pieria.open("rest") as bank:
        [summary] = bank.upkeep.sleep(dry_run=True).summaries
        for what, number in (("gc", 3), ("sleep", 4)):
            begun = served.client.post("/banks/rest/fading/work", data={"seal": seal, "what": what})
            shown = over(served, begun)
            assert f"number {number}" in shown
            if what == "sleep":
                assert "Would be summed up" in shown
                assert f'href="/banks/rest/memory?id={summary.sources[1].id}"' in shown
            bank.purge(f"m{number}")
            assert f"number {number}" not in served.page(begun.headers["location"])
