"""Opens a conversation with the gateway of the data folder, else with this process."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from octo_lab.cli.conversation import Conversation
from octo_lab.cli.place import Place
from octo_lab.gateway.find import find_gateway


def conversation_in(place: Place, chat_id: str) -> AbstractAsyncContextManager[Conversation]:
    """Looks for a gateway now; connects when entered. Each imports only what it needs."""
    endpoint = find_gateway(place.data_folder)
    if endpoint is not None:
        from octo_lab.web.client import open_remote

        return open_remote(endpoint, chat_id)
    from octo_lab.app import Setup
    from octo_lab.cli.local import open_local

    setup = Setup(
        settings=place.settings,
        workspace=place.workspace,
        data_folder=place.data_folder,
        environ=place.environ,
    )
    return open_local(setup, chat_id)
