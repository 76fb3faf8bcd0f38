"""The minds that come with Pieria, each in a package of its own. What every mind offers is in `models.mind`."""
