"""Rules of the wire layer: bytes and texts that are not Protocol Buffers."""

from ufkit.core.diag import Rule, Severity

TRUNCATED = Rule(
    "UFK101",
    Severity.ERROR,
    "message is cut short",
    why="A length points past the end: bytes are missing, or were changed.",
    hint="the file may be truncated or damaged; fetch it again",
)
BAD_TAG = Rule(
    "UFK102",
    Severity.ERROR,
    "impossible field tag",
    why="No Protocol Buffers writer produces this; what follows cannot be trusted.",
    hint="the file may be damaged, or it may be of another format",
)
BAD_VARINT = Rule(
    "UFK103",
    Severity.ERROR,
    "integer longer than 10 bytes",
    why="No 64-bit number needs more; what follows cannot be trusted.",
    hint="the file may be damaged, or it may be of another format",
)
TOO_DEEP = Rule(
    "UFK104",
    Severity.ERROR,
    "nested too deeply",
    why="No real file nests this deeply; going on would exhaust the machine.",
)
BAD_STRING = Rule(
    "UFK105",
    Severity.ERROR,
    "text is not UTF-8",
    why="Names and texts are UTF-8 by definition; other readers refuse this file.",
    hint="the file may be damaged, or it may be of another format",
)
BAD_PACKED = Rule(
    "UFK106",
    Severity.ERROR,
    "packed values do not fill their field",
    why="The length is no multiple of the element size, so an element is incomplete.",
    hint="the file may be damaged",
)
BAD_TEXT = Rule(
    "UFK110",
    Severity.ERROR,
    "text form cannot be parsed",
    why="It is not Protocol Buffers text of the expected schema.",
)
BAD_JSON = Rule(
    "UFK111",
    Severity.ERROR,
    "JSON form cannot be parsed",
    why="It is not the JSON that ufkit writes for this schema.",
)
BAD_VALUE = Rule(
    "UFK112",
    Severity.ERROR,
    "value does not fit its field",
    why="Writing it would lose or wrap the value.",
)

RULES = (
    TRUNCATED,
    BAD_TAG,
    BAD_VARINT,
    TOO_DEEP,
    BAD_STRING,
    BAD_PACKED,
    BAD_TEXT,
    BAD_JSON,
    BAD_VALUE,
)
