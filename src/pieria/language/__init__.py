"""What Pieria knows of languages and scripts: words, names, times, intents and patterns. Pure functions over text."""
