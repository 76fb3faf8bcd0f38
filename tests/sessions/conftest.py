"""Fixtures for banks in a folder and on a server, for tests that must pass on both."""

from tests.bank.conftest import clock, folder, opened, served

__all__ = ["clock", "folder", "opened", "served"]
