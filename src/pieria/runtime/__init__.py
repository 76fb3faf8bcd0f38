"""What the process runs on: threads, timers, locks and the limits of a call. It knows nothing of memories."""
