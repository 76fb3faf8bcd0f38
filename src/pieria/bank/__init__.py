"""The bank: one isolated memory with all its verbs."""

from pieria.bank.bank import Bank

__all__ = ["Bank"]
