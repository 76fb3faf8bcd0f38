"""The embeddings, one kind per file. `registry` chooses among them."""
