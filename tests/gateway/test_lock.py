from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from octo_lab.core.errors import DeliveryError, StorageError
from octo_lab.gateway.find import find_gateway
from octo_lab.gateway.lock import gateway_pid, sole_gateway
from octo_lab.web.endpoint import (
    FILE_NAME,
    Endpoint,
    read_endpoint,
    remove_endpoint,
    write_endpoint,
)

ENDPOINT = Endpoint(host="127.0.0.1", port=19876, pid=os.getpid(), token="secret")
OWN = """
import sys, time
from pathlib import Path
from octo_lab.gateway.lock import sole_gateway
with sole_gateway(Path(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(60)
"""


def test_the_second_gateway_is_told_who_owns_the_folder(tmp_path: Path) -> None:
    with sole_gateway(tmp_path):
        assert gateway_pid(tmp_path) == os.getpid()
        match = f"in process {os.getpid()}.*octo run"
        with pytest.raises(StorageError, match=match), sole_gateway(tmp_path):
            pass
    assert gateway_pid(tmp_path) is None
    with sole_gateway(tmp_path):
        pass


def test_a_gateway_that_was_killed_owns_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWN, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"mine\n"
        assert gateway_pid(tmp_path) == process.pid
        process.kill()
    assert gateway_pid(tmp_path) is None


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"
    with pytest.raises(StorageError, match=r"file/data.*OCTO_HOME"), sole_gateway(folder):
        pass


def test_the_token_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    write_endpoint(tmp_path, ENDPOINT)
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert read_endpoint(tmp_path) == ENDPOINT
    assert "secret" not in repr(ENDPOINT)
    remove_endpoint(tmp_path)
    assert read_endpoint(tmp_path) is None


def test_a_damaged_endpoint_file_is_as_good_as_none(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"host": "x"}'):
        (tmp_path / FILE_NAME).write_text(text)
        assert read_endpoint(tmp_path) is None


def test_a_gateway_is_found_only_while_it_owns_the_folder(tmp_path: Path) -> None:
    write_endpoint(tmp_path, ENDPOINT)
    assert find_gateway(tmp_path) is None
    with sole_gateway(tmp_path):
        assert find_gateway(tmp_path) == ENDPOINT


def test_a_gateway_that_never_says_where_it_is_is_named(tmp_path: Path) -> None:
    with sole_gateway(tmp_path), pytest.raises(DeliveryError, match=f"process {os.getpid()}"):
        find_gateway(tmp_path, wait=0.2)


def test_a_data_folder_that_a_gateway_makes_is_private(tmp_path: Path) -> None:
    with sole_gateway(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
