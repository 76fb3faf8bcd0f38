"""The source of each setting's value, and the errors for impossible values."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.trust import trust_folder, trusted_project

from pieria.errors import ConfigError, InputError, PieriaError, UnavailableError
from pieria.record.address import Address
from pieria.settings import Resolved, Settings, resolve
from pieria.settings.files import PERSONAL

ROOT = Path(__file__).resolve().parents[2]
# For each setting, two values that differ from each other and from the default.
VALUES: dict[str, tuple[Any, Any]] = {
    "data": ("one", "two"),
    "bank": ("one", "two"),
    "session": ("s1", "s2"),
    "channel": ("c1", "c2"),
    "author": ("Maya", "Jun"),
    "author_type": ("human", "agent"),
    "user": ("maya", "jun"),
    "durability": ("relaxed", "off"),
    "busy_seconds": (5.0, 60.0),
    "connections": (2, 30),
    "row_security": (True, False),
    "seal_key": ("env:ONE", "keyring:two"),
    "secrets": ("redact", "refuse"),
    "text_budget": (100, 900),
    "time_zone": ("Asia/Kathmandu", "UTC"),
    "request_seconds": (1_234.5, 60.0),
    "request_memory": (4_321, 8_765),
    "upkeep_fades": ("note", "note,drawer"),
    "count_uses": (False, True),
    "session_lease": (1.0, 90.0),
    "accept_above": (0.5, 1.0),
    "capture": (True, False),
    "embedder": ("hashing", "none"),
    "embedder_threads": (1, 2),
    "embedder_url": ("http://one", "http://two"),
    "embedder_key": ("first", "second"),
    "reranker": ("cohere:one", "tei"),
    "reranker_url": ("http://one", "http://two"),
    "reranker_key": ("first", "second"),
    "reranker_seconds": (0.5, 90.0),
    "llm": ("ollama:one", "anthropic:two"),
    "nlp": ("auto", "en_core_web_sm"),
    "llm_url": ("http://one", "http://two"),
    "llm_key": ("first", "second"),
    "llm_seconds": (1.0, 90.0),
    "llm_steps": ("get_plan=one", "retrieval=two, summarize=three"),
    "budget_tokens_per_day": (7_041_776, 900),
    "budget_calls_per_day": (7_041_776, 0),
    "paths": ("/srv/one", "/srv/one:/srv/two"),
    "token": ("first", "second"),
    "models": ("one", "two"),
    "local": ("one", "two"),
    "vault": ("one", "two"),
    "vault_folder": ("notes", "notes/agents"),
    "decay_model": ("exponential", "two_component"),
    "decay_halflife_days": (1.0, 7.0),
    "decay_alpha": (0.9, 2.0),
    "decay_lambda": (1e-6, 1e-5),
    "decay_lambda_fast": (1e-6, 1e-4),
    "decay_lambda_slow": (1e-7, 1e-5),
    "decay_weight_fast": (0.1, 0.9),
    "decay_beta": (0.0, 1.0),
    "decay_halflives": ("decision=7", "decision=7, preference=14.5"),
    "decay_spacing": (0.5, 1.0),
    "forget_threshold": (0.01, 0.2),
    "promote_threshold": (0.5, 2.0),
    "promote_uses": (3, 9),
    "promote_days": (7.0, 30.0),
    "review_from": (0.1, 0.2),
    "review_to": (0.3, 0.5),
    "review_share": (0.0, 0.5),
    "reinforce": (False, True),
    "crossing_boost": (0.05, 0.5),
    "cluster_threshold": (0.5, 0.9),
    "cluster_most": (5, 50),
    "duplicate_threshold": (0.5, 0.99),
    "preview_chars": (0, 80),
    "enrich": (False, True),
    "search_by_meaning": (True, False),
    "short_term_weight": (0.5, 2.0),
    "long_term_weight": (0.5, 2.0),
}


def toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def value_of(name: str, found: Settings, base: Path) -> Any:
    value = getattr(found, name)
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return value.relative_to(base).as_posix() if isinstance(value, Path) else value


def test_every_setting_is_tested_here() -> None:
    assert set(VALUES) == set(Settings.model_fields)


# --- sources


def test_without_any_source_the_defaults_hold(home: Path) -> None:
    found = resolve({}, environ={})
    assert found.settings.data == home / ".pieria"
    assert found.settings.bank == "default"
    assert set(found.origins.values()) == {"default"}
    assert found.project is None


@pytest.mark.parametrize("name", VALUES)
def test_an_argument_counts_before_the_environment(name: str, tmp_path: Path) -> None:
    first, second = VALUES[name]
    variable = f"PIERIA_{name.upper()}"
    found = resolve({name: first}, environ={variable: str(second)}, cwd=tmp_path)
    assert value_of(name, found.settings, tmp_path) == first
    assert found.origins[name] == "argument"
    found = resolve({name: None}, environ={variable: str(second)}, cwd=tmp_path)
    assert value_of(name, found.settings, tmp_path) == second
    assert found.origins[name] == f"environment {variable}"


@pytest.mark.parametrize("name", [name for name in VALUES if name not in PERSONAL])
def test_the_environment_counts_before_the_project(name: str, tmp_path: Path) -> None:
    first, second = VALUES[name]
    trusted_project(tmp_path, f"{name} = {toml(second)}\n")
    found = resolve({}, environ={f"PIERIA_{name.upper()}": str(first)}, cwd=tmp_path)
    assert value_of(name, found.settings, tmp_path) == first
    found = resolve({}, environ={}, cwd=tmp_path)
    assert value_of(name, found.settings, tmp_path) == second
    assert found.origins[name] == "project .pieria.toml"


@pytest.mark.parametrize("name", [name for name in VALUES if name != "data"])
def test_the_project_counts_before_the_data_folder(name: str, tmp_path: Path) -> None:
    first, second = VALUES[name]
    data = tmp_path / "data"
    data.mkdir()
    (data / "pieria.toml").write_text(f"{name} = {toml(second)}\n")
    found = resolve({"data": data}, environ={}, cwd=tmp_path)
    assert value_of(name, found.settings, data) == second
    assert found.origins[name] == "data folder pieria.toml"
    if name not in PERSONAL:
        trusted_project(tmp_path, f"{name} = {toml(first)}\n")
        assert value_of(name, resolve({"data": data}, environ={}, cwd=tmp_path).settings, tmp_path) == first


@pytest.mark.parametrize("name", PERSONAL)
def test_a_project_does_not_say_where_memories_or_money_go(name: str, tmp_path: Path) -> None:
    value, _ = VALUES[name]
    trusted_project(tmp_path, f"{name} = {toml(value)}\n")
    with pytest.raises(ConfigError, match=f"{name} cannot be set by a project") as caught:
        resolve({}, environ={}, cwd=tmp_path)
    assert str(caught.value.hint) == f"Set PIERIA_{name.upper()} instead."
    assert str(value) not in json.dumps(caught.value.as_dict())


@pytest.mark.parametrize("name", PERSONAL)
def test_nor_does_a_data_folder_that_a_project_brings_along(name: str, tmp_path: Path) -> None:
    trusted_project(tmp_path, 'data = "memory"\n')
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "pieria.toml").write_text(f"{name} = {toml(VALUES[name][0])}\n")
    trust_folder(tmp_path, "memory/pieria.toml")
    with pytest.raises(ConfigError, match=f"{name} cannot be set by a project"):
        resolve({}, environ={}, cwd=tmp_path)
    found = resolve({"data": tmp_path / "memory"}, environ={}, cwd=tmp_path)
    assert found.origins[name] == "data folder pieria.toml"


@pytest.mark.parametrize("what", ["embedder", "llm"])
def test_keys_and_passwords_are_not_shown(what: str) -> None:
    key, url = f"{what}_key", f"{what}_url"
    found = resolve({key: "hunter2", url: "http://maya:hunter2@localhost/v1"}, environ={})
    assert "hunter2" not in json.dumps(found.shown())
    assert found.shown()[url] == ("http://localhost/v1", "argument")
    assert "hunter2" not in repr(getattr(found.having(bank="other").settings, key))
    with pytest.raises(PieriaError) as caught:
        resolve({key: 7_041_776}, environ={})
    assert "7041776" not in json.dumps(caught.value.as_dict())


@pytest.mark.parametrize("name", ["opnai:x", "openai", "ollama:", "none:x", "", 7])
def test_a_language_model_that_nobody_serves_is_refused(name: Any) -> None:
    with pytest.raises(InputError) as caught:
        resolve({"llm": name}, environ={})
    assert caught.value.parameter == "llm"


KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "openrouter": "OPENROUTER_API_KEY"}
FOUND = dict.fromkeys(KEYS.values(), "found")


def key_of(found: Resolved) -> tuple[str | None, str]:
    key = found.settings.llm_key
    return None if key is None else key.get_secret_value(), found.origins["llm_key"]


@pytest.mark.parametrize("provider", KEYS)
def test_a_provider_s_own_variable_has_the_key_once_he_is_named(provider: str, tmp_path: Path) -> None:
    for named in ({"llm": f" {provider.title()} : m"}, {}):
        environ = {KEYS[provider]: f"{provider}'s"} | ({} if named else {"PIERIA_LLM": f"{provider}:m"})
        found = resolve(named, environ=environ, cwd=tmp_path)
        assert key_of(found) == (f"{provider}'s", f"environment {KEYS[provider]}")
        assert f"{provider}'s" not in json.dumps(found.shown())
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pieria.toml").write_text(f'llm = "{provider}:m"')
    assert key_of(resolve({"data": tmp_path / "data"}, environ=FOUND, cwd=tmp_path))[0] == "found"


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"llm": "none"}, {"llm": "ollama:m"}, {"llm": "server:m"},
        {"llm": "openai:m", "llm_url": "http://elsewhere"},
    ],
)  # fmt: skip
def test_nobody_else_is_given_that_key(arguments: dict[str, Any], tmp_path: Path) -> None:
    assert key_of(resolve(arguments, environ=FOUND, cwd=tmp_path)) == (None, "default")
    trusted_project(tmp_path, 'llm = "openai:m"\n')
    named = key_of(resolve(arguments, environ=FOUND, cwd=tmp_path))
    assert named == (None, "default"), "a project chooses a model, and not that it is asked at the user's cost"
    trusted_project(tmp_path, 'data = "memory"\n')
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "pieria.toml").write_text('llm = "openai:m"\n')
    trust_folder(tmp_path, "memory/pieria.toml")
    assert key_of(resolve(arguments, environ=FOUND, cwd=tmp_path)) == (None, "default")


def test_a_key_that_is_set_counts_before_the_provider_s_own(tmp_path: Path) -> None:
    environ = {**FOUND, "PIERIA_LLM_KEY": "ours", "PIERIA_LLM": "openai:m"}
    assert key_of(resolve({}, environ=environ, cwd=tmp_path)) == ("ours", "environment PIERIA_LLM_KEY")
    without = resolve({"llm": "openai:m"}, environ={"OPENAI_API_KEY": ""}, cwd=tmp_path)
    assert key_of(without) == (None, "default")


def test_the_key_of_one_provider_goes_to_no_other_that_is_named_later(tmp_path: Path) -> None:
    environ = {"PIERIA_LLM": "openai:m", "OPENAI_API_KEY": "openai's", "ANTHROPIC_API_KEY": "anthropic's"}
    first = resolve({}, environ=environ, cwd=tmp_path)
    assert key_of(first) == ("openai's", "environment OPENAI_API_KEY")
    assert key_of(first.having(llm="anthropic:m")) == ("anthropic's", "environment ANTHROPIC_API_KEY")
    assert key_of(first.having(llm="ollama:m")) == key_of(first.having(llm="openrouter:m")) == (None, "default")
    assert key_of(first.having(llm="ollama:m").having(llm="openai:m"))[0] == "openai's"
    assert key_of(first.having(session="s")) == key_of(first)
    elsewhere = resolve({"llm_url": "http://elsewhere"}, environ=environ, cwd=tmp_path)
    assert key_of(elsewhere.having(llm="anthropic:m")) == (None, "default")
    own = resolve({}, environ={**environ, "PIERIA_LLM_KEY": "ours"}, cwd=tmp_path)
    assert key_of(own.having(llm="anthropic:m")) == ("ours", "environment PIERIA_LLM_KEY")
    assert "openai's" not in repr(first)


@pytest.mark.parametrize("name", ["locl", "locl:x", "auto:x", "", 7])
def test_an_embedder_that_nobody_makes_is_refused(name: Any) -> None:
    with pytest.raises(InputError) as caught:
        resolve({"embedder": name}, environ={})
    assert caught.value.parameter == "embedder"


def test_a_repository_counts_before_the_data_folder_for_the_bank(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    data = tmp_path / "data"
    data.mkdir()
    (data / "pieria.toml").write_text('bank = "usual"\n')
    assert resolve({"data": data}, environ={}, cwd=tmp_path).origins["bank"] == "git repository"


def test_the_callers_environment_and_folder_are_the_usual_ones(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_DATA", "there")
    monkeypatch.setenv("PIERIA_BANK", "mine")
    found = resolve({}).settings
    assert (found.data, found.bank) == (home / "work" / "there", "mine")


def test_an_empty_variable_is_not_set() -> None:
    assert resolve({}, environ={"PIERIA_BANK": ""}).settings.bank == "default"


def test_further_arguments_override_what_was_resolved(tmp_path: Path) -> None:
    found = resolve({"author": "Maya"}, environ={"PIERIA_SESSION": "s1"}, cwd=tmp_path)
    further = found.having(session="s2", author=None)
    assert (further.settings.session, further.settings.author) == ("s2", "Maya")
    assert (further.origins["session"], found.origins["session"]) == ("argument", "environment PIERIA_SESSION")
    with pytest.raises(InputError, match="author_type"):
        found.having(author_type="robot")


def test_settings_cannot_be_changed_under_an_open_bank() -> None:
    with pytest.raises(ValueError, match="frozen"):
        resolve({}).settings.bank = "other"


def test_what_is_shown_is_plain_and_tells_its_origin(tmp_path: Path) -> None:
    shown = resolve({"author": "Maya"}, environ={}, cwd=tmp_path).shown()
    assert list(shown) == list(Settings.model_fields)
    assert shown["author"] == ("Maya", "argument")
    assert shown["busy_seconds"] == (20.0, "default")
    assert isinstance(shown["data"][0], str)


# --- the data folder


def test_data_is_looked_for_from_where_it_is_written(tmp_path: Path, home: Path) -> None:
    inner = tmp_path / "app" / "src"
    inner.mkdir(parents=True)
    trusted_project(tmp_path / "app", 'data = "memory"\n')
    assert resolve({}, environ={}, cwd=inner).settings.data == tmp_path / "app" / "memory"
    assert resolve({"data": "memory"}, environ={}, cwd=inner).settings.data == inner / "memory"
    assert resolve({}, environ={"PIERIA_DATA": "memory"}, cwd=inner).settings.data == inner / "memory"
    assert resolve({"data": Path("../memory")}, environ={}, cwd=inner).settings.data == (tmp_path / "app" / "memory")
    assert resolve({"data": "~/memory"}, environ={}, cwd=inner).settings.data == home / "memory"


@pytest.mark.parametrize(
    "data",
    [Path("postgresql://maya:hunter2@db/notes"), "mysql://hunter2", "postgres:/hunter2", "dbname=x password=hunter2"],
)
def test_what_is_neither_a_folder_nor_a_server_is_refused_and_its_password_not_told(data: str | Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        resolve({"data": data})
    assert caught.value.parameter == "data"
    assert "hunter2" not in str(caught.value.as_dict())


@pytest.mark.parametrize("address", ["postgresql://maya:hunter2@db/notes", "postgres://db:5433/notes?password=hunter2"])
def test_a_server_has_a_folder_on_this_machine_and_its_password_is_never_told(address: str, home: Path) -> None:
    found = resolve({"data": address}, environ={})
    assert isinstance(found.settings.data, Address)
    assert found.settings.data.url == address
    assert found.settings.folder.parent == home / ".pieria" / "servers"
    assert found.settings.local == found.settings.folder
    told = (json.dumps(found.shown()), repr(found), str(found.settings), found.settings.model_dump_json())
    assert not any("hunter2" in each for each in told)
    assert resolve({}, environ={"PIERIA_DATA": address}).settings.data == found.settings.data
    assert found.having(bank="other").settings.data == found.settings.data


def test_the_folder_beside_a_server_is_the_database_s_whoever_comes_and_may_be_chosen(tmp_path: Path) -> None:
    def folder(address: str) -> Path:
        return resolve({"data": address}, environ={}).settings.folder

    assert folder("postgresql://maya:old@db/notes") == folder("postgres://jun:new@db/notes")
    assert folder("postgresql://db/notes") != folder("postgresql://db/other")
    chosen = resolve({"data": "postgresql://db/notes"}, environ={"PIERIA_LOCAL": "here"}, cwd=tmp_path)
    assert chosen.settings.folder == tmp_path / "here"


def test_beside_a_server_the_folder_s_file_counts_and_does_not_name_itself(tmp_path: Path) -> None:
    (tmp_path / "pieria.toml").write_text('bank = "usual"\n')
    given = {"data": "postgresql://db/notes", "local": tmp_path}
    found = resolve(given, environ={})
    assert (found.settings.bank, found.origins["bank"]) == ("usual", "data folder pieria.toml")
    (tmp_path / "pieria.toml").write_text('local = "elsewhere"\n')
    with pytest.raises(ConfigError, match=r"pieria\.toml: local cannot be set"):
        resolve(given, environ={})


def test_without_a_home_the_folder_beside_a_server_has_to_be_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ConfigError, match="home folder is unknown") as caught:
        resolve({"data": "postgresql://db/notes"}, environ={})
    assert "PIERIA_LOCAL" in str(caught.value.hint)
    assert resolve({"data": "postgresql://db/notes", "local": tmp_path}, environ={}).settings.folder == tmp_path


def test_a_project_names_no_server(tmp_path: Path) -> None:
    trusted_project(tmp_path, 'data = "postgresql://maya:hunter2@db/notes"\n')
    with pytest.raises(ConfigError, match="server cannot be set by a project") as caught:
        resolve({}, environ={}, cwd=tmp_path)
    assert "hunter2" not in str(caught.value.as_dict())


@pytest.mark.parametrize("value", ["", "  ", "a\0b", 7, b"data", ["data"]])
def test_data_that_is_no_folder_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="data: expected a folder"):
        resolve({"data": value})


def test_data_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="data: expected a folder, not a file"):
        resolve({"data": tmp_path / "taken"})


def test_the_home_of_nobody_is_refused() -> None:
    with pytest.raises(ConfigError, match="PIERIA_DATA: expected a folder"):
        resolve({}, environ={"PIERIA_DATA": "~nobody-has-this-name/x"})


def test_the_data_folder_does_not_name_itself(tmp_path: Path) -> None:
    (tmp_path / "pieria.toml").write_text('data = "elsewhere"\n')
    with pytest.raises(ConfigError, match=r"pieria\.toml: data cannot be set"):
        resolve({"data": tmp_path})


def test_a_working_folder_that_is_gone_is_named(home: Path) -> None:
    (home / "work").rmdir()
    with pytest.raises(ConfigError, match="working folder"):
        resolve({})


# --- invalid values

WRONG: dict[str, list[Any]] = {
    "bank": ["../x", "a/b", "x\0", "@you", 7],
    "user": ["", " ", "a\nb", "\ud800", "x" * 161, 7],
    "connections": [1, 1_001, "many"],
    "row_security": ["maybe", 7],
    "session": ["  ", "a\0", "x" * 501, 7],
    "channel": ["\n", 7],
    "author": ["\ud800", 7],
    "author_type": ["robot", "Human", 7],
    "durability": ["fast", True],
    "seal_key": ["ab" * 32, "file:", "file:key", "vault:x", "env:", ""],
    "busy_seconds": [4.9, -1, float("nan"), float("inf"), 3601, "soon"],
    "secrets": ["hide", 7],
    "text_budget": [99, 1.5, 10**12, "many"],
    "time_zone": ["Mars/Olympus", "", "../etc/passwd", 7],
    "request_seconds": [0.5, 3_601, float("nan"), float("inf"), "soon"],
    "request_memory": [0, 1.5, 10**7, "many"],
    "upkeep_fades": ["nothing", "note,nothing", 7],
    "count_uses": ["maybe", 7],
    "session_lease": [0.9, 86_401, float("nan"), float("inf"), "soon"],
    "capture": ["maybe", 7],
    "embedder": ["locl", "none:x", 7],
    "embedder_threads": [0, 1.5, "many"],
    "nlp": ["", " ", 7, "/a\0b", "some/where", "not a name"],
    "decay_model": ["linear", "", 7],
    "decay_halflife_days": [0, -1, float("nan"), float("inf"), "long"],
    "decay_lambda": [0, float("nan")],
    "decay_weight_fast": [1.1, -0.1],
    "decay_halflives": ["decision", "=7", "decision=soon", "decision=0", "decision=nan", "decision=-3", 7],
    "forget_threshold": [1.1, "low"],
    "promote_uses": [0, 1.5],
    "review_from": [0.35, 0.9, -0.1],
    "review_to": [0.15, 0.1, 1.5],
    "reinforce": ["maybe", 7],
    "cluster_most": [1, "many"],
    "preview_chars": [-1, 5_001],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_argument_is_named_with_what_was_expected(name: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        resolve({name: value})
    assert caught.value.parameter == name
    assert caught.value.expected


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variable_is_named(name: str) -> None:
    variable = f"PIERIA_{name.upper()}"
    wrong = "\n" if name in ("user", "session", "channel", "author") else "?"
    with pytest.raises(ConfigError, match=f"{variable}: expected .*, got"):
        resolve({}, environ={variable: wrong})


@pytest.mark.parametrize("name", [name for name in WRONG if name not in PERSONAL])
def test_a_wrong_value_in_a_file_is_named_with_the_file(name: str, tmp_path: Path) -> None:
    trusted_project(tmp_path, f"{name} = [1]\n")
    with pytest.raises(ConfigError) as caught:
        resolve({}, environ={}, cwd=tmp_path)
    assert f"{tmp_path / '.pieria.toml'}: {name}: expected" in str(caught.value)
    assert "got a list of 1 item" in str(caught.value)


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(PieriaError) as caught:
        resolve({"secrets": "hide"}, environ={"PIERIA_BANK": "a/b", "PIERIA_BUSY_SECONDS": "0"})
    told = [str(caught.value), *map(str, caught.value.errors)]
    assert [kind for kind in ("PIERIA_BANK", "PIERIA_BUSY_SECONDS", "secrets") if kind in " ".join(told)] == [
        "PIERIA_BANK",
        "PIERIA_BUSY_SECONDS",
        "secrets",
    ]
    assert len(told) == 3


def test_names_and_values_that_are_wrong_are_told_together_wherever_they_stand(tmp_path: Path) -> None:
    trusted_project(tmp_path, 'bnak = "x"\nsecrets = "hide"\nbusy = 3\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pieria.toml").write_text('data = "x"\ncolour = 1\n')
    trust_folder(tmp_path, "data/pieria.toml")
    with pytest.raises(PieriaError) as caught:
        resolve({"seccion": "x"}, environ={"PIERIA_AUTOR": "x", "PIERIA_DATA": "data"}, cwd=tmp_path)
    told = [str(error.message) for error in (caught.value, *caught.value.errors)]
    wrong = ("seccion", "PIERIA_AUTOR", "'bnak'", "'busy'", "'colour'", "data cannot be set", "secrets: expected")
    assert len(told) == len(wrong)
    for line, part in zip(told, wrong, strict=True):
        assert part in line


def test_an_argument_that_is_no_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        resolve({"secret": "refuse"})
    assert caught.value.hint == "Did you mean secrets?"


def test_a_variable_that_nearly_is_a_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="PIERIA_SECRET is no setting") as caught:
        resolve({}, environ={"PIERIA_SECRET": "refuse"})
    assert caught.value.hint == "Did you mean PIERIA_SECRETS?"


def test_a_variable_of_another_program_is_let_be() -> None:
    assert resolve({}, environ={"PIERIA_GREENHOUSE": "warm", "PIERIAN": "x"}).settings.bank == "default"


@pytest.mark.parametrize("place", [".pieria.toml", "data/pieria.toml"])
def test_a_key_that_is_no_setting_is_refused_with_the_nearest(place: str, tmp_path: Path) -> None:
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text('author-type = "human"\n')
    trust_folder(tmp_path, place)
    with pytest.raises(ConfigError) as caught:
        resolve({}, environ={"PIERIA_DATA": "data"}, cwd=tmp_path)
    assert f"{file}: unknown setting 'author-type'" in str(caught.value)
    assert caught.value.hint == "Did you mean author_type?"
    file.write_text("[quite]\nother = 1\n")
    trust_folder(tmp_path, place)
    with pytest.raises(ConfigError, match="unknown setting 'quite'") as caught:
        resolve({}, environ={"PIERIA_DATA": "data"}, cwd=tmp_path)
    assert "bank, session" in str(caught.value.hint)


@pytest.mark.parametrize("content", [b'bank = "x', b"bank\n", b"\xff\xfe", b"bank = 1\nbank = 2\n"])
def test_a_file_that_is_no_toml_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / ".pieria.toml").write_bytes(content)
    trust_folder(tmp_path)
    with pytest.raises(ConfigError, match=r"\.pieria\.toml: not valid TOML"):
        resolve({}, environ={}, cwd=tmp_path)


def test_wrong_values_are_not_repeated_by_the_cause() -> None:
    with pytest.raises(ConfigError) as caught:
        resolve({}, environ={"PIERIA_DURABILITY": "hunter2"})
    assert "hunter2" not in str(caught.value.__cause__)


# --- documentation


def test_the_page_on_settings_tells_every_one() -> None:
    page = (ROOT / "docs" / "settings.md").read_text().partition("\n## Configuration\n")[0]
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for name, field in Settings.model_fields.items():
        [row] = [row for row in rows if row.startswith(f"| `{name}` | `PIERIA_{name.upper()}` |")]
        written = str(field.default).lower() if isinstance(field.default, bool) else field.default
        default = "none" if field.default is None else f"`{written}`"
        assert row.split("|")[3].strip() == default, name
    assert len(rows) == len(Settings.model_fields)


def test_the_examples_of_the_page_are_valid(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text().partition("\n## Configuration\n")[0]
    blocks = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    assert len(blocks) >= 2
    for block in blocks:
        trusted_project(tmp_path, block)
        found = resolve({}, environ={}, cwd=tmp_path)
        assert "project .pieria.toml" in found.origins.values()
