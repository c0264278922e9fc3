"""What a gateway says of itself, while it runs and at its end."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.core.messages import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``errors`` are failed turns and refused messages; ``log`` the newest lines."""

    state: str
    where: str
    workspace: str
    data_folder: str
    seconds: float
    messages: int
    turns: int
    errors: int
    usage: Usage
    log: tuple[str, ...] = ()

    @property
    def counts(self) -> tuple[object, ...]:
        """What is worth showing anew when it changes."""
        return (self.state, self.messages, self.turns, self.errors, self.log)

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        rows = [f"{name:<{width}}  {value}" for name, value in self._rows()]
        return "\n".join([f"octo_lab gateway, {self.state}", *rows, *self.log])

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        rows = [f"| {name} | {value} |" for name, value in self._rows()]
        log = ["", "```text", *(line.replace("```", "'''") for line in self.log), "```"]
        head = [f"**octo_lab gateway**, {self.state}", "", "| | |", "|---|---|"]
        return "\n".join([*head, *rows, *(log if self.log else [])])

    def _rows(self) -> list[tuple[str, str]]:
        tokens = f"{self.usage.input_tokens} in, {self.usage.output_tokens} out"
        return [
            ("address", self.where),
            ("workspace", self.workspace),
            ("data folder", self.data_folder),
            ("uptime", uptime(self.seconds)),
            ("messages", str(self.messages)),
            ("turns", str(self.turns)),
            ("tokens", tokens),
            ("errors", str(self.errors)),
        ]


def uptime(seconds: float) -> str:
    """``1 d 02:03:04``, the days only when there are some."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    clock = f"{hour:02}:{minute:02}:{second:02}"
    return f"{days} d {clock}" if days else clock
