"""Banks in a folder and on a server, for what has to be the same in both."""

from tests.bank.conftest import clock, folder, opened, served

__all__ = ["clock", "folder", "opened", "served"]
