"""The models of the package `fastembed`, under its names for them.

Uses files that were fetched before. Only with `download` does it use the network.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import AdapterError, InputError
from pieria.models.embedders.runtime import silence
from pieria.models.embedding import EmbeddingResponse, Identity, OwnEmbedding, checked_opts
from pieria.runtime import forks

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_BATCH = 32


class FastEmbedding(OwnEmbedding):
    """An embedding run by fastembed. Safe in threads.

    `folder` is where the model's files are or will be; without it, fastembed uses its cache.
    """

    def __init__(
        self,
        model: str,
        *,
        folder: Path | None = None,
        cache: Path | None = None,
        threads: int | None = None,
        download: bool = False,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InputError("model", "the name of a model that fastembed knows", model)
        self._model = model
        self._folder = folder
        self._cache = cache
        self._threads = threads
        self._download = download
        self._loaded: forks.Own[TextEmbedding] = forks.Own()
        self._lock: forks.Own[threading.Lock] = forks.Own()
        self.identity = Identity(f"fastembed:{model}")

    @property
    def is_loaded(self) -> bool:
        return self._loaded.is_made

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        checked_opts(opts, self.identity.model)
        if not texts:
            return EmbeddingResponse([], self.identity.model)
        with self._lock.get(threading.Lock):
            model = self._loaded.get(self._load)
            try:
                vectors = [vector.tolist() for vector in model.embed(texts, batch_size=_BATCH)]
            # Fastembed passes on its runtime's errors, whose only common base is Exception.
            except Exception as problem:
                raise AdapterError(self.identity.model, "embed", f"fastembed failed: {problem}") from problem
        return EmbeddingResponse(vectors, self.identity.model)

    def _load(self) -> TextEmbedding:
        silence()
        try:
            from fastembed import TextEmbedding
        except ImportError as problem:
            hint = "Install the package fastembed, or choose another embedder."
            raise AdapterError(self.identity.model, "load", "the package fastembed is missing", hint=hint) from problem
        known = [described["model"] for described in TextEmbedding.list_supported_models()]
        if self._model not in known:
            raise AdapterError(self.identity.model, "load", "fastembed knows no model of this name")
        try:
            loaded = TextEmbedding(
                self._model,
                cache_dir=None if self._cache is None else str(self._cache),
                specific_model_path=None if self._folder is None else str(self._folder),
                threads=self._threads,
                local_files_only=not self._download,
            )
            # Its destructor would wait for threads that a forked child does not have.
            forks.keep(loaded)
            return loaded
        # As above. Missing files raise a ValueError, or an error of the downloader.
        except Exception as problem:
            hint = "Download the model once with the option download, or name its folder."
            raise AdapterError(self.identity.model, "load", f"fastembed failed: {problem}", hint=hint) from problem
