"""Windows keep tools' calls and results together: rows W1 to W4, in every format."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client import formats
from streambank_client.chat import window
from streambank_client.chat.shapes import is_user_turn, tool_parts, without_parts

KOOG = "ai.koog.prompt.message."


class Strands:
    form = "strands"

    def user(self, text):
        return {"role": "user", "content": [{"text": text}]}

    def call(self, *ids, name="f"):
        return {"role": "assistant", "content": [{"toolUse": {"toolUseId": i, "name": name, "input": {}}} for i in ids]}

    def result(self, *ids, name="f", text=None):
        blocks = [{"toolResult": {"toolUseId": i, "status": "success", "content": [{"text": "ok"}]}} for i in ids]
        return {"role": "user", "content": [*blocks, *([{"text": text}] if text else [])]}


class Google:
    form = "google"

    def user(self, text):
        return {"role": "user", "parts": [{"text": text}]}

    def call(self, *ids, name="f"):
        return {"role": "model", "parts": [{"functionCall": {**named(i), "name": name, "args": {}}} for i in ids]}

    def result(self, *ids, name="f", text=None):
        parts = [{"functionResponse": {**named(i), "name": name, "response": {}}} for i in ids]
        return {"role": "user", "parts": [*parts, *([{"text": text}] if text else [])]}


class Koog1:
    form = "koog-1"

    def user(self, text):
        return {"type": f"{KOOG}Message.User", "parts": [{"type": f"{KOOG}MessagePart.Text", "text": text}]}

    def call(self, *ids, name="f"):
        parts = [{"type": f"{KOOG}MessagePart.Tool.Call", "id": i, "tool": name, "args": "{}"} for i in ids]
        return {"type": f"{KOOG}Message.Assistant", "parts": parts}

    def result(self, *ids, name="f", text=None):
        kind = f"{KOOG}MessagePart.Tool.Result"
        parts = [{"type": kind, "id": i, "tool": name, "parts": []} for i in ids]
        return {"type": f"{KOOG}Message.User", "parts": [*parts, *(self.user(text)["parts"] if text else [])]}


class Koog08:
    form = "koog-0.8"

    def user(self, text):
        return {"type": f"{KOOG}Message.User", "parts": [{"text": text}], "metaInfo": {}}

    def call(self, call_id, name="f"):
        return {"type": f"{KOOG}Message.Tool.Call", "id": call_id, "tool": name, "parts": [{"text": "{}"}]}

    def result(self, call_id, name="f"):
        return {"type": f"{KOOG}Message.Tool.Result", "id": call_id, "tool": name, "parts": [{"text": "ok"}]}


class OpenAI:
    form = "openai"

    def user(self, text):
        return {"role": "user", "content": text}

    def call(self, *ids, name="f"):
        calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": "{}"}} for i in ids]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def result(self, call_id, name="f"):
        return {"role": "tool", "tool_call_id": call_id, "name": name, "content": "ok"}


class LangChain:
    form = "langchain"

    def user(self, text):
        return {"type": "human", "data": {"content": text}}

    def call(self, *ids, name="f"):
        calls = [{"id": i, "name": name, "args": {}, "type": "tool_call"} for i in ids]
        return {"type": "ai", "data": {"content": "", "tool_calls": calls}}

    def result(self, call_id, name="f"):
        return {"type": "tool", "data": {"content": "ok", "tool_call_id": call_id, "name": name}}


class Responses:
    form = "openai-responses"

    def user(self, text):
        return {"type": "message", "role": "user", "content": text}

    def call(self, call_id, name="f"):
        return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": "{}"}

    def result(self, call_id, name="f"):
        return {"type": "function_call_output", "call_id": call_id, "output": "ok"}


class PydanticAi:
    form = "pydantic-ai"

    def user(self, text):
        return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}

    def call(self, *ids, name="f"):
        parts = [{"part_kind": "tool-call", "tool_name": name, "args": "{}", "tool_call_id": i} for i in ids]
        return {"kind": "response", "parts": parts}

    def result(self, *ids, name="f", text=None):
        parts = [{"part_kind": "tool-return", "tool_name": name, "content": "ok", "tool_call_id": i} for i in ids]
        return {"kind": "request", "parts": [*parts, *(self.user(text)["parts"] if text else [])]}


def named(call_id):
    return {"id": call_id} if call_id else {}


ALL = [Strands(), Google(), Koog1(), PydanticAi(), Koog08(), Responses(), OpenAI(), LangChain()]
# Those in which a message has parts, and those in which a call may have no id.
IN_PARTS = ALL[:4]
WITHOUT_IDS = [Google(), Koog1(), Koog08()]


def of(formats_):
    return pytest.mark.parametrize("form", formats_, ids=lambda form: form.form)


@of(ALL)
def test_the_shapes_are_those_of_the_formats(form):
    """What these tests call a format is what the library tells it for."""
    for message in (form.call("1"), form.result("1")):
        assert formats.detect(message) == form.form
        assert len(tool_parts(message)) == 1
    assert tool_parts(form.user("a")) == []


@of(ALL)
def test_a_window_may_begin_with_the_user(form):
    """The messages before the first one of a user go, and results of their calls with them."""
    messages = [form.user("a"), form.call("1"), form.result("1"), form.user("b"), form.call("2"), form.result("2")]
    assert window(messages, 5, begin_with_user=True) == messages[3:]
    assert window(messages, 2, begin_with_user=True) == []
    assert window(messages, 6, begin_with_user=True) == messages
    assert window(messages[1:], None, begin_with_user=True) == messages[3:]


SYSTEM = {"role": "system", "content": "Be brief."}
turns = st.lists(st.sampled_from(["user", "call", "result", "result with text", "system"]), max_size=12)


@given(st.sampled_from(ALL), turns, st.one_of(st.none(), st.integers(0, 13)))
def test_windows_that_begin_with_the_user(form, kinds, size):
    """Whatever the history: first a user's turn, no result without its call, no user's turn of the window is lost."""
    makers = {
        "user": form.user,
        "call": lambda name: form.call(name),
        "result": lambda name: form.result(str(int(name) - 1)),
        "result with text": lambda name: (
            form.result(str(int(name) - 1), text="b") if form in IN_PARTS else form.user(name)
        ),
        "system": lambda _: SYSTEM,
    }
    messages = [makers[kind](str(at)) for at, kind in enumerate(kinds)]
    kept = window(messages, size, begin_with_user=True)
    conversation = [message for message in kept if message != SYSTEM]
    assert len(kept) <= len(messages if size is None else messages[:size])
    assert not conversation or is_user_turn(conversation[0])
    if len(kept) < len(messages):
        calls = [part.key for message in kept for part in tool_parts(message) if not part.is_result]
        results = [part.key for message in kept for part in tool_parts(message) if part.is_result]
        assert not Counter(results) - Counter(calls)
    inside = messages if size is None else messages[len(messages) - min(size, len(messages)) :]
    users = [message for message in inside if message == SYSTEM or message in map(form.user, map(str, range(13)))]
    assert [message for message in kept if message in users] == users


@of(ALL)
def test_w1_a_call_and_its_result_in_the_window_stay(form):
    """Both are in the window: nothing is touched."""
    messages = [form.user("a"), form.user("b"), form.call("1"), form.result("1")]
    assert window(messages, 3) == messages[1:]
    assert window(messages, 2) == messages[2:]


@of(ALL)
def test_w2_a_result_whose_call_is_outside_goes(form):
    """Without its call a result is an error to every model: fewer than n may stay."""
    messages = [form.user("a"), form.call("1"), form.result("1"), form.user("b")]
    assert window(messages, 2) == [form.user("b")]


@of(ALL)
def test_w2_results_of_parallel_calls_go_together(form):
    """All results of the calls outside go, those of later calls stay."""
    if form.form in ("koog-0.8", "openai-responses"):
        calls, results = [form.call("1"), form.call("2")], [form.result("1"), form.result("2")]
    else:
        calls, results = [form.call("1", "2")], [form.result("1"), form.result("2")]
    later = [form.call("3"), form.result("3")]
    assert window([*calls, *results, *later], 4) == later


@of(IN_PARTS)
def test_w2_the_other_parts_of_such_a_message_stay(form):
    """A user's words beside a result are kept, and the message that was given is not changed."""
    given = form.result("1", "2", text="and thanks")
    messages = [form.call("1", "2"), given, form.user("b")]
    assert window(messages, 2) == [form.user("and thanks"), form.user("b")]
    assert given == form.result("1", "2", text="and thanks")


@of(IN_PARTS)
def test_w2_of_several_results_only_the_orphan_goes(form):
    """In one message each result has a call of its own."""
    messages = [form.call("1"), form.call("2"), form.result("1", "2")]
    assert window(messages, 2) == [form.call("2"), form.result("2")]


@of(WITHOUT_IDS)
def test_w3_without_ids_names_pair_in_order(form):
    """A result without an id answers the oldest open call of its tool, and each call is answered once."""
    f, g = form.call(None, name="f"), form.call(None, name="g")
    messages = [g, f, form.result(None, name="g"), form.result(None, name="f"), form.result(None, name="f")]
    assert window(messages, 4) == [f, form.result(None, name="f")]


@of(WITHOUT_IDS)
def test_w3_ids_and_names_are_separate(form):
    """A call whose id is a tool's name is no call of that tool without an id."""
    messages = [form.user("a"), form.call("f", name="x"), form.result(None, name="f")]
    assert window(messages, 2) == [form.call("f", name="x")]


@of(ALL)
def test_w3_one_call_has_one_result(form):
    """A second result of the same id goes."""
    messages = [form.user("a"), form.call("1"), form.result("1"), form.result("1")]
    assert window(messages, 3) == [form.call("1"), form.result("1")]


@of(ALL)
def test_w3_a_result_before_its_call_goes(form):
    """A call answers what comes after it, never what came before."""
    messages = [form.user("a"), form.result("1"), form.call("1")]
    assert window(messages, 2) == [form.call("1")]


@of(ALL)
def test_w4_a_window_of_0_is_empty(form):
    """No messages at all: that is what was asked for."""
    assert window([form.call("1"), form.result("1")], 0) == []


def test_old_calls_of_openai_pair_by_name():
    """A function_call and a message of role function have no ids."""
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": "ok"}
    assert window([{"role": "user", "content": "a"}, call, result], 2) == [call, result]
    assert window([call, result, {"role": "user", "content": "a"}], 2) == [{"role": "user", "content": "a"}]


@pytest.mark.parametrize(
    ("call", "output", "id_name"),
    [
        ("custom_tool_call", "custom_tool_call_output", "call_id"),
        ("computer_call", "computer_call_output", "call_id"),
        ("local_shell_call", "local_shell_call_output", "id"),
        ("shell_call", "shell_call_output", "call_id"),
        ("apply_patch_call", "apply_patch_call_output", "call_id"),
        ("tool_search_call", "tool_search_output", "call_id"),
        ("program", "program_output", "call_id"),
    ],
)
def test_other_tools_of_responses_pair_too(call, output, id_name):
    """Their calls and outputs are items like those of functions; an output names its call by one field or another."""
    pair = [{"type": call, "id": "x", "call_id": "1"}, {"type": output, id_name: "1"}]
    question = {"role": "user", "content": "a"}
    assert window([question, *pair], 2) == pair
    assert window([*pair, question], 2) == [question]
    assert [formats.detect(item) for item in pair] == ["openai-responses"] * 2


@pytest.mark.parametrize("message", ["text", 1, {}, {"role": "user"}, {"parts": "x"}, {"content": [None, "x"]},
                                     {"tool_calls": "x", "type": 7}, {"data": [], "type": []}])  # fmt: skip
def test_what_is_no_known_format_is_cut_and_not_touched(message):
    """A caller's own messages have no tools; nothing of them is read, and nothing raises."""
    assert window([message, message], 1) == [message]


def conversations(form):
    ids = st.sampled_from(["1", "2", "3"])
    steps = st.one_of(
        ids.map(lambda i: form.call(i)), ids.map(lambda i: form.result(i)), st.sampled_from("ab").map(form.user)
    )
    return st.lists(steps, max_size=14)


@of(ALL)
@given(data=st.data())
def test_a_window_is_safe_newest_and_stable(form, data):
    """It has at most n messages, the newest, in order, each result after its call; cut again it is the same."""
    messages, size = data.draw(conversations(form)), data.draw(st.integers(0, 15))
    cut = window(messages, size)
    assert len(cut) <= size
    assert window(cut, size) == cut
    if size >= len(messages):
        assert cut == messages
        return
    end = iter(messages[len(messages) - size :])
    assert all(any(message == other for other in end) for message in cut), "in order, and whole"
    calls = Counter()
    for part in (part for message in cut for part in tool_parts(message)):
        calls[part.key] += -1 if part.is_result else 1
        assert calls[part.key] >= 0
    missing = [m for m in messages[len(messages) - size :] if m not in cut]
    assert all(part.is_result for message in missing for part in tool_parts(message)), "only results go"


def test_without_takes_parts_and_leaves_the_rest():
    """Other fields of a message are kept."""
    message = {"role": "user", "content": [{"text": "a"}, {"text": "b"}], "metadata": {"x": 1}}
    assert without_parts(message, {0}) == {"role": "user", "content": [{"text": "b"}], "metadata": {"x": 1}}
    assert without_parts(message, {0, 1}) is None
    assert without_parts(message, {None}) is None
