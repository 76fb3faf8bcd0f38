"""Pieria's own tools, which a server offers if nothing else is asked for: few, small, and with time travel and undo."""
