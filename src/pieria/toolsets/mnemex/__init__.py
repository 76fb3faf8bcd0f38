"""Mnemex's tools: memories fade unless they are used; they are reviewed and become notes of a vault."""
