"""The queue of texts to embed, and the vectors made for a query."""
