"""Which models a server has: asked when somebody needs to know, once per server."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from octo_lab.core.errors import AuthRejected, ConfigError, ModelNotFound, OctoError, Unavailable
from octo_lab.core.messages import ChatRequest
from octo_lab.core.text import clean
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.http import HttpCall
from octo_lab.llm.provider import Events, Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.streaming import endpoint

PATIENCE = 2.0
MOST = 500
SHOWN = 8
LONGEST_NAME = 200
_NO_CHAT = (
    *("embed", "rerank", "whisper", "tts", "speech", "transcri", "audio", "dall-e", "image"),
    *("moderation", "guard", "bge-", "e5-", "clip", "diffusion", "davinci", "babbage", "realtime"),
)


class ModelLists:
    """What servers said, by base URL and key; a server that said nothing is asked again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Secret | None], tuple[str, ...]] = {}

    def known(self, config: ProviderConfig) -> tuple[str, ...]:
        """What the server said before; nothing when it was not asked."""
        return self._known.get((config.base_url, config.api_key), ())

    def learn(self, base_url: str, models: tuple[str, ...]) -> None:
        """Take what a server that needs no key said to somebody else."""
        self._known[base_url, None] = models

    async def of(
        self,
        entry: ProviderEntry,
        config: ProviderConfig,
        patience: float = PATIENCE,
        *,
        anew: bool = False,
    ) -> tuple[str, ...]:
        """The server's models within so many seconds; raises an OctoError that names the next
        step when it does not say.
        """
        known = self.known(config)
        if known and not anew:
            return known
        models = await _asked(entry, config, patience)
        self._known[config.base_url, config.api_key] = models
        return models


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """``note`` is one line about the choice, '' when there was none."""

    model: str
    note: str = ""


def pick(provider: str, models: Sequence[str], usual: str) -> Picked:
    """The one to use when nobody named one: the only, the usual, the first that chats."""
    if len(models) == 1 or usual in models:
        return Picked(model=usual if usual in models else models[0])
    model = next(filter(_chats, models), models[0])
    note = f"{provider!r} has {len(models)} models, {model!r} answers; choose another: "
    return Picked(model=model, note=f"{note}`-m {provider}/NAME`, or `/model {provider}/NAME`")


class NamesModels:
    """Wraps a provider: where a model is missing, says which ones its server has."""

    def __init__(
        self, inner: Provider, entry: ProviderEntry, config: ProviderConfig, lists: ModelLists
    ) -> None:
        self.inner = inner
        self._entry = entry
        self._config = config
        self._lists = lists

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    async def stream(self, request: ChatRequest) -> Events:
        try:
            async with aclosing(self.inner.stream(request)) as events:
                async for event in events:
                    yield event
        except ModelNotFound as exc:
            raise await self._with_models(exc) from None

    async def _with_models(self, exc: ModelNotFound) -> ModelNotFound:
        config = self._config
        if config.http.replaying:
            return exc
        try:
            models = await self._lists.of(self._entry, config, anew=True)
        except OctoError:
            return exc
        if self.model in models:
            return exc
        return ModelNotFound(
            exc.message, hint=f"it has {_some(models, self.model)}; {_how(config)}"
        )


async def _asked(entry: ProviderEntry, config: ProviderConfig, patience: float) -> tuple[str, ...]:
    key, wire = config.api_key, entry.spoken(config)
    if wire is None:
        raise ConfigError(f"{config.name!r} has no list of models", hint=_how(config))
    call = HttpCall(
        provider=config.name,
        model="",
        url=endpoint(config.base_url, wire.models_path),
        headers={"accept": "application/json"} | ({**wire.authorize(key.reveal())} if key else {}),
        api_key=key,
    )
    try:
        with anyio.fail_after(patience):
            body = await config.http.get(call, patience)
    except TimeoutError:
        message = f"{config.name!r} did not say within {patience:g} s which models it has"
        raise Unavailable(message, hint=_how(config)) from None
    except Unavailable as exc:
        raise Unavailable(exc.message, hint=f"{exc.hint}; {_how(config)}") from None
    except AuthRejected:
        raise
    except OctoError as exc:
        message = f"{config.name!r} does not say which models it has: {exc.message}"
        raise ConfigError(message, hint=_how(config)) from None
    if models := tuple(dict.fromkeys(_names(body))):
        return models[:MOST]
    raise ConfigError(f"{config.name!r} lists no models", hint=_how(config))


def _names(body: bytes) -> Iterator[str]:
    """The names in a list of the usual shapes: OpenAI's ``data``, Ollama's and Gemini's
    ``models``; of the latter only what generates.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return
    listed = (found.get("data") or found.get("models")) if isinstance(found, dict) else found
    for one in listed if isinstance(listed, list) else ():
        name = (one.get("id") or one.get("name")) if isinstance(one, dict) else one
        methods = one.get("supportedGenerationMethods") if isinstance(one, dict) else None
        if isinstance(methods, list) and "generateContent" not in methods:
            continue
        if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable():
            yield clean(name).removeprefix("models/")


def _chats(model: str) -> bool:
    low = model.lower()
    return not any(part in low for part in _NO_CHAT)


def _some(models: Iterable[str], wanted: str) -> str:
    """At most eight, the most similar first."""
    listed = list(models)
    near = difflib.get_close_matches(wanted, listed, n=SHOWN)
    ordered = list(dict.fromkeys([*near, *filter(_chats, listed), *listed]))
    more = f" and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    return ", ".join(ordered[:SHOWN]) + more


def _how(config: ProviderConfig) -> str:
    return f"name one with `-m {config.name}/NAME`, or `/model {config.name}/NAME`"
