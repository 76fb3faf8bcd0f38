"""A form's fields, of a query or of a body, as arguments that a schema can check.

An empty field was not filled in. Browsers send text areas with CRLF; here lines end with LF.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from pieria.doors.http.failures import Refused
from pieria.doors.http.schemas import typed
from pieria.errors import InputError

FORM = "application/x-www-form-urlencoded"
FIELDS = 1_000
_ITEM = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"(?=\s*(?:,|\Z))|(?P<plain>[^,]*))\s*(?:,|\Z)')
SEAL = "seal"
"""Form field with the token that proves that a form is ours."""


async def form_of(request: Request) -> list[tuple[str, str]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Refused(415, InputError("Content-Type", FORM, kind or None))
    body = await request.body()
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
    except ValueError as problem:
        raise Refused(400, InputError("body", f"a form of at most {FIELDS} fields in UTF-8", None)) from problem


def arguments(fields: list[tuple[str, str]], takes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as their schemas type them. With `keeps`, an empty field is kept as empty text."""
    given: dict[str, Any] = {}
    for name, sent in fields:
        schema = takes.get(name, {})
        value = sent.replace("\r\n", "\n")
        if not value.strip() and not schema.get("keeps"):
            continue
        if schema.get("type") == "array":
            given.setdefault(name, []).extend(_several(value, schema))
        elif name in given:
            raise InputError(name, "one value", None, hint="It was given twice.")
        else:
            given[name] = typed(value, schema)
    return given


def listed(items: Iterable[str]) -> str:
    """Return items as one field of a list: split by commas, quoted where needed."""
    return ", ".join(map(spelt, items))


def spelt(item: str) -> str:
    return '"' + item.replace('"', '""') + '"' if "," in item or item.startswith('"') else item


def _several(value: str, schema: Mapping[str, Any]) -> list[Any]:
    """Return a list's items: the field's repeated values, or one text split at its commas."""
    items = _between_commas(value) if schema.get("commas") else [value.strip()]
    return [typed(item, schema.get("items", {})) for item in items if item]


def _between_commas(value: str) -> list[str]:
    return [
        (plain if plain is not None else quoted.replace('""', '"')).strip()
        for quoted, plain in (found.group("quoted", "plain") for found in _ITEM.finditer(value))
    ]
