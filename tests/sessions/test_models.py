"""A session whose model is called over HTTP: how often, and the cost of a failure."""

from dataclasses import replace

import pytest
from tests.models.llm_server import Said, llm_server, status
from tests.sessions.living import Life

from pieria.errors import AdapterError
from pieria.learning.models import mind_of
from pieria.models.llms.server import OpenAILLM
from pieria.sessions import Crew, Session, SessionState

STATE, SUBGOAL, REWARD = "The dough rests.", {"reasoning": "It has to.", "subgoal": "bread"}, "0.8"
REFUSED = status(400, "not today")


def test_model_is_asked_once_for_each_judgement() -> None:
    life = Life()
    script: list[Said] = [STATE, SUBGOAL, STATE, REFUSED, STATE, SUBGOAL, REWARD, REWARD, REFUSED, REFUSED]
    with llm_server(*script) as server:
        mind = mind_of(OpenAILLM("baker", base_url=server.address))
        session = Session.begin("Bake bread", replace(life.surroundings(crew=Crew()), mind=mind))
        session.append("flour", "waited")
        with pytest.raises(AdapterError, match="not today"):
            session.append("water", "waited")
        session.append("yeast", "waited")
        session.close()
        assert session._machine.settled(20) is SessionState.FAILED
        assert len(server.requests) == len(script)
        session.commit()
        assert session._machine.settled(20) is SessionState.IDLE
        again = [each.schema or {} for each in server.requests[len(script) :]]
    assert sorted(next(iter(schema["properties"])) for schema in again) == ["facts", "instructions"]
    assert life.steps() == {"flour": 0.8, "yeast": 0.8}
