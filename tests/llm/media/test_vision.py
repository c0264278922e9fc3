from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import Media
from octo_lab.llm.media.vision import encode_image, is_image

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def test_a_picture_is_what_its_bytes_say(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(PNG)

    assert encode_image(path) == Media(mime="image/png", data=PNG, name="photo.jpg")
    assert is_image(path)


def test_what_is_no_picture_is_refused_with_the_next_step(tmp_path: Path) -> None:
    text = tmp_path / "notes.png"
    text.write_text("hello")
    large = tmp_path / "large.png"
    large.write_bytes(PNG)

    for path, limit, message in (
        (text, 100, "is no picture that models take"),
        (large, 10, "is larger than"),
        (tmp_path / "none.png", 100, "No file"),
        (tmp_path, 100, "No file"),
    ):
        with pytest.raises(UsageError, match=message) as failed:
            encode_image(path, limit)
        assert repr(str(path)) in failed.value.message
        assert failed.value.hint
    assert [is_image(path) for path in (text, tmp_path / "none.png", tmp_path)] == [False] * 3
