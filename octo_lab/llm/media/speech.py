"""Speech to text by an OpenAI-compatible server: Groq's or OpenAI's Whisper, or one's own.

POST ``/audio/transcriptions``, a form of model, response_format, language and file; the answer is
JSON with ``text`` (platform.openai.com/docs/api-reference/audio).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio.to_thread

from octo_lab.core.text import clean
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.media.asking import MediaServer
from octo_lab.llm.media.audio import Audio
from octo_lab.llm.media.multipart import Form, FormFile, form
from octo_lab.llm.secret import Secret

PATH = "/audio/transcriptions"
GROQ_URL = "https://api.groq.com/openai/v1"
GROQ_MODEL = "whisper-large-v3"
SECONDS = 60.0


def groq_whisper(http: ModelHttp, key: Secret) -> Transcriber:
    """Whisper at Groq."""
    server = MediaServer(name="groq", model=GROQ_MODEL, base_url=GROQ_URL, http=http, api_key=key)
    return Transcriber(server=replace(server, seconds=SECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcriber:
    """What was said in a recording."""

    server: MediaServer

    async def transcribe(self, audio: Audio, *, language: str = "") -> str:
        """``language`` (ISO 639-1) helps where it is known; raises a ProviderError."""
        filled = await anyio.to_thread.run_sync(_form, self.server.model, audio, language)
        answer = self.server.read_json(
            await self.server.ask(PATH, filled.content_type, filled.body)
        )
        text = answer.get("text")
        if not isinstance(text, str):
            raise self.server.odd()
        return clean(text).strip()


def _form(model: str, audio: Audio, language: str) -> Form:
    fields = {"model": model, "response_format": "json"}
    if language:
        fields["language"] = language
    return form(fields, FormFile(name=audio.name, mime=audio.mime, data=audio.data))
