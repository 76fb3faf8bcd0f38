"""Interfaces of agent frameworks over a bank: one module for each framework, imported only by its name.

A module translates between the framework's words and the verbs of a bank. It holds no ranking, no SQL and no clock.
"""
