"""Values that messages of every format have, odd ones among them."""

import json
import string
from base64 import b64encode
from datetime import datetime

from hypothesis import strategies as st

NO_TIME = "-100001-12-31T23:59:59.999999999Z"

words = st.one_of(
    st.sampled_from(["hi", "", "  ", "\n", "Grüße", "𝄞", '{"a":1}', "data:", "<b>&", "\ud800x"]), st.text(max_size=12)
)
names = st.text(string.ascii_letters + "_", min_size=1, max_size=8)
ids = st.none() | names
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words


def objects_of(inner):
    return st.dictionaries(names, inner, max_size=2)


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | objects_of(inner), max_leaves=6)


objects = objects_of(values)
raw = st.binary(max_size=12)
base64 = raw.map(lambda data: b64encode(data).decode())
json_texts = st.one_of(
    values.map(lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)),
    st.sampled_from(["{", "", "[1]", '{ "a": 1 }', '{"a":NaN}', "1e999", "nonsense"]),
)
urls = st.one_of(
    st.sampled_from(
        [
            "https://a.example/b.png",
            "s3://bucket/key.pdf",
            "gs://bucket/x",
            "",
            "data:,",
            "data:text/plain,a%20b",
            "data:image/png;base64,!!",
            "data:nothing",
        ]
    ),
    st.builds("data:{};base64,{}".format, st.sampled_from(["image/png", "audio/wav", "application/pdf"]), base64),
)


def record(required, **optional):
    """Draw dicts that have *required* fields, and *optional* ones now and then."""
    return st.fixed_dictionaries(required, optional=optional)


def one_of_keys(**kinds):
    return st.one_of(*(st.fixed_dictionaries({name: kind}) for name, kind in kinds.items()))


stamps = st.one_of(
    st.just(NO_TIME),
    st.sampled_from(["2026-05-01T12:00:00Z", "2026-05-01T12:00:00.123Z", "2026-05-01T12:00:00.123456Z", "soon"]),
    st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)).map(
        lambda at: at.replace(microsecond=0).isoformat() + "Z"
    ),
)
