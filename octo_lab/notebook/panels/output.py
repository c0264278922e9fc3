"""One output of one cell, updated in place."""

from __future__ import annotations

from contextvars import copy_context
from functools import partial
from typing import Any

from IPython.display import publish_display_data

from octo_lab.core.ids import new_id


class Output:
    """Belongs to the cell in whose context it is made; ``put`` may be called from any thread."""

    def __init__(self) -> None:
        self._context = copy_context()
        self._display_id = new_id()

    def put(self, bundle: dict[str, Any], *, update: bool) -> None:
        publish = partial(
            publish_display_data,
            data=bundle,
            metadata={},
            transient={"display_id": self._display_id},
            update=update,
        )
        self._context.copy().run(publish)
