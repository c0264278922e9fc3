"""What finally answered a question, as JSON and an HTTP status."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import JSONResponse, Response

from octo_lab.channels.inbox import Heard
from octo_lab.core.errors import OctoError, Rejected, UsageError
from octo_lab.core.frames import Json, usage_json
from octo_lab.core.mail import OutboundMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    body: Json
    status: int = 200

    @property
    def response(self) -> Response:
        return JSONResponse(self.body, status_code=self.status)


def answer_of(heard: Heard | None) -> Answer:
    """A turn, a command's reply, or nothing."""
    if heard is None:
        lost = {"error": "The answer got lost", "hint": "it is in the session's history"}
        return Answer(body=lost, status=500)
    if isinstance(heard, OutboundMessage):
        if heard.failed:
            return Answer(body={"error": heard.text, "hint": heard.hint}, status=409)
        return Answer(body={"text": heard.text, "hint": heard.hint})
    body: Json = {
        "text": heard.text,
        "state": heard.state,
        "turn_id": heard.turn_id,
        "session": heard.session,
        "model": heard.model,
        "usage": usage_json(heard.usage),
    }
    if heard.error is not None:
        body |= {"error": heard.error.message, "hint": heard.error.hint}
    return Answer(body=body, status=502 if heard.state == "failed" else 200)


def refusal(exc: OctoError) -> Answer:
    """A question that was not taken."""
    status = 400 if isinstance(exc, UsageError) else 503 if isinstance(exc, Rejected) else 500
    return Answer(body={"error": exc.message, "hint": exc.hint}, status=status)
