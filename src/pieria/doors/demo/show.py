"""Runs the scenes, and keeps the bank on request."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import pieria
from pieria.doors.demo.scenes import ALL, SCENES, SHORT
from pieria.doors.demo.stage import Stage
from pieria.doors.demo.story import BANK, Story, lines
from pieria.errors import InputError
from pieria.record import check


def show(
    keep: Path | None = None,
    scenes: str = SHORT,
    *,
    shown: bool = True,
    pause: bool = False,
    told: Iterable[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Play the scenes on the lines in `told`, by default the story's; return their calls and results."""
    check.one_of(scenes, "scenes", tuple(SCENES))
    if keep is not None and BANK in pieria.Workspace(keep).banks():
        raise InputError("keep", f"a folder without a bank {BANK}", keep, hint="Choose another folder.")
    stage = Stage(shown=shown, pause=pause)
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="pieria-demo-") as folder:
        aside = Path(folder, "aside")
        story = Story(keep or Path(folder, "data"), aside, lines() if told is None else told)
        try:
            for scene in SCENES[scenes]:
                scene(stage, story)
        finally:
            story.close()
    took = perf_counter() - begun
    stage.gap()
    _farewell(stage, keep, took)
    if scenes != ALL:
        stage.say(f"{len(SCENES[ALL])} scenes show more: ", (f"pieria demo --scenes {ALL}", "cyan"))
    return {
        "bank": BANK,
        "kept": None if keep is None else str(keep),
        "scenes": stage.scenes,
        "seconds": round(took, 3),
    }


def _farewell(stage: Stage, keep: Path | None, took: float) -> None:
    calls = sum(len(scene["calls"]) for scene in stage.scenes)
    stage.say((f"{len(stage.scenes)} scenes, {calls} calls, {took:.1f} s.", "bold"), " Nothing left this machine.")
    if keep is None:
        stage.say(
            "The sample bank was deleted. To keep it and ask it yourself: ", ("pieria demo --keep ./tidewater", "cyan")
        )
        return
    stage.say("The bank is kept. Ask it yourself:")
    where = f"--data {shlex.quote(str(keep))} --bank {BANK}"
    for command in (
        f'pieria recall "when does the winter timetable end?" {where}',
        f'pieria recall "when does the winter timetable end?" --known-at 2025-03-15 {where}',
        f"pieria list --limit 5 {where}",
        f"pieria facts timeline Maya {where}",
        f"pieria doctor {where}",
    ):
        stage.command(command)
    stage.say("Or look at it in a browser:")
    stage.command(f"pieria serve --data {shlex.quote(str(keep))}")
