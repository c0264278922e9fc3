"""Runs the Octo kernel: ``python -m octo_lab.notebook -f CONNECTION_FILE``."""

from __future__ import annotations

from octo_lab.notebook.kernel import OctoKernelApp

if __name__ == "__main__":
    OctoKernelApp.launch_instance()
