"""Models that embed, answer and rerank: the protocols, Pieria's own models, and adapters for others.

Nothing here reads settings or knows banks: paths, keys and names are arguments. Runtimes are imported on first use.
"""

from pieria.models.catalogue import DEFAULT, MODELS, Model, model_named
from pieria.models.embedder import Embedder, Passages
from pieria.models.embedding import FLOOR, Embedding, EmbeddingResponse, Identity, Space
from pieria.models.library import Library
from pieria.models.llm import LLM, Chat, LLMResponse
from pieria.models.pipelines import checked_pipeline, pipeline
from pieria.models.providers import (
    AUTO,
    LLM_PROVIDERS,
    NONE,
    PROVIDERS,
    RERANKER_PROVIDERS,
    checked_llm,
    checked_name,
    checked_reranker,
    embedder,
    language_model,
    provider_of,
    reranker,
    settled,
)
from pieria.models.reranker import Reranker
from pieria.models.shelf import Shelved, listed, verified

__all__ = [
    "AUTO",
    "DEFAULT",
    "FLOOR",
    "LLM",
    "LLM_PROVIDERS",
    "MODELS",
    "NONE",
    "PROVIDERS",
    "RERANKER_PROVIDERS",
    "Chat",
    "Embedder",
    "Embedding",
    "EmbeddingResponse",
    "Identity",
    "LLMResponse",
    "Library",
    "Model",
    "Passages",
    "Reranker",
    "Shelved",
    "Space",
    "checked_llm",
    "checked_name",
    "checked_pipeline",
    "checked_reranker",
    "embedder",
    "language_model",
    "listed",
    "model_named",
    "pipeline",
    "provider_of",
    "reranker",
    "settled",
    "verified",
]
