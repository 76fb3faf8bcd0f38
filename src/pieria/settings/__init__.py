"""Every setting and the source of its value: the only code that reads the environment and settings files.

Nothing here opens a bank. Layers below the workspace must not import this; they get values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, SecretStr, ValidationError

from pieria.errors import ConfigError, InputError, Invalid
from pieria.models import (
    LLM_PROVIDERS,
    NONE,
    checked_llm,
    checked_name,
    checked_pipeline,
    checked_reranker,
    provider_of,
)
from pieria.project import Project, find_project
from pieria.record import check
from pieria.record.address import Address, checked_key_place
from pieria.record.banks import check_bank_name, check_user_name
from pieria.record.memory import FADES, GIVEN_KINDS
from pieria.settings.fades import Fades, number
from pieria.settings.files import FILE, from_data_folder, from_project, names_near, tightened
from pieria.settings.folders import (
    DATA,
    MODELS,
    data_of,
    folder_of,
    home_folder,
    local_folder,
    models_folder,
    working_folder,
)
from pieria.settings.source import ARGUMENT, PREFIX, PROJECT, Remark, Source, from_originals, remarks
from pieria.settings.trust import Trust
from pieria.vault.file_names import checked_folder

_CREDENTIALS = re.compile(r"://[^/\s]*@")
_ALIKE = 0.75


def _by(checker: Callable[[str, str], str], parameter: str) -> AfterValidator:
    """Adapt one of our checks to pydantic; `_problems` unwraps the error."""

    def checked(value: str) -> str:
        try:
            return checker(value, parameter)
        except InputError as problem:
            raise ValueError(problem) from problem

    return AfterValidator(checked)


def _fading(value: str, parameter: str) -> str:
    kinds = [kind.strip() for kind in value.split(",") if kind.strip()]
    for kind in kinds:
        check.one_of(kind, parameter, GIVEN_KINDS)
    return ",".join(kinds)


def _steps(value: str, parameter: str) -> str:
    # Import only if steps are set.
    from pieria.models.minds.llm.request import chosen

    return ", ".join(f"{step}={model}" for step, model in chosen(value, parameter).items())


def _zone(value: str, parameter: str) -> str:
    from pieria.record.zones import checked_zone, name_of

    return name_of(checked_zone(value, parameter))


def _paths(value: str, parameter: str) -> str:
    folders = [folder.strip() for folder in value.split(os.pathsep) if folder.strip()]
    for folder in folders:
        if "\0" in folder or not Path(folder).expanduser().is_absolute():
            raise InputError(parameter, "full paths of folders, separated by colons", folder)
    return os.pathsep.join(folders)


Name = Annotated[str, _by(check.name, "name")]


class Settings(Fades):
    """The settings, created only by `resolve`, which knows the sources. Frozen, since banks depend on them."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, arbitrary_types_allowed=True, defer_build=False
    )

    data: Annotated[Path | Address, PlainSerializer(str, when_used="json")] = Field(
        default=DATA, description="the folder that holds the banks, or the address of a server"
    )
    bank: Annotated[str, _by(check_bank_name, "bank")] = Field(default="default", description="the default bank")
    session: Name | None = Field(default=None, description="the present conversation or run")
    channel: Name | None = Field(default=None, description="sessions that name it share what they remember")
    author: Name | None = Field(default=None, description="the author of new memories")
    author_type: Literal["human", "agent", "system"] | None = Field(
        default=None, description="the type of the author; a claim that gives no trust"
    )
    user: Annotated[str, _by(check_user_name, "user")] | None = Field(
        default=None, description="the user whose own bank is used on a server"
    )
    durability: Literal["full", "relaxed", "off"] = Field(
        default="full", description="how far a write waits for the disk before it is acknowledged"
    )
    busy_seconds: float = number(20.0, 5, 3_600, "how long a write waits for another process")
    seal_key: Annotated[str, _by(checked_key_place, "seal_key")] | None = Field(
        default=None, description="the place of the key for sealed banks; new banks are sealed with it"
    )
    connections: int = Field(default=8, ge=2, le=1_000, description="the most connections of this process to a server")
    row_security: bool = Field(default=False, description="whether the server also separates the rows of banks")
    secrets: Literal["flag", "redact", "refuse"] = Field(
        default="flag", description="what to do with a text that contains a secret"
    )
    log_format: Literal["text", "json"] = Field(default="text", description="the form of a server's log")
    log_level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None, description="the least severity that a server logs"
    )
    telemetry: Literal["off", "otlp"] = Field(
        default="off", description="whether a server sends traces and metrics to a collector"
    )
    upkeep_fades: Annotated[str, _by(_fading, "upkeep_fades")] = Field(
        default=",".join(FADES), description="kinds of memories that upkeep may forget, separated by commas"
    )
    text_budget: int = Field(
        default=5_000, ge=100, le=1_000_000_000, description="rows that recall looks up in the text index"
    )
    time_zone: Annotated[str, _by(_zone, "time_zone")] | None = Field(
        default=None, description="the time zone of the days of facts, and of yesterday and last week in a question"
    )
    request_seconds: float = number(30.0, 1, 3_600, "the processor time limit of one request to a server")
    request_memory: int = Field(
        default=64,
        ge=1,
        le=1_000_000,
        description="MiB that the bodies of unfinished requests to a server may hold together",
    )
    sleep: Literal["off", "idle", "model"] = Field(
        default="idle", description="whether a bank sleeps automatically when it is idle, and may ask a model for that"
    )
    count_uses: bool = Field(default=True, description="whether hits of recall count as used")
    session_lease: float = number(60.0, 1, 86_400, "seconds until a session of a dead process may be taken over")
    accept_above: float = number(0.75, 0, 1, "the confidence above which lessons are accepted automatically")
    capture: bool = Field(default=True, description="whether hooks capture what agents do")
    offer_imports: bool = Field(default=True, description="whether an empty bank offers other systems' stores")
    embedder: Annotated[str, _by(checked_name, "embedder")] = Field(default="auto", description="the embedding model")
    embedder_threads: int | None = Field(
        default=None, ge=1, le=1_024, description="processor cores that the embedding model uses for one call"
    )
    embedder_url: str | None = Field(default=None, description="the address of the embedder's server")
    embedder_key: SecretStr | None = Field(default=None, description="the key to the embedder's server")
    reranker: Annotated[str, _by(checked_reranker, "reranker")] = Field(
        default=NONE, description="the model that reranks the hits of recall"
    )
    reranker_url: str | None = Field(default=None, description="the address of the reranker's server")
    reranker_key: SecretStr | None = Field(default=None, description="the key to the reranker's server")
    reranker_seconds: float = number(5.0, 0.1, 3_600, "the time limit of the reranker for one recall, with retries")
    llm: Annotated[str, _by(checked_llm, "llm")] = Field(default="none", description="the language model")
    llm_url: str | None = Field(default=None, description="the address of the language model's server")
    llm_key: SecretStr | None = Field(default=None, description="the key to the language model's server")
    llm_seconds: float = number(60.0, 1, 3_600, "the time limit of the language model for one answer, with retries")
    llm_steps: Annotated[str, _by(_steps, "llm_steps")] | None = Field(
        default=None, description="steps with another model of the same server, separated by commas"
    )
    nlp: Annotated[str, _by(checked_pipeline, "nlp")] = Field(
        default=NONE, description="the spaCy pipeline that finds names in texts"
    )
    budget_tokens_per_day: int | None = Field(
        default=None, ge=0, le=10**15, description="the daily token budget of a bank's models"
    )
    budget_calls_per_day: int | None = Field(
        default=None, ge=0, le=10**15, description="the daily call budget of a bank's models"
    )
    paths: Annotated[str, _by(_paths, "paths")] | None = Field(
        default=None, description="more folders where tools may read and write files, separated by colons"
    )
    token: SecretStr | None = Field(
        default=None, description="the administrator's token of a server, or the token to send to one"
    )
    plain_http: bool = Field(default=False, description="whether a token may be sent to another machine without TLS")
    models: Path = Field(default=MODELS, description="the folder of installed models")
    fetch_model: bool = Field(
        default=True, description="whether commands and servers fetch the local model if it is missing"
    )
    local: Path | None = Field(
        default=None, description="the folder for this machine's own data, if the banks are on a server"
    )

    vault: Path | None = Field(default=None, description="the folder of Markdown notes that memories are promoted to")
    vault_folder: Annotated[str, _by(checked_folder, "vault_folder")] = Field(
        default="Pieria", description="the folder in the vault for notes of memories"
    )

    @property
    def folder(self) -> Path:
        """The folder for this machine's own files: that of the banks, or a local one if a server holds the banks."""
        if isinstance(self.data, Path):
            return self.data
        assert self.local is not None
        return self.local


NAMES = tuple(Settings.model_fields)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, and the origin of each."""

    settings: Settings
    origins: Mapping[str, str]
    project: Project | None
    environ: Mapping[str, str] = field(repr=False, compare=False)
    """The caller's environment, which may hold another provider's key."""
    remarks: tuple[Remark, ...] = ()
    """Remarks on the environment, beyond its values."""
    ignored: tuple[Remark, ...] = ()
    """Those remarks about values that an untrusted folder may not set."""
    is_judged: bool = True
    """Whether a data folder inside a project must be trusted; not if the calling program named it."""

    @property
    def roots(self) -> list[Path]:
        """The further folders that the setting `paths` allows."""
        return [Path(folder).expanduser() for folder in (self.settings.paths or "").split(os.pathsep) if folder]

    @property
    def is_bank_named(self) -> bool:
        """Whether the bank's name was given, and so may be misspelled."""
        return self.origins["bank"] not in _UNNAMED

    def is_default(self, setting: str) -> bool:
        """Return whether the setting has its default value."""
        return self.origins[setting] == _DEFAULT

    def shown(self) -> dict[str, tuple[Any, str]]:
        """Return each setting's value, ready for JSON, and its origin. Secret values stay masked."""
        values = self.settings.model_dump(mode="json")
        for name in ("embedder_url", "reranker_url", "llm_url"):
            if values[name]:
                values[name] = _CREDENTIALS.sub("://", values[name])
        return {name: (values[name], origin) for name, origin in self.origins.items()}

    def having(self, **arguments: Any) -> Resolved:
        """Return the settings with these arguments on top; None means not given."""
        given = _from_arguments(arguments, Path())
        values = self.settings.model_dump() | dict(given.values)
        origins = {**self.origins, **dict.fromkeys(given.values, ARGUMENT)}
        if "llm" in given.values and self._has_no_key_of_its_own:
            # A key found for one provider must not go to another.
            addressed = {name: value for name, value in values.items() if name == "llm_url" and value is not None}
            found = _from_provider([replace(given, values={**given.values, **addressed})], self.environ, Path())
            values["llm_key"] = found.values.get("llm_key")
            origins["llm_key"] = found.origin
        settings = _settings(values, dict.fromkeys(given.values, given), given.unknown)
        return replace(self, settings=settings, origins=origins)

    @property
    def _has_no_key_of_its_own(self) -> bool:
        """Whether the language model's key, if any, is that of its provider."""
        variables = {provider.variable for provider in LLM_PROVIDERS.values()}
        return self.is_default("llm_key") or self.origins["llm_key"].removeprefix("environment ") in variables


_REPOSITORY = "git repository"
_DEFAULT = "default"
_UNNAMED = (_REPOSITORY, _DEFAULT)


def resolve(
    arguments: Mapping[str, Any],
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    by_door: bool = False,
    trust: Trust | None = None,
) -> Resolved:
    """Return the settings in force.

    Sources in order: arguments, environment (our variables, then the originals'), the project's file, the data
    folder's file, defaults.

    An argument that is None was not given. Raise `InputError` for a wrong argument and `ConfigError` for other
    problems; the error holds all further ones. Files of an untrusted folder can only tighten settings, and raise
    nothing. `by_door` says that the arguments do not come from a program that calls Pieria. `trust` replaces this
    user's records.
    """
    folder = working_folder(cwd)
    home = home_folder()
    trust = Trust.read() if trust is None else trust
    project = find_project(folder, home)
    variables = os.environ if environ is None else environ
    theirs = from_originals(variables, folder)
    above = [_from_arguments(arguments, folder), _from_environment(variables, folder), theirs]
    said = [] if project is None or project.file is None else [from_project(project.file, trust, NAMES)]
    trusted = [source for source in said if source.standing == "trusted"]
    data = data_of([*above, *trusted], folder)
    own = data if isinstance(data, Path) else local_folder([*above, *trusted], data)
    chosen = next((source.origin for source in (*above, *trusted) if "data" in source.values), _DEFAULT)
    is_judged = own is data and (by_door or chosen != ARGUMENT)
    below = []
    if project is not None and not any("bank" in source.values for source in (*above, *trusted)):
        named = project.bank_name()
        below.append(Source(_REPOSITORY, {"bank": named} if named else {}, folder))
    if os.path.isfile(own / FILE):
        naming = ("data",) if own is data else ("data", "local")
        shared = from_data_folder(own, naming, trust, NAMES, is_judged=is_judged, by_project=chosen == PROJECT)
        below.append(tightened(shared, (), _as_read))
    sources = [*above, *(tightened(source, below, _as_read) for source in said), *below]
    ignored = tuple(remark for source in sources for remark in source.remarks)
    sources.append(_from_provider(sources, variables, folder))
    settings, origins = _resolved(sources, data, own)
    told = (*remarks(variables, home), *ignored)
    return Resolved(settings, origins, project, variables, told, ignored, is_judged)


def _as_read(setting: str, value: object) -> object:
    """Return a value as the settings would hold it; None if they would refuse it."""
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(Settings.__annotations__[setting]).validate_python(value)
    except ValidationError:
        return None


def _resolved(sources: list[Source], data: Path | Address, own: Path) -> tuple[Settings, dict[str, str]]:
    chosen: dict[str, Source] = {}
    for source in reversed(sources):
        chosen.update(dict.fromkeys(source.values, source))
    values = {name: source.values[name] for name, source in chosen.items()} | {"data": data}
    values["models"] = models_folder(chosen.get("models"), own)
    values["vault"] = folder_of(chosen.get("vault"), "vault")
    values["local"] = folder_of(chosen.get("local"), "local") if own is data else own
    origins = {name: chosen[name].origin_of(name) if name in chosen else _DEFAULT for name in Settings.model_fields}
    unknown = [problem for source in sources for problem in source.unknown]
    return _settings(values, chosen, unknown), origins


def _settings(values: Mapping[str, Any], chosen: Mapping[str, Source], unknown: Sequence[Invalid] = ()) -> Settings:
    """Return the settings, or raise all problems at once."""
    try:
        settings = Settings(**values)
    except ValidationError as invalid:
        raise _all_of([*unknown, *_problems(invalid, chosen)]) from invalid
    if unknown:
        raise _all_of(unknown)
    if settings.review_from >= settings.review_to:
        naming = chosen.get("review_from") or chosen["review_to"]
        setting = "review_from" if "review_from" in chosen else "review_to"
        expected = "review_from below review_to"
        raise naming.problem(setting, expected, f"{settings.review_from:g} and {settings.review_to:g}")
    return settings


def _all_of(problems: Sequence[Invalid]) -> Invalid:
    first, *rest = problems
    first.errors = tuple(rest)
    return first


def _problems(invalid: ValidationError, chosen: Mapping[str, Source]) -> list[Invalid]:
    found = []
    for error in invalid.errors():
        name = str(error["loc"][0])
        ours = error.get("ctx", {}).get("error")
        complaint = ours.args[0] if isinstance(ours, ValueError) else None
        if isinstance(complaint, InputError):
            found.append(chosen[name].problem(name, complaint.expected, error["input"], complaint.hint))
        else:
            expected = error["msg"].removeprefix("Input should be ").partition(", unable")[0]
            found.append(chosen[name].problem(name, expected, error["input"]))
    return found


def _from_arguments(arguments: Mapping[str, Any], folder: Path) -> Source:
    unknown = tuple(
        InputError("settings", "names of settings", name, hint=names_near(str(name), NAMES))
        for name in arguments
        if name not in Settings.model_fields
    )
    given = {name: value for name, value in arguments.items() if value is not None and name in Settings.model_fields}
    return Source(ARGUMENT, given, folder, unknown=unknown)


def _from_environment(environ: Mapping[str, str], folder: Path) -> Source:
    """Read our variables. Unknown ones are ignored, since versions share an environment; likely typos are refused."""
    values: dict[str, str] = {}
    unknown = []
    for variable, value in environ.items():
        if not variable.startswith(PREFIX) or not value:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name in Settings.model_fields:
            values[name] = value
        elif near := get_close_matches(name, Settings.model_fields, 1, _ALIKE):
            unknown.append(ConfigError(f"{variable} is no setting", hint=f"Did you mean {PREFIX}{near[0].upper()}?"))
    return Source(f"environment {PREFIX}{{}}", values, folder, unknown=tuple(unknown))


def _from_provider(sources: Sequence[Source], environ: Mapping[str, str], folder: Path) -> Source:
    """Return the key in the provider's own variable, only for the provider whose model the user named.

    The variable belongs to other programs too: no project and no other server may get the key.
    """
    naming = next((source for source in sources if "llm" in source.values), None)
    named = naming.values["llm"] if naming is not None and naming.personal else None
    provider = provider_of(named) if isinstance(named, str) else None
    variable = provider.variable if provider is not None else None
    elsewhere = any("llm_url" in source.values for source in sources)
    if variable is None or elsewhere or not environ.get(variable):
        return Source("default", {}, folder)
    return Source(f"environment {variable}", {"llm_key": environ[variable]}, folder)
