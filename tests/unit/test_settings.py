"""The source of each setting's value, and the errors for impossible values."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import SecretStr
from tests.trust import trust_folder, trusted_project
from tests.unit.samples import samples

from pieria.errors import ConfigError, InputError, PieriaError, UnavailableError
from pieria.record.address import Address
from pieria.settings import Resolved, Settings, resolve
from pieria.settings.files import PERSONAL

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = samples("settings")
VALUES: dict[str, tuple[Any, Any]] = SAMPLES["valid"]
"""For each setting, two values that differ from each other and from the default."""


def toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def value_of(name: str, found: Settings, base: Path) -> Any:
    value = getattr(found, name)
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return value.relative_to(base).as_posix() if isinstance(value, Path) else value


def error_of(arguments: dict[str, Any], environ: dict[str, str] | None = None, cwd: Path | None = None) -> PieriaError:
    with pytest.raises(PieriaError) as caught:
        resolve(arguments, environ=environ or {}, cwd=cwd)
    return caught.value


def test_defaults_hold_and_are_shown_with_their_origins(home: Path, tmp_path: Path) -> None:
    found = resolve({}, environ={})
    assert found.settings.data == home / ".pieria"
    assert found.settings.bank == "default"
    assert set(found.origins.values()) == {"default"}
    assert found.project is None
    assert resolve({}, environ={"PIERIA_BANK": ""}).settings.bank == "default"
    shown = resolve({"author": "Maya"}, environ={}, cwd=tmp_path).shown()
    assert list(shown) == list(Settings.model_fields)
    assert set(VALUES) == set(shown)
    assert shown["author"] == ("Maya", "argument")
    assert shown["busy_seconds"] == (20.0, "default")
    assert isinstance(shown["data"][0], str)


def test_sources_have_an_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument comes first, then the environment, the project, its repository, and the data folder."""
    data, project = tmp_path / "data", tmp_path / "project"
    data.mkdir()
    project.mkdir()

    def found(name: str, given: dict[str, Any], environ: dict[str, str] | None = None) -> tuple[Any, str]:
        resolved = resolve(given, environ=environ or {}, cwd=project)
        base = data if resolved.origins[name].startswith("data folder") else project
        return value_of(name, resolved.settings, base), resolved.origins[name]

    for name, (first, second) in VALUES.items():
        variable = f"PIERIA_{name.upper()}"
        if name != "data":
            (data / "pieria.toml").write_text(f"{name} = {toml(second)}\n")
            assert found(name, {"data": data}) == (second, "data folder pieria.toml")
        if name not in PERSONAL:
            trusted_project(project, f"{name} = {toml(first)}\n")
            assert found(name, {}) == (first, "project .pieria.toml")
            assert name == "data" or found(name, {"data": data})[0] == first
        assert found(name, {name: None}, {variable: str(second)}) == (second, f"environment {variable}")
        assert found(name, {name: first}, {variable: str(second)}) == (first, "argument")
        (project / ".pieria.toml").unlink(missing_ok=True)
    (project / ".git").mkdir()
    (data / "pieria.toml").write_text('bank = "usual"\n')
    assert found("bank", {"data": data})[1] == "git repository"
    monkeypatch.setenv("PIERIA_DATA", "there")
    monkeypatch.setenv("PIERIA_BANK", "mine")
    assert (resolve({}).settings.data, resolve({}).settings.bank) == (Path.cwd() / "there", "mine")


def test_a_project_sets_no_personal_settings_and_no_server(tmp_path: Path) -> None:
    """Not even by a data folder that it brings along."""
    plain, bringing = tmp_path / "plain", tmp_path / "bringing"
    plain.mkdir()
    (bringing / "memory").mkdir(parents=True)
    (bringing / ".pieria.toml").write_text('data = "memory"\n')
    for name in PERSONAL:
        value, _ = VALUES[name]
        trusted_project(plain, f"{name} = {toml(value)}\n")
        error = error_of({}, cwd=plain)
        assert f"{name} cannot be set by a project" in str(error)
        assert error.hint == f"Set PIERIA_{name.upper()} instead."
        assert str(value) not in json.dumps(error.as_dict())
        (bringing / "memory" / "pieria.toml").write_text(f"{name} = {toml(value)}\n")
        trust_folder(bringing, "memory/pieria.toml")
        assert f"{name} cannot be set by a project" in str(error_of({}, cwd=bringing))
        found = resolve({"data": bringing / "memory"}, environ={}, cwd=bringing)
        assert found.origins[name] == "data folder pieria.toml"
    trusted_project(tmp_path, 'data = "postgresql://maya:hunter2@db/notes"\n')
    with pytest.raises(ConfigError, match="server cannot be set by a project") as caught:
        resolve({}, environ={}, cwd=tmp_path)
    assert "hunter2" not in str(caught.value.as_dict())


def test_further_arguments_override_what_was_resolved(tmp_path: Path) -> None:
    found = resolve({"author": "Maya"}, environ={"PIERIA_SESSION": "s1"}, cwd=tmp_path)
    further = found.having(session="s2", author=None)
    assert (further.settings.session, further.settings.author) == ("s2", "Maya")
    assert (further.origins["session"], found.origins["session"]) == ("argument", "environment PIERIA_SESSION")
    with pytest.raises(InputError, match="author_type"):
        found.having(author_type="robot")
    with pytest.raises(ValueError, match="frozen"):
        found.settings.bank = "other"


def test_keys_and_passwords_are_not_shown() -> None:
    for what in ("embedder", "llm"):
        key, url = f"{what}_key", f"{what}_url"
        found = resolve({key: "hunter2", url: "http://maya:hunter2@localhost/v1"}, environ={})
        assert "hunter2" not in json.dumps(found.shown())
        assert found.shown()[url] == ("http://localhost/v1", "argument")
        assert "hunter2" not in repr(getattr(found.having(bank="other").settings, key))
        assert "7041776" not in json.dumps(error_of({key: 7_041_776}).as_dict())


KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "openrouter": "OPENROUTER_API_KEY"}
FOUND = dict.fromkeys(KEYS.values(), "found")


def key_of(found: Resolved) -> tuple[str | None, str]:
    key = found.settings.llm_key
    return None if key is None else key.get_secret_value(), found.origins["llm_key"]


def test_a_provider_s_key_goes_to_that_provider_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for provider, variable in KEYS.items():
        for named in ({"llm": f" {provider.title()} : m"}, {}):
            environ = {variable: f"{provider}'s"} | ({} if named else {"PIERIA_LLM": f"{provider}:m"})
            found = resolve(named, environ=environ, cwd=tmp_path)
            assert key_of(found) == (f"{provider}'s", f"environment {variable}")
            assert f"{provider}'s" not in json.dumps(found.shown())
        (tmp_path / "data" / "pieria.toml").write_text(f'llm = "{provider}:m"')
        assert key_of(resolve({"data": tmp_path / "data"}, environ=FOUND, cwd=tmp_path))[0] == "found"
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
    assert key_of(own) == key_of(own.having(llm="anthropic:m")) == ("ours", "environment PIERIA_LLM_KEY")
    assert "openai's" not in repr(first)
    without = resolve({"llm": "openai:m"}, environ={"OPENAI_API_KEY": ""}, cwd=tmp_path)
    assert key_of(without) == (None, "default")


def test_no_one_else_is_given_a_provider_s_key(tmp_path: Path) -> None:
    """A project chooses a model, but not that it is asked at the user's cost."""
    plain, choosing, bringing = (tmp_path / name for name in ("plain", "choosing", "bringing"))
    for folder in (plain, choosing, bringing / "memory"):
        folder.mkdir(parents=True)
    trusted_project(choosing, 'llm = "openai:m"\n')
    (bringing / ".pieria.toml").write_text('data = "memory"\n')
    (bringing / "memory" / "pieria.toml").write_text('llm = "openai:m"\n')
    trust_folder(bringing, "memory/pieria.toml")
    elsewhere = {"llm": "openai:m", "llm_url": "http://elsewhere"}
    for arguments in ({}, {"llm": "none"}, {"llm": "ollama:m"}, {"llm": "server:m"}, elsewhere):
        for folder in (plain, choosing, bringing):
            assert key_of(resolve(arguments, environ=FOUND, cwd=folder)) == (None, "default")


def test_data_is_a_folder_relative_to_where_it_is_set(tmp_path: Path, home: Path) -> None:
    inner = tmp_path / "app" / "src"
    inner.mkdir(parents=True)
    trusted_project(tmp_path / "app", 'data = "memory"\n')
    assert resolve({}, environ={}, cwd=inner).settings.data == tmp_path / "app" / "memory"
    assert resolve({"data": "memory"}, environ={}, cwd=inner).settings.data == inner / "memory"
    assert resolve({}, environ={"PIERIA_DATA": "memory"}, cwd=inner).settings.data == inner / "memory"
    assert resolve({"data": Path("../memory")}, environ={}, cwd=inner).settings.data == (tmp_path / "app" / "memory")
    assert resolve({"data": "~/memory"}, environ={}, cwd=inner).settings.data == home / "memory"
    for value in ("", "  ", "a\0b", 7, b"data", ["data"]):
        assert str(error_of({"data": value})).startswith("data: expected a folder")
    (tmp_path / "taken").write_text("")
    assert "data: expected a folder, not a file" in str(error_of({"data": tmp_path / "taken"}))
    assert "PIERIA_DATA: expected a folder" in str(error_of({}, {"PIERIA_DATA": "~nobody-has-this-name/x"}))
    (tmp_path / "pieria.toml").write_text('data = "elsewhere"\n')
    assert "pieria.toml: data cannot be set" in str(error_of({"data": tmp_path}))


def test_a_missing_home_or_working_folder_is_named(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "work").rmdir()
    with pytest.raises(ConfigError, match="working folder"):
        resolve({})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError))
    with pytest.raises(ConfigError, match="home folder is unknown") as caught:
        resolve({"data": "postgresql://db/notes"}, environ={})
    assert "PIERIA_LOCAL" in str(caught.value.hint)
    assert resolve({"data": "postgresql://db/notes", "local": tmp_path}, environ={}).settings.folder == tmp_path


def test_a_server_has_a_local_folder_and_its_password_is_hidden(home: Path) -> None:
    for address in ("postgresql://maya:hunter2@db/notes", "postgres://db:5433/notes?password=hunter2"):
        found = resolve({"data": address}, environ={})
        assert isinstance(found.settings.data, Address)
        assert found.settings.data.url == address
        assert found.settings.folder.parent == home / ".pieria" / "servers"
        assert found.settings.local == found.settings.folder
        shown = (json.dumps(found.shown()), repr(found), str(found.settings), found.settings.model_dump_json())
        assert not any("hunter2" in each for each in shown)
        assert resolve({}, environ={"PIERIA_DATA": address}).settings.data == found.settings.data
        assert found.having(bank="other").settings.data == found.settings.data
    postgres = Path("postgresql://maya:hunter2@db/notes")
    for data in (postgres, "mysql://hunter2", "postgres:/hunter2", "dbname=x password=hunter2"):
        with pytest.raises(UnavailableError) as caught:
            resolve({"data": data})
        assert caught.value.parameter == "data"
        assert "hunter2" not in str(caught.value.as_dict())


def test_the_folder_of_a_server_goes_by_its_database(tmp_path: Path) -> None:
    def folder(address: str) -> Path:
        return resolve({"data": address}, environ={}).settings.folder

    assert folder("postgresql://maya:old@db/notes") == folder("postgres://jun:new@db/notes")
    assert folder("postgresql://db/notes") != folder("postgresql://db/other")
    chosen = resolve({"data": "postgresql://db/notes"}, environ={"PIERIA_LOCAL": "here"}, cwd=tmp_path)
    assert chosen.settings.folder == tmp_path / "here"
    (tmp_path / "pieria.toml").write_text('bank = "usual"\n')
    given = {"data": "postgresql://db/notes", "local": tmp_path}
    found = resolve(given, environ={})
    assert (found.settings.bank, found.origins["bank"]) == ("usual", "data folder pieria.toml")
    (tmp_path / "pieria.toml").write_text('local = "elsewhere"\n')
    assert "pieria.toml: local cannot be set" in str(error_of(given))


WRONG: dict[str, list[Any]] = SAMPLES["wrong"]
UNWRITTEN = {"bank": ["x\0"], "session": ["a\0", "x" * 501], "user": ["\ud800", "x" * 161], "nlp": ["/a\0b"]}
"""Further wrong values, which a file cannot hold."""


def test_a_wrong_argument_variable_or_file_is_named(tmp_path: Path) -> None:
    for name, values in WRONG.items():
        for value in (*values, *UNWRITTEN.get(name, ())):
            with pytest.raises(InputError) as caught:
                resolve({name: value})
            assert caught.value.parameter == name
            assert caught.value.expected
    for name in WRONG:
        variable = f"PIERIA_{name.upper()}"
        wrong = "\n" if name in ("user", "session", "channel", "author") else "?"
        with pytest.raises(ConfigError, match=f"{variable}: expected .*, got"):
            resolve({}, environ={variable: wrong})
        if name in WRONG.keys() - PERSONAL:
            trusted_project(tmp_path, f"{name} = [1]\n")
            error = str(error_of({}, cwd=tmp_path))
            assert f"{tmp_path / '.pieria.toml'}: {name}: expected" in error
            assert "got a list of 1 item" in error
    assert "hunter2" not in str(error_of({}, {"PIERIA_DURABILITY": "hunter2"}).__cause__)
    for content in (b'bank = "x', b"bank\n", b"\xff\xfe", b"bank = 1\nbank = 2\n"):
        (tmp_path / ".pieria.toml").write_bytes(content)
        trust_folder(tmp_path)
        assert ".pieria.toml: not valid TOML" in str(error_of({}, cwd=tmp_path))


def test_all_that_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    trusted_project(tmp_path, 'bnak = "x"\nsecrets = "hide"\nbusy = 3\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pieria.toml").write_text('data = "x"\ncolour = 1\n')
    trust_folder(tmp_path, "data/pieria.toml")
    error = error_of({"seccion": "x"}, {"PIERIA_AUTOR": "x", "PIERIA_DATA": "data"}, tmp_path)
    lines = [str(each.message) for each in (error, *error.errors)]
    wrong = ("seccion", "PIERIA_AUTOR", "'bnak'", "'busy'", "'colour'", "data cannot be set", "secrets: expected")
    assert [part for line, part in zip(lines, wrong, strict=True) if part in line] == list(wrong)
    error = error_of({"secrets": "hide"}, {"PIERIA_BANK": "a/b", "PIERIA_BUSY_SECONDS": "0"})
    lines = [str(error), *map(str, error.errors)]
    assert len(lines) == 3
    assert all(part in " ".join(lines) for part in ("PIERIA_BANK", "PIERIA_BUSY_SECONDS", "secrets"))


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    assert error_of({"secret": "refuse"}).hint == "Did you mean secrets?"
    error = error_of({}, {"PIERIA_SECRET": "refuse"})
    assert "PIERIA_SECRET is no setting" in str(error)
    assert error.hint == "Did you mean PIERIA_SECRETS?"
    others = {"PIERIA_GREENHOUSE": "warm", "PIERIAN": "x"}
    assert resolve({}, environ=others).settings.bank == "default"
    for place in (".pieria.toml", "data/pieria.toml"):
        file = tmp_path / place
        file.parent.mkdir(exist_ok=True)
        for text, unknown, hint in (
            ('author-type = "human"\n', "author-type", "Did you mean author_type?"),
            ("[quite]\nother = 1\n", "quite", "bank, session"),
        ):
            file.write_text(text)
            trust_folder(tmp_path, place)
            error = error_of({}, {"PIERIA_DATA": "data"}, tmp_path)
            assert f"{file}: unknown setting '{unknown}'" in str(error)
            assert hint in str(error.hint)
        file.unlink()


def test_the_page_on_settings_names_every_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text().partition("\n## Configuration\n")[0]
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for name, field in Settings.model_fields.items():
        [row] = [row for row in rows if row.startswith(f"| `{name}` | `PIERIA_{name.upper()}` |")]
        written = str(field.default).lower() if isinstance(field.default, bool) else field.default
        default = "none" if field.default is None else f"`{written}`"
        assert row.split("|")[3].strip() == default, name
    assert len(rows) == len(Settings.model_fields)
    examples = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    assert len(examples) >= 2
    for example in examples:
        trusted_project(tmp_path, example)
        assert "project .pieria.toml" in resolve({}, environ={}, cwd=tmp_path).origins.values()
