"""The tools of sessions: what an agent does is recorded step by step, learnt from, and recalled as knowledge."""
