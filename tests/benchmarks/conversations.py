"""Conversations in the formats of LoCoMo and BEAM, small enough to know in advance what recall finds."""

import json
from pathlib import Path
from typing import Any

TOPICS = ("kiln", "barn", "loom", "raft", "forge", "mill")
IDLE = ("apple", "birch", "cedar", "daisy", "elder", "ferns", "gorse", "hazel", "ivies", "jasper", "kelps", "larch")
"""Topics of the other turns."""
DAY = "1:56 pm on 8 May, 2023"


def turn(id: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": id, "speaker": speaker, "text": text, **more}


def question(text: str, category: int, *evidence: str) -> dict[str, Any]:
    return {"question": text, "category": category, "evidence": list(evidence)}


def talk(name: str, sessions: list[list[dict[str, str]]], questions: list[dict[str, Any]]) -> dict[str, Any]:
    conversation: dict[str, Any] = {"speaker_a": "Maya", "speaker_b": "Noah"}
    for number, turns in enumerate(sessions, 1):
        conversation |= {f"session_{number}_date_time": DAY, f"session_{number}": turns}
    return {"sample_id": name, "conversation": conversation, "qa": questions}


def small_talk(name: str) -> dict[str, Any]:
    """Return a talk: of four scored questions all evidence is found for two, half for one, none for one."""
    first = [turn(f"D1:{number}", "Maya", word) for number, word in enumerate(IDLE, 1)]
    second = [turn("D2:1", "Noah", "quartz"), turn("D2:2", "Noah", "a picture", blip_caption="a red telescope")]
    questions = [
        question("apple?", 1, "D1:1"), question("telescope?", 1, "D2:2"), question("birch?", 2, "D1:2; D2:1", "D9:9"),
        question("xylophone?", 2, "D1:5"), question("zeppelin?", 5, "D1:1"), question("nobody knows?", 3),
    ]  # fmt: skip
    return talk(name, [first, second], questions)


def contrary_talk(name: str) -> dict[str, Any]:
    """The named speaker mentions the topic twelve times, but only the other speaker's turn is evidence."""
    sessions: list[list[dict[str, str]]] = []
    questions = []
    for topic in TOPICS:
        number = len(sessions) + 1
        ids = [f"D{number + place}:1" for place in range(13)]
        sessions += [[turn(id, "Maya", f"the {topic} again")] for id in ids[:12]]
        sessions += [[turn(ids[12], "Noah", f"the {topic} again")]]
        questions.append(question(f"Maya and the {topic}", 1, ids[12]))
    return talk(name, sessions, questions)


def locomo(folder: Path, *talks: dict[str, Any]) -> str:
    file = folder / "locomo.json"
    file.write_text(json.dumps(talks))
    return str(file)


def message(id: int, role: str, content: str) -> dict[str, Any]:
    return {"id": id, "role": role, "content": f"{content} ->-> 1,{id}"}


def beam(folder: Path, *names: str) -> str:
    """Write chats of two batches, with evidence in every notation."""
    questions = {
        "abstention": [{"question": "zeppelin?", "source_chat_ids": []}],
        "ordering": [{"question": "copper?", "source_chat_ids": {"first": [2], "second": "message 11"}}],
        "recalling": [
            {"question": "copper?", "source_chat_ids": [3]},
            {"question": "xylophone?", "source_chat_ids": [0]},
            {"question": "of what is nowhere?", "source_chat_ids": [99]},
        ],
    }
    for name in names:
        chat = [
            {"turns": [[message(0, "user", "apple"), message(1, "assistant", "noted")],
                       [message(2, "user", "copper"), message(3, "assistant", "fine")]]},
            {"turns": [[message(10 + number, "user", word)] for number, word in enumerate(IDLE[1:])]},
        ]  # fmt: skip
        (folder / name / "probing_questions").mkdir(parents=True)
        (folder / name / "chat.json").write_text(json.dumps(chat))
        (folder / name / "probing_questions" / "probing_questions.json").write_text(json.dumps(questions))
    return str(folder)
