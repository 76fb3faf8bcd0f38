"""Upkeep: sleep, decay, collection, promotion and validation. It plans changesets and writes none."""
