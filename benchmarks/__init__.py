"""Measures the promised speed and retrieval quality on any machine. Not part of the installed package."""

import os

# A started server would fetch a missing model beside the measurement.
os.environ["PIERIA_FETCH_MODEL"] = "off"
