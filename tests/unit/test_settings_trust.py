"""The rights of an untrusted folder's settings file, setting by setting, and how a user's own bank is recognised."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.trust import trust_folder, trusted_project
from tests.unit.test_settings import VALUES, toml

from pieria.errors import ConfigError
from pieria.project import innermost_project
from pieria.settings import Settings, resolve
from pieria.settings.source import TIGHTENS, is_stricter
from pieria.settings.trust import LARGEST, Trust, change, digest_at, identity_of, note_made

ENDLESS = 40
REFUSED: dict[str, tuple[str, ...]] = {
    "chooses which memories an agent reads and where new ones go": ("data", "bank", "user", "local"),
    "names the author, and so decides who may read what": ("session", "channel", "author", "author_type"),
    "sends texts to a model, or loads one": (
        *("embedder", "embedder_url", "embedder_key", "embedder_threads", "models"),
        *("reranker", "reranker_url", "reranker_key", "reranker_seconds"),
        *("llm", "llm_url", "llm_key", "llm_seconds", "llm_steps", "nlp"),
    ),
    "costs money, or stops work that the user wants to pay for": ("budget_tokens_per_day", "budget_calls_per_day"),
    "says which key opens banks, and may run a command for it": ("seal_key",),
    "gives access to a server": ("token", "paths", "row_security"),
    "names folders in which Pieria writes": ("vault", "vault_folder"),
    "accepts lessons without a person": ("accept_above",),
    "bounds what a server does for one request": ("request_seconds", "request_memory"),
    "makes writes fail or weakens them": ("durability", "busy_seconds", "connections", "session_lease"),
    "hides memories from recall, or their uses from the count": ("text_budget", "count_uses", "preview_chars"),
    "decides which memories fade, and no value is stricter than another": (
        *("upkeep_fades", "decay_model", "decay_halflife_days", "decay_alpha", "decay_lambda", "decay_lambda_fast"),
        *("decay_lambda_slow", "decay_weight_fast", "decay_beta", "decay_halflives", "decay_spacing"),
        *("forget_threshold", "promote_threshold", "promote_uses", "promote_days"),
        *("review_from", "review_to", "review_share", "reinforce", "crossing_boost"),
    ),
    "decides how memories are grouped, read and ranked": (
        *("cluster_threshold", "cluster_most", "duplicate_threshold", "enrich", "search_by_meaning", "time_zone"),
        *("short_term_weight", "long_term_weight"),
    ),
}
"""All other settings, by effect: what an untrusted file could do with them."""


def test_every_setting_is_in_the_table_once() -> None:
    refused = [name for names in REFUSED.values() for name in names]
    assert sorted([*refused, *TIGHTENS]) == sorted(Settings.model_fields)


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name not in TIGHTENS])
def test_an_untrusted_file_cannot_set(name: str, tmp_path: Path) -> None:
    (tmp_path / ".pieria.toml").write_text(f"{name} = {toml(VALUES[name][0])}\n")
    found = resolve({}, environ={}, cwd=tmp_path)
    assert found.origins[name] == "default"
    [remark] = found.ignored
    assert f"not trusted: {name} ignored" in remark.what


@pytest.mark.parametrize("name", list(Settings.model_fields))
@pytest.mark.parametrize("value", ["[1]", '"\\u0000"', "{a = 1}", "-1", "nan"])
def test_a_wrong_value_of_an_untrusted_file_stops_nothing(name: str, value: str, tmp_path: Path) -> None:
    (tmp_path / ".pieria.toml").write_text(f"{name} = {value}\nunknown = 1\n")
    assert resolve({}, environ={}, cwd=tmp_path).origins[name] == "default"


@pytest.mark.parametrize(
    ("held", "said", "then"),
    [
        (None, "flag", "flag"), (None, "redact", "redact"), (None, "refuse", "refuse"),
        ("flag", "refuse", "refuse"), ("redact", "refuse", "refuse"), ("redact", "redact", "redact"),
        ("redact", "flag", "redact"), ("refuse", "redact", "refuse"), ("refuse", "hide", "refuse"),
    ],
)  # fmt: skip
def test_secrets_only_become_stricter(held: str | None, said: str, then: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    if held is not None:
        (tmp_path / "data" / "pieria.toml").write_text(f'secrets = "{held}"\n')
    project = tmp_path / "project"
    project.mkdir()
    (project / ".pieria.toml").write_text(f'secrets = "{said}"\n')
    found = resolve({"data": tmp_path / "data"}, environ={}, cwd=project)
    assert found.settings.secrets == then
    assert bool(found.ignored) == (then != said)


@pytest.mark.parametrize(("held", "said", "then"), [(True, False, False), (False, True, False), (True, True, True)])
def test_capture_is_only_switched_off(held: bool, said: bool, then: bool, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pieria.toml").write_text(f"capture = {toml(held)}\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".pieria.toml").write_text(f"capture = {toml(said)}\n")
    found = resolve({"data": tmp_path / "data"}, environ={}, cwd=tmp_path / "project")
    assert found.settings.capture is then


def test_what_the_user_says_counts_before_a_stricter_file(tmp_path: Path) -> None:
    """The same as before a trusted file: an untrusted one gets no more rights."""
    (tmp_path / ".pieria.toml").write_text('secrets = "refuse"\n')
    assert resolve({}, environ={"PIERIA_SECRETS": "flag"}, cwd=tmp_path).settings.secrets == "flag"


def test_no_unknown_value_is_stricter_than_another() -> None:
    assert not is_stricter("secrets", "hide", "flag")
    assert not is_stricter("secrets", None, "flag")
    assert not is_stricter("llm", "none", "none")


def test_a_trusted_file_says_what_it_said_before(tmp_path: Path) -> None:
    trusted_project(tmp_path, 'bank = "ours"\nsecrets = "flag"\n')
    found = resolve({}, environ={}, cwd=tmp_path)
    assert (found.settings.bank, found.ignored) == ("ours", ())


@pytest.mark.parametrize("change_of", ['bank = "theirs"\n', 'bank = "ours" \n', ""])
def test_one_byte_makes_it_another_file(change_of: str, tmp_path: Path) -> None:
    trusted_project(tmp_path, 'bank = "ours"\n')
    (tmp_path / ".pieria.toml").write_text(change_of)
    assert resolve({}, environ={}, cwd=tmp_path).settings.bank == "default"


def test_the_file_that_is_read_is_the_one_that_was_trusted(tmp_path: Path) -> None:
    """A link in place of the file leads to other bytes, or to the same."""
    trusted_project(tmp_path, 'bank = "ours"\n')
    (tmp_path / ".pieria.toml").rename(tmp_path / "same")
    (tmp_path / "other").write_text('bank = "theirs"\n')
    (tmp_path / ".pieria.toml").symlink_to("other")
    assert resolve({}, environ={}, cwd=tmp_path).settings.bank == "default"
    (tmp_path / ".pieria.toml").unlink()
    (tmp_path / ".pieria.toml").symlink_to("same")
    assert resolve({}, environ={}, cwd=tmp_path).settings.bank == "ours"


def test_a_terminal_obeys_nothing_of_a_folder_s_name(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[2Jb\nnote: all is well"
    folder.mkdir()
    (folder / ".pieria.toml").write_text('bank = "x"\n')
    [remark] = resolve({}, environ={}, cwd=folder).ignored
    assert remark.what.isprintable() and remark.remedy.isprintable()


def test_a_project_is_the_innermost_of_those_around(tmp_path: Path, home: Path) -> None:
    inner = tmp_path / "work" / "clone"
    (inner / ".git").mkdir(parents=True)
    (tmp_path / "work" / ".pieria.toml").touch()
    assert innermost_project(inner / ".mem", home) == inner
    assert innermost_project(inner.parent / "x", home) == inner.parent
    (home / ".git").mkdir()
    assert innermost_project(home / "data", home) is None


def test_a_marker_that_leads_nowhere_is_one_all_the_same(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".git").symlink_to("nowhere")
    assert innermost_project(tmp_path / "data", home) == tmp_path


def test_the_default_data_folder_is_in_no_project(home: Path) -> None:
    (home / ".pieria" / ".git").mkdir(parents=True)
    assert Trust.read().doubted_project(home / ".pieria") is None


def test_two_files_are_two_though_one_follows_the_other(tmp_path: Path) -> None:
    seen = set()
    for _ in range(ENDLESS):
        (tmp_path / "file").write_bytes(b"")
        seen.add(identity_of(tmp_path / "file"))
        (tmp_path / "file").unlink()
    assert len(seen) == ENDLESS and None not in seen
    assert identity_of(tmp_path / "file") is None


def test_writing_to_a_file_leaves_it_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1")
    before = identity_of(file)
    file.write_bytes(b"2")
    os.utime(file, (1, 1))
    file.rename(tmp_path / "renamed")
    assert identity_of(tmp_path / "renamed") == before


def test_without_a_time_of_birth_no_bank_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.settings.trust.identity_of", lambda path: None)
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes.db").write_bytes(b"")
    note_made(tmp_path / "notes.db")
    assert Trust.read().banks == {}
    assert Trust.read().doubted_bank(tmp_path / "notes.db") == tmp_path


def test_records_are_the_user_s_alone(tmp_path: Path, home: Path) -> None:
    trust_folder(tmp_path)
    assert (home / ".pieria" / "trust.json").stat().st_mode & 0o777 == 0o600
    assert (home / ".pieria").stat().st_mode & 0o777 == 0o700


def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    folders = [tmp_path / str(number) for number in range(20)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(trust_folder, folders))
    assert len(Trust.read().folders) == len(folders)


@pytest.mark.parametrize("written", ["{", "[]", '{"folders": 1, "banks": {}}', '{"folders": {}, "banks": {"a": 1}}'])
def test_damaged_records_trust_nothing_and_stay(written: str, tmp_path: Path, home: Path) -> None:
    (home / ".pieria").mkdir()
    (home / ".pieria" / "trust.json").write_text(written)
    held = Trust.read()
    assert held.problem is not None and "damaged" in held.problem
    with pytest.raises(ConfigError, match="damaged"):
        trust_folder(tmp_path)
    assert (home / ".pieria" / "trust.json").read_text() == written


def test_banks_that_are_gone_are_forgotten(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("one.db", "two.db"):
        (tmp_path / name).touch()
        note_made(tmp_path / name)
    (tmp_path / "one.db").unlink()
    (tmp_path / "three.db").touch()
    note_made(tmp_path / "three.db")
    banks = json.loads((home / ".pieria" / "trust.json").read_text())["banks"]
    assert sorted(Path(name).name for name in banks) == ["three.db", "two.db"]


def test_a_file_that_is_too_large_has_no_digest(tmp_path: Path) -> None:
    (tmp_path / "fits").write_bytes(b"#" * LARGEST)
    (tmp_path / "larger").write_bytes(b"#" * (LARGEST + 1))
    assert digest_at(tmp_path / "fits") and digest_at(tmp_path / "larger") is None
    os.mkfifo(tmp_path / "pipe")
    assert digest_at(tmp_path / "pipe") is None
    assert digest_at(tmp_path / "nowhere") == ""


def test_records_of_an_unreadable_file_trust_nothing(tmp_path: Path) -> None:
    def trusted(held: Trust) -> Trust:
        return held.having(tmp_path, {})

    change(trusted)
    os.mkfifo(tmp_path / ".pieria.toml")
    assert Trust.read().project_around(tmp_path / "data") == tmp_path
    assert not Trust.read().covers(tmp_path)


def test_without_a_home_nothing_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Any:
        raise RuntimeError

    trusted_project(tmp_path, 'bank = "ours"\n')
    monkeypatch.setattr(Path, "home", homeless)
    found = resolve({"data": tmp_path / "data"}, environ={}, cwd=tmp_path)
    assert found.settings.bank == "default"
    with pytest.raises(ConfigError, match="home folder is unknown"):
        trust_folder(tmp_path)
