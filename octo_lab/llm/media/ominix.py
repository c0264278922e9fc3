"""Speech on this machine: a client of an Ominix runtime, or of any server like it.

It speaks the OpenAI-compatible protocol over loopback HTTP: POST ``/v1/audio/transcriptions`` (a
form, answered by JSON with ``text``) and POST ``/v1/audio/speech`` (JSON with model, input, voice,
response_format and, as an extension, language; answered by the sound itself).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from octo_lab.core.errors import UsageError
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.media.asking import MediaServer
from octo_lab.llm.media.audio import MIMES, Audio
from octo_lab.llm.media.speech import SECONDS, Transcriber

SPEECH_PATH = "/audio/speech"
USUAL_URL = "http://127.0.0.1:9090"
URL_VARIABLE = "OMINIX_API_URL"
URL_FILE = ".ominix/api_url"
MAX_TEXT = 4096  # characters that the protocol takes at once
FORMATS = ("wav", "mp3", "opus", "flac")


def ominix_url(environ: Mapping[str, str], home: Path) -> str:
    """Where the runtime listens: ``OMINIX_API_URL``, else what it wrote to ``~/.ominix/api_url``,
    else its usual port. Blocks on the disk.
    """
    named = environ.get(URL_VARIABLE, "").strip()
    if not named:
        try:
            named = (home / URL_FILE).read_text(encoding="utf-8")[:2000].strip()
        except (OSError, UnicodeDecodeError):
            named = ""
    return (named or USUAL_URL).rstrip("/")


class Ominix:
    """Hears and speaks."""

    def __init__(
        self, http: ModelHttp, base_url: str, *, hearing: str = "whisper-1", speaking: str = "tts-1"
    ) -> None:
        """``hearing`` and ``speaking`` name the models; a runtime with one of each ignores them."""
        base = base_url.removesuffix("/v1") + "/v1"
        self._speaking = MediaServer(
            name="ominix", model=speaking, base_url=base, http=http, seconds=SECONDS
        )
        self._hearing = Transcriber(server=replace(self._speaking, model=hearing))

    async def transcribe(self, audio: Audio, *, language: str = "") -> str:
        """What was said; raises a ProviderError."""
        return await self._hearing.transcribe(audio, language=language)

    async def speak(
        self, text: str, *, voice: str = "default", language: str = "", form: str = "wav"
    ) -> Audio:
        """The text as sound; raises UsageError for a text that is empty or too long, else a
        ProviderError.
        """
        if not 0 < len(text.strip()) <= MAX_TEXT:
            hint = f"say between 1 and {MAX_TEXT} characters at once"
            raise UsageError(f"A text of {len(text)} characters cannot be spoken", hint=hint)
        if form not in FORMATS:
            raise UsageError(f"No sound is made as {form!r}", hint=f"use {', '.join(FORMATS)}")
        server = self._speaking
        asked = {"model": server.model, "input": text, "voice": voice, "response_format": form}
        if language:
            asked["language"] = language
        mime = MIMES[f".{form}"]
        sound = await server.ask(SPEECH_PATH, "application/json", json.dumps(asked).encode(), mime)
        if not sound or sound.lstrip()[:1] == b"{":
            raise server.odd()
        return Audio(name=f"speech.{form}", mime=mime, data=sound)
