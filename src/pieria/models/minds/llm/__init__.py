"""A mind that asks a chat model: one prompt a step, kept as data in `prompts/`; no reply counts unchecked.

The model is handed in; how it is reached belongs to the adapters. What a mind is belongs to `models.mind`.
"""

from pieria.models.llm import LLM, LLMResponse
from pieria.models.meter import Meter
from pieria.models.minds.llm.custom_prompts import OwnPrompt
from pieria.models.minds.llm.mind import LLMMind
from pieria.models.minds.llm.prompt import GROUPS, STEPS
from pieria.models.minds.llm.request import Override

__all__ = ["GROUPS", "LLM", "STEPS", "LLMMind", "LLMResponse", "Meter", "Override", "OwnPrompt"]
