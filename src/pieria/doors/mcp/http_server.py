"""An MCP server over HTTP, behind the application's guard, which knows the caller.

The address (`?bank=NAME`) or the header `X-Pieria-Bank` names the bank; the default is the bank of the settings.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pieria.doors.http.callers import Caller
from pieria.doors.http.guard import BODY_LIMIT, Replayed
from pieria.doors.http.service import Service
from pieria.doors.mcp.server import server_for, session_of
from pieria.doors.mcp.wire import is_misnumbered, refusal
from pieria.toolsets import Access, Host, Registry, Tool

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

BANK_HEADER = "x-pieria-bank"


class HttpServer:
    """A server of some toolsets, as an ASGI application."""

    def __init__(self, service: Service, registry: Registry, version: str) -> None:
        self._server = server_for(registry, partial(_host, service), version, access_of=_access, places=service.places)
        # The guard has checked host names, origins and sizes. Requests are stateless.
        self._server.streamable_http_app(
            stateless_http=True,
            max_request_body_size=BODY_LIMIT,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @property
    def session_manager(self) -> StreamableHTTPSessionManager:
        return self._server.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        body: bytes = message.get("body", b"")
        if is_misnumbered(body.decode("utf-8", "replace")):
            await Response(refusal(), 400, media_type="application/json")(scope, receive, send)
            return
        await self.session_manager.handle_request(scope, Replayed(body, receive), send)


def _access(context: Any) -> Access:
    access: Access = context.request.state.caller.access
    return access


def _host(service: Service, context: Any, tool: Tool) -> Host:
    """Return the host of a request. Errors go into the tool's reply."""
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
