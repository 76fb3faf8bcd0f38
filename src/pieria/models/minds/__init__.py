"""The minds that come with Pieria, one package each. The protocol of minds is in `models.mind`."""
