"""Fixtures for banks in a folder and on a server, for tests that must pass on both."""

from tests.bank.conftest import folder, served

__all__ = ["folder", "served"]
