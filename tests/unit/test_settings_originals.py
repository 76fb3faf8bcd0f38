"""The variables of the original systems: what they set here, their precedence, and their reports."""

from pathlib import Path

import pytest
from tests.trust import trusted_project

from pieria.errors import ConfigError
from pieria.settings import Settings, resolve
from pieria.settings.source import INERT, PLAIN, PREFIXED, PREFIXES

GIVEN = {"data": "there", "decay_model": "exponential", "vault": "notes", "vault_folder": "notes"}
VARIABLES = {**{prefix + name: setting for name, setting in PREFIXED.items() for prefix in PREFIXES}, **PLAIN}


def value_for(setting: str) -> str:
    default = Settings.model_fields[setting].default
    if isinstance(default, bool):
        return str(not default)
    return GIVEN.get(setting) or str(default + 1 if isinstance(default, int) else default * 1.05)


def test_a_variable_of_an_original_sets_what_it_set_there(tmp_path: Path, home: Path) -> None:
    defaults = resolve({}, environ={}, cwd=tmp_path).settings
    for variable, setting in VARIABLES.items():
        found = resolve({}, environ={variable: value_for(setting)}, cwd=tmp_path)
        assert getattr(found.settings, setting) != getattr(defaults, setting)
        assert found.origins[setting] == f"environment {variable}"
        assert found.remarks == ()
    assert resolve({}, environ={"MNEMEX_STORAGE_PATH": "~/memory"}).settings.data == home / "memory"
    both = {"MNEMEX_STORAGE_PATH": str(tmp_path / "theirs"), "PIERIA_DATA": str(tmp_path / "ours")}
    assert resolve({}, environ=both).settings.data == tmp_path / "ours"


def test_variables_have_an_order_and_a_difference_is_reported(tmp_path: Path) -> None:
    trusted_project(tmp_path, "forget_threshold = 0.3\n")

    def found(**environ: str) -> tuple[float, str]:
        resolved = resolve({}, environ=environ, cwd=tmp_path)
        return resolved.settings.forget_threshold, resolved.origins["forget_threshold"]

    both = {"MNEMEX_FORGET_THRESHOLD": "0.2", "PIERIA_FORGET_THRESHOLD": "0.1"}
    assert found(**both) == (0.1, "environment PIERIA_FORGET_THRESHOLD")
    assert found(MNEMEX_FORGET_THRESHOLD="0.2") == (0.2, "environment MNEMEX_FORGET_THRESHOLD")
    assert found(MNEMEX_FORGET_THRESHOLD="") == (0.3, "project .pieria.toml")
    theirs = {"MNEMEX_DECAY_BETA": "0.7", "CORTEXGRAPH_DECAY_BETA": "0.8"}
    newer = resolve({}, environ=theirs)
    assert (newer.settings.decay_beta, newer.origins["decay_beta"]) == (0.8, "environment CORTEXGRAPH_DECAY_BETA")
    [remark] = newer.remarks
    assert "CORTEXGRAPH_DECAY_BETA is used" in remark.what
    assert resolve({}, environ=dict.fromkeys(theirs, "0.7")).remarks == ()


def test_a_wrong_value_is_refused_under_its_variable() -> None:
    wrong = {"DECAY_MODEL": "linear", "PL_HALFLIFE_DAYS": "three", "AUTO_REINFORCE": "perhaps"}
    wrong |= {"REVIEW_DANGER_ZONE_MIN": "0.5", "STORAGE_PATH": "~nobody-has-this-name/x"}
    for variable, value in ((prefix + name, value) for prefix in PREFIXES for name, value in wrong.items()):
        with pytest.raises(ConfigError, match=f"{variable}: expected .*, got"):
            resolve({}, environ={variable: value})


def test_a_variable_without_effect_is_reported() -> None:
    for name in (*INERT, "COLOUR"):
        found = resolve({}, environ={f"MNEMEX_{name}": "1"})
        assert set(found.origins.values()) == {"default"}
        [remark] = found.remarks
        assert remark.what.startswith(f"MNEMEX_{name} has no effect: ")
        assert resolve({}, environ={f"MNEMEX_{name}": ""}).remarks == ()
    [remark] = resolve({}, environ={"CORTEXGRAPH_PROMOTE_TRESHOLD": "0.5"}).remarks
    assert remark.remedy == "Set CORTEXGRAPH_PROMOTE_THRESHOLD, if that was meant."
    assert not PREFIXED.keys() & INERT.keys()
    assert {*PREFIXED.values(), *PLAIN.values()} <= Settings.model_fields.keys()


def test_an_original_s_file_is_not_read_but_reported(home: Path) -> None:
    file = home / ".config" / "cortexgraph" / ".env"
    file.parent.mkdir(parents=True)
    file.write_text("# mine\nexport MNEMEX_DECAY_BETA=0.7\nLTM_VAULT_PATH = ~/notes\nOTHER=1\n")
    [remark] = resolve({}, environ={}).remarks
    assert remark.what == f"{file} is not read, but sets MNEMEX_DECAY_BETA, LTM_VAULT_PATH"
    assert f". {file};" in remark.remedy
    assert resolve({}, environ={"MNEMEX_DECAY_BETA": "0.7", "LTM_VAULT_PATH": "notes"}).remarks == ()
