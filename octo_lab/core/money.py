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


def cost_text(usage: Usage) -> str:
    """What is known of a cost: all of it, ``at least`` a part, or nothing, which is ''."""
    if not usage.priced:
        return ""
    whole = usage.dollars is not None
    if not whole and usage.cost < SMALLEST:
        return ""
    return f"{'' if whole else 'at least '}{dollars_text(usage.cost)}"
