"""Pictures of what commands tell: worked out once, then drawn in the terminal, as SVG or as PNG."""
