"""An agent's context over MCP: a prompt that a user can choose, and a resource that a client can read.

Both call `bank.context` with the same arguments: the prompt takes them as texts, the resource as its address's query.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import mcp_types as types
from mcp.shared.exceptions import MCPError

from pieria.errors import InputError, PieriaError
from pieria.toolsets import Access, Host, Tool

if TYPE_CHECKING:
    from pieria.bank import Bank

log = logging.getLogger(__name__)

NAME, TITLE = "context", "What memory has to say"
SAYS = (
    "The context for the start of a session: standing rules, pinned memories, open work, an index of the most "
    "important memories, and details. With a query or files, it is about these. Fenced as data."
)
ARGUMENTS = {
    "query": "The topic, such as the present task.",
    "files": "Files to be about, one per line.",
    "place": "Only memories in this wing, or wing/room.",
    "budget": "The most tokens; 2,000 by default.",
    "keep": "true: later calls of the session return the same bytes. This one writes.",
    "anew": "true: as of now, even if a moment is kept.",
}
URI, TEMPLATE = "pieria://context", f"pieria://context{{?{','.join(ARGUMENTS)}}}"
KIND = "text/plain"
NOTHING = "The context is empty: there are no memories yet, or the budget is too small."
TRUTHS = {"true": True, "false": False}
TOOL = Tool(NAME, SAYS, {"properties": {}}, Access.read)
HostOf = Callable[[Any, Tool], Host]


def prompt() -> types.Prompt:
    arguments = [types.PromptArgument(name=name, description=says) for name, says in ARGUMENTS.items()]
    return types.Prompt(name=NAME, title=TITLE, description=SAYS, arguments=arguments)


def resource() -> types.Resource:
    return types.Resource(uri=URI, name=NAME, title=TITLE, description=SAYS, mime_type=KIND)


def template() -> types.ResourceTemplate:
    says = f"{SAYS} " + " ".join(f"{name}: {said}" for name, said in ARGUMENTS.items())
    return types.ResourceTemplate(uri_template=TEMPLATE, name=NAME, title=TITLE, description=says, mime_type=KIND)


def prompted(params: types.GetPromptRequestParams, host_of: Callable[[], Host]) -> types.GetPromptResult:
    if params.name != NAME:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r}. There is: {NAME}.")
    text, where = _answered(params.arguments or {}, host_of)
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=SAYS, messages=[message], _meta=where)


def read(params: types.ReadResourceRequestParams, host_of: Callable[[], Host]) -> types.ReadResourceResult:
    address = urlsplit(params.uri)
    if f"{address.scheme}://{address.netloc}{address.path}".rstrip("/") != URI:
        raise MCPError(types.INVALID_PARAMS, f"there is no resource {params.uri!r}. There is: {URI}.")
    pairs = parse_qsl(address.query, keep_blank_values=True)
    given: dict[str, str] = {}
    for name, value in pairs:
        given[name] = f"{given[name]}\n{value}" if name == "files" and name in given else value
    text, where = _answered(given, host_of)
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=params.uri, mime_type=KIND, text=text)], _meta=where
    )


def hosted(host_of: HostOf, context: Any) -> Callable[[], Host]:
    return partial(host_of, context, TOOL)


def _answered(given: Mapping[str, str], host_of: Callable[[], Host]) -> tuple[str, dict[str, Any]]:
    """Return the text and its source. Errors are reported in words, without internals."""
    host: Host | None = None
    try:
        asked = _read(given)
        host = host_of().having(begins=False)
        if asked.get("keep"):
            host.allow(Access.write)
        with host.banks.calls.one():
            bank: Bank = host.bank
            told = bank.context(**asked)
    except InputError as problem:
        said = problem.renamed("budget") if problem.parameter == "budget_tokens" else problem
        raise MCPError(types.INVALID_PARAMS, f"{said.message}. {said.hint or ''}".strip()) from problem
    except PieriaError as problem:
        error = problem if host is None else host.telling(problem)
        raise MCPError(types.INTERNAL_ERROR, f"{error.message}. {error.hint or ''}".strip()) from problem
    except Exception as problem:
        log.exception("building the context failed unexpectedly")
        raise MCPError(types.INTERNAL_ERROR, "A fault of Pieria's; its log tells more.") from problem
    where = {"pieria/bank": bank.name, "pieria/session": host.session, "pieria/tokens": told.tokens}
    return told.text or NOTHING, {key: value for key, value in where.items() if value is not None}


def _read(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments typed for the verb. Unreadable ones are kept for it to refuse."""
    for name in given:
        if name not in ARGUMENTS:
            raise InputError(name, f"one of {', '.join(ARGUMENTS)}", given[name])
    asked: dict[str, Any] = {name: value for name, value in given.items() if value.strip()}
    if "files" in asked:
        asked["files"] = [line.strip() for line in asked["files"].splitlines() if line.strip()]
    if "budget" in asked:
        budget = asked.pop("budget")
        asked["budget_tokens"] = int(budget) if budget.isascii() and budget.isdigit() and len(budget) < 20 else budget
    for name in ("keep", "anew"):
        if name in asked:
            asked[name] = TRUTHS.get(asked[name], asked[name])
    return asked
