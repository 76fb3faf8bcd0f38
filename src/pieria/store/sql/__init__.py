"""What every store on SQL shares: how it reads, writes and queues, over a session and its own statements."""
