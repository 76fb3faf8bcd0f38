"""What all SQL stores share: reading, writing and queues, over a session and the store's own statements."""
