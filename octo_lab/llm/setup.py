"""What the user configured of providers and models, and where each setting is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.policy import LocalPolicy
from octo_lab.llm.metering.pricing import Price
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFacts:
    """What the user configured of one provider; what is blank comes from its entry."""

    base_url: str = ""
    api_key: Secret | None = None
    default_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What the user knows of one model; prices in US dollars per million tokens."""

    hints: tuple[tuple[str, bool | str], ...] = ()
    context_window: int | None = None
    max_output: int | None = None
    price_in: float | None = None
    price_out: float | None = None

    @property
    def price(self) -> Price | None:
        """The user's own price, when both halves of it are given."""
        if self.price_in is None or self.price_out is None:
            return None
        return Price(input=self.price_in, output=self.price_out)


NOTHING_KNOWN: Mapping[str, ModelFacts] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSetup:
    """What a choice of model depends on; ``model`` is the configured one.

    ``sources`` names the file of each configured key, ``variables`` that of each variable that
    came from a ``.env`` file; what a source is not known of came from elsewhere. ``found`` are
    the base URLs of servers that were found running on this machine, by provider. ``routing`` says
    which other models help out.
    """

    http: ModelHttp
    model: str | None = None
    providers: Mapping[str, ProviderFacts] = field(default_factory=dict)
    models: Mapping[str, ModelFacts] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)
    local: LocalPolicy = LocalPolicy()
    routing: RoutingPlan = RoutingPlan()

    def spelled(self, entry: ProviderEntry) -> str:
        """The key under which the user configured a provider: its name or an alias, in any case."""
        names = entry.names
        keys = (key for key in self.providers if key.lower() in names)
        return entry.name if entry.name in self.providers else next(keys, entry.name)

    def facts(self, entry: ProviderEntry) -> ProviderFacts:
        return self.providers.get(self.spelled(entry)) or ProviderFacts()

    def variable(self, names: Iterable[str]) -> tuple[str, str]:
        """The first of these variables that is set, and its value; ('', '') when none is."""
        values = ((name, self.environ.get(name, "").strip()) for name in names if name)
        return next((found for found in values if found[1]), ("", ""))

    def base_url(self, entry: ProviderEntry) -> str:
        """The user's own, or that of a server found on this machine; '' where there is none."""
        named = self.facts(entry).base_url or self.variable((entry.base_url_env,))[1]
        return named or self.found.get(entry.name, "")

    def key(self, entry: ProviderEntry) -> Secret | None:
        value = self.variable(entry.api_key_envs)[1]
        return self.facts(entry).api_key or (Secret(value) if value else None)

    def chose(self, entry: ProviderEntry) -> bool:
        """Whether the user connected it: by a base URL, a key, or a model where that will do."""
        facts = self.facts(entry)
        if facts.base_url or self.variable((entry.base_url_env,))[1]:
            return True
        if entry.needs_key:
            return bool(self.key(entry))
        return bool(facts.default_model and (entry.base_url or entry.create))

    def connects(self, entry: ProviderEntry) -> bool:
        """Whether it can be used: chosen, or found running."""
        return self.chose(entry) or entry.name in self.found


def model_facts(provider: str, model: str, models: Mapping[str, ModelFacts]) -> ModelFacts:
    """What the user said of a model, by ``provider/model`` before the bare name, in any case."""
    if not models:
        return ModelFacts()
    known = {name.lower(): facts for name, facts in models.items()}
    whole, bare = f"{provider}/{model}".lower(), model.lower()
    return known.get(whole) or known.get(bare) or ModelFacts()
