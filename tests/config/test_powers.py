from __future__ import annotations

from ipaddress import ip_address

import pytest
from pydantic import SecretStr

from octo_lab.config.powers import dialer_of
from octo_lab.config.settings import NetworkSettings
from octo_lab.core.errors import ConfigError
from octo_lab.security.net.dial import UpstreamProxy


def test_the_settings_say_what_may_be_reached_and_how() -> None:
    settings = NetworkSettings(
        allow=("server.lan:8080", "10.0.0.0/8"), proxy=SecretStr("http://u:p%40@proxy.lan:3128")
    )
    dialer = dialer_of(settings)

    assert dialer.guard.allowed.names("server.lan", 8080)
    assert dialer.guard.allowed.holds(ip_address("10.1.2.3"), 1)
    assert dialer.proxy == UpstreamProxy(host="proxy.lan", port=3128, credential="dTpwQA==")
    assert "dTpwQA" not in repr(dialer)
    assert "p%40" not in repr(settings)


def test_without_settings_nothing_inner_is_allowed_and_no_proxy_is_used() -> None:
    dialer = dialer_of(NetworkSettings())

    assert dialer.proxy is None
    assert not dialer.guard.allowed.holds(ip_address("127.0.0.1"), 80)


def test_settings_that_cannot_be_used_are_told_at_the_start() -> None:
    with pytest.raises(ConfigError, match=r"network\.allow names 'a b'"):
        dialer_of(NetworkSettings(allow=("a b",)))
    with pytest.raises(ConfigError, match=r"network\.proxy names no proxy"):
        dialer_of(NetworkSettings(proxy=SecretStr("socks5://s3cret@x")))
