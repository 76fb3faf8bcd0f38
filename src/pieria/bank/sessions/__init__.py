"""The log of sessions, and the ingestion of trajectories."""
