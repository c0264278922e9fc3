"""``{{ expr }}`` in a prompt: evaluated in the user's namespace, rendered for a model."""

from __future__ import annotations

import ast
import builtins
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import Media
from octo_lab.notebook.describe import describe

UNKNOWN_NAME = "run the cell that makes it; --raw sends a text as it is"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt: plain text, or an expression."""

    text: str
    expression: ast.Expression | None = None


def interpolate(text: str, namespace: Mapping[str, Any]) -> tuple[str, tuple[Media, ...]]:
    """Replace each ``{{ expr }}``, once; braces that hold no Python expression stay.

    Raises UsageError that names what does not exist, or what the expression raised.
    """
    if "{{" not in text:
        return text, ()
    said: list[str] = []
    media: list[Media] = []
    for piece in pieces(text):
        if piece.expression is None:
            said.append(piece.text)
        else:
            words, pictures = describe(
                evaluate(f"{{{{ {piece.text} }}}}", piece.expression, namespace)
            )
            said.append(words)
            media.extend(pictures)
    return "".join(said), tuple(media)


def pieces(text: str) -> Iterator[Piece]:
    """Cut a prompt at its expressions."""
    done = at = 0
    while (start := text.find("{{", at)) >= 0:
        found = _expression(text, start)
        if found is None:
            at = start + 2
            continue
        expression, end = found
        yield Piece(text[done:start])
        yield Piece(text[start + 2 : end - 2].strip(), expression)
        done = at = end
    yield Piece(text[done:])


def _expression(text: str, start: int) -> tuple[ast.Expression, int] | None:
    """The expression that begins at ``start``: up to the first ``}}`` that makes it whole."""
    end = start + 2
    for _ in range(10):
        end = text.find("}}", end)
        if end < 0:
            return None
        while text.startswith("}}}", end):
            end += 1
        try:
            return ast.parse(text[start + 2 : end].strip(), mode="eval"), end + 2
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            end += 1
    return None


def evaluate(
    shown: str, tree: ast.Expression, namespace: Mapping[str, Any], *, hint: str = UNKNOWN_NAME
) -> object:
    """The value of an expression, which an error calls ``shown``; raises UsageError.

    ``hint`` is the next step when it names a variable that does not exist.
    """
    try:
        code = compile(tree, "<prompt>", "eval")
        return eval(code, {"__builtins__": builtins}, dict(namespace))
    except NameError as exc:
        raise UsageError(
            f"{shown}: no variable is called {exc.name!r}",
            hint=hint,
        ) from None
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - the person's expression may raise anything
        said = traceback.format_exception_only(exc)[-1].strip()
        raise UsageError(f"{shown} raised {said}") from None
