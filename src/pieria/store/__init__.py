"""Stores of banks. `protocol` says what every store offers; each store is a package beside it."""
