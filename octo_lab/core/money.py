"""Money as people read it."""

from __future__ import annotations

from octo_lab.core.messages import Usage


def dollars_text(amount: float) -> str:
    """US dollars: cents from one dollar on, else as many digits as tell something."""
    if amount <= 0:
        return "$0"
    if amount < 0.0001:
        return "<$0.0001"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def cost_text(usage: Usage) -> str:
    """What is known of a cost: all of it, ``at least`` a part, or nothing, which is ''."""
    if not usage.priced:
        return ""
    known = dollars_text(usage.cost)
    return known if usage.dollars is not None else f"at least {known.removeprefix('<')}"
