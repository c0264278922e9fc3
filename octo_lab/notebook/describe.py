"""Values of the notebook in words and pictures for a model: bounded, safe on hostile objects."""

from __future__ import annotations

import base64
import inspect
import io
from collections.abc import Callable
from typing import Any

from IPython.lib.pretty import pretty as _pretty

from octo_lab.core.messages import Media
from octo_lab.core.text import clean, head_and_tail

LIMIT = 10_000  # characters of any one value
TEXT_LIMIT = 100_000  # of a string, which is what the person wrote
ROWS = 5
COLUMNS = 40
Described = tuple[str, tuple[Media, ...]]
pretty: Any = _pretty  # not typed there


def describe(value: object) -> Described:
    """Text and pictures for ``value``; raises nothing but KeyboardInterrupt."""
    try:
        if isinstance(value, str):
            return clean(head_and_tail(value, TEXT_LIMIT)), ()
        text, media = _describer(value)(value)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - a value's own code may raise anything
        return f"<{_type(value)}; its description raised {type(exc).__name__}>", ()
    return clean(head_and_tail(text, LIMIT)), media


def _describer(value: object) -> Callable[[Any], Described]:
    return _DESCRIBERS.get(_kind(value), _plain)


def _kind(value: object) -> str:
    """What a value is, told by the names of its classes: nothing is imported to find out."""
    for cls in type(value).__mro__:
        kind = _KINDS.get((cls.__module__.partition(".")[0], cls.__name__))
        if kind:
            return kind
    if inspect.isfunction(value) or inspect.isclass(value):
        return "source"
    return ""


_KINDS = {
    ("pandas", "DataFrame"): "frame",
    ("pandas", "Series"): "series",
    ("numpy", "ndarray"): "array",
    ("matplotlib", "Figure"): "figure",
    ("PIL", "Image"): "image",
    ("IPython", "Image"): "shown image",
}


def _frame(frame: Any) -> Described:
    rows, columns = frame.shape
    kinds = [f"  {name}: {kind}" for name, kind in list(frame.dtypes.items())[:COLUMNS]]
    if columns > COLUMNS:
        kinds.append(f"  … {columns - COLUMNS} more columns")
    head = frame.iloc[:ROWS, :COLUMNS].to_string(max_colwidth=60)
    parts = [
        f"DataFrame, {rows} rows x {columns} columns",
        "columns and dtypes:\n" + "\n".join(kinds),
        f"missing values: {_missing(frame)}",
        f"first {min(ROWS, rows)} rows:\n{head}",
    ]
    return "\n".join(parts), ()


def _missing(frame: Any) -> str:
    counts = frame.iloc[:, :COLUMNS].isna().sum()
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "none"


def _series(series: Any) -> Described:
    head = series.iloc[:ROWS].to_string()
    missing = int(series.isna().sum())
    return f"Series, {len(series)} values, {series.dtype}, {missing} missing\n{head}", ()


def _array(array: Any) -> Described:
    sample = ", ".join(repr(item.item() if hasattr(item, "item") else item) for item in _few(array))
    more = ", …" if array.size > 10 else ""
    return f"array, shape {array.shape}, dtype {array.dtype}: {sample}{more}", ()


def _few(array: Any) -> list[Any]:
    return list(array.reshape(-1)[:10]) if array.flags.c_contiguous else list(array.flat)[:10]


def _figure(figure: Any) -> Described:
    target = io.BytesIO()
    figure.savefig(target, format="png", bbox_inches="tight")
    return "a figure (picture attached)", (Media(mime="image/png", data=target.getvalue()),)


def _image(image: Any) -> Described:
    target = io.BytesIO()
    image.save(target, format="PNG")
    width, height = image.size
    media = Media(mime="image/png", data=target.getvalue())
    return f"an image of {width} x {height} pixels (picture attached)", (media,)


def _shown_image(image: Any) -> Described:
    data = image.data if isinstance(image.data, bytes) else base64.b64decode(image.data)
    kind = "jpeg" if image.format in ("jpg", "jpeg") else image.format
    return "an image (picture attached)", (Media(mime=f"image/{kind}", data=data),)


def _source(value: Any) -> Described:
    try:
        return inspect.getsource(value).rstrip(), ()
    except (OSError, TypeError):
        return _plain(value)


def _plain(value: Any) -> Described:
    return pretty(value, max_seq_length=200), ()


_DESCRIBERS: dict[str, Callable[[Any], Described]] = {
    "frame": _frame,
    "series": _series,
    "array": _array,
    "figure": _figure,
    "image": _image,
    "shown image": _shown_image,
    "source": _source,
}


def short(value: object, limit: int = 80) -> str:
    """One line about a value: its type, its size, the beginning of what it is."""
    try:
        kind = _kind(value)
        if kind in ("frame", "array"):
            return f"{_type(value)} {tuple(value.shape)}"  # type: ignore[attr-defined]
        text = " ".join(pretty(value, max_seq_length=10).split())
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - a value's own code may raise anything
        return f"{_type(value)} (its repr raised {type(exc).__name__})"
    return clean(f"{_type(value)} = {text[:limit]}{'…' if len(text) > limit else ''}")


def _type(value: object) -> str:
    return type(value).__name__
