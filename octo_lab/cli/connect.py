"""Opens a conversation with the gateway of the data folder, else with this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import anyio.to_thread

from octo_lab.cli.boundary import say_error
from octo_lab.cli.conversation import Conversation
from octo_lab.config.place import Place, find_place
from octo_lab.config.process import process_environ, process_folder
from octo_lab.core.errors import DeliveryError
from octo_lab.gateway.find import find_gateway

ITERATIONS = 20


def place_around(workspace: Path | None) -> Place:
    """The place of ``workspace``, else of the shell's folder; raises ConfigError."""
    return find_place(workspace or process_folder(), process_environ())


def usual_iterations(place: Place) -> int | None:
    """How often a model is asked for one turn of a terminal, where the settings do not say."""
    return None if "iterations" in place.settings.limits.model_fields_set else ITERATIONS


def warned(place: Place) -> Place:
    """The place, once what of its settings is left out was said on stderr."""
    if place.warning:
        _warn(place.warning)
    return replace(place, warning="")


@cache
def _warn(warning: str) -> None:
    """Once, however often a command looks around."""
    say_error(warning)


def conversation_in(place: Place, chat_id: str) -> AbstractAsyncContextManager[Conversation]:
    """Looks for a gateway now; connects when entered. Each imports only what it needs."""
    endpoint = find_gateway(place.data_folder)
    if endpoint is not None:
        from octo_lab.web.client import open_remote

        return open_remote(endpoint, chat_id)
    from octo_lab.app import setup_at
    from octo_lab.cli.local import open_local

    return open_local(setup_at(place), chat_id)


@asynccontextmanager
async def gateway_again(place: Place, chat_id: str) -> AsyncGenerator[Conversation]:
    """With the gateway that the data folder has by now; raises DeliveryError without one."""
    endpoint = await anyio.to_thread.run_sync(partial(find_gateway, place.data_folder, wait=0))
    if endpoint is None:
        raise DeliveryError("The gateway has stopped", hint="start it with 'octo gateway'")
    from octo_lab.web.client import open_remote

    async with open_remote(endpoint, chat_id) as conversation:
        yield conversation
