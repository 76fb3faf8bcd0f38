"""Five tool vocabularies over one bank; names and schemas are data, handlers call the bank.

A toolset is a folder with `tools.json` (listing and schemas), `handlers` (one function a tool) and `envelope` (reply
shape). Doors find toolsets through `registry`; adding a folder is enough.
"""

from pieria.toolsets.call import Reply, called
from pieria.toolsets.host import Banks, Call, Host
from pieria.toolsets.paths import Paths
from pieria.toolsets.registry import Registry, registry
from pieria.toolsets.tool import Access, Tool, Toolset

__all__ = ["Access", "Banks", "Call", "Host", "Paths", "Registry", "Reply", "Tool", "Toolset", "called", "registry"]
