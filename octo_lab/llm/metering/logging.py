"""A layer that logs who was asked, what it took and how it ended; never a word of the text."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from octo_lab.core.errors import OctoError, ProviderError
from octo_lab.core.messages import Usage
from octo_lab.core.stream import StreamEvent
from octo_lab.llm.answer import Answer
from octo_lab.llm.metering.middleware import Asked

_LOG = logging.getLogger("octo_lab.llm")


class Logging:
    """Debug when a request goes out, info when its stream ends."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def before(self, asked: Asked) -> Answer | None:
        request = asked.request
        _LOG.debug(
            "%s/%s: asked with %d messages and %d tools",
            asked.provider,
            asked.model,
            len(request.messages),
            len(request.tools),
        )
        return None

    def event(self, asked: Asked, event: StreamEvent) -> StreamEvent:
        return event

    def after(self, asked: Asked, answer: Answer) -> None:
        self._log(asked, answer.reason, answer.usage)

    def on_error(self, asked: Asked, error: BaseException) -> None:
        self._log(asked, _kind(error), None)

    def _log(self, asked: Asked, outcome: str, usage: Usage | None) -> None:
        _LOG.info(
            "%s/%s: %s after %.2f s%s",
            asked.provider,
            asked.model,
            outcome,
            self._clock() - asked.at,
            f", {usage.input_tokens} tokens in, {usage.output_tokens} out" if usage else "",
        )


def _kind(error: BaseException) -> str:
    """A word for what went wrong; messages of errors may hold words of the conversation."""
    match error:
        case ProviderError():
            return f"failed ({error.kind})"
        case OctoError() | Exception():
            return f"failed ({type(error).__name__})"
    return "stopped"
