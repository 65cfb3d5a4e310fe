"""WhatsApp's text export."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from streambank_client.formats import Options, Reason, read_export
from tests.client.formats.checks import texts

IPHONE = (
    "\u200e[12.03.23, 10:15:02] Group: \u200eMessages are encrypted.\r\n"
    "[13.03.23, 10:15:02] Ana: Hello\r\nsecond line: yes\r\n"
    "[13.03.23, 10:15:02] Ben: Hello\r\n\u200e[13.03.23, 10:16:00] Ben: \u200eimage omitted\r\n"
)
ANDROID = (
    "12/03/23, 10:15 - Ana created this group\n12/03/23, 10:16 - Ana: Hello\n"
    "12/03/23, 10:16 - Ana: Hello\n25/03/23, 22:00 - Ben: <Media omitted>\n"
)


def test_whatsapp_of_an_iphone():
    """Lines belong to the message above them; what WhatsApp writes itself is a notice."""
    options = Options(time_zone=timezone(timedelta(hours=1)))
    [conversation] = read_export(IPHONE, options=options)
    assert texts(conversation) == ["Ana: Hello\nsecond line: yes", "Ben: Hello"]
    assert conversation.conversion.contents[0].time == datetime(2023, 3, 13, 9, 15, 2, tzinfo=UTC)
    assert [(one.index, one.reason) for one in conversation.conversion.dropped] == [
        (0, Reason.NOTICE),
        (3, Reason.NOTICE),
    ]


def test_whatsapp_of_android():
    """Notices have no author; equal messages have two ids, which do not depend on what else is exported."""
    [whole] = read_export(ANDROID)
    [later] = read_export(ANDROID.partition("\n")[2])
    ids = [one.message_id for one in whole.conversion.contents]
    assert texts(whole) == ["Ana: Hello", "Ana: Hello"]
    assert len(set(ids)) == 2
    assert [one.message_id for one in later.conversion.contents] == ids
    assert [(one.index, one.reason) for one in whole.conversion.dropped] == [
        (0, Reason.NOTICE),
        (3, Reason.NO_ADDRESS),
        (3, Reason.EMPTY),
    ]


@pytest.mark.parametrize(
    ("document", "months", "is_guess"),
    [
        ("13/1/23, 10:15 - A: a\n2/3/23, 10:15 - A: b", [1, 3], False),
        ("1/13/23, 10:15 - A: a\n2/3/23, 10:15 - A: b", [1, 2], False),
        ("11/2/23, 10:15 - A: a\n3/3/23, 10:15 - A: b", [2, 3], False),
        ("2/3/23, 10:15 - A: a", [3], True),
        ("2/3/23, 10:15 AM - A: a", [2], True),
        ("3/3/23, 10:15 - A: a", [3], False),
        ("2023-03-02, 10:15 - A: a", [3], False),
    ],
)
def test_whatsapp_the_order_of_day_and_month_is_recognized(document, months, is_guess):
    """By a number above 12, else by the order of the messages; else it is guessed, and reported."""
    [conversation] = read_export(document)
    assert [one.time.month for one in conversation.conversion.contents] == months
    assert any(one.reason is Reason.GUESSED for one in conversation.conversion.dropped) == is_guess


def test_whatsapp_the_order_can_be_given():
    """An option decides, and nothing is guessed; ids stay the same."""
    by_day, by_month = (
        read_export("2/3/23, 10:15 PM - A: a", options=Options(day_first=day_first))[0].conversion
        for day_first in (True, False)
    )
    [day], [month] = by_day.contents, by_month.contents
    assert (day.time.month, month.time.month, day.time.hour) == (3, 2, 22)
    assert day.message_id == month.message_id
    assert by_day.dropped == by_month.dropped == ()
