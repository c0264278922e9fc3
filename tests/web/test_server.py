from __future__ import annotations

import socket
from contextlib import closing

import pytest

from octo_lab.core.errors import ConfigError
from octo_lab.web.server import PORTS_TRIED, bind_socket


def port_of(listening: socket.socket) -> int:
    port: int = listening.getsockname()[1]
    return port


def test_a_taken_port_gives_the_next_free_one() -> None:
    first = bind_socket("127.0.0.1", 0)
    with closing(first), closing(bind_socket("127.0.0.1", port_of(first))) as second:
        assert port_of(first) < port_of(second) <= port_of(first) + PORTS_TRIED


def test_a_client_may_connect_before_anything_is_served() -> None:
    listening = bind_socket("localhost", 0)
    address = ("127.0.0.1", port_of(listening))
    with closing(listening), socket.create_connection(address, timeout=5) as client:
        assert client.getpeername() == address


def test_the_last_ports_are_not_passed() -> None:
    with closing(bind_socket("127.0.0.1", 65535)) as last:
        assert port_of(last) == 65535
        with pytest.raises(ConfigError, match=r"from 65535 to 65535.*--port"):
            bind_socket("127.0.0.1", 65535)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_a_host_that_is_not_ours_is_said(host: str) -> None:
    with pytest.raises(ConfigError, match=r"Cannot listen on .*--host 127"):
        bind_socket(host, 0)
