"""Sleep, review, clusters and retention."""
