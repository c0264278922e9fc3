"""How long the model of a turn may be silent: one that thinks, or has to be loaded, longer."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from octo_lab.agent.patience import LOADING, SHARED, THINKING, Patience
from octo_lab.llm.hints import model_hints
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.failover import Chained
from octo_lab.llm.resilience.fallback import FallingBack
from octo_lab.llm.resilience.responsiveness import Responsive
from octo_lab.session.models import ChosenModel

_SEVERAL = (Adaptive, Chained, FallingBack, Responsive)


def patience_with(model: ChosenModel) -> Patience:
    choice = model.choice
    if choice is None:
        return Patience()
    if isinstance(model.provider, _SEVERAL):
        return SHARED
    if _is_here(choice.config.base_url):
        return LOADING
    thinks = model_hints(choice.model, choice.config.hints).effort
    return THINKING if thinks else Patience()


def _is_here(base_url: str) -> bool:
    """Whether a model is run by this machine: by octo_lab itself, or a server on loopback."""
    host = urlsplit(base_url).hostname or "localhost"
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
