"""Keeping: sleep, decay, collection, promotion and validation. Plans changes, and writes none."""
