"""MemPalace's tools: drawers in wings and rooms, a graph of facts, tunnels, a diary, and what its users missed."""
