"""BERT by hand, in NumPy, as the reference for the local embedder. The two share no code.

It has its own WordPiece over the vocabulary, and neither batches nor pads.
"""

from __future__ import annotations

import json
import math
import struct
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LONGEST = 256


class Reference:
    def __init__(self, folder: Path) -> None:
        content = (folder / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + length])
        self._tensors = {
            name: np.frombuffer(content, "<f4", math.prod(entry["shape"]), 8 + length + entry["data_offsets"][0])
            .reshape(entry["shape"])
            .astype(np.float64)
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] == "F32"
        }
        self._vocabulary = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
        self._config = json.loads((folder / "config.json").read_text("utf-8"))

    def vector(self, text: str) -> Floats:
        words = [self._vocabulary[word] for word in self.pieces(text)][: LONGEST - 2]
        ids = [self._vocabulary["[CLS]"], *words, self._vocabulary["[SEP]"]]
        state = self._tensors["embeddings.word_embeddings.weight"][ids]
        state = state + self._tensors["embeddings.position_embeddings.weight"][: len(ids)]
        state = self._normal(
            state + self._tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
        )
        for layer in range(self._config["num_hidden_layers"]):
            state = self._layer(state, f"encoder.layer.{layer}")
        mean = state.mean(axis=0)
        unit: Floats = mean / np.sqrt((mean**2).sum())
        return unit

    def pieces(self, text: str) -> list[str]:
        return [piece for word in _words(text) for piece in self._cut(word)]

    def _cut(self, word: str) -> list[str]:
        found: list[str] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            ends = (end for end in range(len(word), start, -1) if mark + word[start:end] in self._vocabulary)
            end = next(ends, 0)
            if not end or len(word) > 100:
                return ["[UNK]"]
            found.append(mark + word[start:end])
            start = end
        return found

    def _layer(self, state: Floats, at: str) -> Floats:
        heads = self._config["num_attention_heads"]
        width = state.shape[1] // heads
        query, key, value = (self._linear(state, f"{at}.attention.self.{part}") for part in ("query", "key", "value"))
        mixed = np.empty_like(state)
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(width))
            mixed[:, part] = scores / scores.sum(axis=1, keepdims=True) @ value[:, part]
        state = self._normal(
            self._linear(mixed, f"{at}.attention.output.dense") + state, f"{at}.attention.output.LayerNorm"
        )
        inner = self._linear(state, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        return self._normal(self._linear(inner, f"{at}.output.dense") + state, f"{at}.output.LayerNorm")

    def _linear(self, state: Floats, name: str) -> Floats:
        made: Floats = state @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]
        return made

    def _normal(self, state: Floats, name: str) -> Floats:
        centred = state - state.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + self._config["layer_norm_eps"])
        made: Floats = centred / spread * self._tensors[f"{name}.weight"] + self._tensors[f"{name}.bias"]
        return made


def _words(text: str) -> list[str]:
    spaced = []
    for letter in text:
        if letter in "\t\n\r":
            spaced.append(" ")
        elif unicodedata.category(letter) in ("Cc", "Cf", "Cn", "Co", "Cs") or letter == "\ufffd":
            continue
        elif _is_ideograph(letter):
            spaced.append(f" {letter} ")
        else:
            spaced.append(letter)
    bare = [c for c in unicodedata.normalize("NFD", "".join(spaced)) if unicodedata.category(c) != "Mn"]
    apart = [f" {c} " if _is_mark(c) else c for c in "".join(bare).lower()]
    return "".join(apart).split()


def _is_ideograph(letter: str) -> bool:
    ranges = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0xF900, 0xFAFF))
    return any(low <= ord(letter) <= high for low, high in ranges)


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter).startswith("P") or (
        letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " "
    )
