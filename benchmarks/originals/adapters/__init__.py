"""Pytest plugins, one an original: each lets the functions that its tests import call our toolset."""
