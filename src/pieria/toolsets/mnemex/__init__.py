"""Mnemex's tools: memories that fade unless they are used, are reviewed in time, and become notes of a vault."""
