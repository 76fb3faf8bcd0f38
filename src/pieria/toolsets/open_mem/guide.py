"""The tool `help`: a short guide to the tools that the caller may use."""

from __future__ import annotations

from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.envelope import Answer
from pieria.toolsets.open_mem.words import TYPES
from pieria.toolsets.tool import Access, Tool, toolset_in

PACKAGE = __name__.rpartition(".")[0]
BEGIN = (
    "Look before you act: mem-find (short hits), mem-history (what stood around one), "
    "mem-get (full text of the few that matter)."
)
TYPED = f"Types: {', '.join(TYPES)}. One thing each, with its reason and files; no small talk."
CHANGING = (
    "What is no longer right is revised, with the reason; what should never have been kept is removed. "
    "Put what nobody may see between <private> and </private>; keys and passwords are taken out by themselves."
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
