"""Writes: new memories, new versions, and what every write checks first."""
