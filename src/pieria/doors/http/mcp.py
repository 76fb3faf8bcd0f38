"""The MCP servers of this door: one for each toolset and one for all, at `/mcp/<toolset>` and `/mcp/all`.

Which bank a request is about, its address says (`?bank=NAME`) or the header `X-Pieria-Bank`; without either it is the
one that the settings name. Who asks was found out before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pieria.doors.http.bodies import BODY_LIMIT, Replayed
from pieria.doors.http.callers import Caller
from pieria.doors.mcp.request_ids import is_misnumbered, refusal
from pieria.doors.mcp.server import server_for
from pieria.doors.mcp.sessions import session_of
from pieria.toolsets import Access, Host, Tool
from pieria.toolsets.registry import ALL

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from pieria.doors.http.service import Service

BANK_HEADER = "x-pieria-bank"


@dataclass(frozen=True)
class Mounted:
    """A server, and the application that carries its messages."""

    server: Server[Any]

    @property
    def session_manager(self) -> StreamableHTTPSessionManager:
        return self.server.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        body: bytes = message.get("body", b"")
        if is_misnumbered(body.decode("utf-8", "replace")):
            await Response(refusal(), 400, media_type="application/json")(scope, receive, send)
            return
        await self.session_manager.handle_request(scope, Replayed(body, receive), send)


def mounted(service: Service, version: str) -> Mapping[str, Mounted]:
    """By what follows `/mcp/`."""
    found = {}
    for name in (*service.registry.toolsets, ALL):
        registry = service.registry.only(name)
        server = server_for(registry, partial(_host, service), version, access_of=_access, places=service.places)
        # Names and origins were checked before, and sizes; each request stands for itself.
        server.streamable_http_app(
            stateless_http=True,
            max_request_body_size=BODY_LIMIT,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        found[name] = Mounted(server)
    return found


def _access(context: Any) -> Access:
    access: Access = context.request.state.caller.access
    return access


def _host(service: Service, context: Any, tool: Tool) -> Host:
    """Raises what the caller may not, or what cannot be: the tool's reply says it."""
    request = context.request
    caller = request.state.caller
    host = _on_bank(service, caller, request.scope)
    named = session_of(context)
    return host.having(session=caller.own(named, "session")) if named else host


def _on_bank(service: Service, caller: Caller, scope: Scope) -> Host:
    named = QueryParams(scope["query_string"]).get("bank") or Headers(scope=scope).get(BANK_HEADER)
    if named:
        return service.host(caller, named)
    resolved = service.workspace.resolved
    return service.host(caller, resolved.settings.bank, named=resolved.is_bank_named)
