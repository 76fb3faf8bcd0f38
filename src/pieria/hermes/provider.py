"""The provider: every hook of Hermes' plugin interface, on one bank. Hooks log failures instead of raising.

The one exception is a checkpoint that the host requires: the host detects its failure by the exception.
"""

from __future__ import annotations

import logging
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pieria.errors import BusyError, PieriaError, UnavailableError, UnknownError
from pieria.hermes import options as chosen
from pieria.hermes import tools
from pieria.hermes.joined import Joined, agent_of
from pieria.hermes.turns import Keeping, Mirror, Turn, keep_missing, pieces, source_of, spoken
from pieria.record.privacy import cut_private

if TYPE_CHECKING:
    from pieria import Memory
    from pieria.hermes.options import Options

log = logging.getLogger(__name__)

NAME = "pieria"
LABEL = "Pieria"
HOSTS_MODULE = "agent.memory_provider"
FLUSH_SECONDS = 5.0
"""Seconds that the end of the session and of the agent wait for queued turns."""
NOTES = ("memory", "user")
"""The agent's own notes, which are part of every prompt."""
BY_ITSELF = (
    "What was said in earlier sessions is kept for you word for word, and what bears on a message is put before it."
)
CHECKPOINT = (
    "Everything that was said up to here is kept word for word in Pieria; "
    "mnemosyne_recall finds it by what it was about."
)

Given = ParamSpec("Given")
Result = TypeVar("Result")


def quiet(otherwise: Any) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Make a hook log its errors and return `otherwise` instead."""

    def decorate(hook: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(hook)
        def guarded(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            try:
                return hook(*args, **kwargs)
            except PieriaError as problem:
                log.warning("%s: %s", hook.__name__, problem)
            except Exception:
                log.exception("%s failed unexpectedly", hook.__name__)
            answer: Result = otherwise
            return answer

        return guarded

    return decorate


@dataclass(frozen=True, slots=True)
class RecallStatus:
    """What the host shows the person about the last recall."""

    provider_label: str
    count: int
    glyph: str = "🧠"


def provider() -> PieriaProvider:
    """Return a provider for one agent. Inside Hermes it also inherits from Hermes' class, to get hooks of later
    versions.
    """
    base = getattr(sys.modules.get(HOSTS_MODULE), "MemoryProvider", None)
    kinds = (PieriaProvider,) if base is None else (PieriaProvider, base)
    made: PieriaProvider = types.new_class("PieriaMemoryProvider", kinds)()
    return made


class PieriaProvider:
    """The hooks, which several threads of the host call."""

    pre_compress_checkpoint_api_version = 2

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: Mapping[str, Any] = {}
        self._session = ""
        self._earlier: tuple[str, ...] = ()
        self._joined: Joined | None = None
        self._ended = False
        self._compressed: datetime | None = None
        self._heard: datetime | None = None
        self._recalled = 0

    @property
    def name(self) -> str:
        return NAME

    # --- availability and options

    def is_available(self) -> bool:
        return not self.unavailable_reason()

    def unavailable_reason(self) -> str:
        """Return what is wrong with the options or settings, without opening a bank."""
        try:
            Joined(agent_of(self._said), chosen.options_in(self._home)).banks.close()
        except PieriaError as problem:
            return "; ".join(f"{one.message} {one.hint or ''}".strip() for one in problem.all_errors())
        except OSError as problem:
            return f"Pieria cannot be used here: {problem}"
        return ""

    def get_config_schema(self) -> list[dict[str, Any]]:
        return [
            {
                "key": "bank",
                "description": "Bank to remember in (empty: hermes, or hermes-PROFILE; {user}: one for each person)",
                "required": False,
            },
            {
                "key": "data",
                "description": "Folder of the banks, or server (empty: ~/.pieria, shared with Pieria's other doors)",
                "required": False,
            },
        ]

    def save_config(self, values: Mapping[str, Any], hermes_home: str) -> None:
        """Save the options. Errors are raised, since a person is waiting for them."""
        chosen.save(Path(hermes_home), values)

    @quiet([])
    def backup_paths(self) -> list[str]:
        """Return the bank's files, for a backup while no agent runs; none on a server."""
        joined = self._joined or Joined(agent_of(self._said), chosen.options_in(self._home))
        return [str(path) for path in joined.banks.workspace.place.at(joined.bank_name).files]

    # --- start and end

    @quiet(None)
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self.shutdown()
        with self._lock:
            self._said, self._session, self._ended = kwargs, session_id, False
            self._earlier = tuple(filter(None, [kwargs.get("parent_session_id")]))
            self._compressed = self._heard = None
        joined = self._join()
        joined.behind.add("getting ready", partial(self._get_ready, joined, session_id))

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """Set up without opening or starting anything."""
        self._said, self._session = kwargs, session_id

    @quiet(None)
    def shutdown(self) -> None:
        with self._lock:
            joined, self._joined, self._ended = self._joined, None, True
        if joined is not None:
            joined.close(FLUSH_SECONDS)

    @quiet(None)
    def on_session_end(self, messages: Sequence[Mapping[str, Any]]) -> None:
        joined = self._join()
        left = joined.behind.flush(FLUSH_SECONDS)
        if left:
            log.warning("%s things are still to be kept at the end of the session", left)
        elif joined.options.autosave and joined.agent.primary:
            joined.behind.add("saying what is saved", partial(joined.note_saved, self._session))
        if joined.options.sleep and joined.agent.primary:
            joined.behind.add("queueing a sleep", partial(joined.queue_sleep, self._session))

    @quiet(None)
    def on_session_switch(
        self, new_session_id: str, *, parent_session_id: str = "", reset: bool = False, **kwargs: Any
    ) -> None:
        with self._lock:
            before = [*self._earlier, self._session, parent_session_id]
            goes_on = not reset and (parent_session_id or new_session_id == self._session)
            self._earlier = tuple(dict.fromkeys(filter(None, before))) if goes_on else ()
            if new_session_id != self._session:
                self._compressed = None
            self._session = new_session_id
            self._recalled = 0
            joined = self._joined
        if joined is not None:
            joined.recalling.forget()

    # --- before the model is called

    @quiet("")
    def system_prompt_block(self) -> str:
        options = self._options()
        by_itself = f" {BY_ITSELF}" if options.prefetch and options.autosave else ""
        return f"# Long-term memory (Pieria)\n{tools.instructions(options.given_tools)}{by_itself}"

    @quiet("")
    def prefetch(self, query: str, *, session_id: str = "") -> str:
        self._recalled = 0
        joined = self._join()
        question = cut_private(query)[0].strip()
        if not joined.options.prefetch or not question:
            return ""
        session = session_id or self._session
        told = joined.recalling.now(question, session, partial(self._is_before_it, joined, session))
        self._recalled = told.memories
        return told.text

    @quiet(None)
    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        joined = self._join()
        question = cut_private(query)[0].strip()
        if joined.options.prefetch and question:
            session = session_id or self._session
            is_known = partial(self._is_before_it, joined, session)
            joined.behind.add("recalling ahead", partial(joined.recalling.ahead, question, session, is_known))

    def recall_status(self) -> RecallStatus | None:
        return RecallStatus(LABEL, self._recalled) if self._recalled else None

    # --- tools

    @quiet([])
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return tools.schemas(self._options().given_tools)

    def handle_tool_call(self, tool_name: str, args: object, **kwargs: Any) -> str:
        try:
            joined = self._join()
            host = joined.host(kwargs.get("session_id") or self._session)
            return tools.answer(tool_name, args, host, joined.options.given_tools)
        except PieriaError as problem:
            return tools.refusal(problem)
        except Exception as problem:
            log.exception("%s failed unexpectedly", tool_name)
            return tools.refusal(UnknownError(type(problem).__name__, hint="The agent's log tells more."))

    # --- automatic storage

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        self._heard = datetime.now(UTC)

    @quiet(None)
    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: Sequence[Mapping[str, Any]] | None = None,
        turn_author: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a turn. `messages` also holds tool calls, which are not stored."""
        joined = self._keeping()
        if joined is None:
            return
        now, self._heard, heard = datetime.now(UTC), None, self._heard
        by = turn_author or {}
        author = by.get("name") or by.get("id") or joined.agent.human
        turns = (
            Turn(user_content, author, "agent" if by.get("is_bot") else "human", heard or now),
            Turn(assistant_content, joined.agent.name, "agent", now),
        )
        for turn in turns:
            self._keep(joined, session_id or self._session, turn)

    @quiet(None)
    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        joined = self._keeping()
        if joined is None:
            return
        text = f"Gave away: {spoken({'content': task})}\n\nWhat came back: {spoken({'content': result})}"
        turn = Turn(text, joined.agent.name, "agent", datetime.now(UTC))
        self._keep(joined, self._session, turn, {"child_session": child_session_id} if child_session_id else None)

    @quiet(None)
    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        joined = self._join()
        if not joined.options.mirror or not joined.agent.primary:
            return
        session, profile = self._session, joined.agent.profile

        def mirrored() -> None:
            Mirror(joined.opened(session), profile, session).written(action, target, content, metadata or {})

        joined.behind.add("mirroring a note", mirrored)

    def on_pre_compress(self, messages: Sequence[Mapping[str, Any]], *, require_checkpoint: bool = False) -> str:
        """Store the messages that are not stored yet. Raise on failure if the host requires it."""
        try:
            return self._checkpoint(messages)
        except Exception as problem:
            if require_checkpoint:
                raise
            log.warning("on_pre_compress: %s", problem, exc_info=not isinstance(problem, PieriaError))
            return ""

    def _checkpoint(self, messages: Sequence[Mapping[str, Any]]) -> str:
        joined = self._keeping()
        if joined is None:
            raise UnavailableError("autosave", "nothing is kept of this session", hint="Set autosave in pieria.json.")
        if left := joined.behind.flush(FLUSH_SECONDS):
            raise BusyError("keep", f"{left} things are still to be kept")
        now = datetime.now(UTC)
        authors = {"user": (joined.agent.human, "human"), "assistant": (joined.agent.name, "agent")}
        turns = [
            Turn(spoken(message), *authors[message["role"]], now)
            for message in messages
            if message.get("role") in authors and not message.get("_compressed_summary")
        ]
        keep_missing(joined.opened(self._session), self._session, turns, self._earlier)
        joined.note_saved(self._session)
        self._compressed = now
        return CHECKPOINT

    # --- shared by the hooks

    @property
    def _home(self) -> Path:
        said = self._said.get("hermes_home")
        return Path(said) if said else chosen.home_folder()

    def _options(self) -> Options:
        return self._joined.options if self._joined is not None else chosen.options_in(self._home)

    def _join(self) -> Joined:
        """Return the agent's bank. If opening failed, the next hook tries again."""
        with self._lock:
            if self._ended:
                raise UnavailableError("session", "the agent's memory was shut down", hint="Start a new session.")
            if self._joined is None:
                joined = Joined(agent_of(self._said), chosen.options_in(self._home))
                joined.behind.add("beginning to do jobs", joined.begin_work)
                self._joined = joined
            return self._joined

    def _keeping(self) -> Joined | None:
        """Return the agent's bank, or None if turns are not stored."""
        joined = self._join()
        return joined if joined.options.autosave and joined.agent.primary else None

    def _keep(self, joined: Joined, session: str, turn: Turn, meta: Mapping[str, Any] | None = None) -> None:
        turn = Turn(spoken({"content": turn.text}), turn.author, turn.author_type, turn.at)
        keeping = Keeping(session, pieces([turn]), meta)
        joined.behind.add("keeping a turn", lambda: keeping.into(joined.opened(session)))

    def _get_ready(self, joined: Joined, session: str) -> None:
        """Load models now, so that neither the first message nor a job waits for them."""
        joined.opened(session)
        if joined.options.prefetch:
            joined.recalling.ahead("getting ready", session, lambda memory: True)

    def _is_before_it(self, joined: Joined, session: str, memory: Memory) -> bool:
        """Return whether the model already sees the memory, in this conversation or in its notes."""
        if memory.kind == "turn" and memory.session == session:
            return self._compressed is None or memory.at >= self._compressed
        return memory.source in {source_of(joined.agent.profile, target) for target in NOTES}
