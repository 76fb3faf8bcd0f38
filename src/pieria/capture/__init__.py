"""Capture: a hook file that writes agent events to a spool, a drain that stores them, and the installer of the
hooks.
"""
