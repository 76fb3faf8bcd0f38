"""Pictures that several doors show: worked out once, then drawn in the terminal, as SVG, as PNG, or on a page."""
