"""The variables of the original systems: what they set here, their precedence, and their reports."""

from pathlib import Path

import pytest
from tests.trust import trusted_project

from pieria.errors import ConfigError
from pieria.settings import Settings, resolve
from pieria.settings.source import INERT, PLAIN, PREFIXED, PREFIXES

GIVEN = {"data": "there", "decay_model": "exponential", "vault": "notes", "vault_folder": "notes"}
"""Values of settings that take no numbers."""


def value_for(setting: str) -> str:
    default = Settings.model_fields[setting].default
    if isinstance(default, bool):
        return str(not default)
    return GIVEN.get(setting) or str(default + 1 if isinstance(default, int) else default * 1.05)


VARIABLES = [(prefix + name, setting) for name, setting in PREFIXED.items() for prefix in PREFIXES] + list(
    PLAIN.items()
)


@pytest.mark.parametrize(("variable", "setting"), VARIABLES)
def test_a_variable_of_the_original_sets_what_it_set_there(variable: str, setting: str, tmp_path: Path) -> None:
    found = resolve({}, environ={variable: value_for(setting)}, cwd=tmp_path)
    assert getattr(found.settings, setting) != getattr(resolve({}, environ={}, cwd=tmp_path).settings, setting)
    assert found.origins[setting] == f"environment {variable}"
    assert found.remarks == ()


def test_the_folder_of_the_original_is_the_data_folder(tmp_path: Path, home: Path) -> None:
    assert resolve({}, environ={"MNEMEX_STORAGE_PATH": "~/memory"}).settings.data == home / "memory"
    both = {"MNEMEX_STORAGE_PATH": str(tmp_path / "theirs"), "PIERIA_DATA": str(tmp_path / "ours")}
    assert resolve({}, environ=both).settings.data == tmp_path / "ours"


def test_ours_count_before_them_and_they_before_files(tmp_path: Path) -> None:
    trusted_project(tmp_path, "forget_threshold = 0.3\n")
    theirs = {"MNEMEX_FORGET_THRESHOLD": "0.2"}
    assert resolve({}, environ=theirs, cwd=tmp_path).settings.forget_threshold == 0.2
    found = resolve({}, environ={**theirs, "PIERIA_FORGET_THRESHOLD": "0.1"}, cwd=tmp_path)
    assert (found.settings.forget_threshold, found.origins["forget_threshold"]) == (
        0.1,
        "environment PIERIA_FORGET_THRESHOLD",
    )
    assert resolve({}, environ={"MNEMEX_FORGET_THRESHOLD": ""}, cwd=tmp_path).settings.forget_threshold == 0.3


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MNEMEX_DECAY_MODEL", "linear"),
        ("CORTEXGRAPH_PL_HALFLIFE_DAYS", "three"),
        ("MNEMEX_AUTO_REINFORCE", "perhaps"),
        ("MNEMEX_REVIEW_DANGER_ZONE_MIN", "0.5"),
        ("MNEMEX_STORAGE_PATH", "~nobody-has-this-name/x"),
    ],
)
def test_a_value_that_cannot_be_right_is_refused_under_the_name_of_its_variable(variable: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{variable}: expected .*, got"):
        resolve({}, environ={variable: value})


def test_the_newer_name_counts_and_it_is_told_where_the_older_says_something_else() -> None:
    both = {"MNEMEX_DECAY_BETA": "0.7", "CORTEXGRAPH_DECAY_BETA": "0.8"}
    found = resolve({}, environ=both)
    assert (found.settings.decay_beta, found.origins["decay_beta"]) == (0.8, "environment CORTEXGRAPH_DECAY_BETA")
    [remark] = found.remarks
    assert "CORTEXGRAPH_DECAY_BETA is used" in remark.what
    assert resolve({}, environ=dict.fromkeys(both, "0.7")).remarks == ()


@pytest.mark.parametrize("name", [*INERT, "COLOUR"])
def test_a_variable_that_means_nothing_here_is_told_with_the_reason(name: str) -> None:
    found = resolve({}, environ={f"MNEMEX_{name}": "1"})
    assert set(found.origins.values()) == {"default"}
    [remark] = found.remarks
    assert remark.what.startswith(f"MNEMEX_{name} has no effect: ")
    assert resolve({}, environ={f"MNEMEX_{name}": ""}).remarks == ()


def test_a_misspelt_variable_is_told_with_the_name_that_was_probably_meant() -> None:
    [remark] = resolve({}, environ={"CORTEXGRAPH_PROMOTE_TRESHOLD": "0.5"}).remarks
    assert remark.remedy == "Set CORTEXGRAPH_PROMOTE_THRESHOLD, if that was meant."


def test_the_file_of_variables_is_not_read_and_it_is_told_what_of_it_is_lost(home: Path) -> None:
    file = home / ".config" / "cortexgraph" / ".env"
    file.parent.mkdir(parents=True)
    file.write_text("# mine\nexport MNEMEX_DECAY_BETA=0.7\nLTM_VAULT_PATH = ~/notes\nOTHER=1\n")
    [remark] = resolve({}, environ={}).remarks
    assert remark.what == f"{file} is not read, but sets MNEMEX_DECAY_BETA, LTM_VAULT_PATH"
    assert f". {file};" in remark.remedy
    assert resolve({}, environ={"MNEMEX_DECAY_BETA": "0.7", "LTM_VAULT_PATH": "notes"}).remarks == ()


def test_no_variable_both_sets_something_and_means_nothing() -> None:
    assert not PREFIXED.keys() & INERT.keys()
    assert {*PREFIXED.values(), *PLAIN.values()} <= Settings.model_fields.keys()
