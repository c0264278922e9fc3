"""Makes a picture file ready for a model."""

from __future__ import annotations

from pathlib import Path

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import Media
from octo_lab.core.pictures import picture_type

MAX_PICTURE = 10_000_000  # bytes; some vendors take less and say so
_HEAD = 16


def encode_image(path: Path, limit: int = MAX_PICTURE) -> Media:
    """A PNG, JPEG, GIF or WebP file as it travels; blocks on the disk, raises UsageError."""
    data = _read(path, limit + 1)
    if len(data) > limit:
        hint = "make it smaller, or cut it to what matters"
        raise UsageError(f"{str(path)!r} is larger than {limit / 1e6:g} MB", hint=hint)
    mime = picture_type(data)
    if not mime:
        hint = "save it as PNG, JPEG, GIF or WebP; its name alone does not make it one"
        raise UsageError(f"{str(path)!r} is no picture that models take", hint=hint)
    return Media(mime=mime, data=data, name=path.name)


def is_image(path: Path) -> bool:
    """Whether the file begins as such a picture; blocks on the disk, raises nothing."""
    try:
        return bool(picture_type(_read(path, _HEAD)))
    except UsageError:
        return False


def _read(path: Path, size: int) -> bytes:
    try:
        if not path.is_file():
            raise UsageError(f"No file {str(path)!r}", hint="is its path right?")
        with path.open("rb") as file:
            return file.read(size)
    except OSError as exc:
        raise UsageError(f"Cannot read {str(path)!r}: {exc.strerror}") from None
