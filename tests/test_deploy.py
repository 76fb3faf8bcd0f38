"""The files for servers: the image, the compose file, and the systemd unit."""

import re
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from pieria.settings import Settings
from pieria.settings.source import PREFIX

ROOT = Path(__file__).parents[1]
IMAGE = (ROOT / "Dockerfile").read_text("utf-8")
UNIT = (ROOT / "deploy" / "pieria.service").read_text("utf-8")
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))


def pins(name: str) -> set[str]:
    """Return the packages of a file of requirements, with their versions."""
    return set(re.findall(r"^([a-z0-9-]+==\S+)", (ROOT / "requirements" / name).read_text("utf-8"), re.MULTILINE))


def test_image_has_the_pins_of_the_others() -> None:
    assert pins("runtime.txt") <= pins("image.txt")
    assert {pin for pin in pins("image.txt") if pin.startswith("psycopg")} <= pins("dev.txt")


def test_image_copies_what_is_let_in() -> None:
    copied = [part for line in re.findall(r"^COPY (?!--from)(.+)$", IMAGE, re.MULTILINE) for part in line.split()[:-1]]
    let_in = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert sorted(copied) == sorted(let_in)
    assert all((ROOT / path).exists() for path in copied)


def test_variables_of_servers_are_settings() -> None:
    names = set(COMPOSE["services"]["pieria"]["environment"])
    names |= set(re.findall(rf"\b({PREFIX}[A-Z_]+)=", UNIT + IMAGE))
    assert {name.removeprefix(PREFIX).lower() for name in names} <= set(Settings.model_fields)


def test_servers_run_without_rights() -> None:
    service = COMPOSE["services"]["pieria"]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert re.search(r"^USER pieria$", IMAGE, re.MULTILINE)
    assert {"DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes"} <= set(UNIT.splitlines())
