"""The models that the package `fastembed` runs, under the names it gives them.

What it needs it has fetched before or is allowed to fetch; unless `download` says so, it stays off the network.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import AdapterError, InputError
from pieria.models.embedders.runtime import silence
from pieria.models.embedding import EmbeddingResponse, Identity, checked_opts, checked_text, checked_texts

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_BATCH = 32


class FastEmbedding:
    """Safe in threads. `folder` is where the model's files lie, or are put; without it, where fastembed keeps them."""

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
        """After a fork the lock may be held by a thread that does not exist here, and so are those of the runtime gone.

        The runtime is never let go of: its end would wait for those threads.
        """
        if self._loaded is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._loaded))
        self._lock = threading.Lock()
        self._loaded = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self._embedded([checked_text(text)], opts)

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self._embedded(checked_texts(texts), opts)

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        checked_opts(opts, self.identity.model)
        if not texts:
            return EmbeddingResponse([], self.identity.model)
        with self._lock:
            model = self._loaded = self._loaded or self._load()
            try:
                vectors = [vector.tolist() for vector in model.embed(texts, batch_size=_BATCH)]
            # Fastembed raises what its runtime raises, which is of the class Exception.
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
        # As above; where the files are not there it is a ValueError, or an error of what fetches them.
        except Exception as problem:
            hint = "Let it fetch the model once with the option download, or name the folder that holds it."
            raise AdapterError(self.identity.model, "load", f"fastembed failed: {problem}", hint=hint) from problem


_everyone: weakref.WeakSet[FastEmbedding] = weakref.WeakSet()


def _after_fork() -> None:
    for embedding in list(_everyone):
        embedding._start_anew()


os.register_at_fork(after_in_child=_after_fork)
