"""Tools as people write them in notebooks: half of them were never used while developing."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, Literal

from octo_lab.tools.function_tool import function_tool
from octo_lab.tools.tool import Tool

Currency = Literal["EUR", "USD", "GBP"]


def rainfall(city: str) -> str:
    """Yearly rainfall of a city in millimetres."""
    return f"{city}: {sum(map(ord, city))} mm"


def convert_currency(amount: float, source: Currency, target: Currency) -> float:
    """Convert an amount of money between currencies."""
    return amount


def book_room(room: str, day: datetime.date, people: int = 2) -> str:
    """Book a meeting room for a day."""
    return f"{room} is booked for {people} on {day}"


def roll_dice(sides: int = 6) -> int:
    """Roll a die and return the number."""
    return sides


def stock_level(article: str, warehouse: Literal["north", "south"] = "north") -> int:
    """How many pieces of an article are in stock."""
    return 7


def translate_word(word: str, language: Literal["german", "french"]) -> str:
    """Translate one word into another language."""
    return word[::-1]


def population(country: str) -> int:
    """Number of inhabitants of a country."""
    return len(country)


def distance(start: str, end: str) -> str:
    """Distance between two cities in kilometres."""
    return f"{start}-{end}: 100 km"


def monthly_payment(principal: float, years: int, rate: float = 3.5) -> float:
    """Monthly payment of a mortgage loan."""
    return principal / years


def lookup_employee(name: str) -> str:
    """Phone number and office of an employee."""
    return f"{name}: room 12, phone 345"


def set_thermostat(room: Literal["kitchen", "bedroom"], degrees: float) -> str:
    """Set the temperature of a room."""
    return f"{room}: {degrees}"


def prime_factors(number: int) -> list[int]:
    """Prime factors of an integer."""
    return [number]


def moon_phase(day: datetime.date | None = None) -> str:
    """Phase of the moon on a day, today if none is given."""
    return "full"


def water_plants(greenhouse: str, litres: int) -> str:
    """Water the plants of a greenhouse."""
    return f"{greenhouse}: {litres}"


def train_departures(station: str, direction: Literal["north", "south"] | None = None) -> list[str]:
    """Next departures of trains from a station."""
    return [station]


def is_holiday(day: datetime.date, region: str = "all") -> bool:
    """Whether a day is a public holiday."""
    return False


def grade_average(grades: list[float]) -> float:
    """Average of school grades."""
    return sum(grades) / len(grades)


def rename_sample(old_name: str, new_name: str) -> str:
    """Rename a laboratory sample."""
    return new_name


def calibrate() -> str:
    """Calibrate the spectrometer."""
    return "calibrated"


FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "example": (rainfall, convert_currency, book_room, roll_dice, stock_level, translate_word),
    "held_out": (
        population,
        distance,
        monthly_payment,
        lookup_employee,
        set_thermostat,
        prime_factors,
        moon_phase,
        water_plants,
        train_departures,
        is_holiday,
        grade_average,
        rename_sample,
        calibrate,
    ),
}


def own_tools(split: str) -> tuple[Tool, ...]:
    return tuple(function_tool(function) for function in FUNCTIONS[split])
