"""Which model answers: the port sessions need, and the source that always gives the same one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from octo_lab.llm.provider import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """A provider ready for use; ``note`` is one line about why it was chosen, if that matters."""

    provider: Provider
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.provider.name}/{self.provider.model}"


class ModelSource(Protocol):
    """Turns the name a person gave into a model."""

    def choose(self, name: str | None) -> ChosenModel:
        """The model called ``name`` (``None``: the usual one); raises ConfigError, UsageError."""
        ...

    def names(self) -> tuple[str, ...]:
        """Models worth offering, as ``provider/model``."""
        ...


@dataclass(frozen=True, slots=True)
class OneModel:
    """A source for whoever brings a provider of their own."""

    provider: Provider

    def choose(self, name: str | None) -> ChosenModel:
        return ChosenModel(provider=self.provider)

    def names(self) -> tuple[str, ...]:
        return (self.choose(None).name,)
