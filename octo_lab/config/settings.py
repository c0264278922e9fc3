"""What can be set, with defaults. The names are those of ``config.json``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

VERSION = 1

Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ProviderSettings(_Part):
    """One model provider; what is not given comes from its registry entry."""

    base_url: str = ""
    api_key: SecretStr | None = None
    default_model: str = ""


class LimitSettings(_Part):
    """Bounds of one turn: model calls, tokens (none: no bound), wall time."""

    iterations: Positive = 50
    tokens: Positive | None = None
    seconds: Seconds = 600.0


class ToolSettings(_Part):
    """Which tools are offered, by name pattern; whether ``python`` asks before its first use."""

    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    python: Literal["ask", "allow", "deny"] = "ask"
    timeout: Seconds = 120.0


class SessionSettings(_Part):
    """Turns of history a model sees, turns that run at once, messages that may wait."""

    history: Annotated[int, Field(ge=0)] = 50
    workers: Positive = 10
    queue: Positive = 32


class GatewaySettings(_Part):
    """Where the gateway listens; a taken port gives the next free one."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 19876


class Settings(_Part):
    """Everything. ``model`` is ``provider/model``, or bare when the provider can be detected."""

    version: int = VERSION
    model: str | None = None
    database: str | None = None
    providers: dict[str, ProviderSettings] = {}
    limits: LimitSettings = LimitSettings()
    tools: ToolSettings = ToolSettings()
    session: SessionSettings = SessionSettings()
    gateway: GatewaySettings = GatewaySettings()
