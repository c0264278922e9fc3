"""Every error octo_lab raises on purpose.

OctoError                     ``hint`` names the reader's next step
├── UsageError                the caller asked for something that does not exist or fit
├── ConfigError               a setting is missing or wrong
├── StorageError              the data folder or its database cannot be used
│   ├── SessionBusy           another kernel runs a turn in this session
│   └── SessionMoved          the session changed under a running turn: its result is stale
├── ProviderError             the model could not answer              (retryable? failover?)
│   ├── RateLimited           wait, then ask the same provider        (yes, yes)
│   ├── Unavailable           5xx, network                            (yes, yes)
│   │   ├── StreamCut         the stream ended without its terminal event
│   │   └── TimedOut          silence: ask another, not the same      (no, yes)
│   ├── AuthRejected          401/403: another provider may work      (no, yes)
│   ├── QuotaExceeded         no credit left                          (no, yes)
│   ├── BadRequest            the server refused the request          (no, yes)
│   │   └── ContextOverflow   the input does not fit the window       (no, yes)
│   ├── ModelNotFound         no such model there                     (no, no)
│   ├── ContentFiltered       the vendor refused to answer            (no, no)
│   └── CassetteMismatch      a replayed request is not the recorded  (no, no)
├── ToolFailed                the model should read this and adapt
│   └── ToolDenied            policy or a person said no
├── Rejected                  a queue is full or a door is closed: nothing was accepted
└── DeliveryError             a channel could not send: try again
    └── DeliveryRejected      permanent: do not retry
"""

from __future__ import annotations

from typing import ClassVar, Literal

LlmErrorKind = Literal[
    "provider",
    "rate_limited",
    "unavailable",
    "stream_cut",
    "timed_out",
    "auth_rejected",
    "quota_exceeded",
    "bad_request",
    "context_overflow",
    "model_not_found",
    "content_filtered",
]


class OctoError(Exception):
    """Base class; ``hint`` tells the reader what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it when nobody catches it: one line."""
        return [f"octo: {self}"]


class UsageError(OctoError):
    """The caller asked for something that does not exist or fit."""


class ConfigError(OctoError):
    """A setting is missing or wrong."""


class StorageError(OctoError):
    """The data folder or its database cannot be used."""


class SessionBusy(StorageError):
    """Another kernel runs a turn in this session."""


class SessionMoved(StorageError):
    """The session changed under a running turn; its result must not be committed."""


class ProviderError(OctoError):
    """The model could not answer.

    ``retry_after`` is the server's own wish in seconds, if it named one. ``complaint`` is what
    the server said, in lower case, for code that adapts to it; nobody is shown it.
    """

    kind: ClassVar[LlmErrorKind] = "provider"
    retryable: ClassVar[bool] = False
    failover: ClassVar[bool] = True

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retry_after: float | None = None,
        complaint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
        self.complaint = complaint


class RateLimited(ProviderError):
    """Wait, then ask the same provider."""

    kind: ClassVar[LlmErrorKind] = "rate_limited"
    retryable = True


class Unavailable(ProviderError):
    """The server failed, or could not be reached."""

    kind: ClassVar[LlmErrorKind] = "unavailable"
    retryable = True


class StreamCut(Unavailable):
    """The stream ended without its terminal event."""

    kind: ClassVar[LlmErrorKind] = "stream_cut"


class TimedOut(Unavailable):
    """The server was silent too long; waiting again would take as long."""

    kind: ClassVar[LlmErrorKind] = "timed_out"
    retryable = False


class AuthRejected(ProviderError):
    """The key is missing, wrong or not allowed to use this model."""

    kind: ClassVar[LlmErrorKind] = "auth_rejected"


class QuotaExceeded(ProviderError):
    """The account has no credit left."""

    kind: ClassVar[LlmErrorKind] = "quota_exceeded"


class BadRequest(ProviderError):
    """The server refused the request itself; another may accept it."""

    kind: ClassVar[LlmErrorKind] = "bad_request"


class ContextOverflow(BadRequest):
    """The input does not fit the model's window."""

    kind: ClassVar[LlmErrorKind] = "context_overflow"


class ModelNotFound(ProviderError):
    """The provider has no model of that name."""

    kind: ClassVar[LlmErrorKind] = "model_not_found"
    failover = False


class ContentFiltered(ProviderError):
    """The vendor refused to answer."""

    kind: ClassVar[LlmErrorKind] = "content_filtered"
    failover = False


class CassetteMismatch(ProviderError):
    """A replayed request differs from the recorded one."""

    failover = False


class ToolFailed(OctoError):
    """The tool ran and failed; its message goes back to the model."""


class ToolDenied(ToolFailed):
    """Policy or a person refused the call."""


class Rejected(OctoError):
    """A queue is full or a door is closed; nothing was accepted."""


class DeliveryError(OctoError):
    """A channel could not send; the dispatcher may try again."""


class DeliveryRejected(DeliveryError):
    """A channel will never accept this message."""
