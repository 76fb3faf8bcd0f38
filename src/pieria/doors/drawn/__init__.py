"""Pictures for several interfaces: computed once, then drawn in the terminal, as SVG, as PNG, or on a page."""
