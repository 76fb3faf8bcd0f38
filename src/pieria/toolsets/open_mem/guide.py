"""The tool `help`: a short guide to the tools that the caller may use."""

from __future__ import annotations

from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.envelope import Answer
from pieria.toolsets.open_mem.words import TYPES
from pieria.toolsets.tool import Access, Tool, toolset_in

PACKAGE = __name__.rpartition(".")[0]
BEGIN = (
    "Look before you act: mem-find (short hits), mem-history (its neighbours in time), "
    "mem-get (full text of the few that matter)."
)
TYPED = f"Types: {', '.join(TYPES)}. One thing each, with its reason and files; no small talk."
CHANGING = (
    "Revise what is no longer right, with the reason; remove what should never have been kept. "
    "Put private text between <private> and </private>; keys and passwords are removed automatically."
)
LOCKED = "Nothing can be changed here."


def help(call: Call) -> Answer:
    toolset = toolset_in(PACKAGE)
    listed = [tool for tool in toolset.tools if tool.access <= call.host.access]
    may_write = call.host.access >= Access.write
    lines = [BEGIN, "", *map(_line, listed), "", TYPED, CHANGING if may_write else LOCKED]
    # Do not open the bank: `help` must not create one.
    return Answer({"guide": "\n".join(lines)}, {"bank": call.host.bank_name, "session": call.host.session})


def _line(tool: Tool) -> str:
    """Return the tool's name, its parameters (required ones first) and its title."""
    required = tool.input_schema.get("required", ())
    optional = [name for name in tool.parameters if name not in required]
    parameters = ", ".join([*required, *(f"{name}?" for name in optional)])
    return f"- {tool.name}({parameters}): {tool.annotations['title'].lower()}"
