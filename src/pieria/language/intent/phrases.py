"""The tables of phrases, loaded and compiled once. The meaning of a group does not belong here.

A new phrase is one more line of data, and a new language one more file. The tables are loaded as package data.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pieria.language.letters import spaced

LANGUAGES = ("english",)

Asks = Literal["saving", "recalling"]
Shape = Literal["question", "request", "statement"]


@dataclass(frozen=True, slots=True)
class Group:
    """Phrases with the same meaning, and their weights. The head of a table explains each value."""

    name: str
    pattern: re.Pattern[str]
    speaks: float = 0.0
    naming: float = 0.0
    beside: float = 1.0
    hedges: float = 0.0
    bars: float = 1.0
    under: float = 1.0
    within: Sequence[Shape] = ("question", "request", "statement")
    firm: bool = False
    whole: bool = False
    yields: bool = False
    marks: bool = False


@cache
def tables() -> tuple[Mapping[str, Any], ...]:
    folder = files(__package__)
    return tuple(tomllib.loads(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")) for name in LANGUAGES)


@cache
def groups(asks: Asks) -> tuple[Group, ...]:
    """Return the groups of all languages, in the order of the tables."""
    return tuple(_group(entry, table) for table in tables() for entry in (*table[asks], *table["both"]))


def _group(entry: Mapping[str, Any], table: Mapping[str, Any]) -> Group:
    opening = _opening(table, entry["opens"]) if "opens" in entry else ""
    worth = {key: value for key, value in entry.items() if key not in ("phrases", "opens")}
    return Group(pattern=_compiled(entry["phrases"], table, opening), **worth)


@cache
def shapes() -> tuple[tuple[Shape, re.Pattern[str]], ...]:
    """Return the patterns that open sentences which state nothing."""
    return tuple(
        (shape, _compiled(table["shapes"][shape], table, _opening(table, "sentence")))
        for shape in ("question", "request")
        for table in tables()
    )


@cache
def phrases(section: str, key: str) -> tuple[re.Pattern[str], ...]:
    return tuple(_compiled(table[section][key], table) for table in tables())


@cache
def meanings(section: str, key: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return phrases with their meanings."""
    return tuple(
        (_compiled(entry["said"], table), entry["means"]) for table in tables() for entry in table[section][key]
    )


@cache
def words(section: str, key: str) -> frozenset[str]:
    return frozenset(word for table in tables() for word in table[section][key].split())


# --- from a line of a table to a pattern

_LIST = re.compile(r"<([a-z]+)>")
_LEFT_OUT = re.compile(r"(?<=n)'(?=t)|'(?=m\b)|'(?=ve\b)|(?<=what|that|here)'(?=s\b)|(?<=who|let|how)'(?=s\b)")
"""Apostrophes that may be left out without making another word."""


def _compiled(lines: str, table: Mapping[str, Any], opening: str = "") -> re.Pattern[str]:
    said = "|".join(_filled(line, table) for line in _lines(lines))
    return re.compile(spaced(rf"{opening}(?<![\w'-])(?P<said>{said})(?!\w)"))


def _opening(table: Mapping[str, Any], where: str) -> str:
    """Return a pattern for the start of a sentence or clause, and the words that may come before the phrase."""
    begins = r"\A" if where == "sentence" else r"(?:\A|[,;:(-]|\b(?:and|but|so|because)(?= ))"
    leads = _filled("".join(_lines(table["leads"])), table)
    return rf"{begins}[^\w]{{0,3}}(?:(?:{leads})\b(?:\s{{0,2}}[,:;!.-]{{1,3}})?\s{{1,3}}){{0,4}}"


def _lines(text: str) -> Iterable[str]:
    return (line for line in text.split("\n") if line)


def _filled(line: str, table: Mapping[str, Any]) -> str:
    def listed(found: re.Match[str]) -> str:
        return "(?:" + "|".join(map(re.escape, sorted(table["words"][found[1]].split(), key=len, reverse=True))) + ")"

    return _LEFT_OUT.sub("'?", _LIST.sub(listed, line))
