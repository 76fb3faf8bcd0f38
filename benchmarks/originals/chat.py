"""One program against mem0's interface: it remembers a conversation, and asks. It takes either client.

`python chat.py CLIENT INPUT OUTPUT [EMBEDDINGS]`; CLIENT is `mem0` or `pieria`. With mem0, EMBEDDINGS is the address of
an OpenAI-compatible server. It imports nothing of the benchmarks: mem0's interpreter runs it by its path.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

USER = "maya"
SHOWN = 10


def client(name: str, folder: str, embeddings: str) -> Any:
    """Return the client. Apart from mem0's own configuration, only the import differs."""
    if name == "pieria":
        from pieria.integrations.mem0 import Memory as Ours

        return Ours(data=folder)
    os.environ.update(MEM0_DIR=folder, MEM0_TELEMETRY="False", OPENAI_API_KEY="made-up")
    from mem0 import Memory  # type: ignore[import-not-found]

    dimensions = {"embedding_model_dims": 384, "path": f"{folder}/store"}
    of_embedder = {"openai_base_url": embeddings, "model": "all-MiniLM-L6-v2", "embedding_dims": 384}
    config = {
        "vector_store": {"provider": "qdrant", "config": dimensions},
        "embedder": {"provider": "openai", "config": of_embedder},
        "history_db_path": f"{folder}/history.db",
    }
    return Memory.from_config(config)


def quickstart(memory: Any) -> list[str]:
    """Run the calls of mem0's quickstart, and a chat of twenty turns; return what the last search found."""
    messages = [
        {"role": "user", "content": "I'm planning a film night. Any ideas?"},
        {"role": "assistant", "content": "How about thrillers?"},
        {"role": "user", "content": "I'm not a fan of thrillers, but I love science fiction."},
    ]
    added = memory.add(messages, user_id=USER, metadata={"category": "films"}, infer=False)["results"]
    memory.update(memory_id=added[2]["id"], text="No thrillers; science fiction, please.")
    assert memory.get(added[2]["id"])["memory"].startswith("No thrillers")
    assert [row["event"] for row in memory.history(added[2]["id"])] == ["ADD", "UPDATE"]
    for number in range(20):
        question = f"Film number {number}, please?"
        memory.search(question, filters={"user_id": USER}, top_k=3)
        turn = [{"role": "user", "content": question}, {"role": "assistant", "content": f"Here is film {number}."}]
        memory.add(turn, user_id=USER, infer=False)
    memory.delete(added[0]["id"])
    found = memory.search("which kind of films does she love?", filters={"user_id": USER}, top_k=5)["results"]
    assert len(memory.get_all(filters={"user_id": USER}, top_k=100)["results"]) == 42
    memory.delete_all(user_id=USER)
    return [one["memory"] for one in found]


def main(name: str, source: str, target: str, embeddings: str = "") -> None:
    given = json.loads(Path(source).read_text("utf-8"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        memory = client(name, folder, embeddings)
        films = quickstart(memory)
        for turn in given["said"]:
            about = {"piece": turn["source"]}
            memory.add(turn["text"], user_id=USER, run_id=turn["session"], metadata=about, infer=False)
        answers = []
        for question in given["asked"]:
            found = memory.search(question, filters={"user_id": USER}, top_k=SHOWN, threshold=0.0)["results"]
            answers.append([one["metadata"]["piece"] for one in found])
        Path(target).write_text(json.dumps({"films": films, "answers": answers}), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
