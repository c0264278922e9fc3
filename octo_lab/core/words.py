"""Replies in the words that every face shows of them."""

from __future__ import annotations

from collections.abc import Iterator

from octo_lab.core.replies import ModelCard, ProviderCheck, ProviderInfo, SlotInfo, Status

ROUTER_ALONE = 'One model answers; name others as "fallbacks" in config.json.'
ROUTER_COLUMNS = ("model", "state", "calls", "errors", "p50", "p95", "tokens/s", "cost", "score")


def is_connected(info: ProviderInfo) -> bool:
    return info.state != "not connected"


def missing_words(info: ProviderInfo) -> str:
    """What a provider lacks to be connected."""
    missing = [value for value in (info.key, info.base_url) if value.startswith("missing")]
    return missing[0] if missing else info.note


def card_words(card: ModelCard) -> str:
    """Window, price and abilities in a few words."""
    parts = [
        f"{_thousands(card.context_window)} tokens" if card.context_window else "",
        f"${card.price_in:g} in, ${card.price_out:g} out per 1M"
        if card.price_in is not None and card.price_out is not None
        else "",
        ", ".join(card.capabilities),
    ]
    return " · ".join(filter(None, parts))


def _thousands(tokens: int) -> str:
    return f"{tokens / 1_000_000:.3g}M" if tokens >= 1_000_000 else f"{tokens / 1000:.3g}k"


def layer_rows(status: Status) -> list[tuple[str, str, str]]:
    """Each layer of the context: its name, its tokens, its share of the model's window."""
    window = status.context_window
    return [
        (layer.name, f"{layer.tokens:,}", f"{layer.tokens / window:.1%}" if window else "?")
        for layer in status.layers
    ]


def check_rows(check: ProviderCheck) -> list[tuple[str, str]]:
    """What a test of a provider found; its error is not among it."""
    return list(_check_rows(check))


def _check_rows(check: ProviderCheck) -> Iterator[tuple[str, str]]:
    yield "asked", check.name
    yield from ((name, value) for name, value in check.sources.items() if name != "provider")
    yield "result", f"failed: {check.kind.replace('_', ' ')}" if check.error else "it answers"
    if check.answer:
        yield "answer", repr(check.answer)
    if check.first is not None:
        yield "time", f"{check.first:.2f} s to the first words, {check.seconds:.2f} s in all"
    usage = check.usage
    if usage.input_tokens or usage.output_tokens:
        yield "tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"


def router_row(slot: SlotInfo) -> tuple[str, ...]:
    """One model's measures, in the order of ``ROUTER_COLUMNS``; a dash for what is unknown."""
    return (
        slot.name,
        slot.state,
        str(slot.calls),
        f"{slot.errors} ({slot.error_rate:.0%})",
        _or_dash(slot.p50, "{:.2f} s"),
        _or_dash(slot.p95, "{:.2f} s"),
        _or_dash(slot.throughput, "{:.0f}"),
        _or_dash(slot.cost, "${:.4f}"),
        _or_dash(slot.score, "{:.3f}"),
    )


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
