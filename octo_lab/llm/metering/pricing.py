"""What models cost by their vendors' list prices, as far as these are known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from octo_lab.core.messages import Usage

PRICES_FILE = Path(__file__).with_name("prices.json")
_MILLION = 1_000_000
_RESELLER = "openrouter"  # takes the vendors' own prices; names models vendor/model
_OTHER_VERSION = re.compile(r"\d|[-.]\d{1,2}(?!\d)")
_VENDORS = {"anthropic": "anthropic", "google": "gemini", "openai": "openai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens.

    ``cached`` is what tokens read from the vendor's cache cost, ``written`` those put into it;
    None: as much as any other input. ``as_of``: the day the price was true; None: the user's.
    """

    input: float
    output: float
    cached: float | None = None
    written: float | None = None
    as_of: date | None = None

    def cost(self, usage: Usage) -> float:
        """Dollars for these tokens."""
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
        return (
            plain * self.input
            + usage.cached_tokens * cached
            + usage.written_tokens * written
            + usage.output_tokens * self.output
        ) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRow:
    """The models of one ``vendor`` whose name holds one of ``match``; ``price`` None: unknown."""

    vendor: str
    match: tuple[str, ...]
    price: Price | None

    def fits(self, vendor: str | None, model: str) -> bool:
        return vendor in (None, self.vendor) and any(_holds(model, part) for part in self.match)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """Rows in order of precedence; ``as_of`` is the day of the list."""

    as_of: date
    rows: tuple[PriceRow, ...]

    def price(self, model: str, provider: str | None = None) -> Price | None:
        """The first fitting row's price; case does not matter.

        A ``provider`` has only its own prices: what runs elsewhere under the same name has none.
        None asks for a name alone, whoever may serve it.
        """
        vendor, name = provider, model.lower()
        if provider == _RESELLER:
            path, _, name = name.rpartition("/")
            vendor = _VENDORS.get(path, "")
            if ":" in name:  # a variant with a price of its own
                return None
        return next((row.price for row in self.rows if row.fits(vendor, name)), None)


def read_prices(data: Mapping[str, Any]) -> PriceList:
    """A price list from its JSON."""
    as_of = date.fromisoformat(data["as_of"])
    return PriceList(as_of=as_of, rows=tuple(_row(row, as_of) for row in data["rows"]))


def _row(row: Mapping[str, Any], as_of: date) -> PriceRow:
    price = None
    if "input" in row:
        price = Price(
            input=row["input"],
            output=row["output"],
            cached=row.get("cached"),
            written=row.get("written"),
            as_of=date.fromisoformat(row["as_of"]) if "as_of" in row else as_of,
        )
    return PriceRow(vendor=row["vendor"], match=tuple(row["match"]), price=price)


def _holds(model: str, part: str) -> bool:
    """Whether ``part`` stands in the name as words of its own; a date may follow, but a version
    may not: ``gpt-5`` is not ``gpt-5.2``.
    """
    at = model.find(part)
    if at < 0 or model[max(0, at - 1) : at].isalnum():
        return False
    return _OTHER_VERSION.match(model, at + len(part)) is None


PRICES = read_prices(json.loads(PRICES_FILE.read_text(encoding="utf-8")))
