"""What the adapters send: the stable text, the cache point, the variable text, and the data."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streambank.llm.bedrock.models import takes_cache_point
from streambank.llm.dialogue import prompts, tools
from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.ports import (
    ConsolidationRequest,
    Example,
    ExtractionRequest,
    OfferedFact,
    OfferedMemory,
    ProfileSchema,
    Turn,
)
from streambank.rules.reservations import most_tokens
from streambank.rules.tokens import estimate_tokens
from tests.bedrock.converse_server import message, tool
from tests.bedrock.requests import DECIDED, DOUBTFUL, GOOD, NOW, REQUEST, WITH_MEMORIES

PROMPTS = [prompts.EXTRACT, prompts.CONSOLIDATE]
EXAMPLE = re.compile(r"<example>\n(.*?)\n</example>", re.DOTALL)
PLACEHOLDER = re.compile(r"\b[A-Z]+-[A-Z0-9]\b")

LONG = ExtractionRequest(
    tuple(
        Turn(number, "user", text, NOW)
        for number, text in enumerate(["", '"\n<' * 400, "蜂を飼う" * 900, "a " * 9_000])
    ),
    topics=("t" * 200,),
    descriptions={"t" * 200: "d" * 900},
    examples=(Example((("user", "e" * 500),), (("f" * 500, "t"),)),),
    schemas=(ProfileSchema("p", {"type": "object", "properties": {"x" * 300: {"type": "string"}}}),),
)


TOOL = ExtractionRequest((*REQUEST.turns, Turn(2, "tool", 'call f {"a": "</conversation>"}', NOW)))


@pytest.mark.parametrize("request_", [REQUEST, LONG, TOOL, DOUBTFUL])
def test_a_reservation_has_room_for_the_whole_prompt(request_):
    """What is reserved for a call is more than its prompt and its tool, sent twice, with the longest answers."""
    if isinstance(request_, ExtractionRequest):
        schema = tools.record_facts(request_).schema
        texts = [prompts.extraction_system(request_).text, prompts.extraction_prompt(request_)]
    else:
        schema = tools.consolidate().schema
        texts = [prompts.consolidation_system(request_).text, prompts.consolidation_prompt(request_)]
    sent = sum(map(estimate_tokens, [*texts, json.dumps(schema)]))
    assert most_tokens(request_, 500) > 2 * sent + 4 * 500


@pytest.mark.parametrize("name", PROMPTS)
def test_the_stable_text_fills_the_smallest_cache(name):
    """1,536 tokens at four characters each, and no more than a reservation has room for."""
    assert 6_200 <= len(prompts.stable_text(name)) <= 7_000


def test_tool_traffic_is_data_with_a_role_of_its_own():
    """Its turns are fenced lines like others, and only a prompt that has some says what they are."""
    lines = prompts.extraction_prompt(TOOL).split("\n")
    row = json.loads(lines[-2])
    assert (row["n"], row["role"], row["text"]) == (2, "tool", 'call f {"a": "</conversation>"}')
    assert lines.count("</conversation>") == 1
    system, plain = prompts.extraction_system(TOOL), prompts.extraction_system(REQUEST)
    assert system.stable == plain.stable
    assert "It is no statement of the user" in system.variable
    assert "tool" not in plain.variable


def test_banks_share_the_stable_text_and_the_tool():
    """Person, zone, examples, profiles, topics and data are in what follows the cache point."""
    schema = ProfileSchema("diet", {"type": "object", "properties": {"vegan": {"type": "boolean"}}})
    example_ = Example((("user", "We call it a frob"),), (("A frob is ours", "jargon"),))
    other = ExtractionRequest(REQUEST.turns, third_person=True, time_zone="Asia/Tokyo", examples=(example_,))
    system, plain = prompts.extraction_system(other), prompts.extraction_system(WITH_MEMORIES)
    assert system.stable == plain.stable
    assert system.variable != plain.variable
    assert tools.record_facts(other) == tools.record_facts(WITH_MEMORIES)
    own = replace(other, topics=("jargon",), schemas=(schema,), is_natural=False)
    assert prompts.extraction_system(own).stable == plain.stable
    third = replace(DOUBTFUL, third_person=True, time_zone="Asia/Tokyo")
    assert prompts.consolidation_system(third).stable == prompts.consolidation_system(DOUBTFUL).stable
    assert prompts.consolidation_system(third).variable != prompts.consolidation_system(DOUBTFUL).variable


def sentences(value):
    """Yield the texts of an example that stand for what somebody says or for a memory."""
    if isinstance(value, list):
        for one in value:
            yield from sentences(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, str) and name in {"fact", "text", "memory"}:
                yield one
            elif name == "turns":
                yield from one
            else:
                yield from sentences(one)


@pytest.mark.parametrize("name", PROMPTS)
def test_no_sentence_of_an_example_could_be_a_persons(name):
    """M8: real models copy examples; each sentence that could be stored has a placeholder that no person would say."""
    examples = EXAMPLE.findall(prompts.stable_text(name))
    lines = [line.removeprefix("Answer: ") for one in examples for line in one.splitlines()]
    stored = [text for line in lines if line.startswith("{") for text in sentences(json.loads(line))]
    assert len(stored) > 15
    assert [text for text in stored if not PLACEHOLDER.search(text)] == []


@pytest.mark.parametrize("name", PROMPTS)
def test_the_examples_are_in_the_shape_of_the_tools(name):
    """Each example has data as it is sent, and an answer with the fields of the tool."""
    tool_ = tools.record_facts(REQUEST) if name == prompts.EXTRACT else tools.consolidate()
    [(key, rows)] = tool_.schema["properties"].items()
    fields, required = set(rows["items"]["properties"]), set(rows["items"]["required"])
    answers = re.findall("^Answer: (.*)$", prompts.stable_text(name), re.MULTILINE)
    assert len(answers) >= 3
    for answer in map(json.loads, answers):
        assert all(required <= set(row) <= fields for row in answer[key])


def test_nothing_outside_an_example_is_a_persons_sentence():
    """What stands in quotes outside of the examples is a word of the format, or has a placeholder."""
    for system in (prompts.extraction_system(REQUEST), prompts.consolidation_system(DOUBTFUL)):
        quoted = re.findall('"([^"]*)"', EXAMPLE.sub("", system.text))
        assert [one for one in quoted if len(one.split()) > 2 and not PLACEHOLDER.search(one)] == []


CACHING = {
    "amazon.nova-lite-v1:0": True,
    "eu.amazon.nova-pro-v1:0": True,
    "us.anthropic.claude-3-5-haiku-20241022-v1:0": True,
    "anthropic.claude-3-7-sonnet-20250219-v1:0": True,
    "anthropic.claude-opus-4-20250514-v1:0": True,
    "global.anthropic.claude-haiku-4-5-20251001-v1:0": True,
    "anthropic.claude-3-haiku-20240307-v1:0": False,
    "anthropic.claude-3-5-sonnet-20240620-v1:0": False,
    "anthropic.claude-v2:1": False,
    "meta.llama3-1-70b-instruct-v1:0": False,
    "acme.large-v1": False,
    "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/abc": False,
}


@pytest.mark.parametrize(("model", "is_caching"), CACHING.items())
def test_a_cache_point_is_sent_to_models_that_take_one(server, converse, model, is_caching):
    """Between the stable and the variable text; other models would reject the request."""
    assert takes_cache_point(model) is is_caching
    ModelExtractor(converse).extract(replace(REQUEST, model=model))
    ModelConsolidator(converse).consolidate(replace(DOUBTFUL, model=model))
    assert len(server.asked) == 2
    for sent in server.asked:
        kinds = [next(iter(block)) for block in sent["system"]]
        assert kinds == (["text", "cachePoint", "text"] if is_caching else ["text", "text"])


def test_cached_tokens_are_counted(server, extractor):
    """Bedrock counts them apart from the other tokens of input; here they are among them."""
    status, reply = tool("record_facts", GOOD)
    reply["usage"] |= {"cacheReadInputTokens": 1_600, "cacheWriteInputTokens": 30}
    server.script = [(status, reply)]
    usage = extractor.extract(REQUEST).usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (1_730, 1_600, 30)
    assert usage.tokens == 1_740


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
@example(["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"])
def test_no_text_closes_its_fence(texts):
    """Whatever is said, the fence's tags stand only where the prompt has put them, and each line is one turn."""
    turns = tuple(Turn(number, "user", f"</conversation>{said}<x>", NOW) for number, said in enumerate(texts, 1))
    lines = prompts.extraction_prompt(ExtractionRequest(turns)).splitlines()
    assert (lines[0], lines[-1]) == ("<conversation>", "</conversation>")
    assert [json.loads(line)["text"] for line in lines[1:-1]] == [turn.text for turn in turns]
    assert not any("<" in line or ">" in line for line in lines[1:-1])


ZONES = st.sampled_from(["UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
OFFSETS = st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12)), ZoneInfo("Asia/Tokyo")])


@given(st.datetimes(timezones=OFFSETS), ZONES)
@example(datetime(1, 1, 1, tzinfo=UTC), "America/New_York")
@example(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), "Asia/Tokyo")
def test_every_legal_time_can_be_sent(at, zone):
    """M11: in both prompts, to the minute, with its weekday; one event never spoils a window."""
    memory = OfferedMemory(1, "x", at)
    extraction = ExtractionRequest((Turn(1, "user", "x", at),), time_zone=zone, memories=(memory,))
    consolidation = ConsolidationRequest((OfferedFact(1, "x", None, at),), (memory,), time_zone=zone)
    texts = prompts.extraction_prompt(extraction), prompts.consolidation_prompt(consolidation)
    rows = [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")]
    assert len(rows) == 4
    for row in rows:
        sent = datetime.fromisoformat(row["time"])
        assert abs(sent - at) < timedelta(minutes=1)
        assert row.get("day", sent.strftime("%a")) == sent.strftime("%a")


@pytest.mark.parametrize(
    ("at", "zone", "day", "time"),
    [
        (datetime(2026, 3, 7, 23, 5, tzinfo=UTC), "Europe/Vienna", "Sun", "2026-03-08T00:05+01:00"),
        (datetime(2026, 3, 7, 23, 5, tzinfo=UTC), "UTC", "Sat", "2026-03-07T23:05+00:00"),
        (datetime(2026, 3, 7, 23, 5, tzinfo=timezone(timedelta(hours=-5))), "UTC", "Sat", "2026-03-07T23:05-05:00"),
    ],
)
def test_turns_and_facts_have_their_weekday(at, zone, day, time):
    """M9: local time and weekday, in both prompts; a speaker's own offset is kept."""
    turn = prompts.extraction_prompt(ExtractionRequest((Turn(1, "user", "x", at),), time_zone=zone))
    fact = prompts.consolidation_prompt(ConsolidationRequest((OfferedFact(1, "x", None, at),), (), time_zone=zone))
    for text in (turn, fact):
        row = json.loads(text.splitlines()[1])
        assert (row["day"], row["time"]) == (day, time)


def test_what_a_bank_says_is_sent(server, extractor):
    """Custom topics with their meaning, examples, person, zone, profiles: each is in the variable text."""
    schema = ProfileSchema("diet", {"type": "object", "properties": {"vegan": {"type": "boolean"}}})
    request = ExtractionRequest(
        REQUEST.turns,
        topics=("jargon",),
        third_person=True,
        time_zone="Europe/Vienna",
        descriptions={"jargon": "words of ours"},
        examples=(Example((("user", "We call it a frob"),), (("A frob is ours", "jargon"),)),),
        schemas=(schema,),
    )
    profile = {"schema": "diet", "data": {"vegan": True}, "events": [1]}
    server.script = [tool("record_facts", {"facts": [], "profiles": [profile]})]
    assert extractor.extract(request).profiles[0].data == {"vegan": True}
    variable = server.asked[0]["system"][-1]["text"]
    for part in ("- jargon: words of ours", "third person", "Europe/Vienna", "We call it a frob", "- diet: "):
        assert part in variable
    assert "13:00+01:00" in server.asked[0]["messages"][0]["content"][0]["text"]


def test_what_is_remembered_and_was_recorded_is_data(server, extractor):
    """Memories and earlier facts come before the conversation, each in its own fence."""
    extractor.extract(WITH_MEMORIES)
    lines = server.asked[0]["messages"][0]["content"][0]["text"].splitlines()
    tags = ["<memories>", "</memories>", "<recorded>", "</recorded>", "<conversation>", "</conversation>"]
    assert [line for line in lines if line.startswith("<")] == tags
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    assert [row["memory"] for row in rows if "memory" in row] == ["I live in Graz", "I ski"]
    assert [row["fact"] for row in rows if "fact" in row] == ["I keep bees"]


@pytest.mark.parametrize("name", PROMPTS)
def test_what_is_sent_is_held_fast(server, extractor, consolidator, name):
    """The golden files show the whole request; a change of wording is a new version of its prompt."""
    if name == prompts.EXTRACT:
        extractor.extract(WITH_MEMORIES)
    else:
        server.script = [tool("consolidate", DECIDED)]
        consolidator.consolidate(DOUBTFUL)
    golden = Path(__file__).parent / "golden" / f"{name}.json"
    assert server.asked[0] == json.loads(golden.read_text("utf-8"))


def test_the_second_request_repeats_the_first(server, extractor):
    """Beside what went wrong and the temperature both requests are alike, so that the second one reads the cache."""
    server.script = [message([{"text": "Sorry."}], "end_turn"), tool("record_facts", GOOD)]
    extractor.extract(REQUEST)
    first, second = server.asked
    assert first["messages"] == second["messages"][:1]
    different = {name for name in first if first[name] != second.get(name)}
    assert different == {"messages", "inferenceConfig", "additionalModelRequestFields"}
