"""The graph of what was lived and learnt."""
