from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from octo_lab.config.powers import dialer_of, open_powers, sandbox_policy
from octo_lab.config.settings import NetworkSettings, SandboxSettings, Settings
from octo_lab.core.errors import ConfigError
from octo_lab.security.net.dial import UpstreamProxy
from octo_lab.tools.sandbox.local import Home
from octo_lab.tools.sandbox.policy import Bounds, SandboxPolicy


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


def test_the_sandbox_is_bounded_in_megabytes_and_shows_folders_by_the_workspace() -> None:
    settings = SandboxSettings(
        mode="docker",
        network=True,
        memory=1,
        file_size=2,
        processes=3,
        cpus=0.5,
        readable=("lib", "/opt/x"),
        environ=("MY_*",),
        image="img",
        mounts="ro",
    )

    assert sandbox_policy(settings, Path("/w")) == SandboxPolicy(
        mode="docker",
        network=True,
        bounds=Bounds(memory=1 << 20, file_size=2 << 20, processes=3, cpus=0.5),
        readable=(Path("/w/lib"), Path("/opt/x")),
        allow=("MY_*",),
        image="img",
        mounts="ro",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "chroot"},
        {"memory": 0},
        {"image": "--privileged"},
        {"image": ""},
        {"container": "-x"},
        {"container": "a b"},
        {"mounts": "all"},
    ],
)
def test_settings_of_the_sandbox_that_mean_something_else_are_refused(
    wrong: dict[str, object],
) -> None:
    with pytest.raises(ValidationError):
        SandboxSettings.model_validate(wrong)


@pytest.mark.anyio
async def test_walls_are_claimed_only_where_they_are_known_to_stand(tmp_path: Path) -> None:
    async def walls(**options: Any) -> tuple[bool, bool, bool]:
        settings = Settings(sandbox=SandboxSettings(**options))
        policy = sandbox_policy(settings.sandbox, tmp_path)
        async with open_powers(Home(workspace=tmp_path, policy=policy), settings) as powers:
            before = powers.walls()
            if powers.ready is not None:
                await powers.ready()
            return before, powers.walls(), powers.network

    assert await walls(mode="none") == (False, False, True)
    assert await walls(container="box") == (False, False, True)


@pytest.mark.anyio
@pytest.mark.bwrap
@pytest.mark.parametrize("network", [True, False])
async def test_a_sandbox_without_network_is_a_wall_once_it_was_tried(
    tmp_path: Path, network: bool
) -> None:
    settings = Settings(sandbox=SandboxSettings(network=network))
    policy = sandbox_policy(settings.sandbox, tmp_path)
    async with open_powers(Home(workspace=tmp_path, policy=policy), settings) as powers:
        assert not powers.walls()
        assert powers.ready is not None
        await powers.ready()
        assert (powers.walls(), powers.network) == (not network, network)
