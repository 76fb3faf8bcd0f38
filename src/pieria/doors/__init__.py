"""Interfaces: each translates its callers' requests into verbs of a bank, and the answers back. No rules of their
own.
"""
