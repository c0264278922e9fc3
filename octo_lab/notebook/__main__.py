"""Runs the Octo kernel: ``python -m octo_lab.notebook -f CONNECTION_FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    if sys.path[0] == "" or Path(sys.path[0]) == Path.cwd():
        del sys.path[0]  # files beside the notebook are for its cells: IPython puts it back, later
    from octo_lab.notebook.kernel import OctoKernelApp

    OctoKernelApp.launch_instance()
