"""The verbs that write: new memories, new versions, and the checks of every write."""
