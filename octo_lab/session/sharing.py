"""Keeps the models that share the work, so that what was measured of them outlives a turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio.to_thread

from octo_lab.core.errors import ConfigError
from octo_lab.core.replies import Routing, SlotInfo
from octo_lab.llm.provider import Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.registry import ModelChoice
from octo_lab.llm.resilience.assembly import Routed, share
from octo_lab.llm.resilience.catalog import Catalog, entry_of, load_catalog
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.resilience.policy import Mode
from octo_lab.llm.resilience.slot import Slot

MOST = 32


class Shares:
    """One slot for each model, one provider for each row of them, while the plan stays.

    ``problem`` is one line about a catalogue that cannot be used, or ''.
    """

    def __init__(self, plan: RoutingPlan, opened: Callable[[ModelChoice], Provider]) -> None:
        self.plan = plan
        self.problem = ""
        self._opened = opened
        self._catalog: Catalog | None = None
        self._slots: dict[ProviderConfig, Slot] = {}
        self._routers: dict[tuple[ProviderConfig, ...], Routed] = {}

    async def among(self, choices: Sequence[ModelChoice]) -> Provider:
        """A provider of these models, the preferred first."""
        if self._catalog is None:
            self._catalog = await self._loaded()
        key = tuple(choice.config for choice in choices)
        if key not in self._routers and len(self._routers) >= MOST:
            self._routers.clear()
            self._slots.clear()
        found = self._routers.pop(key, None)
        if found is None:
            found = share([self._slot(choice, self._catalog) for choice in choices], self.plan)
        self._routers[key] = found
        return found

    def share_by(self, mode: Mode) -> None:
        """A person's choice, which slow answers do not override; what was measured stays."""
        self.plan = replace(self.plan, mode=mode, escalate=False)
        self._routers.clear()

    def renew(self) -> None:
        """Other settings: what was measured stays, but what is out of use is not shown."""
        self._routers.clear()

    @property
    def used(self) -> bool:
        return bool(self._routers)

    def routing(self) -> Routing:
        """How all are doing, those used last first."""
        rows = list(reversed(self._routers.values()))
        infos: dict[str, SlotInfo] = {}
        for info in (info for row in rows for info in row.metrics()):
            infos.setdefault(info.name, info)
        mode = rows[0].mode if rows else self.plan.mode
        return Routing(mode=mode, slots=tuple(infos.values()))

    async def _loaded(self) -> Catalog:
        if self.plan.catalog is None:
            return {}
        try:
            return await anyio.to_thread.run_sync(load_catalog, self.plan.catalog)
        except ConfigError as exc:
            self.problem = f"{exc.message}."
            return {}

    def _slot(self, choice: ModelChoice, catalog: Catalog) -> Slot:
        config = choice.config
        if config not in self._slots:
            price = config.price
            self._slots[config] = Slot(
                self._opened(choice),
                self.plan.policy,
                entry=entry_of(catalog, config.name, config.model),
                price=(price.input, price.output) if price else None,
            )
        return self._slots[config]
