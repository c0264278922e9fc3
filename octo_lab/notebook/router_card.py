"""How the models that share the work are doing: a table and a small chart."""

from __future__ import annotations

from html import escape

from octo_lab.core.money import dollars_text
from octo_lab.core.replies import Routing, SlotInfo
from octo_lab.core.words import ROUTER_ALONE, ROUTER_COLUMNS, router_row

_LEGEND = "seconds until the first words (median / 95 %), errors, cost"
_ROW, _WIDTH, _LABELS, _VALUES = 26, 720, 220, 220
_STATES = {
    "closed": "var(--jp-success-color1, #388e3c)",
    "half-open": "var(--jp-warn-color1, #ef6c00)",
    "open": "var(--jp-error-color1, #d32f2f)",
}


def router_markdown(routing: Routing) -> str:
    if not routing.slots:
        return ROUTER_ALONE
    rows = [ROUTER_COLUMNS, ("---",) * len(ROUTER_COLUMNS), *map(router_row, routing.slots)]
    lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in rows]
    return "\n".join([f"Mode: **{routing.mode}**", "", *lines])


def _escaped(cell: str) -> str:
    """A dollar sign would begin a formula."""
    return cell.replace("|", "\\|").replace("$", "\\$")


def router_chart(routing: Routing) -> str:
    """A bar a model, as SVG: solid until the median, pale until the 95th percentile.

    ``''`` while nothing was measured. The dot is the state of its circuit breaker.
    """
    measured = [slot for slot in routing.slots if slot.p95]
    if not measured:
        return ""
    longest = max(slot.p95 or 0.0 for slot in measured)
    bars = "".join(_bar(slot, index, longest) for index, slot in enumerate(measured))
    height = _ROW * len(measured) + 22
    legend = f'<text x="{_LABELS}" y="{height - 4}" opacity=".7">{_LEGEND}</text>'
    return (
        f'<svg role="img" aria-label="Latency of each model" width="{_WIDTH}" height="{height}"'
        f' viewBox="0 0 {_WIDTH} {height}" style="max-width:100%;height:auto;font:12px'
        f' system-ui,sans-serif;fill:currentColor">{bars}{legend}</svg>'
    )


def _bar(slot: SlotInfo, index: int, longest: float) -> str:
    top, room = index * _ROW + 4, _WIDTH - _LABELS - _VALUES
    median, late = (room * (value or 0.0) / longest for value in (slot.p50, slot.p95))
    middle = top + 13
    facts = _facts(slot)
    colour = _STATES.get(slot.state, "currentColor")
    name = slot.name if len(slot.name) <= 30 else f"{slot.name[:29]}…"
    return (
        f"<g><title>{escape(slot.name)}: {facts}, {escape(slot.state)}</title>"
        f'<circle cx="6" cy="{middle - 4}" r="4" style="fill:{colour}"/>'
        f'<text x="16" y="{middle}">{escape(name)}</text>'
        f'<rect x="{_LABELS}" y="{top}" width="{late:.1f}" height="16" rx="3" opacity=".25"/>'
        f'<rect x="{_LABELS}" y="{top}" width="{median:.1f}" height="16" rx="3" opacity=".75"/>'
        f'<text x="{_LABELS + late + 8:.1f}" y="{middle}">{facts}</text></g>'
    )


def _facts(slot: SlotInfo) -> str:
    """What is measured of a model; a cost that nobody knows is left out."""
    times = f"{slot.p50 or 0.0:.2f} / {slot.p95 or 0.0:.2f} s"
    cost = "" if slot.cost is None else dollars_text(slot.cost)
    return ", ".join(filter(None, (times, f"{slot.error_rate:.0%} errors", cost)))
