"""A connection that closes when its client is too slow to send a request."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 20.0
"""Longest wait for a request's headers, from the connection or the end of the last response."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with a timeout: its own waits for ever once headers have begun."""

    seconds = HEADER_SECONDS
    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._giving_up is None:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Do not keep the connection open for the rest of an unread body.
        self._stop_waiting()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if not self.transport.is_closing():
            self._giving_up = self.loop.call_later(self.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        self._giving_up = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
