from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octo_lab.core.errors import ConfigError
from octo_lab.llm.local.gguf import GgufFile, read_gguf
from tests.llm.local.ggufs import pair, text, write_gguf


def test_the_head_tells_how_long_the_context_may_be(tmp_path: Path) -> None:
    parts = (pair("general.architecture", "llama"), pair("llama.context_length", 8192))
    path = write_gguf(tmp_path / "x.gguf", *parts)

    assert read_gguf(path) == GgufFile(path=path, size=path.stat().st_size, context=8192)


def test_a_file_that_does_not_say_has_no_context(tmp_path: Path) -> None:
    endless = text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 4, 2**40)
    length = pair("llama.context_length", 4096)

    assert read_gguf(write_gguf(tmp_path / "a.gguf")).context == 0
    assert read_gguf(write_gguf(tmp_path / "b.gguf", endless, length)).context == 0


def test_lists_before_it_are_passed_over(tmp_path: Path) -> None:
    words = text("general.languages") + struct.pack("<IIQ", 9, 8, 2) + text("en") + text("de")
    numbers = text("general.numbers") + struct.pack("<IIQHH", 9, 2, 2, 1, 2)
    length = pair("llama.context_length", 4096)

    assert read_gguf(write_gguf(tmp_path / "a.gguf", words, numbers, length)).context == 4096


def test_what_is_no_such_file_is_named_with_the_next_step(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("GGML, but not the right one")
    old = write_gguf(tmp_path / "old.gguf", version=1)
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)

    for path, message in (
        (tmp_path / "none.gguf", "No model file"),
        (other, "is no GGUF file"),
        (old, "is no GGUF file"),
        (tmp_path, "Cannot read the model file"),
        (pipe, "Cannot read the model file"),
        (Path("a\0b"), "Cannot read the model file"),
    ):
        with pytest.raises(ConfigError, match=message) as failed:
            read_gguf(path)
        assert repr(str(path)) in failed.value.message
        assert failed.value.hint


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=st.binary(max_size=300), pairs=st.integers(0, 2**64 - 1))
def test_no_file_whatever_breaks_the_reader(tmp_path: Path, rest: bytes, pairs: int) -> None:
    path = write_gguf(tmp_path / "x.gguf", rest, count=pairs)

    assert read_gguf(path).size == path.stat().st_size
