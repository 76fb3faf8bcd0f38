"""The MCP server over some toolsets, for any transport: its list, its calls and its answers.

It serves clients that begin with `initialize`, and those of the newer protocol that do not. The transport knows the
caller and the bank: it gives a host for each request. Import only what `initialize` needs here; the engine comes with
the first host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from pieria.doors.lanes import Places
from pieria.doors.mcp import contexts
from pieria.doors.mcp.progress import Progress, reporting
from pieria.errors import InputError, NotFoundError
from pieria.record import check
from pieria.toolsets import Access, Host, Registry, Reply, Tool, called

HEADER = "mcp-session-id"
NAMED_BY = ("session", "pieria/session")
"""Keys of `_meta`; replies carry the second, so that a client can send it back."""
CALLS_AT_ONCE = 16
"""Default number of tools called at once."""
CACHED_MS = 3_600_000
"""Lists do not change while the server runs, so clients may cache them."""
Context = ServerRequestContext[Any, Any]


def full_access(context: Context) -> Access:
    """Return full access, for servers that do not restrict callers."""
    return Access.admin


def server_for(
    registry: Registry,
    host_of: Callable[[Any, Tool], Host],
    version: str,
    *,
    access_of: Callable[[Any], Access] = full_access,
    instructions: str | None = None,
    places: Places | None = None,
) -> Server[Any]:
    """Return a server of these toolsets.

    `host_of` gets the request's context and the tool, in the thread that will call it. It may wait; an error that it
    raises becomes the tool's reply. `access_of` decides without waiting which tools the caller sees. `instructions`
    replace those of the toolsets. `places` may be shared with other users of the same banks.
    """
    shared = places or Places(CALLS_AT_ONCE)

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "cursor: all tools are on the first page. Leave cursor out.")
        return types.ListToolsResult(tools=tools_of(registry, access_of(context)), ttl_ms=CACHED_MS)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            _, tool = registry.found(params.name)
        except NotFoundError as problem:
            raise MCPError(types.INVALID_PARAMS, f"{problem.message}. {problem.hint}") from problem
        async with reporting(context) as progress:
            work = partial(_call, registry, params, partial(_host_with_progress, host_of, context, tool, progress))
            # Do not wait for callers who have gone: each write is complete or does not happen.
            return await shared.run(work, abandoned=True)

    async def list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[contexts.prompt()], ttl_ms=CACHED_MS)

    async def list_resources(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[contexts.resource()], ttl_ms=CACHED_MS)

    async def list_templates(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[contexts.template()], ttl_ms=CACHED_MS)

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        work = partial(contexts.prompted, params, contexts.hosted(host_of, context))
        return await shared.run(work, abandoned=True)

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        work = partial(contexts.read, params, contexts.hosted(host_of, context))
        return await shared.run(work, abandoned=True)

    return Server(
        "pieria",
        version=version,
        title="Pieria",
        description="Long-term memory for AI agents.",
        instructions=instructions_of(registry) if instructions is None else instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def session_of(context: Any) -> str | None:
    """Return the session named by the transport's header, or else by `_meta`. Raise `InputError` for an invalid
    name.
    """
    headers: Mapping[str, str] = getattr(context.request, "headers", {})
    named = headers.get(HEADER)
    if named:
        return check.name(named, HEADER)
    meta = context.meta or {}
    for key in NAMED_BY:
        if meta.get(key) is not None:
            return _checked(meta[key], f"_meta.{key}")
    return None


def _checked(session: object, parameter: str) -> str:
    name = check.name(session, parameter)
    if not name:
        raise InputError(parameter, "the name of a session", session, hint="Leave it out to be in the process's own.")
    return name


def instructions_of(registry: Registry) -> str:
    """Return the toolsets' instructions on when to remember and recall."""
    toolsets = list(registry.toolsets.values())
    if len(toolsets) == 1:
        return toolsets[0].instructions
    return "\n\n".join(f"{toolset.title}: {toolset.instructions}" for toolset in toolsets)


def tools_of(registry: Registry, access: Access) -> list[types.Tool]:
    return [_as_listed(tool) for _, tool in registry if tool.access <= access]


def _as_listed(tool: Tool) -> types.Tool:
    annotations = dict(tool.annotations)
    return types.Tool(
        name=tool.name,
        title=annotations.pop("title", None),
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=None if tool.output_schema is None else dict(tool.output_schema),
        annotations=types.ToolAnnotations.model_validate(annotations),
    )


def _host_with_progress(host_of: Callable[[Any, Tool], Host], context: Context, tool: Tool, progress: Progress) -> Host:
    """Return a host that reports progress to its own listener and to the client."""
    host = host_of(context, tool)
    told = host.progress

    def both(done: int, whole: int) -> None:
        if told is not None:
            told(done, whole)
        progress(done, whole)

    return host.having(progress=both)


def _call(registry: Registry, params: types.CallToolRequestParams, host: Callable[[], Host]) -> types.CallToolResult:
    reply = called(registry, params.name, params.arguments or {}, host)
    return types.CallToolResult(
        content=[types.TextContent(text=reply.text)],
        structured_content=reply.structured,
        is_error=reply.is_error,
        _meta=_where(reply),
    )


def _where(reply: Reply) -> dict[str, Any]:
    known = {"pieria/bank": reply.bank, "pieria/session": reply.session, "pieria/scope": reply.scope}
    return {key: value for key, value in known.items() if value is not None}
