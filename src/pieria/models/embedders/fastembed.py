"""The models of the package `fastembed`, under its names for them.

Uses files that were fetched before. Only with `download` does it use the network.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import AdapterError, InputError
from pieria.models.embedders.runtime import silence
from pieria.models.embedding import EmbeddingResponse, Identity, OwnEmbedding, checked_opts

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
        self._loaded: TextEmbedding | None = None
        self._start_anew()
        _everyone.add(self)
        self.identity = Identity(f"fastembed:{model}")

    def _start_anew(self) -> None:
        """Drop the runtime and the lock in a forked child, where the runtime's threads do not exist.

        The runtime is leaked on purpose: its destructor would wait for those threads.
        """
        if self._loaded is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._loaded))
        self._lock = threading.Lock()
        self._loaded = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        checked_opts(opts, self.identity.model)
        if not texts:
            return EmbeddingResponse([], self.identity.model)
        with self._lock:
            model = self._loaded = self._loaded or self._load()
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
            return TextEmbedding(
                self._model,
                cache_dir=None if self._cache is None else str(self._cache),
                specific_model_path=None if self._folder is None else str(self._folder),
                threads=self._threads,
                local_files_only=not self._download,
            )
        # As above. Missing files raise a ValueError, or an error of the downloader.
        except Exception as problem:
            hint = "Download the model once with the option download, or name its folder."
            raise AdapterError(self.identity.model, "load", f"fastembed failed: {problem}", hint=hint) from problem


_everyone: weakref.WeakSet[FastEmbedding] = weakref.WeakSet()


def _after_fork() -> None:
    for embedding in list(_everyone):
        embedding._start_anew()


os.register_at_fork(after_in_child=_after_fork)
