"""The configuration of learning and recall as one value: models, steps, thresholds and a profile.

A configuration is plain data. Settings, such as where banks are stored, belong to `settings`.
"""

from pieria.config.config import Config
from pieria.config.profile import ExtractionProfile

__all__ = ["Config", "ExtractionProfile"]

# Tracebacks should show the public import path.
for _kept in (Config, ExtractionProfile):
    _kept.__module__ = __name__
