"""`pieria review` and `pieria decay`, as a person and a script use them."""

import struct
import zlib
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.conftest import Ask

from pieria import Bank
from pieria.record.changeset import Changeset
from pieria.record.time import micros, system_clock
from pieria.record.usage import Use


@pytest.fixture
def faded(bank: Bank) -> Bank:
    """Write memories, one last used eight days ago, as an import would."""
    bank.remember("The heron nests <by> the mill.", id="heron", at=system_clock() - timedelta(days=9))
    bank.remember("Bread is baked with sourdough.", id="bread")
    with bank.core.store.writing() as writer:
        writer.apply(Changeset("test", usage=[Use("heron", 0, micros(system_clock() - timedelta(days=8)))]))
    return bank


def test_due_memories_are_listed_and_reviews_counted(ask: Ask, faded: Bank) -> None:
    [due] = ask("review").json["due"]
    assert (due["id"], due["uses"]) == ("heron", 0)
    assert due["retention"] == pytest.approx(0.265, abs=0.001)
    assert "0.27" in ask("review", "--no-json").out
    done = ask("review", "heron", "--no-json")
    assert (done.code, "retention 0.27 to 1.00" in done.out) == (0, True)
    assert ask("review").json["due"] == []
    assert faded.usage("heron")["heron"].reviews == 1
    partly = ask("review", "heron", "gone", "--no-json")
    assert (partly.code, "not reviewed gone" in partly.out) == (1, True)


def test_decay_is_drawn_for_people_and_told_to_programs(ask: Ask, faded: Bank) -> None:
    shown = ask("decay", "heron", "--no-json").out
    assert all(word in shown for word in ("review 0.35", "gc 0.05", "power_law", "collected"))
    told = ask("decay", "heron").json
    assert told["retention"] == pytest.approx(0.265, abs=0.001)
    assert told["review"]["from"] < told["at"] < told["review"]["to"] < told["collected"]
    assert ask("decay", "gone").code != 0
    assert "not yet" in shown
    faded.upkeep.promote("heron")
    assert "yes" in ask("decay", "heron", "--no-json").out


def test_picture_of_decay_is_valid_for_any_text(ask: Ask, faded: Bank, tmp_path: Path) -> None:
    svg, png = tmp_path / "curve.svg", tmp_path / "curve.png"
    assert ask("decay", "heron", "--svg", str(svg), "--png", str(png)).code == 0
    root = ElementTree.parse(svg).getroot()  # noqa: S314 - the file is our own
    assert root.tag.endswith("svg")
    labels = {text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert any("heron" in label for label in labels)
    assert "used" in labels and "written" not in labels, "it fades from its last use, whenever it came here"
    packed = png.read_bytes()
    assert packed.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", packed[16:24])
    length = struct.unpack(">I", packed[33:37])[0]
    rows = zlib.decompress(packed[41 : 41 + length])
    assert len(rows) == height * (1 + 3 * width)
    assert b"\x25\x63\xeb" in rows, "the curve is drawn"
