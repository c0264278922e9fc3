"""The composition root: the only place that knows every part.

``open_app`` reads top to bottom as the start order; the parts close in reverse.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import anyio
from anyio.abc import TaskGroup

from octo_lab.agent.session_limits import SessionUsages
from octo_lab.bus.attempts import SendPolicy
from octo_lab.bus.bus import Bus
from octo_lab.bus.channels import Channels
from octo_lab.bus.delivery import Delivery
from octo_lab.bus.dispatch import Dispatcher
from octo_lab.bus.inbox import Inbox
from octo_lab.bus.ports import Channel, Door
from octo_lab.bus.stage import stage
from octo_lab.config.hook_set import hook_set
from octo_lab.config.model_setup import model_setup
from octo_lab.config.place import Place, grants_folder, private_folders
from octo_lab.config.powers import open_powers, sandbox_policy, take_options
from octo_lab.config.reload import Reloader
from octo_lab.config.setup import Setup as Setup
from octo_lab.config.setup import from_files
from octo_lab.config.setup import setup_at as setup_at
from octo_lab.config.setup import setup_from as setup_from
from octo_lab.config.toolkit import ToolConfig
from octo_lab.config.turn_policy import (
    approval_policy,
    ask_policy,
    session_limits,
    work_policy,
)
from octo_lab.core.errors import Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import InboundMessage, OutboundMessage
from octo_lab.core.registry import Registry
from octo_lab.core.replies import Told
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.plugins import plugin_providers
from octo_lab.llm.proxies import Proxies
from octo_lab.llm.registry import BUILTIN, ModelSetup
from octo_lab.security.logs import LOG_FILE, log_file
from octo_lab.security.redact import Secrets
from octo_lab.session.approvals import ApprovalDesk
from octo_lab.session.ask import AskPolicy
from octo_lab.session.commands import Commands
from octo_lab.session.compact_commands import CompactCommands
from octo_lab.session.controls import Controls
from octo_lab.session.crash_copies import keep_crash_copies
from octo_lab.session.dialog_commands import DialogCommands
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.grant_commands import GrantCommands
from octo_lab.session.model_choice import ModelChoices
from octo_lab.session.models import ConfiguredModels, ModelSource, OneModel
from octo_lab.session.ownership import registered, stay_alive
from octo_lab.session.parts import TurnParts
from octo_lab.session.queue_commands import QueueCommands
from octo_lab.session.router import Router
from octo_lab.session.routing_commands import RoutingCommands
from octo_lab.session.standing import open_standing
from octo_lab.session.status import StatusDesk, status_text
from octo_lab.session.tool_calls import ToolDesk
from octo_lab.session.toolkit import DELIVERY_SECONDS, SessionTools
from octo_lab.session.undo_commands import UndoCommands
from octo_lab.session.worker import Tell, Workers
from octo_lab.storage.database import Database, open_database
from octo_lab.tools.builtin.octo_status import status_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.reach import with_roots
from octo_lab.tools.registry import builtin_tools, plugin_tools
from octo_lab.tools.sandbox.local import Home
from octo_lab.tools.sandbox.programs import Programs
from octo_lab.tools.tool import Tool, ToolContext

DATABASE = "octo_lab.db"
TURN_GRACE = 2.0
SHOW_GRACE = 1.5
HTTP_GRACE = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A running octo_lab. Faces need ``door`` and their own channel, no more."""

    setup: Setup
    door: Door
    tools: Registry[Tool]
    channels: Channels
    listening: TaskGroup

    def add_tool(self, tool: Tool) -> None:
        """Offer a tool from the next turn on; it replaces one of the same name."""
        self.tools.add(tool)

    def remove_tool(self, name: str) -> None:
        self.tools.remove(name)

    def add_channel(self, channel: Channel) -> None:
        """Open a channel while the app runs; it listens until the app closes."""
        self.channels.add(channel)
        self.listening.start_soon(_listen, channel, self.door)


@asynccontextmanager
async def open_app(setup: Setup) -> AsyncGenerator[App]:
    """Start every part, join them, and stop them in reverse; raises StorageError, ConfigError."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(_database(setup))
        await stack.enter_async_context(log_file(setup.data_folder / LOG_FILE, _secrets(setup)))
        http = await stack.enter_async_context(_model_http(setup))
        owner = await stack.enter_async_context(registered(database))
        channels, bus = Channels(setup.channels), Bus()
        stack.callback(bus.close)
        services = await stack.enter_async_context(stage())
        listening = await stack.enter_async_context(stage())
        shows = await stack.enter_async_context(stage(SHOW_GRACE))
        lanes = await stack.enter_async_context(stage())
        powers = await stack.enter_async_context(open_powers(_home(setup), setup.settings))
        models = OneModel(setup.provider) if setup.provider else await _configured(setup, http)
        policy = _ask_policy(setup)
        tools = await _tools(setup, powers, policy)
        approvals = await _desk(setup)
        usages = SessionUsages(session_limits(setup.settings))
        take = partial(_take, setup, http, policy, approvals, models, usages)
        parts = TurnParts(
            database=database,
            owner=owner,
            policy=policy,
            models=models,
            tools=tools,
            desk=approvals,
            show=Delivery(bus=bus, channels=channels).show,
            attended=partial(_attended, channels),
            news=_news(setup, powers, take),
            hooks=hook_set(_home(setup), setup.settings),
            usages=usages,
            events=bus.events,
            episodes=setup.episodes,
        )
        tell = partial(_tell, bus)
        workers = Workers(parts, tell, work_policy(setup.settings), lanes=lanes, shows=shows)
        stack.push_async_callback(workers.close, TURN_GRACE)
        router, controls = _answering(
            setup, parts, workers, tell=tell, channels=channels, programs=powers.programs
        )
        for tool in _inside_tools(setup, parts, controls, workers, bus=bus, channels=channels):
            tools.add(tool)
        inbox = Inbox(lanes, router.handle, urgent=router.urgent, refuse=router.refuse)
        services.start_soon(stay_alive, database, owner)
        services.start_soon(keep_crash_copies, database, owner, lambda: workers.running)
        _serve(services, bus, channels, controls, inbox)
        app = App(setup=setup, door=bus, tools=tools, channels=channels, listening=listening)
        for channel in setup.channels:
            app.add_channel(channel)
        stack.callback(bus.close_intake)
        yield app


async def _desk(setup: Setup) -> ApprovalDesk:
    """Asks people, and knows what they allowed for good."""
    grants = grants_folder(setup.workspace, setup.data_folder)
    standing = await open_standing(grants, setup.workspace)
    return ApprovalDesk(approval_policy(setup.settings), standing)


def _serve(
    services: TaskGroup, bus: Bus, channels: Channels, controls: Controls, inbox: Inbox
) -> None:
    """Carry what the bus holds, each way."""
    services.start_soon(Dispatcher(services, channels, SendPolicy()).run, bus.outbound)
    services.start_soon(bus.serve_controls, controls.answer)
    services.start_soon(inbox.run, bus.inbound)


async def _tools(setup: Setup, powers: Powers, policy: AskPolicy) -> Registry[Tool]:
    """Those that come with octo_lab, those of plugins, those of the face."""
    built_in = with_roots(builtin_tools(powers), policy.roots, soft=policy.soft)
    return Registry("tool", (*built_in, *await _plugins(), *setup.tools))


def _inside_tools(
    setup: Setup,
    parts: TurnParts,
    controls: Controls,
    workers: Workers,
    *,
    bus: Bus,
    channels: Channels,
) -> tuple[Tool, ...]:
    """Those that work on the runtime itself."""
    status = status_tool(partial(_told_status, controls.desk))
    inside = _session_tools(controls, workers, bus, channels).tools()
    return (status, *inside, ToolConfig(place=setup.place, news=parts.news).tool())


@asynccontextmanager
async def _database(setup: Setup) -> AsyncGenerator[Database]:
    where = setup.settings.database or setup.data_folder / DATABASE
    async with open_database(where, media=setup.data_folder / "media") as database:
        yield database


def _secrets(setup: Setup) -> Secrets:
    """What must never be seen in the log."""
    keys = (provider.api_key for provider in setup.settings.providers.values())
    return Secrets(setup.environ, tuple(key.get_secret_value() for key in keys if key))


@asynccontextmanager
async def _model_http(setup: Setup) -> AsyncGenerator[ModelHttp]:
    http = ModelHttp(proxies=Proxies(setup.environ), secrets=_secrets(setup))
    try:
        yield http
    finally:
        with anyio.move_on_after(HTTP_GRACE, shield=True):
            await http.aclose()


async def _listen(channel: Channel, door: Door) -> None:
    """Run one channel; if it fails, the others go on."""
    try:
        await channel.run(door)
    except Exception:
        logger.exception("channel %r ended", channel.name)


async def _plugins() -> tuple[Tool, ...]:
    loaded = await anyio.to_thread.run_sync(plugin_tools)
    for problem in loaded.problems:
        logger.warning("%s", problem)
    return loaded.tools


async def _configured(setup: Setup, http: ModelHttp) -> ConfiguredModels:
    loaded = await anyio.to_thread.run_sync(plugin_providers, BUILTIN)
    for problem in loaded.problems:
        logger.warning("%s", problem.line)
    providers = Registry("provider", (*BUILTIN, *loaded.providers))
    return ConfiguredModels(_model_setup(setup, http), providers, problems=loaded.problems)


def _model_setup(setup: Setup, http: ModelHttp) -> ModelSetup:
    return model_setup(
        setup.settings,
        workspace=setup.workspace,
        http=http,
        environ=setup.environ,
        sources=setup.sources,
        variables=setup.variables,
    )


def _news(setup: Setup, powers: Powers, take: Callable[[Place], None]) -> Callable[[], str]:
    """What looks before each turn whether the settings have changed, if they came from files."""

    def both(place: Place) -> None:
        take(place)
        take_options(powers, place.settings)

    return Reloader(setup.place, both).news if setup.place else str


def _take(
    setup: Setup,
    http: ModelHttp,
    policy: AskPolicy,
    approvals: ApprovalDesk,
    models: ModelSource,
    usages: SessionUsages,
    place: Place,
) -> None:
    """Let the running parts go on with other settings."""
    now = replace(setup, **from_files(place))
    policy.take(_ask_policy(now))
    approvals.policy = approval_policy(now.settings)
    usages.limits = session_limits(now.settings)
    if isinstance(models, ConfiguredModels):
        models.connect(_model_setup(now, http))


def _ask_policy(setup: Setup) -> AskPolicy:
    return ask_policy(
        setup.settings,
        workspace=setup.workspace,
        private=private_folders(setup.data_folder),
        secrets=_secrets(setup),
        known=setup.place is None or setup.place.asked.trust.known,
    )


def _home(setup: Setup) -> Home:
    return Home(
        workspace=setup.workspace,
        private=private_folders(setup.data_folder),
        environ=setup.environ,
        secrets=_secrets(setup),
        policy=sandbox_policy(setup.settings.sandbox, setup.workspace),
    )


def _answering(
    setup: Setup,
    parts: TurnParts,
    workers: Workers,
    *,
    tell: Tell,
    channels: Channels,
    programs: Programs | None,
) -> tuple[Router, Controls]:
    """The two that answer people: the router messages, the controls everything else."""
    dialogs = Dialogs(database=parts.database, workspace=str(setup.workspace), policy=parts.policy)
    desk = StatusDesk(
        dialogs=dialogs,
        workers=workers,
        models=parts.models,
        policy=parts.policy,
        tools=parts.tools,
        channels=lambda: channels.names,
        data_folder=str(setup.data_folder),
        news=parts.news,
        programs=programs,
    )
    own = DialogCommands(dialogs=dialogs, workers=workers, models=parts.models, desk=desk)
    grants = GrantCommands(dialogs=dialogs, approvals=parts.desk, tools=parts.tools)
    routing = RoutingCommands(models=parts.models)
    undo = UndoCommands(dialogs=dialogs, workers=workers, files=parts.policy.files)
    tools = ToolDesk(parts=parts, dialogs=dialogs)
    queue = QueueCommands(dialogs=dialogs, workers=workers)
    compact = CompactCommands(
        dialogs=dialogs,
        workers=workers,
        models=parts.models,
        policy=parts.policy,
        hooks=parts.hooks,
    )
    groups = (own, grants, tools, routing, undo, queue, compact)
    built_in = [command for group in groups for command in group.commands()]
    config = ToolConfig(place=setup.place, news=parts.news).command()
    commands = Commands((*built_in, config, *setup.commands))
    controls = Controls(
        dialogs=dialogs,
        workers=workers,
        commands=commands,
        approvals=parts.desk,
        desk=desk,
        models=parts.models,
        tools=tools,
        workspace=setup.workspace,
        programs=programs,
    )
    return Router(dialogs=dialogs, workers=workers, commands=commands, tell=tell), controls


def _session_tools(
    controls: Controls, workers: Workers, bus: Bus, channels: Channels
) -> SessionTools:
    choices = ModelChoices(dialogs=controls.dialogs, workers=workers, models=controls.models)
    deliver = partial(bus.deliver, timeout=DELIVERY_SECONDS)
    return SessionTools(deliver=deliver, largest=channels.largest_file, choices=choices)


async def _told_status(desk: StatusDesk, ctx: ToolContext) -> str:
    """What the tool ``octo_status`` tells, as ``/status`` does in the chat of the call."""
    address = ChatAddress(channel=ctx.channel, chat_id=ctx.chat_id)
    return status_text(await desk.status(address))


def _attended(channels: Channels, address: ChatAddress) -> bool:
    """Whether a person there sees a question while the turn runs."""
    channel = channels.live(address.channel)
    return channel is not None and channel.live.interval is not None


def _tell(bus: Bus, message: InboundMessage, told: Told) -> None:
    """Answer a message outside a turn."""
    try:
        bus.send(
            OutboundMessage(
                address=message.address,
                text=told.text,
                reply_to=message.id,
                failed=told.failed,
                hint=told.hint,
                private=message.private,
            )
        )
    except Rejected as exc:
        logger.warning("the answer to message %s was dropped: %s", message.id, exc)
