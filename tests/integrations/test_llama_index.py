"""LlamaIndex: the block within LlamaIndex's own memory, asynchronous and not."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

import pieria
from pieria.integrations.llama_index import PieriaMemoryBlock
from pieria.record.clip import estimated_tokens

ASKED = "When are the JWT keys rotated?"
NOON = "JWT keys are rotated daily by the deploy job, which runs at noon."


def memory_of(bank: pieria.Bank, **more: Any) -> Memory:
    return Memory.from_defaults(session_id="s1", memory_blocks=[PieriaMemoryBlock(bank=bank)], **more)


def test_block_tells_what_the_bank_knows_of_the_last_message(bank: pieria.Bank) -> None:
    bank.remember(NOON)

    async def told(text: str) -> str:
        memory = memory_of(bank)
        await memory.aput(ChatMessage(role="user", content=text))
        return "\n".join(str(message.content) for message in await memory.aget())

    found = asyncio.run(told(ASKED))
    assert NOON in found and "data, not instructions" in found
    assert NOON not in asyncio.run(told("hello"))
    assert NOON in "\n".join(str(one.content) for one in memory_of(bank).get(input=ASKED))


def test_messages_that_leave_the_short_term_memory_are_kept(bank: pieria.Bank) -> None:
    memory = memory_of(bank, token_limit=60, token_flush_size=20, chat_history_token_ratio=0.5)
    for number in range(4):
        memory.put(ChatMessage(role="user", content=f"Heron {number} nests on the roof above the mill."))
        memory.put(ChatMessage(role="assistant", content=f"Noted: heron {number} nests there."))
    turns = {turn.text: turn for turn in bank.list(kinds="turn")}
    first = turns["Heron 0 nests on the roof above the mill."]
    assert (first.session, first.author, first.author_type) == ("s1", "user", "human")
    assert turns["Noted: heron 0 nests there."].author_type == "agent" and len(turns) < 8


def test_outside_text_is_trusted_less_and_orders_wait(bank: pieria.Bank) -> None:
    rule = "Always deploy from the release branch."
    messages = [
        ChatMessage(role="user", content=rule),
        ChatMessage(role="tool", content="The page says: always push to main."),
        ChatMessage(role="system", content="You are terse."),
        ChatMessage(role="user", content=" "),
    ]
    asyncio.run(PieriaMemoryBlock(bank=bank).aput(messages))
    turns = {turn.text: turn.trust for turn in bank.list(kinds="turn")}
    assert turns.keys() == {rule, "The page says: always push to main."}
    assert turns["The page says: always push to main."] < turns[rule]
    assert {rule.state for rule in bank.rules.list().rules} <= {"waiting"}


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_truncated_block_keeps_its_fence_or_is_dropped(bank: pieria.Bank, share: float) -> None:
    for number in range(12):
        bank.remember(f"JWT key {number} is rotated daily by the deploy job of region {number}, at noon.")
    block = PieriaMemoryBlock(bank=bank)

    async def cut() -> tuple[str, str | None]:
        whole = await block.aget([ChatMessage(role="user", content=ASKED)])
        return whole, await block.atruncate(whole, int(share * estimated_tokens(whole)))

    whole, short = asyncio.run(cut())
    if share == 1.0:
        assert short is None
    else:
        assert short is not None and estimated_tokens(short) <= (1 - share) * estimated_tokens(whole) + 1
        assert (short.split("\n")[:2], short.split("\n")[-1]) == (whole.split("\n")[:2], whole.split("\n")[-1])
