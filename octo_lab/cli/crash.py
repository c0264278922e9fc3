"""What nobody expected: one line for the person, the traceback for the log."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path

from octo_lab.cli.hidden import hidden
from octo_lab.cli.outcome import Outcome
from octo_lab.config.paths import data_folder, find_workspace, user_folder
from octo_lab.config.process import process_environ, process_folder
from octo_lab.config.trust import trust_of
from octo_lab.core.errors import ConfigError
from octo_lab.core.text import first_line
from octo_lab.security.logs import LOG_FILE, PrivateFile, Redacting
from octo_lab.security.redact import secret_values

INTERNAL = 70
DEBUG = "OCTO_DEBUG"


def crashed(exc: BaseException, workspace: Path | None) -> Outcome:
    """Log the error where the runtime logs, too; ``OCTO_DEBUG=1`` prints its traceback."""
    environ = process_environ()
    if environ.get(DEBUG, "") not in ("", "0"):
        sys.stderr.write(hidden("".join(traceback.format_exception(exc))))
    said = first_line(str(exc), 200)
    what = f"internal error: {type(exc).__name__}{f': {said}' if said else ''}"
    log = _logged(exc, workspace, environ)
    where = f"the log is at {log}" if log else f"there is no log; {DEBUG}=1 shows more"
    return Outcome(code=INTERNAL, error=f"{what}; {where}")


def _folder(workspace: Path, environ: dict[str, str]) -> Path:
    known = trust_of(user_folder(), workspace, environ, {}).known
    return data_folder(workspace, environ, known=known)


def _logged(exc: BaseException, workspace: Path | None, environ: dict[str, str]) -> Path | None:
    try:
        folder = _folder(find_workspace(workspace or process_folder(), environ), environ)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = PrivateFile(folder / LOG_FILE)
    except (OSError, ConfigError):
        return None
    file.setFormatter(Redacting(secret_values(environ)))
    trace = (type(exc), exc, exc.__traceback__)
    record = logging.LogRecord(
        "octo_lab.cli", logging.ERROR, __file__, 0, "a command failed", None, trace
    )
    file.emit(record)
    file.close()
    return folder / LOG_FILE
