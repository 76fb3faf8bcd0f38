"""Five tool vocabularies over one bank; names and schemas are data, handlers call the bank.

A toolset is a folder with `tools.json` (listing and schemas), `words` (the reply shape) and modules with one
function a tool. Doors find toolsets through `registry`; adding a folder is enough.
"""

from pieria.toolsets.call import Reply, called
from pieria.toolsets.host import Banks, Call, Host, Paths
from pieria.toolsets.registry import Access, Registry, Tool, Toolset, registry

__all__ = ["Access", "Banks", "Call", "Host", "Paths", "Registry", "Reply", "Tool", "Toolset", "called", "registry"]
