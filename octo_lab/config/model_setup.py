"""What the settings say of models, in the words of the model layer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from octo_lab.config.settings import LocalSettings, ModelSettings, ProviderSettings, Settings
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.policy import LocalPolicy, expanded
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.secret import Secret
from octo_lab.llm.setup import ModelFacts, ModelSetup, ProviderFacts


def model_setup(
    settings: Settings,
    *,
    workspace: Path,
    http: ModelHttp,
    environ: Mapping[str, str],
    sources: Mapping[str, str],
    variables: Mapping[str, str],
) -> ModelSetup:
    """``sources`` and ``variables`` say which file each setting and variable came from; paths in
    the settings are relative to the workspace.
    """
    return ModelSetup(
        http=http,
        model=settings.model,
        providers={name: _provider(facts) for name, facts in settings.providers.items()},
        models={name: _model(facts) for name, facts in settings.models.items()},
        environ=environ,
        sources=sources,
        variables=variables,
        local=_local(settings.local, workspace, environ),
        routing=_routing(settings, workspace),
    )


def _local(settings: LocalSettings, workspace: Path, environ: Mapping[str, str]) -> LocalPolicy:
    """``OCTO_LOCAL_DETECT`` may switch the search off, ``OCTO_LOCAL_MODEL`` names a model where no
    file does.
    """
    off = environ.get("OCTO_LOCAL_DETECT", "").strip().lower() in ("off", "0", "no", "false")
    model = settings.model or environ.get("OCTO_LOCAL_MODEL", "").strip()
    return LocalPolicy(
        detect=settings.detect and not off,
        model=str(_path(model, workspace) or ""),
        threads=settings.threads,
    )


def _routing(settings: Settings, workspace: Path) -> RoutingPlan:
    routing = settings.routing
    chosen = "mode" in routing.model_fields_set
    return RoutingPlan(
        fallbacks=settings.fallbacks,
        mode=routing.mode,
        qos=routing.qos,
        escalate=not chosen if routing.escalate is None else routing.escalate,
        catalog=_path(routing.catalog, workspace),
    )


def _path(path: str | None, workspace: Path) -> Path | None:
    return workspace / expanded(path) if path else None


def _provider(settings: ProviderSettings) -> ProviderFacts:
    key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
    return ProviderFacts(
        base_url=settings.base_url.strip(),
        api_key=Secret(key) if key else None,
        default_model=settings.default_model,
    )


def _model(settings: ModelSettings) -> ModelFacts:
    return ModelFacts(
        hints=tuple(settings.hints.items()),
        context_window=settings.context_window,
        max_output=settings.max_output,
        price_in=settings.price_in,
        price_out=settings.price_out,
    )
