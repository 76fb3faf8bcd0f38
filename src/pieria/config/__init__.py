"""How knowledge is drawn from experience and found again, as one value: models, steps, thresholds, and a profile.

A configuration is data that is handed down. It opens nothing and asks nobody; where banks live and who is who is said
by the settings.
"""

from pieria.config.config import Config
from pieria.config.profile import ExtractionProfile

__all__ = ["Config", "ExtractionProfile"]

# Where they are imported from is what a traceback should name.
for _kept in (Config, ExtractionProfile):
    _kept.__module__ = __name__
