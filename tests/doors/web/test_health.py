"""The page on health: its report, its repairs, and the files it makes."""

import json
import re
from pathlib import Path

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import form_of, over, seal_in, sign_in

import pieria
from pieria.doors.web.pages import health
from pieria.record.job import Lease, Outcome, Problem, new_job
from pieria.record.time import micros

HEALTH = "/banks/notes/health"


def done(served: Served, form: str, **fields: str) -> str:
    """Return the page of a task started by a form of the page, once it is over."""
    seal = seal_in(served.client.get(HEALTH))
    return over(served, served.client.post(f"{HEALTH}/{form}", data={"seal": seal, **fields}))


def test_it_counts_what_there_is_and_leads_to_it(served: Served) -> None:
    page = served.client.get(HEALTH).text
    with pieria.open("notes") as bank:
        assert re.search(rf"<b>{bank.count()}</b> memories", page)
    assert 'href="/banks/notes/memories?kinds=observation"' in page
    assert "No language model was called" in page
    assert "There are no jobs" in page


def test_every_check_is_told_and_what_is_wrong_comes_first(served: Served, home: Path) -> None:
    well = served.client.get(f"{HEALTH}/checks").text
    assert "All checks passed." in well and "integrity check passed" in well
    [file] = home.rglob("notes.db")
    file.chmod(0o644)
    unwell = served.client.get(f"{HEALTH}/checks").text
    assert "1 check failed." in unwell
    assert unwell.index("failed</span> file mode") < unwell.index("integrity check passed")


def test_a_large_bank_is_read_through_only_when_somebody_asks_for_it(
    served: Served, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "READ_AT_ONCE", 3)
    glance = served.client.get(f"{HEALTH}/checks").text
    assert "The quick checks passed." in glance and "integrity check" not in glance and "file mode" in glance
    assert f'action="{HEALTH}/check"' in glance
    assert "All checks passed." in (whole := done(served, "check")) and "integrity check passed" in whole
    [file] = home.rglob("notes.db")
    file.chmod(0o644)
    assert "1 check failed." in served.client.get(f"{HEALTH}/checks").text
    sign_in(served, "read")
    assert "failed</span> file mode" in done(served, "check")


def test_settings_are_for_administrators(served: Served) -> None:
    assert "embedder_key" in served.client.get(f"{HEALTH}/checks").text
    sign_in(served, "write")
    assert "embedder_key" not in served.client.get(f"{HEALTH}/checks").text


def test_where_the_bank_is_kept_is_for_administrators(served: Served, home: Path) -> None:
    [file] = home.rglob("notes.db")
    file.chmod(0o644)
    with pieria.open("notes") as bank, bank.core.store.writing() as writer:
        writer.enqueue([new_job("grind")])
        writer.claim(Lease("test", "worker", micros(bank.clock()) + 60_000_000), ["grind"])
        writer.settle("test", Outcome("dead", Problem("busy", f"another writer held the bank at {file}")))

    def pages() -> list[str]:
        return [*(served.client.get(path).text for path in (HEALTH, f"{HEALTH}/checks")), done(served, "check")]

    told = pages()
    assert f"held the bank at {file}" in told[0] and all(str(file) in page for page in told)
    sign_in(served, "write")
    told = pages()
    assert "grind" in told[0] and "busy" in told[0]
    assert all("chmod 600 DATA/notes.db" in page for page in told[1:])
    assert not any(str(home) in page for page in told)


def test_to_mend_tells_what_was_mended(served: Served) -> None:
    assert "nothing" in done(served, "mend")


def test_an_export_and_a_backup_are_fetched_and_bring_the_bank_back(served: Served, tmp_path: Path) -> None:
    for what in ("export", "backup"):
        [link] = re.findall(r'href="([^"]+/task/file[^"]+)"', done(served, "file", what=what))
        answer = served.client.get(link)
        assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''notes.")
        (tmp_path / what).write_bytes(answer.content)
    assert json.loads((tmp_path / "export").read_text().splitlines()[0])
    with pieria.open("again", data=tmp_path / "data") as bank:
        bank.import_(tmp_path / "export")
        assert [memory.text for memory in bank.list(author="Ada")] == ["We chose JWT for all new APIs, rotated daily."]
    pieria.restore(tmp_path / "backup", tmp_path / "data", name="restored")
    with pieria.open("restored", data=tmp_path / "data") as bank:
        assert len(bank.history("jwt")) == 2


def test_what_was_begun_and_left_is_found_again(served: Served) -> None:
    assert "Started from these pages" not in served.client.get(HEALTH).text
    done(served, "file", what="backup")
    told = served.client.get("/banks/NOTES/health").text
    [link] = re.findall(r'<a href="([^"]+)">Backup</a>\s+<span class="quiet">done</span>', told)
    assert "Download notes." in served.client.get(link).text
    sign_in(served, "admin")
    assert "Started from these pages" not in served.client.get(HEALTH).text


def test_a_file_of_another_is_not_there(served: Served) -> None:
    [link] = re.findall(r'href="([^"]+/task/file[^"]+)"', done(served, "file", what="export"))
    sign_in(served, "admin")
    assert served.client.get(link).status_code == 404


def test_a_job_is_called_off_and_tried_again(served: Served) -> None:
    with pieria.open("notes") as bank:
        job = bank.jobs.add("grind", {"n": 1}, due="2999-01-01")
    for verb, left in (("cancel", "later"), ("replay", "cancelled")):
        page = served.client.get(HEALTH)
        assert f'action="{HEALTH}/{verb}"' in page.text
        assert "grind" in served.client.get(f"{HEALTH}?state={left}").text
        answer = served.client.post(f"{HEALTH}/{verb}", data={"seal": seal_in(page), "id": job.id})
        assert answer.headers["location"] == f"{HEALTH}#jobs"
        assert "grind" not in served.client.get(f"{HEALTH}?state={left}").text


def test_a_bank_is_removed_by_whoever_was_told_what_goes(served: Served, home: Path) -> None:
    page = served.client.get(f"{HEALTH}/remove").text
    assert "Remove the bank notes for good?" in page and "memories" in page
    fields = form_of(page, "health/remove")
    with pieria.open("notes") as bank:
        bank.remember("Said meanwhile.")
    refused = served.client.post(f"{HEALTH}/remove", data=fields)
    assert refused.status_code == 409 and "Nothing was removed" in refused.text
    gone = served.client.post(f"{HEALTH}/remove", data=form_of(refused.text, "health/remove"))
    assert gone.status_code == 200 and "The bank notes was removed" in gone.text
    assert "/events?" not in gone.text
    assert not list(home.rglob("notes.db*"))
    assert served.client.get(f"{HEALTH}/remove").status_code == 404
    assert served.client.get("/v1/banks", headers={"accept": "application/json"}).json() == {"banks": []}


def test_a_bank_is_removed_by_administrators_alone(served: Served) -> None:
    assert f"{HEALTH}/remove" in served.client.get(HEALTH).text
    seal = sign_in(served, "write")
    assert f"{HEALTH}/remove" not in served.client.get(HEALTH).text
    assert served.client.get(f"{HEALTH}/remove").status_code == 403
    told = {"versions": 1, "facts": 0, "links": 0}
    assert served.client.post(f"{HEALTH}/remove", data={"seal": seal, **told}).status_code == 403
    assert served.service.banks.there() == ["notes"]
