"""The JSON form of Protocol Buffers, with the .proto's own field names.

The mapping: https://protobuf.dev/programming-guides/json/

Not here: the special forms of the well-known types, extensions.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ufkit.core.diag import FormatError, RequestError, Rule, Where
from ufkit.core.files import Payload, Source, made
from ufkit.wire.message import Message
from ufkit.wire.reader import MAX_DEPTH, TextFault, shown
from ufkit.wire.rules import BAD_JSON, TOO_DEEP
from ufkit.wire.schema import FieldType, MessageType, did_you_mean
from ufkit.wire.values import checked, is_default, shortest

_CHUNK = 3 << 14  # a multiple of 3: pieces of base64 join without padding
_WIDE = frozenset(("int64", "uint64", "sint64", "fixed64", "sfixed64"))
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

# -- writing ---------------------------------------------------------------------------------


def json_chunks(message: Message) -> Iterator[str]:
    """The JSON of a message, indented by 2, in pieces; the base64 of a blob may take several.

    What is present is written, an empty message too; a number that has no name in its enum
    stays a number. Raises FormatError where the message is damaged.
    """
    yield from _object(message, "\n")
    yield "\n"


def _object(message: Message, newline: str) -> Iterator[str]:
    inner = newline + "  "
    separator = "{" + inner
    for field in message.known():
        if field.repeated:
            items = message.all(field.name)
            if not items:  # packed, and empty
                continue
            value = _array(field, items, inner)
        else:
            item = message.get(field.name)
            if not field.explicit and is_default(field, item):
                continue
            value = _value(field, item, inner)
        yield f'{separator}"{field.name}": '
        yield from value
        separator = "," + inner
    yield newline + "}" if separator[0] == "," else "{}"


def _array(field: FieldType, items: list[Any], newline: str) -> Iterator[str]:
    inner = newline + "  "
    if field.kind == "message" and field.type.is_map_entry:
        values = field.type.fields["value"]
        separator = "{" + inner
        for key, entry in {entry.get("key"): entry for entry in items}.items():
            name = str(key).lower() if isinstance(key, bool) else str(key)
            yield f"{separator}{json.dumps(name)}: "
            yield from _value(values, entry.get("value"), inner)
            separator = "," + inner
        yield newline + "}"
        return
    separator = "[" + inner
    for item in items:
        yield separator
        yield from _value(field, item, inner)
        separator = "," + inner
    yield newline + "]"


def _value(field: FieldType, value: Any, newline: str) -> Iterator[str]:
    kind = field.kind
    if kind == "message":
        if value is None:  # a map's value that is not on the wire
            yield "{}"
        else:
            yield from _object(value, newline)
    elif kind == "bytes":
        yield '"'
        yield from _base64(value)
        yield '"'
    elif kind in _WIDE:
        yield f'"{value}"'
    elif kind == "enum":
        name = field.type.name_of(value)
        yield str(value) if name is None else f'"{name}"'
    elif kind in ("float", "double") and not math.isfinite(value):
        yield '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    else:
        yield json.dumps(shortest(value) if kind == "float" else value)


def _base64(value: Payload) -> Iterator[str]:
    for chunk in made(value).chunks(_CHUNK):
        yield base64.b64encode(chunk).decode("ascii")


# -- reading ---------------------------------------------------------------------------------

_INTEGER = re.compile(r"-?[0-9]{1,99}")
_NUMBER = re.compile(r"-?[0-9]{1,999}(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,9})?")
_UPPER = re.compile(r"_+([a-zA-Z0-9])")


class _Object(dict[str, Any]):
    """A JSON object that remembers a name given twice."""

    twice: str | None = None


def _remember(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        found.twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
    return found


def parse_json(source: Source, type: MessageType) -> Message:
    """The message that a JSON text describes, in memory.

    Names of fields may also be in lowerCamelCase; `null` means absent.
    Raises FormatError with the path, or with the line where it is no JSON (UFK111, UFK104).
    """
    try:
        text = str(source.view(0, source.size), "utf-8-sig")
        found = json.loads(text, object_pairs_hook=_remember)
    except UnicodeDecodeError as error:
        at = error.start + (3 if bytes(source.view(0, 3)) == codecs.BOM_UTF8 else 0)
        fault = TextFault(at, f"not UTF-8: {error.reason}", rule=BAD_JSON)
        raise fault.located(source) from error
    except json.JSONDecodeError as error:
        where = Where(source.name, line=error.lineno)
        message = f"no JSON: {error.msg} (column {error.colno})"
        raise FormatError(BAD_JSON.at(where, message)) from error
    except RecursionError as error:
        where = Where(source.name)
        raise FormatError(TOO_DEEP.at(where, "arrays and objects nested too deeply")) from error
    except ValueError as error:  # Python's own limit
        raise FormatError(
            BAD_JSON.at(Where(source.name), "an integer of thousands of digits")
        ) from error
    return _Reader(source).message(type, found, "", 0)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: dict[MessageType, dict[str, FieldType]] = {}

    def fault(
        self, path: str, message: str, hint: str | None = None, rule: Rule = BAD_JSON
    ) -> FormatError:
        where = Where(self.source.name, field=path)
        return FormatError(rule.at(where, f"{path or 'the top'}: {message}", hint=hint))

    def misfit(self, path: str, field: FieldType, error: RequestError) -> FormatError:
        return self.fault(path, error.diagnostic.message.removeprefix(f"{field.name}: "))

    def message(self, type_: MessageType, found: Any, path: str, depth: int) -> Message:
        if depth > MAX_DEPTH:
            reason = f"messages nested more than {MAX_DEPTH} deep"
            raise self.fault(path, reason, rule=TOO_DEEP)
        names = self.fields(type_)
        message = Message.new(type_)
        set_: dict[str, str] = {}
        for name, value in self.object(found, path).items():
            at = f"{path}.{name[:40]}" if path else name[:40]
            field = names.get(name)
            if field is None:
                hint = did_you_mean(name, type_.fields)
                raise self.fault(at, f"{type_.name} has no field {shown(name)}", hint)
            if value is None:
                continue
            key = field.oneof or field.name
            if (other := set_.setdefault(key, name)) != name:
                raise self.fault(at, f"{other!r} was given too; only one of them can be")
            self.set(message, field, self.value(field, value, at, depth), at)
        return message

    def fields(self, type_: MessageType) -> dict[str, FieldType]:
        names = self.names.get(type_)
        if names is None:
            camel = {
                _UPPER.sub(lambda match: match[1].upper(), name): field
                for name, field in type_.fields.items()
            }
            names = self.names[type_] = {**camel, **type_.fields}
        return names

    def object(self, found: Any, path: str) -> _Object:
        if not isinstance(found, _Object):
            raise self.fault(path, f"expected an object, found {_kind(found)}")
        if found.twice is not None:
            raise self.fault(path, f"{shown(found.twice)} is given twice")
        return found

    def set(self, message: Message, field: FieldType, value: Any, path: str) -> None:
        try:
            message.set(field.name, value)
        except RequestError as error:
            raise self.misfit(path, field, error) from error

    def value(self, field: FieldType, found: Any, path: str, depth: int) -> Any:
        if not field.repeated:
            return self.element(field, found, path, depth)
        if field.kind == "message" and field.type.is_map_entry:
            return [
                self.entry(field.type, key, value, f"{path}[{shown(key)}]", depth)
                for key, value in self.object(found, path).items()
            ]
        if not isinstance(found, list):
            raise self.fault(path, f"expected an array, found {_kind(found)}")
        return [
            self.element(field, item, f"{path}[{index}]", depth) for index, item in enumerate(found)
        ]

    def entry(self, type_: MessageType, key: str, found: Any, path: str, depth: int) -> Message:
        entry = Message.new(type_)
        field = type_.fields["key"]
        known: Any = key
        if field.kind == "bool":
            known = {"true": True, "false": False}.get(key)
        elif field.kind != "string":
            known = _integer(key)
        if known is None:
            raise self.fault(path, f"the key {shown(key)} is no {field.kind}")
        self.set(entry, field, known, path)
        field = type_.fields["value"]
        self.set(entry, field, self.element(field, found, path, depth), path)
        return entry

    def element(self, field: FieldType, found: Any, path: str, depth: int) -> Any:
        """One value, checked for its kind and range."""
        kind = field.kind
        if kind == "message":
            return self.message(field.type, found, path, depth + 1)
        value: Any = None
        hint = None
        if kind in ("string", "bool"):
            value = found if isinstance(found, str if kind == "string" else bool) else None
        elif kind == "bytes":
            value = _bytes(found)
        elif kind in ("float", "double"):
            value = _float(found, kind)
        elif kind == "enum" and isinstance(found, str) and found in field.type.numbers:
            value = field.type.numbers[found]
        else:
            value = _integer(found)
            if value is None and kind == "enum" and isinstance(found, str):
                hint = did_you_mean(found, field.type.numbers)
        if value is None:
            wanted = field.type.name if kind == "enum" else kind
            raise self.fault(path, f"{_kind(found)} is no {wanted}", hint)
        try:
            return checked(field, value)
        except RequestError as error:
            raise self.misfit(path, field, error) from error


def _kind(found: Any) -> str:
    """How a message calls a JSON value."""
    if isinstance(found, (dict, list)):
        return "an object" if isinstance(found, dict) else "an array"
    return shown(found) if isinstance(found, str) else json.dumps(found)[:40]


def _integer(found: Any) -> int | None:
    if isinstance(found, str) and _INTEGER.fullmatch(found):
        return int(found)
    number = _float(found, "double")
    if isinstance(found, int) and number is not None:
        return found
    return int(number) if number is not None and number.is_integer() else None


def _float(found: Any, kind: str) -> float | None:
    """The number, or None for what is none; a finite one must stay finite."""
    if isinstance(found, str):
        if found in _SPECIAL:
            return _SPECIAL[found]
        found = float(found) if _NUMBER.fullmatch(found) else None
    if found is None or isinstance(found, (bool, dict, list)):
        return None
    try:
        value = float(found)
    except OverflowError:
        return None
    limit = 3.4028235677973366e38 if kind == "float" else math.inf  # halfway to 2 ** 128
    return value if abs(value) < limit else None


def _bytes(found: Any) -> bytes | None:
    if not isinstance(found, str):
        return None
    text = found.rstrip("=") if len(found) - len(found.rstrip("=")) < 3 else found
    try:
        plain = text.encode("ascii").translate(_URL_SAFE)
        return base64.b64decode(plain + b"=" * (-len(text) % 4), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None


_URL_SAFE = bytes.maketrans(b"-_", b"+/")
