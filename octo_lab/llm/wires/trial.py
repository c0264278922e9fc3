"""One request and what it has learned from refusals: how it is asked again, and when no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from octo_lab.core.errors import BadRequest, ContextOverflow
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.llm.adjust import adjusted, remark
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.text_only import text_only

MOST_ADJUSTMENTS = 3
_PASSING = re.compile(r"[0-9a-f-]{8,}|\d+")  # ids and times, which no two answers share


@dataclass(slots=True, kw_only=True)
class Trial:
    """``unexplained`` is a complaint that a request of this transcript got before, if any."""

    request: ChatRequest
    hints: ModelHints
    unexplained: str | None = None
    adjustments: int = 0
    plain: bool = False  # the transcript is told in words: the last try

    def after(self, refusal: BadRequest) -> str | None:
        """How the next try differs, as a remark on the model, or '' where nobody need know it.

        None: there is none. A refusal that explains itself is heeded, at most three times; one
        that does not is believed when it comes twice, and then the transcript is told in words.
        """
        if isinstance(refusal, ContextOverflow) or self.plain:
            return None
        learned = adjusted(self.hints, refusal.complaint)
        if learned is not None and self.adjustments < MOST_ADJUSTMENTS:
            told = remark(self.hints, learned)
            self.hints = learned
            self.adjustments += 1
            return told
        return self._unexplained(_PASSING.sub("#", refusal.complaint))

    def _unexplained(self, complaint: str) -> str | None:
        if not _holds_more_than_text(self.request.messages):
            return None
        if complaint != self.unexplained:
            self.unexplained = complaint
            return ""
        self.plain = True
        self.request = replace(self.request, messages=text_only(self.request.messages))
        return "refused the conversation twice: it is told it in plain text, without the tool calls"


def _holds_more_than_text(messages: Sequence[Message]) -> bool:
    return any(m.tool_calls or m.role == "tool" or m.media or m.provider_state for m in messages)
