"""What the verbs return."""
