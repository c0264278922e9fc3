"""What can be set, with defaults. The names are those of ``config.json``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

VERSION = 1

Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Rule = Literal["ask", "allow", "deny"]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ProviderSettings(_Part):
    """One model provider; what is not given comes from its registry entry."""

    base_url: str = ""
    api_key: SecretStr | None = None
    default_model: str = ""


class ModelSettings(_Part):
    """What is known of one model better than its name tells; what is not given stays so.

    ``hints`` are fields of ModelHints. Prices are in US dollars per million tokens.
    """

    hints: dict[str, bool | str] = {}
    context_window: Positive | None = None
    max_output: Positive | None = None
    price_in: Dollars | None = None
    price_out: Dollars | None = None


class RoutingSettings(_Part):
    """How the model and its ``fallbacks`` share the work.

    ``off``: in order, the next when one fails; ``hedge``: two at once, the first to speak answers;
    ``lane``: the one that does best. ``qos``: rank by quality as well as by speed. ``escalate``:
    hedge for as long as answers are slow; by default where no mode was chosen. ``catalog``: a
    ``model_catalog.json`` to begin with.
    """

    mode: Literal["off", "hedge", "lane"] = "off"
    qos: bool = False
    escalate: bool | None = None
    catalog: str | None = None


class LocalSettings(_Part):
    """Models of this machine: whether Ollama, LM Studio and llama.cpp servers are looked for on
    loopback when nothing else is configured, and a GGUF file to run.
    """

    detect: bool = True
    model: str | None = None
    threads: Positive | None = None


class LimitSettings(_Part):
    """Bounds of one turn: model calls, tokens (none: no bound), wall time, time without any event.

    Of a whole dialog: ``turns``, ``rounds`` of tool calls, and ``calls`` by name or pattern of a
    tool.
    """

    iterations: Positive = 50
    tokens: Positive | None = None
    seconds: Seconds = 600.0
    idle: Seconds = 300.0
    turns: Positive | None = None
    rounds: Positive | None = None
    calls: dict[str, Annotated[int, Field(ge=0)]] = {}


class HookSettings(_Part):
    """A program of the owner's that is run at an event; ``tool_filter`` are names or patterns."""

    event: Literal["before_tool_call", "after_tool_call", "before_llm_call", "after_llm_call"]
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    timeout_ms: Positive = 5000
    tool_filter: tuple[str, ...] = ()


class ChannelToolSettings(_Part):
    """What a channel is offered: by who speaks there, and tools or groups more or less."""

    origin: Literal["owner", "known", "stranger"] = "known"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class ToolProfileSettings(_Part):
    """How a provider or model is shown the tools: order, other names, some more, some less."""

    prefer: tuple[str, ...] = ()
    demote: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    aliases: dict[str, Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]] = {}


class ToolSettings(_Part):
    """Which tools are offered, by name pattern or ``group:NAME``, and what runs unasked.

    ``rules`` by name or pattern and ``risks`` by class of risk say what is decided of a call;
    ``hosts`` may be reached unasked. ``approval_seconds`` are those that a person has to answer.
    """

    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    python: Rule = "ask"
    rules: dict[str, Rule] = {}
    risks: dict[Literal["read", "write", "execute", "network"], Rule] = {}
    hosts: tuple[str, ...] = ()
    channels: dict[str, ChannelToolSettings] = {}
    models: dict[str, ToolProfileSettings] = {}
    approval_seconds: Seconds = 300.0
    timeout: Seconds = 120.0


class SandboxSettings(_Part):
    """The walls around commands. ``mode`` ``auto`` takes the best that works here.

    ``memory`` and ``file_size`` are in MB, ``readable`` are folders that commands may read,
    ``environ`` names (or patterns) of variables they get although they look secret. ``image``,
    ``mounts`` and ``cpus`` are Docker's. ``container``: commands run in this running container.
    """

    mode: Literal["auto", "bwrap", "docker", "macos", "landlock", "none"] = "auto"
    network: bool = False
    memory: Positive = 4096
    file_size: Positive = 2048
    processes: Positive = 512
    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2.0
    readable: tuple[str, ...] = ()
    environ: tuple[str, ...] = ()
    image: Annotated[str, Field(min_length=1, pattern=r"^[\w][\w./:@-]*$")] = "python:3.12-slim"
    mounts: Literal["none", "ro", "rw"] = "rw"
    container: Annotated[str, Field(pattern=r"^([\w][\w.-]*)?$")] = ""


class NetworkSettings(_Part):
    """How tools reach the network: places that are not public and may be reached all the same
    (``host``, ``host:port``, a network), and an HTTP proxy to go through, whose URL may hold a
    password.
    """

    allow: tuple[str, ...] = ()
    proxy: SecretStr = SecretStr("")


class SecuritySettings(_Part):
    """What is private beside keys and files of secrets: patterns of paths and of variable names.
    After it was read, only what ``trusted_hosts`` names (``*.org`` too) is reached unasked.
    With ``mask_lookalikes`` also what merely looks like a key is masked wherever text leaves.
    """

    private_paths: tuple[str, ...] = ()
    private_variables: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    mask_lookalikes: bool = True


class WorkspaceSettings(_Part):
    """What file tools reach: with ``strict`` the workspace and the ``roots``, folders that may be
    read (``ro``) or changed, too (``rw``); with ``soft`` any path, asked about outside of these.
    """

    mode: Literal["strict", "soft"] = "strict"
    roots: dict[str, Literal["ro", "rw"]] = {}


class WebSearchSettings(_Part):
    """Results of a search, and engines in the order to try them (none: all that can be used).

    ``urls`` are other addresses of engines, by name; ``searxng`` is used once it has one.
    """

    count: Annotated[int, Field(ge=1, le=10)] = 5
    engines: tuple[str, ...] = ()
    urls: dict[str, str] = {}


class WebFetchSettings(_Part):
    """What a fetched page is shown as, and how many characters of it."""

    extract_mode: Literal["markdown", "text"] = "markdown"
    max_chars: Annotated[int, Field(ge=100, le=1_000_000)] = 50_000


class DeepCrawlSettings(_Part):
    """How many characters ``site_crawl`` gives back of a site, and how many milliseconds the
    scripts of a page have that shows nothing without them.
    """

    page_settle_ms: Annotated[int, Field(ge=0, le=20_000)] = 3000
    max_output_chars: Annotated[int, Field(ge=1000, le=200_000)] = 50_000


class BrowserSettings(_Part):
    """How long one action of the browser may take, and how long it stays open unused.

    ``executable`` is the Chromium or Chrome to use, found by itself where it is not set.
    """

    action_timeout_secs: Annotated[float, Field(ge=1, le=60)] = 10.0
    idle_timeout_secs: Annotated[float, Field(ge=5, le=3600)] = 300.0
    executable: str = ""


class SessionSettings(_Part):
    """Turns of history a model sees, whether old ones are summed up when they fill half of the
    window, and by what, turns that run at once, messages that may wait.

    ``queue_mode`` is what becomes of a message that comes while a turn runs, ``overflow`` what
    becomes of one when no more may wait; a turn is slow after ``patience`` seconds.
    """

    history: Annotated[int, Field(ge=0)] = 50
    compact: bool = True
    compact_with: Literal["model", "rules"] = "model"
    workers: Positive = 10
    queue: Positive = 32
    queue_mode: Literal["followup", "collect", "steer", "interrupt", "speculative"] = "followup"
    overflow: Literal["reject", "old", "summarize"] = "reject"
    patience: Annotated[float, Field(gt=0)] | None = None


class GatewaySettings(_Part):
    """Where the gateway listens; a taken port gives the next free one."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 19876


class Settings(_Part):
    """Everything. ``model`` is ``provider/model``, or bare when the provider can be detected;
    ``fallbacks`` are written the same way, and ``models`` is keyed by either form.
    """

    version: int = VERSION
    model: str | None = None
    fallbacks: tuple[str, ...] = ()
    database: str | None = None
    providers: dict[str, ProviderSettings] = {}
    models: dict[str, ModelSettings] = {}
    routing: RoutingSettings = RoutingSettings()
    local: LocalSettings = LocalSettings()
    limits: LimitSettings = LimitSettings()
    tools: ToolSettings = ToolSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    sandbox: SandboxSettings = SandboxSettings()
    network: NetworkSettings = NetworkSettings()
    security: SecuritySettings = SecuritySettings()
    web_search: WebSearchSettings = WebSearchSettings()
    web_fetch: WebFetchSettings = WebFetchSettings()
    deep_crawl: DeepCrawlSettings = DeepCrawlSettings()
    browser: BrowserSettings = BrowserSettings()
    session: SessionSettings = SessionSettings()
    hooks: tuple[HookSettings, ...] = ()
    gateway: GatewaySettings = GatewaySettings()
