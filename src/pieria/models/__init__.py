"""What embeds texts: the protocol that any model may follow, ours that run here, and adapters for others.

Nothing of this reads settings or knows of banks: paths, keys and names are handed in. Runtimes are imported where they
are used.
"""

from pieria.models.catalogue import DEFAULT, MODELS, Model, model_named
from pieria.models.embedder import Embedder, Passages
from pieria.models.embedding import FLOOR, Embedding, EmbeddingResponse, Identity, Space
from pieria.models.library import Library
from pieria.models.registry import AUTO, NONE, PROVIDERS, checked_name, embedder, settled
from pieria.models.shelf import Shelved, listed, verified

__all__ = [
    "AUTO",
    "DEFAULT",
    "FLOOR",
    "MODELS",
    "NONE",
    "PROVIDERS",
    "Embedder",
    "Embedding",
    "EmbeddingResponse",
    "Identity",
    "Library",
    "Model",
    "Passages",
    "Shelved",
    "Space",
    "checked_name",
    "embedder",
    "listed",
    "model_named",
    "settled",
    "verified",
]
