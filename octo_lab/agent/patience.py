"""Keeps the time a person takes to answer out of a turn's wall clock."""

from __future__ import annotations

import math

import anyio

from octo_lab.core.events import Decision
from octo_lab.tools.tool import Approver, Question


class Untimed:
    """An approver that stops the clock of ``scope`` while at least one question is open."""

    def __init__(self, approver: Approver, scope: anyio.CancelScope) -> None:
        self._approver = approver
        self._scope = scope
        self._open = 0
        self._left = 0.0

    async def approve(self, question: Question) -> Decision:
        self._pause()
        try:
            return await self._approver.approve(question)
        finally:
            self._resume()

    def _pause(self) -> None:
        if self._open == 0:
            self._left = self._scope.deadline - anyio.current_time()
            self._scope.deadline = math.inf
        self._open += 1

    def _resume(self) -> None:
        self._open -= 1
        if self._open == 0:
            self._scope.deadline = anyio.current_time() + self._left
