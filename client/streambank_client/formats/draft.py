"""One message on its way to a Content: what is kept of it, and a note of all that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.conversion import JSON, Conversion, Converted, Dropped, Options, Reason
from streambank_client.formats.reading import Node
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.weighing import weigh

_SYSTEM = frozenset({"system", "developer"})
# {"role":"model","parts":[]} and a comma after each part.
_FRAME_BYTES = 30
_MAX_KIND = 64
EMPTY: Mapping[str, Any] = MappingProxyType({})


class Ledger:
    """The notes of what is lost of one message or Content."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.dropped: list[Dropped] = []

    def drop(self, reason: Reason, *, kind: str, at: int | None = None) -> None:
        self.dropped.append(Dropped(self.index, at, kind[:_MAX_KIND], reason))

    def leave(self, names: Iterable[str], *, at: int | None = None, of: str = "") -> None:
        """Note fields that hold something for which there is no place."""
        for name in names:
            self.drop(Reason.NO_PLACE, kind=f"{of}.{name}" if of else name, at=at)


@dataclass(frozen=True, slots=True)
class _Kept:
    part: JSON
    kind: str
    at: int | None
    size: int

    @property
    def order(self) -> tuple[bool, int]:
        return "inlineData" in self.part, self.size


class Draft(Ledger):
    """A Content in the making; a converter reads *source* and calls the methods that fit what it finds."""

    def __init__(self, source: Node, index: int, options: Options, tools: ToolNames) -> None:
        super().__init__(index)
        self.source = source
        self.tools = tools
        self.role = ""
        self.message_id: str | None = None
        self.time: datetime | None = None
        self._options = options
        self._prefix = ""
        self._inline_left = options.max_inline_bytes
        self._kept: list[_Kept] = []

    def begin(self, role: str, roles: Mapping[str, str]) -> bool:
        """Set the role; False, and a note, if the message is none to convert."""
        name = role.lower()
        if name in _SYSTEM:
            return self._begin_system(name)
        self.role = roles.get(role, "")
        if not self.role:
            self.drop(Reason.UNKNOWN, kind=role or "message")
        return bool(self.role)

    def _begin_system(self, name: str) -> bool:
        if self._options.include_system:
            self.role, self._prefix = "user", self._options.system_prefix
        self.drop(Reason.REWRITTEN if self.role else Reason.SYSTEM, kind=name)
        return bool(self.role)

    # ---- parts

    def keep(self, part: JSON, *, kind: str, at: int | None) -> None:
        """Keep a part, unless the service would not take it."""
        found = weigh(part)
        if isinstance(found, Reason):
            self.drop(found, kind=kind, at=at)
            return
        if found.is_repaired:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
        self._kept.append(_Kept(found.part, kind, at, found.size))

    def text(self, text: str, *, at: int | None, kind: str = "text", more: Mapping[str, Any] = EMPTY) -> None:
        """Keep text that is not blank, with *more* fields of its part."""
        if not text.strip():
            self.drop(Reason.BLANK, kind=kind, at=at)
            return
        self.keep({"text": self._prefix + text, **more}, kind=kind, at=at)
        self._prefix = ""

    def wants_reasoning(self, *, at: int | None, kind: str) -> bool:
        """Tell whether reasoning is kept, and note it if not."""
        if not self._options.include_reasoning:
            self.drop(Reason.REASONING, kind=kind, at=at)
        return self._options.include_reasoning

    def thought(self, text: str, signature: str | None, *, at: int | None, kind: str) -> None:
        """Keep reasoning as a thought, where it is wanted."""
        if self.wants_reasoning(at=at, kind=kind):
            # A signature is bytes for Google: whatever the framework says is wrapped, and unwrapped on the way back.
            signed = {"thoughtSignature": media.encoded(signature.encode(errors="surrogatepass"))} if signature else {}
            self.text(text, at=at, kind=kind, more={"thought": True, **signed})

    def call(self, name: str, arguments: tuple[JSON, bool], call_id: str | None, *, at: int | None, kind: str) -> None:
        """Keep a call of a tool, and its name for the result; *arguments* say whether they were an object."""
        args, is_exact = arguments
        self.tools.called(call_id, name)
        if not is_exact:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
        self.keep({"functionCall": {**_with("id", call_id), "name": name, "args": args}}, kind=kind, at=at)

    def result(
        self,
        name: str,
        output: Any,
        call_id: str | None,
        *,
        at: int | None,
        kind: str,
        is_error: bool = False,
        parts: Sequence[JSON] = (),
    ) -> None:
        """Keep a tool's result; without a *name* it is that of the call that it answers."""
        name = name or self.tools.answering(call_id)
        response = {"error" if is_error else "output": output}
        said = {**_with("id", call_id), "name": name, "response": response, **_with("parts", list(parts))}
        self.keep({"functionResponse": said}, kind=kind, at=at)

    # ---- media: these return a part, so that it can also be one of a result

    def inline(self, value: Any, mime: str, *, at: int | None, kind: str, name: str | None = None) -> JSON | None:
        """Return bytes as a part; None, and a note, if they are no bytes, none at all or too many."""
        size = media.size(value)
        if size is None or size > self._inline_left:
            self.drop(Reason.MALFORMED if size is None else Reason.TOO_LARGE, kind=kind, at=at)
            return None
        base64 = media.encoded(value)
        if not base64:
            self.drop(Reason.MALFORMED if base64 is None else Reason.BLANK, kind=kind, at=at)
            return None
        self._inline_left -= size
        return {"inlineData": {"mimeType": mime, "data": base64, **_with("displayName", name)}}

    def linked(self, url: str, mime: str, *, at: int | None, kind: str, name: str | None = None) -> JSON | None:
        """Return what a URL points to as a part; the content of a data: URL goes inline."""
        if media.is_data_url(url):
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
            return self.opened(url, at=at, kind=kind, name=name)
        if not url.strip():
            self.drop(Reason.MALFORMED, kind=kind, at=at)
            return None
        return {"fileData": {"mimeType": mime, "fileUri": url, **_with("displayName", name)}}

    def opened(self, url: str, *, at: int | None, kind: str, name: str | None = None) -> JSON | None:
        """Return the content of a data: URL, where these are the usual way to send bytes."""
        found = media.opened(url)
        if found is None:
            self.drop(Reason.MALFORMED, kind=kind, at=at)
            return None
        mime, base64 = found
        if media.data_url(mime, base64) != url:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
        return self.inline(base64, mime, at=at, kind=kind, name=name)

    def media(self, part: JSON | None, *, at: int | None, kind: str) -> None:
        """Keep what `inline` or `linked` returned."""
        if part is not None:
            self.keep(part, kind=kind, at=at)

    # ---- the end

    def converted(self) -> Converted | None:
        """Return the Content, or None, and a note, if nothing is left of it."""
        if not self.role:
            return None
        parts = self._fitting()
        if not parts:
            self.drop(Reason.EMPTY, kind="message")
            return None
        return Converted({"role": self.role, "parts": parts}, self.index, self.message_id, self.time)

    def _fitting(self) -> list[JSON]:
        """Return the parts that fit together into an event: words before media, short ones before long ones."""
        left, fitting = self._options.max_content_bytes - _FRAME_BYTES, set()
        for place, kept in sorted(enumerate(self._kept), key=lambda pair: pair[1].order):
            if kept.size < left:
                fitting.add(place)
                left -= kept.size + 1
        for place, kept in enumerate(self._kept):
            if place not in fitting:
                self.drop(Reason.TOO_LARGE, kind=kept.kind, at=kept.at)
        return [kept.part for place, kept in enumerate(self._kept) if place in fitting]


def _with(name: str, value: Any) -> JSON:
    return {name: value} if value else {}


def convert(
    messages: Iterable[Any], converter: Callable[[Draft], None], *, options: Options, tool_names: ToolNames | None
) -> Conversion:
    """Return what *converter* makes of each of *messages*, in order."""
    tools = ToolNames() if tool_names is None else tool_names
    contents, dropped = [], []
    for index, message in enumerate(messages):
        draft = Draft(Node(message, f"messages[{index}]"), index, options, tools)
        converter(draft)
        contents.append(draft.converted())
        dropped += draft.dropped
    return Conversion(tuple(one for one in contents if one), tuple(dropped))
