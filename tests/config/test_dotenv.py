from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from octo_lab.config.dotenv import read_dotenv
from octo_lab.config.layers import read_layer
from octo_lab.core.errors import ConfigError


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=value", "value"),
        ("export K=value", "value"),
        ("  K = value  ", "value"),
        ("K=", ""),
        ("K=a b # comment", "a b"),
        ("K=a#b", "a#b"),
        ("K=# comment", ""),
        ("K='a # $b \\n'  # comment", "a # $b \\n"),
        ('K="a \\"b\\" \\n\\t\\\\ #"', 'a "b" \n\t\\ #'),
        ('K="it\'s"', "it's"),
        ("K=it's", "it's"),
        ("K=a=b==", "a=b=="),
        ("K=é😀", "é😀"),
    ],
)
def test_a_value_is_read(tmp_path: Path, line: str, value: str) -> None:
    path = tmp_path / ".env"
    path.write_text(f"# first\n\n{line}\n", encoding="utf-8")
    assert read_dotenv(path) == {"K": value}


def test_marks_and_line_ends_of_windows_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(b"\xef\xbb\xbfA=1\r\nB=2\r\n")
    assert read_dotenv(path) == {"A": "1", "B": "2"}


def test_no_file_sets_nothing(tmp_path: Path) -> None:
    assert read_dotenv(tmp_path / ".env") == {}


def test_the_last_of_equal_names_counts(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("A=1\nA=2\n")
    assert read_dotenv(path) == {"A": "2"}


def test_a_line_that_sets_nothing_is_named_without_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("A=1\nsk-secret\n")
    with pytest.raises(ConfigError) as raised:
        read_dotenv(path)
    assert str(raised.value) == f"{str(path)!r}, line 2 is no setting (write NAME=value)"


@pytest.mark.parametrize("read", [read_dotenv, read_layer])
def test_what_never_ends_is_not_read(
    tmp_path: Path, read: Callable[[Path], Mapping[str, Any]]
) -> None:
    pipe, device, large = tmp_path / "pipe", tmp_path / "device", tmp_path / "large"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    large.write_text("#" * 1_000_001)
    for path, why in ((pipe, "no regular file"), (device, "no regular file"), (large, "1 MB")):
        with pytest.raises(ConfigError, match=f"{path.name}.*{why}"):
            read(path)


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(b"A=\xff")
    with pytest.raises(ConfigError) as raised:
        read_dotenv(path)
    assert (
        str(raised.value) == f"Cannot read {str(path)!r}: it is not UTF-8 text (fix or remove it)"
    )


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory"):
        read_dotenv(tmp_path)
