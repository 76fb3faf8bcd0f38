"""Facts: the verbs, and how facts come out of texts."""
