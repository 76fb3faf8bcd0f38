"""Trust for the folders of tests: what a person says with `pieria trust`, without the question."""

from pathlib import Path

from pieria.settings.trust import ABSENT, Trust, change, digest_at


def trust_folder(folder: Path, *files: str) -> None:
    """Trust a folder as its settings files are now; `files` are others than its own, such as `memory/pieria.toml`."""
    digests = {name: digest_at(folder / name) or ABSENT for name in (".pieria.toml", *files)}

    def trusted(held: Trust) -> Trust:
        return held.having(folder, digests)

    change(trusted)


def trusted_project(folder: Path, text: str) -> None:
    """Write the folder's settings file, and trust it."""
    (folder / ".pieria.toml").write_text(text)
    trust_folder(folder)
