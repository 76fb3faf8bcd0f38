"""`pieria.json` in the home of Hermes: its options, the effect of each, and how it is written."""

import errno
import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.doors.hermes.conftest import Begin

from pieria import Bank
from pieria.errors import ConfigError, StorageError
from pieria.hermes.options import FILE, Options, home_folder, options_in, save
from pieria.hermes.provider import provider
from pieria.record.banks import check_bank_name, same_bank

PAGE = Path(__file__).parents[3] / "docs" / "hermes.md"


def test_without_a_file_everything_is_as_usual(hermes_home: Path) -> None:
    assert options_in(hermes_home) == Options()


def test_the_page_has_every_option_with_its_usual_value() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE.read_text(), flags=re.MULTILINE))
    for field in fields(Options):
        usual = rows.pop(field.name).strip()
        if field.default is not None:
            assert usual == f"`{json.dumps(field.default)}`", field.name
    assert rows == {}


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"autosave": "yes"}, "autosave: expected true or false"),
        ({"prefetch_ms": 5}, "prefetch_ms: expected a number from 20 to 5000"),
        ({"prefetch_ms": 20.5}, "prefetch_ms"),
        ({"prefetch_tokens": True}, "prefetch_tokens"),
        ({"min_confidence": 2}, "min_confidence: expected a number from 0 to 1"),
        ({"bank": "a/b"}, "bank: expected a bank's name"),
        ({"bank": "{person}"}, "bank: expected in braces one of profile, platform, user"),
        ({"bank": 7}, "bank: expected a text"),
        ({"tools": "mnemosyne_recall"}, "tools: expected a list"),
        ({"tools": ["mnemosyne_recal"]}, "tools: expected some of"),
        ({"autosav": True}, "unknown option 'autosav'"),
    ],
)
def test_what_cannot_be_right_is_refused_with_the_file_and_the_option(
    hermes_home: Path, said: dict[str, Any], wrong: str
) -> None:
    (hermes_home / FILE).write_text(json.dumps(said))
    with pytest.raises(ConfigError, match=re.escape(wrong)) as caught:
        options_in(hermes_home)
    assert FILE in str(caught.value)
    (hermes_home / FILE).unlink()
    with pytest.raises(ConfigError, match=re.escape(wrong)):
        provider().save_config(said, str(hermes_home))
    assert not (hermes_home / FILE).exists()


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"bank": "a"'])
def test_a_file_that_is_no_object_is_refused(hermes_home: Path, text: str) -> None:
    (hermes_home / FILE).write_text(text)
    with pytest.raises(ConfigError, match=re.escape(FILE)):
        options_in(hermes_home)


def test_the_wizard_of_the_host_asks_for_little_and_what_it_gathers_is_kept_beside_the_rest(hermes_home: Path) -> None:
    asked = provider().get_config_schema()
    assert {field["key"] for field in asked} == {"bank", "data"}
    assert not any(field.get("secret") or field["required"] for field in asked)
    (hermes_home / FILE).write_text('{"sleep": false}')
    provider().save_config({"bank": "team", "data": ""}, str(hermes_home))
    assert options_in(hermes_home) == Options(bank="team", sleep=False)
    provider().save_config({"bank": ""}, str(hermes_home))
    assert options_in(hermes_home) == Options(sleep=False)
    assert [path.name for path in hermes_home.iterdir()] == [FILE]


@pytest.mark.parametrize(
    ("bank", "profile", "platform", "user", "name"),
    [
        (None, "", "cli", "", "hermes"),
        (None, "default", "cli", "", "hermes"),
        (None, "coder", "cli", "", "hermes-coder"),
        ("team", "coder", "cli", "", "team"),
        ("{profile}-{user}", "", "telegram", "77", "default-77"),
        ("team.{user}", "", "telegram", "77", "team.77"),
        ("{user}", "", "cli", "", "nobody"),
    ],
)
def test_the_bank_follows_from_the_option_and_the_agent(
    bank: str | None, profile: str, platform: str, user: str, name: str
) -> None:
    assert Options(bank=bank).bank_for(profile, platform, user) == name


def test_options_that_cannot_be_written_are_told_and_leave_those_of_before(
    hermes_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    save(hermes_home, {"bank": "before"})
    there = sorted(hermes_home.iterdir())
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageError, match="No space left"):
        save(hermes_home, {"bank": "after"})
    assert options_in(hermes_home).bank == "before"
    assert sorted(hermes_home.iterdir()) == there


def test_nobody_shares_the_bank_of_somebody_with_another_name() -> None:
    people = [
        "", "nobody", "a-b", "a.b", "a b", "a/../b", "A-B", "a-B", "@@@", "@@", "…", "maya", "Maya", "straße",
        "strasse", "e\u0301", "é", "con", "x" * 200, "x" * 201, "x" * 16, "\udce9", "_", "-",
    ]  # fmt: skip
    for template in ("{user}", "hermes-{user}", "{profile}-{platform}-{user}"):
        options = Options(bank=template)
        names = {person: options.bank_for("My Coder!", "telegram", person) for person in people}
        assert all(check_bank_name(name) == name for name in names.values())
        assert len({same_bank(name) for name in names.values()}) == len(people), names


def test_nobody_gets_the_bank_of_somebody_by_taking_its_name() -> None:
    options = Options(bank="{user}")
    theirs = options.bank_for("", "telegram", "a.b")
    assert theirs.startswith("a-b-")
    assert options.bank_for("", "telegram", theirs) != theirs


def test_profiles_have_a_bank_each() -> None:
    names = [Options().bank_for(profile, "cli", "") for profile in ("coder", "Coder", "my coder", "my-coder", "…")]
    assert len({same_bank(name) for name in names}) == len(names)


def test_each_person_may_have_a_bank(begin: Begin, hermes_home: Path) -> None:
    save(hermes_home, {"bank": "hermes-{user}"})
    maya, ben = begin("a", user_id="1", platform="telegram"), begin("b", user_id="2", platform="telegram")
    maya.turn("My dog is called Biscuit.", "Noted.")
    maya.leave()
    assert ben.prefetch("What is my dog called?") == ""
    assert "Biscuit" in begin("c", user_id="1", platform="telegram").prefetch("What is my dog called?")


def test_the_banks_may_be_in_another_folder(begin: Begin, hermes_home: Path, tmp_path: Path) -> None:
    save(hermes_home, {"data": str(tmp_path / "mine"), "bank": "x"})
    agent = begin()
    agent.turn("One.", "Two.")
    agent.leave()
    assert (tmp_path / "mine" / "x.db").exists()
    assert agent.provider.backup_paths() == [str(tmp_path / "mine" / "x.db")]


@pytest.mark.parametrize("option", ["autosave", "mirror", "sleep"])
def test_what_is_done_by_itself_can_be_turned_off(begin: Begin, bank: Bank, hermes_home: Path, option: str) -> None:
    def lived(session: str) -> int:
        agent = begin(session)
        agent.turn(f"Said in {session}.", "Yes.")
        agent.notes("add", f"Noted in {session}.")
        agent.switch("after", reset=True)
        agent.leave()
        counted: dict[str, int] = {
            "autosave": bank.count(kinds="turn"),
            "mirror": bank.count(kinds="note"),
            "sleep": sum(bank.jobs.counts().values()),
        }
        return counted[option]

    save(hermes_home, {option: False})
    assert lived("one") == 0
    save(hermes_home, {option: True})
    assert lived("two") > 0


def test_the_home_is_the_one_that_hermes_names(hermes_home: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home_folder() == hermes_home
    monkeypatch.setenv("HERMES_HOME", str(home / "profiles" / "coder"))
    assert home_folder() == home / "profiles" / "coder"
    monkeypatch.delenv("HERMES_HOME")
    assert home_folder() == home / ".hermes"
