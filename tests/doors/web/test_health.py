"""The page on health: its report, its repairs, the files it makes, and the tokens of administrators."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import facing, fill, form_of, over, seal_in, sign_in

import pieria
from pieria.doors.web.pages import health
from pieria.errors import AccessError
from pieria.record.job import Lease, Outcome, Problem, new_job
from pieria.record.time import micros

HEALTH = "/banks/notes/health"


def send(served: Served, form: str, **fields: str) -> Any:
    seal = seal_in(served.client.get(HEALTH))
    return served.client.post(f"{HEALTH}/{form}", data={"seal": seal, **fields})


def done(served: Served, form: str, **fields: str) -> str:
    """Return the page of a task started by a form of the page, once it is over."""
    return over(served, send(served, form, **fields))


def test_health_counts_jobs_and_memories(served: Served) -> None:
    page = served.page(HEALTH)
    assert re.search(rf"<b>{served.bank.count()}</b> memories", page)
    assert 'href="/banks/notes/memories?kinds=observation"' in page
    assert "No language model was called" in page and "There are no jobs" in page
    job = served.bank.jobs.add("grind", {"n": 1}, due="2999-01-01")
    for verb, left in (("cancel", "later"), ("replay", "cancelled")):
        page = served.page(HEALTH)
        assert f'action="{HEALTH}/{verb}"' in page and "grind" in served.page(f"{HEALTH}?state={left}")
        assert send(served, verb, id=job.id).headers["location"] == f"{HEALTH}#jobs"
        assert "grind" not in served.page(f"{HEALTH}?state={left}")


def test_failed_checks_come_first(served: Served, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def checks() -> str:
        return served.page(f"{HEALTH}/checks")

    assert "All checks passed." in checks() and "integrity check passed" in checks() and "embedder_key" in checks()
    assert "nothing" in done(served, "mend")
    [file] = home.rglob("notes.db")
    file.chmod(0o644)
    assert "1 check failed." in checks()
    assert checks().index("failed</span> file mode") < checks().index("integrity check passed")
    file.chmod(0o600)
    # A large bank is read through only on request.
    monkeypatch.setattr(health, "READ_AT_ONCE", 3)
    assert "The quick checks passed." in checks() and "integrity check" not in checks() and "file mode" in checks()
    assert f'action="{HEALTH}/check"' in checks()
    whole = done(served, "check")
    assert "All checks passed." in whole and "integrity check passed" in whole
    file.chmod(0o644)
    assert "1 check failed." in checks()
    sign_in(served, "read")
    assert "failed</span> file mode" in done(served, "check") and "embedder_key" not in checks()


def test_paths_are_shown_to_administrators_alone(served: Served, home: Path) -> None:
    [file] = home.rglob("notes.db")
    file.chmod(0o644)
    with pieria.open("notes") as bank, bank.core.store.writing() as writer:
        writer.enqueue([new_job("grind")])
        writer.claim(Lease("test", "worker", micros(bank.clock()) + 60_000_000), ["grind"])
        writer.settle("test", Outcome("dead", Problem("busy", f"another writer held the bank at {file}")))

    def pages() -> list[str]:
        return [*(served.page(path) for path in (HEALTH, f"{HEALTH}/checks")), done(served, "check")]

    told = pages()
    assert f"held the bank at {file}" in told[0] and all(str(file) in page for page in told)
    sign_in(served, "write")
    told = pages()
    assert "grind" in told[0] and "busy" in told[0]
    assert all("chmod 600 DATA/notes.db" in page for page in told[1:])
    assert not any(str(home) in page for page in told)


def test_an_export_and_a_backup_bring_the_bank_back(served: Served, tmp_path: Path) -> None:
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


def test_work_and_files_are_shown_to_their_starter(served: Served) -> None:
    assert "Started from these pages" not in served.page(HEALTH)
    [file] = re.findall(r'href="([^"]+/task/file[^"]+)"', done(served, "file", what="backup"))
    told = served.page("/banks/NOTES/health")
    [link] = re.findall(r'<a href="([^"]+)">Backup</a>\s+<span class="quiet">done</span>', told)
    assert "Download notes." in served.page(link)
    sign_in(served, "admin")
    assert "Started from these pages" not in served.page(HEALTH) and served.client.get(file).status_code == 404


def test_a_bank_is_removed_by_an_administrator(served: Served, home: Path) -> None:
    assert f"{HEALTH}/remove" in served.page(HEALTH)
    page = served.page(f"{HEALTH}/remove")
    assert "Remove the bank notes for good?" in page and "memories" in page
    fields = form_of(page, "health/remove")
    served.bank.remember("Said meanwhile.")
    refused = served.client.post(f"{HEALTH}/remove", data=fields)
    assert refused.status_code == 409 and "Nothing was removed" in refused.text
    again, seal = form_of(refused.text, "health/remove"), sign_in(served, "write")
    assert f"{HEALTH}/remove" not in served.page(HEALTH)
    assert served.client.get(f"{HEALTH}/remove").status_code == 403
    assert served.client.post(f"{HEALTH}/remove", data={**again, "seal": seal}).status_code == 403
    assert served.service.banks.there() == ["notes"]
    seal = sign_in(served, "admin")
    gone = served.client.post(f"{HEALTH}/remove", data={**again, "seal": seal})
    assert gone.status_code == 200 and "The bank notes was removed" in gone.text and "/events?" not in gone.text
    assert served.client.get(f"{HEALTH}/remove").status_code == 404 and served.service.banks.there() == []


SECTION, REVOKES = "Access tokens", 'action="/banks/notes/health/token/revoke"'


def test_tokens_are_listed_for_administrators(served: Served) -> None:
    _, shown = served.tokens.create("<b>old</b> laptop", "read", ["notes", "work"], "2999-01-01")
    sign_in(served, "admin")
    page = served.page(HEALTH)
    assert SECTION in page and "&lt;b&gt;old&lt;/b&gt; laptop" in page and "notes, work" in page
    assert page.count(REVOKES) == 2
    for token in served.tokens.all():
        assert token.id in page and token.digest not in page
    assert shown not in page and page.count(">yours<") == 1 and "expired" not in page
    text = served.tokens.path.read_text()
    served.tokens.path.write_text(text.replace('"expires": "2999', '"expires": "2001'))
    assert "expired</span>" in served.page(HEALTH)


def test_tokens_are_hidden_from_everybody_else(served: Served) -> None:
    other, _ = served.tokens.create("other", "admin")
    for access, banks in (("read", ()), ("write", ()), ("admin", ("notes",))):
        seal = sign_in(served, access, *banks)
        page = served.page(HEALTH)
        assert SECTION not in page and other.id not in page and "/token/" not in page
        for deed, fields in (("revoke", {"id": other.id}), ("create", {"name": "more", "access": "admin"})):
            answer = served.client.post(f"{HEALTH}/token/{deed}", data={"seal": seal, **fields})
            assert answer.status_code == 403
    assert {token.name for token in served.tokens.all()} == {"other", "test 1", "test 2", "test 3"}


def test_a_revoked_token_is_out_at_once(served: Served) -> None:
    other, shown = served.tokens.create("other", "admin")
    sign_in(served, "admin")
    assert "you are signed out, too" in served.page(HEALTH)
    assert send(served, "token/revoke", id=other.id).headers["location"] == f"{HEALTH}#tokens"
    bearer = {"Authorization": f"Bearer {shown}"}
    assert served.client.get("/v1/banks", headers={**bearer, "accept": "*/*"}).status_code == 401
    [own] = served.tokens.all()
    for id in (other.id, own.name):
        assert send(served, "token/revoke", id=id).status_code == 404
    assert "all access is closed" in served.page(HEALTH)
    send(served, "token/revoke", id=own.id)
    assert served.client.get(HEALTH).headers["location"].startswith("/sign-in")


def test_a_new_token_is_shown_once(served: Served) -> None:
    sign_in(served, "admin")
    answer = send(served, "token/create", name="phone", access="read", banks="notes, work", expires="2999-12-31")
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    [shown] = re.findall(r"pieria_[\w-]{20,}", answer.text)
    token = served.tokens.matching(shown)
    assert token is not None and token.expires is not None
    assert (token.name, token.access.name, token.banks) == ("phone", "read", ("notes", "work"))
    assert token.expires.isoformat() == "3000-01-01T00:00:00+00:00", "with that day"
    assert shown not in served.page(HEALTH)
    again = send(served, "token/create", name="phone", access="read")
    assert again.status_code == 409 and "pieria_" not in again.text
    assert send(served, "token/create", name="late", expires="2001-01-01").status_code == 422
    send(served, "token/create", name="plain")
    plain = served.tokens.all()[-1]
    assert (plain.name, plain.access.name, plain.banks) == ("plain", "read", ("*",))


def test_nobody_grants_or_revokes_access_they_lack(served: Served) -> None:
    page = served.page(HEALTH)
    assert "This server needs no token" in page and "pieria token create NAME --access admin" in page
    assert "/token/" not in page
    refused = send(served, "token/create", name="first", access="admin")
    assert refused.status_code == 409 and "in a terminal" in refused.text
    assert not served.tokens.needed
    mine, _ = served.tokens.create("of the user", "write", ["@me"])
    sign_in(served, "admin")
    refused = send(served, "token/create", name="more", access="admin", banks="*, @ME")
    assert refused.status_code == 403 and AccessError.reasons["wrong_bank"] in refused.text
    assert send(served, "token/revoke", id=mine.id).status_code == 403
    assert served.page(HEALTH).count(REVOKES) == 1 and len(served.tokens.all()) == 2


def test_the_token_setting_opens_the_users_own_bank() -> None:
    fill()
    with facing(setting="by chance, and long enough", always=True) as served:
        seal = seal_in(served.client.get("/sign-in"))
        served.client.post("/sign-in", data={"seal": seal, "token": "by chance, and long enough"})
        page = served.page(HEALTH)
        assert "<code>token</code> gives administrator" in page and "by chance" not in page
        assert send(served, "token/create", name="of the user", access="write", banks="@me").status_code == 200
        served.tokens.path.write_text("{}")
        broken = served.client.get(HEALTH)
        assert broken.status_code == 200 and "not a token file" in broken.text


def test_sleeps_are_listed_with_links_to_their_summaries(served: Served) -> None:
    assert "It has not slept yet." in served.page(HEALTH)
    for number in range(4):
        served.bank.remember(f"Heron number {number} nests by the mill.", kind="turn", session="mill")
    [summary] = served.bank.upkeep.sleep(force=True).summaries
    page = served.page(HEALTH).partition('id="sleeps"')[2]
    assert f'href="/banks/notes/memory?id={summary.id}"' in page
    assert "This bank does not sleep automatically: the setting sleep is off." in page
    log = served.client.get("/v1/banks/notes/sleeps?limit=1").json()
    assert (log["runs"][0]["summaries"], log["held_back"]) == ([summary.id], "the setting sleep is off")
