"""Facts: triples with the time they hold. It plans writes and reads facts; it never writes and never asks the time."""
