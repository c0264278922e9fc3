"""A recording as it is sent to a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from octo_lab.core.errors import UsageError

MAX_AUDIO = 25_000_000  # bytes: what Groq and OpenAI take
MIMES = {
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".mp3": "audio/mpeg",
    ".mpga": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".mp4": "audio/mp4",
    ".wav": "audio/wav",
    ".webm": "audio/webm",
    ".flac": "audio/flac",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """``name`` is the file's own; servers tell the format from its end."""

    name: str
    mime: str
    data: bytes = field(repr=False)


def read_audio(path: Path, limit: int = MAX_AUDIO) -> Audio:
    """Blocks on the disk; raises UsageError for what cannot be transcribed."""
    try:
        if path.stat().st_size > limit:
            hint = "cut it into pieces, or save it as Opus or MP3"
            raise UsageError(f"{str(path)!r} is larger than {limit / 1e6:g} MB", hint=hint)
        data = path.read_bytes()
    except OSError as exc:
        raise UsageError(f"Cannot read {str(path)!r}: {exc.strerror}") from None
    return as_audio(path.name, data)


def as_audio(name: str, data: bytes) -> Audio:
    """A recording with a file's name; raises UsageError for an unknown or an empty one."""
    mime = MIMES.get(Path(name).suffix.lower(), "")
    if not mime:
        known = ", ".join(MIMES)
        raise UsageError(f"{name!r} is no recording that can be transcribed", hint=f"use {known}")
    if not data:
        raise UsageError(f"The recording {name!r} is empty")
    return Audio(name=name, mime=mime, data=data)
