from __future__ import annotations

import sqlite3

import pytest

from octo_lab.core.errors import StorageError
from octo_lab.storage.failures import translated


def test_a_file_system_that_fails_may_be_a_full_one() -> None:
    """SQLite says no more than that when the disk has no room for its shared memory."""
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    with pytest.raises(StorageError) as caught, translated("octo.db"):
        raise failure
    assert caught.value.message == "Database 'octo.db' cannot be read or written"
    assert caught.value.hint == "is the disk that holds it full, or failing?"
