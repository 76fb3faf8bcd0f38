"""Every error Pieria raises, in one tree: one ``except pieria.errors.PieriaError`` covers the library.

    PieriaError
    ├── Invalid                       what was asked for cannot be right
    │   ├── InputError                a parameter is out of its bounds
    │   ├── UnavailableError          a parameter whose effect this bank does not offer
    │   ├── PrivacyError              the text holds secrets and the bank refuses them
    │   ├── TransferError             a file to import, export or restore is not as expected
    │   ├── ConfigError               the configuration is missing or wrong
    │   ├── EpisodeError              the episode is in the wrong standing for this step
    │   └── PromptError               a model's reply could not be read
    ├── Framework                     the request was sound, the surroundings were not
    │   ├── NotFoundError             nothing bears this id
    │   ├── AccessError               whoever asks may not do this
    │   ├── LimitError                too much was asked in too short a time
    │   ├── ConflictError             what is there already stands against it
    │   │   └── QuarantinedError      the memory is in quarantine
    │   ├── ClosedError               the bank or workspace was closed
    │   ├── SessionError              the session's state does not allow it
    │   ├── PipelineError             learning or recall broke off
    │   ├── AdapterError              a model's adapter failed
    │   │   ├── ModelMissingError     the model is not installed
    │   │   ├── ModelDamagedError     the model's files are not what they should be
    │   │   └── ReplyError            a language model's answer cannot be used
    │   │       ├── ReplyRefusedError it refused to answer
    │   │       ├── ReplyCutError     the answer was cut off
    │   │       └── ReplyUnreadableError the answer is not the JSON asked for
    │   ├── JobError                  a job could not be done, or is another's
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
    │       ├── RefusedError          the server does not let this user in, or not do this
    │       └── UnsuitableError       the server lacks what a bank needs
    └── Unknown                       anything else
        └── UnknownError              a failure nobody foresaw, wrapped

Each knows its ``code``, whether a new try may help (``retryable``) and what to do (``hint``). Messages carry
no remembered text: they reach logs. Nothing here imports anything else of
Pieria, since every layer raises these.
"""

from __future__ import annotations

from pieria.errors.framework import (
    AccessError,
    AdapterError,
    BudgetError,
    ClosedError,
    ConflictError,
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
]

# Tracebacks should show the public import path.
for _name in __all__:
    globals()[_name].__module__ = __name__
