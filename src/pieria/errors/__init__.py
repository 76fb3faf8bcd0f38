"""Every error that Pieria raises, in one tree. One ``except pieria.errors.PieriaError`` covers the library.

    PieriaError
    ├── Invalid                       the request cannot be right
    │   ├── InputError                a parameter is out of its bounds
    │   ├── UnavailableError          a parameter whose effect this bank does not offer
    │   ├── PrivacyError              the text holds secrets and the bank refuses them
    │   ├── TransferError             a file to import, export or restore is not as expected
    │   ├── ConfigError               the configuration is missing or wrong
    │   ├── EpisodeError              the episode is in the wrong state for this step
    │   └── PromptError               a model's reply could not be read
    ├── Framework                     the request was valid, the surroundings were not
    │   ├── NotFoundError             nothing has this id
    │   ├── AccessError               the caller may not do this
    │   ├── LimitError                too much was asked in too short a time
    │   ├── ConflictError             it contradicts what is stored
    │   │   └── QuarantinedError      the memory is in quarantine
    │   ├── ClosedError               the bank or workspace was closed
    │   ├── ForkedError               it was opened before this process was forked
    │   ├── SessionError              the session's state does not allow it
    │   ├── PipelineError             learning or recall failed
    │   ├── AdapterError              a model's adapter failed
    │   │   ├── ModelMissingError     the model is not installed
    │   │   ├── ModelDamagedError     the model's files are damaged
    │   │   └── ReplyError            a language model's answer cannot be used
    │   │       ├── ReplyRefusedError it refused to answer
    │   │       ├── ReplyCutError     the answer was cut off
    │   │       └── ReplyUnreadableError the answer is not the JSON asked for
    │   ├── JobError                  a job failed, or belongs to another worker
    │   ├── BudgetError               the day's budget of model calls is used up
    │   ├── RepoError                 the bank cannot be opened under this name
    │   └── StorageError              the store could not read or write
    │       ├── ReadOnlyError         no permission to write
    │       ├── DiskFullError         no space left
    │       ├── BusyError             another writer held the bank too long
    │       ├── CorruptError          the file is damaged
    │       ├── ForeignFileError      the file is not a bank
    │       ├── NewerVersionError     the bank was written by a newer Pieria
    │       ├── SealedError           the bank is sealed, and no key opens it
    │       ├── UnreachableError      the server of the banks cannot be reached
    │       ├── RefusedError          the server refuses this user, or this action
    │       └── UnsuitableError       the server lacks what a bank needs
    └── Unknown                       anything else
        └── UnknownError              an unexpected failure, wrapped

Each has a ``code``, whether a retry may help (``retryable``) and what to do (``hint``). Messages never contain
remembered text, since they reach logs. This package imports nothing else of Pieria: every layer raises its errors.
"""

from __future__ import annotations

from pieria.errors.framework import (
    AccessError,
    AdapterError,
    BudgetError,
    ClosedError,
    ConflictError,
    ForkedError,
    JobError,
    LimitError,
    ModelDamagedError,
    ModelMissingError,
    NotFoundError,
    PipelineError,
    QuarantinedError,
    ReplyCutError,
    ReplyError,
    ReplyRefusedError,
    ReplyUnreadableError,
    RepoError,
    SessionError,
)
from pieria.errors.invalid import (
    ConfigError,
    EpisodeError,
    InputError,
    PrivacyError,
    PromptError,
    TransferError,
    UnavailableError,
)
from pieria.errors.root import (
    Framework,
    Invalid,
    PieriaError,
    Unknown,
    UnknownError,
    raise_or_return,
)
from pieria.errors.storage import (
    BusyError,
    CorruptError,
    DiskFullError,
    ForeignFileError,
    NewerVersionError,
    ReadOnlyError,
    RefusedError,
    SealedError,
    StorageError,
    UnreachableError,
    UnsuitableError,
)

__all__ = [
    "AccessError",
    "AdapterError",
    "BudgetError",
    "BusyError",
    "ClosedError",
    "ConfigError",
    "ConflictError",
    "CorruptError",
    "DiskFullError",
    "EpisodeError",
    "ForeignFileError",
    "ForkedError",
    "Framework",
    "InputError",
    "Invalid",
    "JobError",
    "LimitError",
    "ModelDamagedError",
    "ModelMissingError",
    "NewerVersionError",
    "NotFoundError",
    "PieriaError",
    "PipelineError",
    "PrivacyError",
    "PromptError",
    "QuarantinedError",
    "ReadOnlyError",
    "RefusedError",
    "ReplyCutError",
    "ReplyError",
    "ReplyRefusedError",
    "ReplyUnreadableError",
    "RepoError",
    "SealedError",
    "SessionError",
    "StorageError",
    "TransferError",
    "UnavailableError",
    "Unknown",
    "UnknownError",
    "UnreachableError",
    "UnsuitableError",
    "raise_or_return",
]

# Tracebacks should show the public import path.
for _name in __all__:
    globals()[_name].__module__ = __name__
