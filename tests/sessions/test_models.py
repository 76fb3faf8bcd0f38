"""A session whose model is called over HTTP: how often, with which prompts, and the cost of a failure."""

import pytest
from tests.models.llm_server import Exchange, LLMServer, Said, llm_server, says, status
from tests.sessions.living import Life, embedded

from pieria.errors import AdapterError
from pieria.learning.models import embedder_of, mind_of
from pieria.models.llms.server import OpenAILLM
from pieria.sessions import Crew, MemoryLog, Session, SessionState, Surroundings

STATE, SUBGOAL, REWARD = "The dough rests.", {"reasoning": "It has to.", "subgoal": "bread"}, "0.8"
REFUSED = status(400, "not today")
FACTS = {"facts": [{"proposition": "Dough rests an hour.", "concepts": ["dough"], "confidence": 1.0, "steps": [0]}]}


def begun(server: LLMServer, life: Life) -> Session:
    return Session.begin(
        "Bake bread",
        Surroundings(
            repo="kitchen",
            mind=mind_of(OpenAILLM("baker", base_url=server.address)),
            embedder=embedder_of(embedded),
            backend=life.backend,
            log=MemoryLog(life.backend.apply_changeset),
            crew=Crew(),
        ),
    )


def asked_for(server: LLMServer) -> list[str]:
    """Return the first property of each request's schema, or `words` if it has none."""
    return [next(iter(each.schema["properties"])) if each.schema else "words" for each in server.requests]


def test_model_is_asked_once_for_each_judgement() -> None:
    life = Life()
    script: list[Said] = [STATE, SUBGOAL, STATE, REFUSED, STATE, SUBGOAL, REWARD, REWARD, REFUSED, REFUSED]
    with llm_server(*script) as server:
        session = begun(server, life)
        session.append("flour", "waited")
        with pytest.raises(AdapterError, match="not today"):
            session.append("water", "waited")
        session.append("yeast", "waited")
        session.close()
        assert session._machine.settled(20) is SessionState.FAILED
        assert len(server.requests) == len(script)
        session.commit()
        assert session._machine.settled(20) is SessionState.IDLE
        again = asked_for(server)[len(script) :]
    assert sorted(again) == ["facts", "instructions"]
    assert life.steps() == {"flour": 0.8, "yeast": 0.8}


def facts_by_schema(exchange: Exchange) -> None:
    wanted = exchange.request.schema
    says(FACTS if wanted and "facts" in wanted["properties"] else {"instructions": []})(exchange)


def test_facts_from_a_model_are_in_the_graph() -> None:
    life = Life()
    with llm_server(STATE, SUBGOAL, REWARD, facts_by_schema, facts_by_schema) as server:
        with begun(server, life) as session:
            session.append("flour", "waited")
        assert sorted(asked_for(server)) == ["facts", "instructions", "reasoning", "words", "words"]
    assert life.facts() == ["Dough rests an hour."]
