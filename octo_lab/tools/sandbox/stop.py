"""Tells the thread that watches a program to end it."""

from __future__ import annotations

import os


class Stop:
    """Asked at most once, from any thread; ``descriptor`` becomes readable then."""

    def __init__(self) -> None:
        self.descriptor, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self.asked = False

    def ask(self) -> None:
        if not self.asked:
            self.asked = True
            os.write(self._write, b"!")

    def close(self) -> None:
        os.close(self.descriptor)
        os.close(self._write)
