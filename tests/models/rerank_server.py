"""A server like `llm_server` that reranks in both forms of the protocol.

    with rerank_server(status(503)) as server:
        reranker("server:m", options={"base_url": server.address})

When the script is used up, `judge` scores the documents, and the reply has the form of the request.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.models.llm_server import LLMServer, Reply, Request, hangs, raw, running, status

__all__ = ["Answer", "RerankServer", "never", "pairs", "rerank_server", "says", "status"]

Answer = Reply
Judge = Callable[[str, str], float]
never = hangs
says = raw


def by_length(query: str, document: str) -> float:
    return 1 / len(document)


class RerankServer(LLMServer):
    judge: Judge = staticmethod(by_length)

    def _otherwise(self, request: Request) -> Reply:
        """Reply best first, like a server."""
        judged = [(self.judge(request.body["query"], text), n) for n, text in enumerate(request.documents)]
        judged.sort(key=lambda pair: -pair[0])
        if "texts" in request.body:
            return raw([{"index": index, "score": score} for score, index in judged])
        results = [{"index": index, "relevance_score": score} for score, index in judged]
        return raw({"results": results, "usage": {"total_tokens": 7}})


def pairs(*scores: tuple[Any, Any]) -> Answer:
    """Reply with results of these indices and scores."""
    return raw({"results": [{"index": index, "relevance_score": score} for index, score in scores]})


def rerank_server(*script: Answer) -> AbstractContextManager[RerankServer]:
    return running(RerankServer(script))
