"""A toolset that no server should trust: it is slow, prints, fails and returns invalid JSON."""

from pieria.toolsets import Access, Registry, Tool, Toolset

READS = {"work": "integer", "sleep": "number", "echo": "integer", "say": "", "fault": "", "thing": ""}
READS |= {"nan": "", "half": "", "list": ""}
WRITES = {"fill": "integer", "job": ""}
"""The kind of each tool's only parameter."""
PARAMETERS = {"work": "steps", "sleep": "seconds", "echo": "letters", "fill": "count"}


def tool(name: str, kind: str, access: Access) -> Tool:
    schema = {"type": "object", "properties": {PARAMETERS[name]: {"type": kind}} if kind else {}}
    return Tool(f"odd_{name}", "Misbehaves.", schema, access, "handlers", begins=access is Access.write)


TOOLS = [tool(name, kind, Access.read) for name, kind in READS.items()]
TOOLS += [tool(name, kind, Access.write) for name, kind in WRITES.items()]
REGISTRY = Registry([Toolset("odd", "Odd", "Tools that misbehave.", "odd_", __name__, tuple(TOOLS))])
