"""A mind that asks a chat model, with one prompt per step from `prompts/`. Every reply is checked.

The model is an argument; adapters connect to it. The protocol of minds is in `models.mind`.
"""

from pieria.models.llm import LLM, LLMResponse
from pieria.models.meter import Meter
from pieria.models.minds.llm.mind import LLMMind
from pieria.models.minds.llm.prompt import GROUPS, STEPS
from pieria.models.minds.llm.request import Override, OwnPrompt

__all__ = ["GROUPS", "LLM", "STEPS", "LLMMind", "LLMResponse", "Meter", "Override", "OwnPrompt"]
