"""The tools of five systems, thin translation over a bank: names and schemas are data, handlers speak to the bank.

A toolset is a folder here: `tools.json`, which says what is listed and checked, and a module `handlers` with a function
for each tool, and a module `envelope` with the shape of its replies. Nothing else
has to be told of it: every door finds it through `registry`.
"""

from pieria.toolsets.call import Reply, called
from pieria.toolsets.host import Banks, Call, Host
from pieria.toolsets.paths import Paths
from pieria.toolsets.registry import Registry, registry
from pieria.toolsets.tool import Access, Tool, Toolset

__all__ = ["Access", "Banks", "Call", "Host", "Paths", "Registry", "Reply", "Tool", "Toolset", "called", "registry"]
