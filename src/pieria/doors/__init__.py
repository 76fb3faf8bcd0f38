"""Ways in: each turns what its callers say into the verbs of a bank, and the answers back. No rules of their own."""
