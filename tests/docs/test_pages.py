"""Check the documents against themselves and the code: links, the index, signatures, the comparison."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pieria
from pieria.bank.capture.hooks import Hooks
from pieria.bank.capture.sources import Sources
from pieria.bank.facts.text_analysis import BankText
from pieria.bank.facts.verbs import Facts
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.jobs.handlers import HANDLERS
from pieria.bank.jobs.queue import Jobs
from pieria.bank.places import Places
from pieria.bank.rules import BankRules
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.sessions.verbs import BankSessions
from pieria.bank.upkeep.verbs import Upkeep
from pieria.bank.vault.verbs import Vault
from pieria.record.job import STATES
from pieria.toolsets import registry

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
ELSEWHERE = ("http://", "https://", "mailto:")


def shown(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Return the page without its code, where brackets have another meaning."""
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))


def links(page: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page: Path) -> set[str]:
    """Return the link targets of headings: lower case, no punctuation, hyphens for spaces."""
    without_code = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ +(.+?) *$", without_code, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def target(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return ((page.parent / unquote(path)).resolve() if path else page), anchor


def problem(page: Path, link: str) -> str | None:
    if link.startswith(ELSEWHERE):
        return None
    path, anchor = target(page, link)
    if not path.exists() or not path.is_relative_to(ROOT):
        return f"{shown(page)}: {link} leads nowhere"
    if anchor and (path.suffix != ".md" or anchor not in anchors(path)):
        return f"{shown(page)}: {shown(path)} has no heading {anchor}"
    return None


def reached() -> set[Path]:
    """Return the pages that links reach from the index. A link to a folder reaches the files in it."""
    found, waiting = {INDEX}, [INDEX]
    while waiting:
        page = waiting.pop()
        for link in links(page):
            if link.startswith(ELSEWHERE):
                continue
            path, _ = target(page, link)
            there = sorted(path.glob("*.md")) if path.is_dir() else [path]
            new = [path for path in there if path.suffix == ".md" and path.exists() and path not in found]
            found.update(new)
            waiting += new
    return found


def test_site_leads_to_every_page() -> None:
    named = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_every_link_leads_somewhere() -> None:
    assert [said for page in PAGES for link in links(page) if (said := problem(page, link))] == []


def test_a_broken_link_is_noticed() -> None:
    assert problem(INDEX, "no-such-page.md")
    assert problem(INDEX, "python.md#no-such-heading")
    assert problem(INDEX, "python.md#remember_many") is None


def test_every_page_is_reached_from_the_index() -> None:
    assert sorted(map(shown, set(PAGES) - reached())) == []


# --- the Python API


def spelt(prefix: str, name: str, verb: Callable[..., Any]) -> str:
    """Return a verb's signature as the page writes it: each parameter with its default, `…` if the default has no
    spelling.
    """
    parts: list[str] = []
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = "…" if parameter.default is ... else repr(parameter.default).replace("'", '"')
        plain = "" if parameter.default is parameter.empty else f"={'…' if default.startswith('<') else default}"
        parts.append(("**" if parameter.kind is parameter.VAR_KEYWORD else "") + parameter.name + plain)
    return f"{prefix}{name}({', '.join(parts)})"


def public(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        if not name.startswith("_") and inspect.isfunction(value):
            yield name, value


def offered() -> set[str]:
    functions = ("open", "restore", "copy", "seal", "unseal", "rekey", "remove_bank", "Workspace")
    found = {spelt("pieria.", name, getattr(pieria, name)) for name in functions}
    for kind, prefix in (
        (pieria.Bank, "bank."),
        (Facts, "bank.facts."),
        (BankGraph, "bank.graph."),
        (Hooks, "bank.hooks."),
        (Jobs, "bank.jobs."),
        (Places, "bank.places."),
        (BankRules, "bank.rules."),
        (Upkeep, "bank.upkeep."),
        (Scratchpad, "bank.scratchpad."),
        (BankSessions, "bank.sessions."),
        (BankText, "bank.text."),
        (Sources, "bank.sources."),
        (Vault, "bank.vault."),
        (pieria.Workspace, "pieria.Workspace."),
    ):
        found |= {spelt(prefix, name, verb) for name, verb in public(kind)}
    return found


def documented() -> set[str]:
    text = (DOCS / "python.md").read_text()
    found: set[str] = set()
    for block in re.findall(r"```py\n(.*?)```", text, flags=re.DOTALL):
        found |= {" ".join(lines.split()) for lines in re.split(r"\n(?=\S)", block.strip())}
    return found


def test_the_python_page_has_every_verb_with_its_signature() -> None:
    assert documented() == offered()


def test_every_public_name_is_on_a_page() -> None:
    text = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    internal = {"__version__", "errors"}
    assert [name for name in pieria.__all__ if name not in internal and not re.search(rf"\b{name}\b", text)] == []


def first_cells(page: Path, heading: str) -> list[str]:
    """Return the names in backticks in the first column of the table with this heading."""
    table = page.read_text().partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)


def test_the_page_on_upkeep_has_every_job_and_every_state() -> None:
    assert first_cells(DOCS / "upkeep.md", "kind") == list(HANDLERS)
    assert sorted(first_cells(DOCS / "upkeep.md", "state")) == sorted(STATES)


def test_the_index_leads_to_every_toolset() -> None:
    table = INDEX.read_text().partition("| toolset |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| \[`([\w-]+)`\]\(toolsets/\1\.md\) \| `?([\w-]*)`? \|", table, flags=re.MULTILINE)
    assert sorted(rows) == sorted((toolset.name, toolset.prefix) for toolset in registry().toolsets.values())


# --- the comparison


def comparison() -> list[list[str]]:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


def test_each_claim_of_the_comparison_names_a_test_or_page() -> None:
    head, _, *rows = comparison()
    assert head[1] == "Pieria"
    assert len(rows) > 10
    for row in rows:
        claim = row[1]
        assert claim == "not yet" or links_in(claim), f"{row[0]}: {claim} names no test and no page"
        for link in links_in(claim):
            path, _ = target(ROOT / "README.md", link)
            assert path.is_file(), f"{row[0]}: {link}"
            assert path.is_relative_to(DOCS) or path.is_relative_to(ROOT / "tests") or path.parent == ROOT


def links_in(cell: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", cell)


def test_rows_of_the_comparison_use_words_of_the_legend() -> None:
    head, _, *rows = comparison()
    words = {"yes", "no", "partly", "not yet", "–", "?", "logged", "hosted only", "off by default"}
    for row in rows:
        assert len(row) == len(head), row[0]
        for cell in row[1:]:
            plain = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", cell)
            assert re.sub(r" [¹²³⁴⁵⁶⁷⁸⁹⁰]+$", "", plain) in words, f"{row[0]}: {cell}"
