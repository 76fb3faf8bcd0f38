"""The log of sessions and the trajectories taken in."""
