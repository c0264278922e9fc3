"""Shows a gateway's report in one display of the notebook, however long it runs."""

from __future__ import annotations

import time

from IPython import get_ipython
from IPython.display import DisplayHandle

from octo_lab.gateway.report import Report

AT_MOST_EVERY = 2.0
AT_LEAST_EVERY = 60.0


class View:
    """Updates its display when something happened, else once a minute for the clock.

    Outside IPython there is nothing to show on; the log has it all.
    """

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None
        self._shown: Report | None = None
        self._at = float("-inf")

    def show_changed(self, report: Report) -> None:
        since = time.monotonic() - self._at
        changed = self._shown is None or report.counts != self._shown.counts
        if since >= (AT_MOST_EVERY if changed else AT_LEAST_EVERY):
            self.show(report)

    def show(self, report: Report) -> None:
        self._shown, self._at = report, time.monotonic()
        if get_ipython() is None:
            return
        if self._handle is None:
            self._handle = DisplayHandle()  # type: ignore[no-untyped-call]
            self._handle.display(report)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(report)  # type: ignore[no-untyped-call]
