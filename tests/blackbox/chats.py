"""Chat histories: kept as they are sent, replaced as a whole, of no scope."""

from __future__ import annotations

from tests.blackbox.books import Bank
from tests.blackbox.tenants import World


def put_chat(world: World) -> None:
    """A conversation is what was put last, and a condition that fails leaves it so."""
    _, bank = world.bank()
    put_chat_of(world, bank)


def put_chat_of(world: World, bank: Bank) -> None:
    chat, text = _chat(world), world.words.sentence()
    path = f"{bank.path}/chatHistory?conversationId={chat}"
    if chat in bank.chats and world.rng.random() < 0.3:
        status, _ = world.calls.send(bank.operator, "PUT", path, _body(text), {"if-none-match": "*"})
        assert status == 412, f"{chat} exists and was replaced"
    else:
        world.calls.ok(bank.operator, "PUT", path, _body(text))
        bank.put_chat(chat, text)
    _check(world, bank, chat)


def delete_chat(world: World) -> None:
    """A conversation that is deleted is empty, also one that never was."""
    _, bank = world.bank()
    chat = _chat(world)
    world.calls.ok(bank.operator, "DELETE", f"{bank.path}/chatHistory?conversationId={chat}")
    bank.drop_chat(chat)
    _check(world, bank, chat)


def check_chats(world: World, bank: Bank) -> None:
    """Every conversation of a bank is what the books say."""
    for number in range(_CHATS):
        _check(world, bank, f"chat-{number}")


_CHATS = 4


def _chat(world: World) -> str:
    return f"chat-{world.rng.randrange(_CHATS)}"


def _body(text: str) -> dict[str, object]:
    return {"messages": [{"text": text}], "format": "plain"}


def _check(world: World, bank: Bank, chat: str) -> None:
    path = f"{bank.path}/chatHistory?conversationId={chat}"
    messages = world.calls.ok(bank.reader, "GET", path)["messages"]
    expected = [{"text": bank.chats[chat].text}] if chat in bank.chats else []
    assert messages == expected, f"{chat} must be {expected}: {messages}"
    assert world.calls.send(bank.bound_reader, "GET", path)[0] == 403
