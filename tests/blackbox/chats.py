"""Chat histories: kept as they are sent, replaced as a whole or appended to, of no scope."""

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


def append_chat(world: World) -> None:
    """A conversation goes on with what is appended, once, however often it is sent under its key."""
    _, bank = world.bank()
    chat, text = _chat(world), world.words.sentence()
    path = f"{bank.path}/chatHistory:append?conversationId={chat}"
    key = {"x-idempotency-key": f"{chat} {world.rng.getrandbits(64)}"}
    for _ in range(world.rng.choice((1, 2))):
        status, reply = world.calls.send(bank.operator, "POST", path, _body(text), key)
        assert status == 200, f"{chat} was not appended to: {reply}"
    before = [bank.chats[chat].text] if chat in bank.chats else []
    bank.put_chat(chat, _BETWEEN.join([*before, text]))
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
# The books have the messages of a conversation as one text.
_BETWEEN = "\n"


def _chat(world: World) -> str:
    return f"chat-{world.rng.randrange(_CHATS)}"


def _body(text: str) -> dict[str, object]:
    return {"messages": [{"text": text}], "format": "plain"}


def _check(world: World, bank: Bank, chat: str) -> None:
    path = f"{bank.path}/chatHistory?conversationId={chat}"
    messages = world.calls.ok(bank.reader, "GET", path)["messages"]
    expected = [{"text": text} for text in bank.chats[chat].text.split(_BETWEEN)] if chat in bank.chats else []
    assert messages == expected, f"{chat} must be {expected}: {messages}"
    assert world.calls.send(bank.bound_reader, "GET", path)[0] == 403
