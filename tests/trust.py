"""Trust folders in tests, like `pieria trust` without the question."""

from pathlib import Path

from pieria.settings.trust import ABSENT, Trust, change, digest_at


def trust_folder(folder: Path, *files: str) -> None:
    """Trust the folder's current settings files; `files` are others, such as `memory/pieria.toml`."""
    digests = {name: digest_at(folder / name) or ABSENT for name in (".pieria.toml", *files)}

    def trusted(held: Trust) -> Trust:
        return held.having(folder, digests)

    change(trusted)


def trusted_project(folder: Path, text: str) -> None:
    """Write the folder's settings file, and trust it."""
    (folder / ".pieria.toml").write_text(text)
    trust_folder(folder)
