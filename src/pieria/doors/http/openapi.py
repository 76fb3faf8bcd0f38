"""`/v1/openapi.json`: every route and every tool as OpenAPI 3.1, from the schemas that validate requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pieria.doors.http.replies import REPLIES
from pieria.doors.http.resources import BANK, RESOURCES, Resource
from pieria.doors.http.routes import EVENTS, REMOVAL
from pieria.doors.http.schemas import Schema
from pieria.toolsets import Access, Registry, Tool, Toolset

OPENAPI = "/v1/openapi.json"
TOOLS = "/v1/banks/{bank}/tools/"
ERRORS: Mapping[str, str] = {
    "400": "The body is not JSON, or the path is not UTF-8.",
    "401": "The token is missing, unknown or expired.",
    "403": "The token does not allow it, or the request came from a page of another site.",
    "404": "The bank, memory, fact or tool does not exist.",
    "405": "The route does not support this method.",
    "408": "The body took too long to arrive.",
    "409": "The request conflicts with existing records.",
    "413": "The body is too large.",
    "415": "The content type is not JSON.",
    "421": "The request names a host that is not this server.",
    "422": "Parameters are wrong; the reply lists all of them.",
    "423": "The bank is sealed, and its key is missing or wrong.",
    "429": "Too many requests, or a budget is used up.",
    "500": "An error in the server or its store.",
    "502": "A model failed.",
    "503": "Another writer holds the bank; try again.",
    "507": "The disk is full, or there is no permission to write.",
}
_NAMED = re.compile(r"\{(\w+)\}")
_PARAMETERS: Mapping[str, str] = {
    "bank": "The name of a bank.",
    "id": "The id.",
    "number": "The number of the quarantine.",
}


def described(registry: Registry, version: str) -> dict[str, Any]:
    """Return the whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for toolset, tool in registry:
        paths[TOOLS + tool.name] = {"post": _of_tool(toolset, tool)}
    for resource in RESOURCES:
        paths.setdefault(resource.path, {})[resource.method.lower()] = _of_resource(resource)
    paths |= _fixed()
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pieria", "version": version, "summary": "Long-term memory for AI agents."},
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "paths": paths,
        "components": {
            "schemas": dict(REPLIES),
            "responses": {"Error": _content("An error.", {"$ref": "#/components/schemas/Error"})},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _of_tool(toolset: Toolset, tool: Tool) -> dict[str, Any]:
    """Return a tool's operation. Its errors come in its toolset's envelope, so they have no schema here."""
    failed = {code: _content(says, {}) for code, says in ERRORS.items()}
    replied = tool.output_schema if tool.output_schema is not None else {}
    names = {"x-aliases": list(tool.aliases)} if tool.aliases else {}
    return {
        "operationId": tool.name,
        "tags": [toolset.name],
        "summary": tool.annotations["title"],
        "description": tool.description,
        "x-access": tool.access.name,
        **names,
        "parameters": [_in_path("bank")],
        "requestBody": _body(_taken(tool)),
        "responses": {"200": _content("The tool's reply.", replied), **failed},
    }


def _of_resource(resource: Resource) -> dict[str, Any]:
    tool = resource.tool
    parameters = [_in_path(name) for name in _NAMED.findall(resource.path)]
    takes: dict[str, Any] = {}
    if resource.in_query:
        parameters += _in_query(tool)
    else:
        takes = {"requestBody": _body(tool.input_schema)}
    return {
        **_operation(tool, "memory", _content("The answer.", _reference(resource.reply)), resource.status),
        "parameters": parameters,
        **takes,
    }


def _taken(tool: Tool) -> Schema:
    """Return a tool's arguments as a schema. If the tool allows it, null means a missing value."""
    schema = tool.input_schema
    if not tool.takes_null:
        return schema
    required = schema.get("required", ())
    parts = {
        name: part if name in required else {"anyOf": [part, {"type": "null"}]}
        for name, part in tool.parameters.items()
    }
    return {**schema, "properties": parts}


def _operation(tool: Tool, tag: str, answered: Schema, status: int = 200) -> dict[str, Any]:
    return {
        "operationId": tool.name,
        "tags": [tag],
        "summary": tool.description,
        "x-access": tool.access.name,
        "responses": {str(status): answered, **_failed()},
    }


def _fixed() -> dict[str, dict[str, Any]]:
    """Return the routes about the server as a whole."""

    def route(name: str, says: str, answered: Schema) -> dict[str, Any]:
        return {"get": _operation(Tool(name, says, {"properties": {}}, Access.read), "server", answered)}

    stream = {"description": "The events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    plain = {"description": "The measurements.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    events = _operation(EVENTS, "server", stream)
    seen = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^[0-9]{1,16}$"}}
    removal = _operation(REMOVAL, "server", _content("What went.", _reference("Removal")))
    health = route("health", "Whether the server answers.", _content("It does.", _reference("Health")))
    health["get"]["security"] = [{}]
    return {
        "/v1/events": {"get": {**events, "parameters": [*_in_query(EVENTS), seen]}},
        "/v1/banks": route("list_banks", "All banks.", _content("Their names.", _reference("Banks"))),
        BANK: {"delete": {**removal, "parameters": [_in_path("bank"), *_in_query(REMOVAL)]}},
        OPENAPI: route("openapi", "This document.", _content("It.", {"type": "object"})),
        "/metrics": route("metrics", "Calls, errors, latencies and banks, for Prometheus.", plain),
        "/health": health,
    }


@cache
def _failed() -> dict[str, Any]:
    return {
        code: {"description": says, "content": {"application/json": {"schema": _reference("Error")}}}
        for code, says in ERRORS.items()
    }


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": _PARAMETERS[name], "schema": schema}


def _in_query(tool: Tool) -> list[dict[str, Any]]:
    required = tool.input_schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "description": schema["description"],
         "schema": {key: value for key, value in schema.items() if key != "description"}}
        for name, schema in tool.parameters.items()
    ]  # fmt: skip


def _body(schema: Schema) -> dict[str, Any]:
    needed = bool(schema.get("required"))
    return {"required": needed, "content": {"application/json": {"schema": dict(schema)}}}


def _content(says: str, schema: Schema) -> dict[str, Any]:
    return {"description": says, "content": {"application/json": {"schema": dict(schema)}}}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
