"""Runs the originals' own tests against our toolsets, and carries their data here and back. Copies none of them."""
