"""`/v1/openapi.json`: every route and every tool as OpenAPI 3.1, from the schemas that validate requests.

Answers come from the `as_dict` of the engine; their schemas only describe them, so that clients can be generated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pieria.doors.http.routes import BANK, EVENTS, REMOVAL, RESOURCES, Resource
from pieria.doors.http.schemas import Schema
from pieria.doors.http.verbs import CALL, DOWNLOAD, FETCH, UPLOAD, UPLOADS, VERB
from pieria.record.lesson import STATES as LESSON_STATES
from pieria.record.lesson import TYPES as LESSON_TYPES
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.trust import WAYS
from pieria.remote.connection import LINES
from pieria.toolsets import Access, Registry, Tool, Toolset
from pieria.toolsets.registry import OWN

REFERENCES = "#/components/schemas/"
_ENUMS: Mapping[str, tuple[str, ...]] = {
    "author_types": AUTHOR_TYPES, "kinds": KINDS, "lesson_states": LESSON_STATES, "lesson_types": LESSON_TYPES,
    "scopes": SCOPES, "statuses": STATUSES, "tiers": TIERS, "ways": WAYS,
}  # fmt: skip
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "numbers": {"type": "object", "additionalProperties": {"type": "number"}},
    "whole": {"type": "integer"},
    "wholes": {"type": "array", "items": {"type": "integer"}},
    "flag": {"type": "boolean"},
    "object": {"type": "object"},
    "objects": {"type": "array", "items": {"type": "object"}},
    "texts": {"type": "array", "items": {"type": "string"}},
}
OCTETS = "application/octet-stream"
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
    "verb": "The name of the verb, such as `remember` or `facts.add`.",
    "file": "The id of the file.",
}


def _reply(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object. A field whose name ends with `?` may be missing."""
    properties = {name.rstrip("?"): _typed(written) for name, written in fields.items()}
    return {"type": "object", "properties": properties, "required": [name for name in fields if name[-1] != "?"]}


def _typed(written: Any) -> Any:
    """Return the schema of a field: `text?` is a text or null, `[Memory]` a list of memories."""
    if not isinstance(written, str):
        return written
    word = written.rstrip("?")
    or_null = word != written
    if word in _TYPES:
        return {"type": [_TYPES[word]["type"], "null"]} if or_null else _TYPES[word]
    if word in _ENUMS:
        return {"enum": [*_ENUMS[word], None]} if or_null else {"type": "string", "enum": list(_ENUMS[word])}
    if word[0] == "[":
        return {"type": "array", "items": _reference(word[1:-1])}
    return {"anyOf": [_reference(word), {"type": "null"}]} if or_null else _reference(word)


def _reference(name: str) -> dict[str, str]:
    return {"$ref": REFERENCES + name}


REPLIES: Mapping[str, Any] = {
    name: _reply(fields)
    for name, fields in json.loads((files(__package__) / "replies.json").read_text("utf-8")).items()
}
"""Schemas of answers by name. An error adds its own fields."""


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
            "responses": {"Error": _content("An error.", _reference("Error"))},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _of_tool(toolset: Toolset, tool: Tool) -> dict[str, Any]:
    """Return a tool's operation. Its errors come in its toolset's envelope, so they have no schema here."""
    failed = {code: _content(says, {}) for code, says in ERRORS.items()}
    replied = tool.reply_schema if tool.reply_schema is not None else {}
    names = {"x-aliases": list(tool.aliases)} if tool.aliases else {}
    return {
        # Resources have names such as `remember`, too.
        "operationId": f"{OWN}_{tool.name}" if toolset.name == OWN else tool.name,
        "tags": [toolset.name],
        "summary": tool.title,
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
    value = _content("The value of the verb.", {"type": "object"})
    value["content"][LINES] = {"schema": {"type": "string"}}
    piece = {"required": True, "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}}
    upload = _operation(UPLOAD, "verbs", _content("The file's id, and its size so far.", {"type": "object"}))
    file = {"description": "The bytes.", "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}}
    health = route("health", "Whether the server answers.", _content("It does.", _reference("Health")))
    ready = route("ready", "Whether banks can be read and written.", _content("They can.", _reference("Health")))
    for open_to_all in (health, ready):
        open_to_all["get"]["security"] = [{}]
    return {
        "/v1/events": {"get": {**events, "parameters": [*_in_query(EVENTS), seen]}},
        "/v1/banks": route("list_banks", "All banks.", _content("Their names.", _reference("Banks"))),
        VERB: {
            "post": {
                **_operation(CALL, "verbs", value),
                "parameters": [_in_path("bank"), _in_path("verb")],
                "requestBody": _body(CALL.input_schema),
            }
        },
        UPLOADS: {"post": {**upload, "parameters": [_in_path("bank"), *_in_query(UPLOAD)], "requestBody": piece}},
        DOWNLOAD: {"get": {**_operation(FETCH, "verbs", file), "parameters": [_in_path("bank"), _in_path("file")]}},
        BANK: {"delete": {**removal, "parameters": [_in_path("bank"), *_in_query(REMOVAL)]}},
        OPENAPI: route("openapi", "This document.", _content("It.", {"type": "object"})),
        "/metrics": route("metrics", "Calls, errors, latencies and banks, for Prometheus.", plain),
        "/health": health,
        "/ready": ready,
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
