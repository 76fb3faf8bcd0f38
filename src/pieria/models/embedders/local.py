"""A model of the catalogue, run by ONNX Runtime on this machine from its installed files.

The runtime, the tokenizer and the weights are loaded with the first text. Each load checks the files' hashes, so that a
vector always comes from the weights that its space names. `shelf` finds the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import AdapterError, InputError, ModelDamagedError
from pieria.models.catalogue import Model
from pieria.models.embedders import graph, runtime
from pieria.models.embedders.pieces import WordPieces
from pieria.models.embedding import EmbeddingResponse, Identity, OwnEmbedding, checked_opts
from pieria.models.shelf import seemingly_sound, sound_file, sound_folder
from pieria.runtime import forks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOKENIZER = "tokenizer.json"
_VERSION = 1
"""Increase it when a change of the graph or of tokenizing changes any vector."""
_FAR_BELOW = -1e30
_ROOM = 512
"""Pieces per run, with padding. Larger runs are slower, as they leave the processor's cache, and take more memory."""
_THREADS_HELP_UP_TO = 8
ROOM = 2_000
"""Characters per call: a call takes a fraction of a second even on a busy processor."""


class LocalEmbedding(OwnEmbedding):
    """Safe in threads. `threads` is the number that the runtime uses for one call."""

    is_at_hand = True

    def __init__(self, model: Model, models: Path, *, threads: int | None = None) -> None:
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise InputError("threads", "a whole number from 1", threads)
        self._model = model
        self._models = models
        self._threads = threads or min(_processors(), _THREADS_HELP_UP_TO)
        self._loaded: forks.Own[_Runner] = forks.Own()
        self._pieces: forks.Own[WordPieces] = forks.Own()
        self.identity = Identity(
            f"local:{model.name}", model.dimension, {"files": model.fingerprint, "version": _VERSION}
        )

    @property
    def pieces(self) -> WordPieces:
        """The model's tokenizer."""
        return self._pieces.get(self._tokenizer)

    @property
    def is_loaded(self) -> bool:
        return self._loaded.is_made

    @property
    def room(self) -> int:
        return ROOM

    def check(self) -> None:
        """Check the names and sizes of the files. Raises `ModelMissingError` or `ModelDamagedError`."""
        if not self._loaded.is_made:
            seemingly_sound(self._model, self._models)

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        checked_opts(opts, self.identity.model)
        runner, pieces = self._runner(), self.pieces
        read = [pieces.ids(text) for text in texts]
        vectors: list[list[float]] = [[]] * len(texts)
        for places in _batches([len(ids) for ids, _ in read]):
            made = runner.run([read[place][0] for place in places])
            for place, vector in zip(places, made.tolist(), strict=True):
                vectors[place] = vector
        cut = tuple(place for place, (_, truncated) in enumerate(read) if truncated)
        usage = {"input_tokens": sum(len(ids) for ids, _ in read)}
        return EmbeddingResponse(vectors, self.identity.model, usage, cut)

    def _tokenizer(self) -> WordPieces:
        try:
            from tokenizers import Tokenizer
        except ImportError as problem:
            hint = "Install tokenizers, or choose another embedder."
            raise AdapterError(self._model.name, "load", "the package tokenizers is missing", hint=hint) from problem
        file = sound_file(self._model, self._models, TOKENIZER)
        try:
            return WordPieces(Tokenizer.from_file(str(file)), self._model.longest)
        except Exception as problem:
            raise ModelDamagedError(file, "not a tokenizer") from problem

    def _runner(self) -> _Runner:
        return self._loaded.get(lambda: _Runner(self._model, sound_folder(self._model, self._models), self._threads))


class _Runner:
    """A runtime session with the model loaded."""

    def __init__(self, model: Model, folder: Path, threads: int) -> None:
        # Its destructor would wait for threads that a forked child does not have.
        forks.keep(self)
        onnxruntime = runtime.onnxruntime(model.name)
        self._name = model.name
        shape = graph.shape_of(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        for key, setting in {
            "session.model_external_initializers_file_folder_path": str(folder),
            "session.force_spinning_stop": "1",
        }.items():
            options.add_session_config_entry(key, setting)
        built = graph.encoder(shape, graph.places_of(folder, shape))
        try:
            self._session = onnxruntime.InferenceSession(built, options, providers=["CPUExecutionProvider"])
        except Exception as problem:
            raise AdapterError(model.name, "load", f"the runtime refused it: {problem}") from problem

    def run(self, batch: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        import numpy as np

        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), np.int64)
        kept = np.zeros((len(batch), longest, 1), np.float32)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
            kept[row, : len(pieces)] = 1
        bias = np.where(kept > 0, np.float32(0), np.float32(_FAR_BELOW)).reshape(len(batch), 1, 1, longest)
        places = np.arange(longest)[np.newaxis]
        given = {graph.IDS: ids, graph.POSITIONS: places, graph.KEPT: kept, graph.BIAS: bias}
        try:
            made: NDArray[np.float32] = self._session.run([graph.VECTORS], given)[0]
        except Exception as problem:
            raise AdapterError(self._name, "embed", f"the runtime failed: {problem}") from problem
        return made


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the indices of texts to run together: texts of similar length, so that there is little padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > _ROOM:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _processors() -> int:
    """Return the number of processors that this process may use, if the system tells."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
