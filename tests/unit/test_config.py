"""A configuration is always checked, and gives the settings of a step, a node type and a call."""

import copy
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import HERE, samples

from pieria import Config, DefaultValueFunction, ExtractionProfile
from pieria.errors import ConfigError, InputError
from pieria.models.minds.llm import STEPS

MODELS: dict[str, Any] = {
    "llm": {"model": "gpt-4o", "opts": {"temperature": 0.7, "extra": {"seed": 1, "user": "a"}}},
    "embedding": {"model": "e5-base-v2", "opts": {"dimensions": 256}},
}
USUAL = {"lambda": 0.01, "k": 5, "base_floor": 0.3, "beta": 1.0}
MOST = {"semantic": 20, "procedural": 10, "episodic": 30, "subgoal": 10, "tag": 10, "source": 50, "intent": 10}
LEAST = dict.fromkeys(MOST, 0.0) | {"subgoal": 0.225, "tag": 0.135, "intent": 0.105}
NAMES = ("model", "opts", "module", "params", "structuring", "get_mode", "semantic", "k", "name", "overlays")


class Score:
    def score(self, relevance: float, node: Any, metadata: Any, params: Any) -> float:
        return relevance


def config(**values: Any) -> Config:
    return Config(**{**MODELS, **values})


def problems(**values: Any) -> dict[str, str | None]:
    """Return message and hint of every error in a configuration."""
    with pytest.raises(ConfigError) as caught:
        config(**values)
    return {one.message.removeprefix("configuration: "): one.hint for one in (caught.value, *caught.value.errors)}


def test_a_configuration_has_defaults_and_keeps_the_rest() -> None:
    usual = config()
    params = {kind: {"threshold": LEAST[kind], "top_k": most, **USUAL} for kind, most in MOST.items()}
    assert usual.value_function == {"module": DefaultValueFunction, "params": params}
    assert usual.session == {"auto_commit": True, "flush_timeout_ms": 120_000, "session_timeout_ms": 600_000}
    assert (usual.intent_merge_threshold, usual.intent_identity_threshold) == (0.8, 0.95)
    assert (usual.refinement_threshold, usual.refinement_budget, usual.plateau_delta) == (0.6, 1, 0.05)
    assert (usual.trace_verbosity, usual.overrides, usual.answer_threshold) == ("summary", {}, None)
    assert (usual.backend, usual.episodic_validation, usual.extraction_profile) == (None, None, None)
    assert Config(llm={"model": "m"}, embedding={"model": "e"}).llm == {"model": "m", "opts": {}}
    said = config(
        session={"auto_commit": False, "session_timeout_ms": None},
        value_function={"params": {"semantic": {"threshold": 0.1}}},
        episodic_validation={"orphan_penalty": 0.5},
    )
    assert said.session == {"auto_commit": False, "flush_timeout_ms": 120_000, "session_timeout_ms": None}
    assert said.resolve_value_function("semantic") == {"threshold": 0.1, "top_k": 20, **USUAL}
    assert said.resolve_value_function("procedural")["threshold"] == 0.0
    penalties = {"validation_threshold": 0.3, "orphan_penalty": 0.5, "weak_grounding_penalty": 0.1}
    assert said.episodic_validation == penalties


def test_a_wrong_value_is_named_with_what_was_expected() -> None:
    wrong: list[tuple[str, dict[str, Any]]] = samples("config_wrong")["wrong"]
    wrong.append(("llm: expected a model, as {'model': name, 'opts': {…}}, got nothing", {"llm": None}))
    function = "value_function.module: expected a function of relevance, node, …"
    wrong.append((function, {"value_function": {"module": object()}}))
    for expected, values in wrong:
        [message] = problems(**values)
        begins, _, ends = expected.partition("…")
        assert message.startswith(begins)
        assert "…" not in expected or ends.rpartition("…")[2] in message
        with pytest.raises(ConfigError):
            Config.from_dict({**MODELS, **values})
    found = problems(overrides={"structurin": {}}, trace_verbosity="sumary", refinement_budget=0.5)
    assert len(found) == 3
    assert set(found.values()) == {"Did you mean structuring?", "Did you mean summary?", None}
    for opts in ("sk-very-secret", {1: "sk-very-secret"}):
        [message] = problems(llm={"model": "m", "opts": opts})
        assert "secret" not in message
    with pytest.raises(ConfigError) as bare:
        Config(llm="openai:gpt-5", embedding={"model": "auto"})  # type: ignore[arg-type]
    assert bare.value.hint == "Write {'model': …}."
    assert list(problems(value_function=lambda *seen: 1.0).values()) == ["Write {'module': …}."]


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JUNK = st.recursive(
    LEAVES | st.sampled_from(["model", "coding"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([field.name for field in fields(Config)]), JUNK, min_size=1, max_size=4))
def test_any_values_make_a_valid_configuration_or_are_refused(values: dict[str, Any]) -> None:
    try:
        made = config(**values)
    except ConfigError as refused:
        assert all(isinstance(one, ConfigError) for one in refused.errors)
    else:
        assert all(made.llm_opts(step)["model"] for step in STEPS)
        assert all(made.resolve_value_function(kind).keys() == {"threshold", "top_k", *USUAL} for kind in MOST)


def test_a_changed_copy_is_checked_and_apart_from_the_original() -> None:
    assert replace(config(), trace_verbosity="detailed").trace_verbosity == "detailed"
    with pytest.raises(ConfigError):
        replace(config(), trace_verbosity="loud")
    given = copy.deepcopy(MODELS)
    made = Config(**given)
    given["llm"]["opts"]["extra"]["seed"] = 2
    made.resolve("get_mode")["opts"]["extra"]["seed"] = 3
    made.resolve_embedding()["opts"]["dimensions"] = 4
    assert made == config()
    assert copy.deepcopy(made) == made


def test_a_mapping_or_the_file_of_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_CONFIG", str(HERE / "config_whole.toml"))
    assert Config.from_env() == Config(
        llm={"model": "ollama:qwen3", "opts": {"temperature": 0.2}},
        embedding={"model": "local"},
        overrides={"structuring": {"model": "qwen3:32b"}},
        value_function={"params": {"semantic": {"lambda": 0.005, "threshold": 0.1}}},
        intent_merge_threshold=0.7,
        extraction_profile=ExtractionProfile.research(),
        session={"auto_commit": False, "flush_timeout_ms": None},
    )
    given = {**MODELS, "value_function": {"module": "DefaultValueFunction", "params": {"tag": {"k": 3}}}}
    assert Config.from_dict(json.loads(json.dumps(given))) == config(value_function={"params": {"tag": {"k": 3}}})
    with pytest.raises(ConfigError, match="a mapping"):
        Config.from_dict([1])  # type: ignore[arg-type]


def test_a_missing_or_wrong_configuration_file_is_an_error(tmp_path: Path) -> None:
    for environ in ({}, {"PIERIA_CONFIG": ""}):
        with pytest.raises(ConfigError) as caught:
            Config.from_env(environ)
        assert caught.value.reason == "no_config"
        assert str(caught.value) == "configuration: no configuration was found"
        assert caught.value.hint == "Name a TOML file in PIERIA_CONFIG."
    file = tmp_path / "memory.toml"
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_env({"PIERIA_CONFIG": str(file)})
    for content, message in (
        ("llm = ", "not valid TOML"),
        ("", "llm: expected a model"),
        ("lm = 3", "expected no names but llm, embedding"),
        ('llm = { model = "m" }\nembedding = { model = 3 }', "embedding.model: expected a text, got 3"),
    ):
        file.write_text(content)
        with pytest.raises(ConfigError, match=message):
            Config.from_env({"PIERIA_CONFIG": str(file)})


def test_a_step_is_configured_by_its_group_and_then_by_itself() -> None:
    overrides = {
        "structuring": {"model": "mini", "opts": {"temperature": 0.2, "extra": {"seed": 2}}},
        "get_return": {"opts": {"temperature": 0.0}},
        "get_mode": {"model": "nano"},
        "retrieval": {"opts": {"max_tokens": 9}},
    }
    made = config(overrides=overrides)
    base = MODELS["llm"]["opts"]
    structured = {"temperature": 0.2, "extra": {"seed": 2, "user": "a"}}
    assert made.resolve("get_state") == MODELS["llm"]
    assert made.resolve("structuring") == made.resolve("get_semantic") == {"model": "mini", "opts": structured}
    assert made.resolve("get_return") == {"model": "mini", "opts": {**structured, "temperature": 0.0}}
    assert made.resolve("get_mode") == {"model": "nano", "opts": {**base, "max_tokens": 9}}
    with pytest.raises(InputError, match="step: expected one of"):
        made.resolve("get_colour")
    made = config(overrides={"get_mode": {"opts": {"max_tokens": 9}}})
    base = {"temperature": 1.0, "max_tokens": 5, "model": "other", "stop": "."}
    configured = {"model": "gpt-4o", "temperature": 0.7, "max_tokens": 9, "extra": {"seed": 1, "user": "a"}}
    assert made.llm_opts("get_mode", base) == {**configured, "stop": "."}
    assert made.embedding_opts() == {"model": "e5-base-v2", "dimensions": 256}
    assert made.resolve_embedding() == MODELS["embedding"]


def test_a_profile_counts_before_a_configuration_and_defaults() -> None:
    lifted = {"semantic": {"base_floor": 0.2, "top_k": 30}, "tag": {"base_floor": 1.0}}
    params = {"semantic": {"base_floor": 0.5, "k": 10}, "tag": {"base_floor": 0.7}}
    made = config(
        value_function={"module": Score, "params": params},
        extraction_profile=ExtractionProfile("legal", value_function_overrides=lifted),
    )
    semantic = made.resolve_value_function("semantic")
    assert semantic == {"threshold": 0.0, "top_k": 30, "lambda": 0.01, "k": 10, "base_floor": 0.6, "beta": 1.0}
    assert made.resolve_value_function("tag")["base_floor"] == 1.0
    assert made.resolve_value_function("source") == {"threshold": 0.0, "top_k": 50, **USUAL}
    assert made.resolve_value_function("of another kind") == {"threshold": 0.0, "top_k": 20, **USUAL}
    assert made.value_function["module"] is Score


@pytest.mark.parametrize("name", ["coding", "research", "customer_support"])
def test_a_profile_of_ours_steers_three_steps_and_lifts_floors(name: str) -> None:
    profile = getattr(ExtractionProfile, name)()
    assert (profile.name, set(profile.overlays)) == (name, {"get_semantic", "get_procedural", "get_reward"})
    assert len(set(profile.overlays.values())) == 3
    assert all(200 < len(text) < 800 and text == text.strip() for text in profile.overlays.values())
    made = config(extraction_profile=profile)
    assert made == config(extraction_profile=name)
    assert made.resolve_overlay("get_semantic") == profile.overlays["get_semantic"]
    assert made.resolve_overlay("get_state") is None
    for kind in MOST:
        lifted, plain = made.resolve_value_function(kind), config().resolve_value_function(kind)
        share = profile.value_function_overrides.get(kind, {}).get("base_floor", 0.0)
        assert lifted == {**plain, "base_floor": pytest.approx(plain["base_floor"] * (1 + share))}
        assert lifted["base_floor"] >= plain["base_floor"]


def test_profiles_are_copies_and_are_checked() -> None:
    research = ExtractionProfile.research().value_function_overrides
    assert research["semantic"]["base_floor"] > research["procedural"]["base_floor"] > 0
    assert set(ExtractionProfile.coding().value_function_overrides) == {"procedural"}
    ExtractionProfile.coding().overlays.clear()  # type: ignore[attr-defined]
    assert ExtractionProfile.coding().overlays
    with pytest.raises(ConfigError, match="name: expected a text, got 3") as caught:
        ExtractionProfile(3, "x" * 2_001, {"get_facts": ""}, {"semantic": {"floor": 1}})  # type: ignore[arg-type]
    assert len(caught.value.errors) == 3
    assert config().resolve_overlay("get_semantic") is None
