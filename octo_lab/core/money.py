"""Money as people read it."""

from __future__ import annotations

from octo_lab.core.messages import Usage

SMALLEST = 0.0001  # dollars; less is not worth its digits


def dollars_text(amount: float) -> str:
    """US dollars: cents from one dollar on, else as many digits as tell something."""
    if amount <= 0:
        return "$0"
    if amount < SMALLEST:
        return f"<${SMALLEST}"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def spent_text(usage: Usage, prices: str) -> str:
    """What a dialog cost, with the day of the price list; '' while nothing was asked."""
    if not usage.requests:
        return ""
    known = cost_text(usage)
    if not known:
        return "unknown: no price is known of this model"
    return f"{known} (list prices of {prices})" if prices else known


def cost_text(usage: Usage) -> str:
    """What is known of a cost: all of it, ``at least`` a part, or nothing, which is ''."""
    if not usage.priced:
        return ""
    whole = usage.dollars is not None
    if not whole and usage.cost < SMALLEST:
        return ""
    return f"{'' if whole else 'at least '}{dollars_text(usage.cost)}"
