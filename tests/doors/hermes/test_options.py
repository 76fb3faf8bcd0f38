"""`pieria.json` in the home of Hermes: its options, the effect of each, and how it is written."""

import errno
import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.doors.hermes.conftest import Begin

from pieria import Bank
from pieria.errors import ConfigError, StorageError
from pieria.hermes.options import FILE, Options, home_folder, options_in, save
from pieria.hermes.provider import provider
from pieria.record.banks import check_bank_name, same_bank

PAGE = Path(__file__).parents[3] / "docs" / "hermes.md"


def test_the_page_lists_every_option_with_its_default(hermes_home: Path) -> None:
    assert options_in(hermes_home) == Options()
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE.read_text(), flags=re.MULTILINE))
    for field in fields(Options):
        usual = rows.pop(field.name).strip()
        if field.default is not None:
            assert usual == f"`{json.dumps(field.default)}`", field.name
    assert rows == {}


def test_wrong_options_are_refused_with_the_file(hermes_home: Path) -> None:
    file = hermes_home / FILE
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"autosave": "yes"}, "autosave: expected true or false"), ({"autosav": True}, "unknown option 'autosav'"),
        ({"prefetch_ms": 5}, "prefetch_ms: expected a number from 20 to 5000"), ({"prefetch_ms": 20.5}, "prefetch_ms"),
        ({"prefetch_tokens": True}, "prefetch_tokens"), ({"bank": 7}, "bank: expected a text"),
        ({"min_confidence": 2}, "min_confidence: expected a number from 0 to 1"),
        ({"bank": "a/b"}, "bank: expected a bank's name"), ({"tools": "mnemosyne_recall"}, "tools: expected a list"),
        ({"bank": "{person}"}, "bank: expected in braces one of profile, platform, user"),
        ({"tools": ["mnemosyne_recal"]}, "tools: expected some of"),
    ]  # fmt: skip
    for said, problem in wrong:
        file.write_text(json.dumps(said))
        with pytest.raises(ConfigError, match=re.escape(problem)) as caught:
            options_in(hermes_home)
        assert FILE in str(caught.value)
        file.unlink()
        with pytest.raises(ConfigError, match=re.escape(problem)):
            provider().save_config(said, str(hermes_home))
        assert not file.exists()
    for text in ("{", "[]", "7", '{"bank": "a"'):
        file.write_text(text)
        with pytest.raises(ConfigError, match=re.escape(FILE)):
            options_in(hermes_home)
    file.write_text('{"bnak": "x", "prefetch_ms": 7}')
    unwell = provider()
    assert "bnak" in unwell.unavailable_reason() and "prefetch_ms" in unwell.unavailable_reason()
    unwell.initialize("s", hermes_home=str(hermes_home))
    assert unwell.prefetch("anything") == ""
    for is_well, status in ((False, "error"), (True, "ok")):
        assert unwell.is_available() is is_well
        assert json.loads(unwell.handle_tool_call("mnemosyne_recall", {"query": "x"}))["status"] == status
        file.unlink(missing_ok=True)
    unwell.shutdown()
    save(hermes_home, {"data": "mysql://host/db"})
    assert "mysql" in provider().unavailable_reason()


def test_the_hosts_wizard_keeps_the_other_options(hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = provider().get_config_schema()
    assert {field["key"] for field in asked} == {"bank", "data"}
    assert not any(field.get("secret") or field["required"] for field in asked)
    (hermes_home / FILE).write_text('{"sleep": false}')
    provider().save_config({"bank": "team", "data": ""}, str(hermes_home))
    assert options_in(hermes_home) == Options(bank="team", sleep=False)
    provider().save_config({"bank": ""}, str(hermes_home))
    assert options_in(hermes_home) == Options(sleep=False)

    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    with pytest.raises(StorageError, match="No space left"):
        save(hermes_home, {"bank": "after"})
    assert options_in(hermes_home) == Options(sleep=False)
    assert [path.name for path in hermes_home.iterdir()] == [FILE]


def test_the_bank_follows_from_option_profile_and_user() -> None:
    names = {
        (None, "", "cli", ""): "hermes", (None, "default", "cli", ""): "hermes",
        (None, "coder", "cli", ""): "hermes-coder", ("team", "coder", "cli", ""): "team",
        ("{profile}-{user}", "", "telegram", "77"): "default-77", ("team.{user}", "", "telegram", "77"): "team.77",
        ("{user}", "", "cli", ""): "nobody",
    }  # fmt: skip
    assert {key: Options(bank=key[0]).bank_for(*key[1:]) for key in names} == names


def test_no_two_users_or_profiles_share_a_bank() -> None:
    people = [*"…é_-", "", "nobody", "a-b", "a.b", "a b", "a/../b", "A-B", "a-B", "@@@", "@@", "maya", "Maya", "con"]
    people += ["straße", "strasse", "e\u0301", "\udce9", "x" * 200, "x" * 201, "x" * 16]
    for template in ("{user}", "hermes-{user}", "{profile}-{platform}-{user}"):
        options = Options(bank=template)
        names = {person: options.bank_for("My Coder!", "telegram", person) for person in people}
        assert all(check_bank_name(name) == name for name in names.values())
        assert len({same_bank(name) for name in names.values()}) == len(people), names
    options = Options(bank="{user}")
    theirs = options.bank_for("", "telegram", "a.b")
    assert theirs.startswith("a-b-") and options.bank_for("", "telegram", theirs) != theirs
    profiles = ("coder", "Coder", "my coder", "my-coder", "…")
    assert len({same_bank(Options().bank_for(profile, "cli", "")) for profile in profiles}) == len(profiles)


def test_banks_of_persons_are_apart_in_any_folder(begin: Begin, hermes_home: Path, tmp_path: Path) -> None:
    save(hermes_home, {"bank": "hermes-{user}", "data": str(tmp_path / "mine")})
    maya, ben = begin("a", user_id="1", platform="telegram"), begin("b", user_id="2", platform="telegram")
    maya.turn("My dog is called Biscuit.", "Noted.")
    maya.leave()
    assert ben.prefetch("What is my dog called?") == ""
    assert "Biscuit" in begin("c", user_id="1", platform="telegram").prefetch("What is my dog called?")
    assert maya.provider.backup_paths() == [str(tmp_path / "mine" / "hermes-1.db")]
    assert (tmp_path / "mine" / "hermes-1.db").exists()


@pytest.mark.parametrize("option", ["autosave", "mirror", "sleep"])
def test_each_automatic_deed_can_be_turned_off(
    begin: Begin, bank: Bank, hermes_home: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIERIA_SLEEP", "idle")
    for is_on in (False, True):
        save(hermes_home, {option: is_on})
        agent = begin(str(is_on))
        agent.turn(f"Said when it is {is_on}.", "Yes.")
        agent.notes("add", f"Noted when it is {is_on}.")
        agent.switch("after", reset=True)
        agent.leave()
        turns, notes, jobs = bank.count(kinds="turn"), bank.count(kinds="note"), sum(bank.jobs.counts().values())
        assert ({"autosave": turns, "mirror": notes, "sleep": jobs}[option] > 0) is is_on


def test_the_home_is_the_one_that_hermes_names(hermes_home: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home_folder() == hermes_home
    monkeypatch.setenv("HERMES_HOME", str(home / "profiles" / "coder"))
    assert home_folder() == home / "profiles" / "coder"
    monkeypatch.delenv("HERMES_HOME")
    assert home_folder() == home / ".hermes"
