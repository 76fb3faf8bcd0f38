"""mem0 and Pieria in one program: `python -m benchmarks.originals.beside_mem0 LOCOMO --mem0 PYTHON`.

PYTHON is the interpreter of an environment with `mem0ai`. mem0 keeps texts without a model (`infer=False`), and gets
its vectors from the same local model as Pieria, through a server on loopback. Both answer the questions of LoCoMo's
first conversation; the figure is the share of the evidence among the first ten.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.datasets import Conversation, locomo
from benchmarks.originals import chat
from pieria.models.catalogue import DEFAULT
from pieria.models.embedders.local import LocalEmbedding
from pieria.workspace import Workspace

LONGEST = 3600.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.originals.beside_mem0", description=__doc__)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--mem0", required=True, metavar="PYTHON")
    options = parser.parse_args()
    conversation = next(locomo(options.locomo))
    wanted = [asked for asked in conversation.asked if asked.evidence]
    with TemporaryDirectory() as made, embeddings() as address:
        folder = Path(made)
        source = folder / "given.json"
        source.write_text(json.dumps(_given(conversation, [asked.text for asked in wanted])), "utf-8")
        shares = {}
        for name, python in (("pieria", sys.executable), ("mem0", options.mem0)):
            target = folder / f"{name}.json"
            line = [python, chat.__file__, name, str(source), str(target), address]
            subprocess.run(line, check=True, timeout=LONGEST)
            answers = json.loads(target.read_text("utf-8"))["answers"]
            found = [
                len(asked.evidence & set(answer)) / len(asked.evidence)
                for asked, answer in zip(wanted, answers, strict=True)
                if asked.evidence
            ]
            shares[name] = sum(found) / len(found)
    sys.stdout.write(json.dumps({"questions": len(wanted), **{name: round(one, 3) for name, one in shares.items()}}))
    sys.stdout.write("\n")
    return 0 if shares["pieria"] >= shares["mem0"] else 1


def _given(conversation: Conversation, asked: Sequence[str]) -> dict[str, Any]:
    said = [{name: turn[name] for name in ("text", "source", "session")} for turn in conversation.said]
    return {"said": said, "asked": list(asked)}


@contextmanager
def embeddings() -> Iterator[str]:
    """Serve the local model as OpenAI's `/embeddings` on loopback, and yield the address."""
    with Workspace() as workspace:
        models = workspace.resolved.settings.models
    model, lock = LocalEmbedding(DEFAULT, models), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            with lock:
                vectors = model.embed_batch(texts).vectors
            data = [
                {"object": "embedding", "index": number, "embedding": [float(part) for part in vector]}
                for number, vector in enumerate(vectors)
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            body = json.dumps({"object": "list", "model": asked["model"], "data": data, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing: the output is the figures."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
