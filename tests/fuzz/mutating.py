"""Seeded mutations of texts, bytes, numbers and JSON values. Every function takes the random generator to draw from."""

from __future__ import annotations

import contextlib
import copy
import json
from random import Random
from typing import Any

NUMBERS = (
    *("0", "-1", "1", "2", "-0", "+1", "007", "1_000", "1,5", "0x10", "1e3", "1e999", "-1e999", "1e-320", "0.5", "-.5"),
    *("nan", "-nan", "inf", "-inf", "Infinity", "32767", "65536", "2147483648", "-2147483649", "9223372036854775807"),
    *(
        "9223372036854775808",
        "18446744073709551616",
        "1000000000000",
        "9" * 40,
        "9" * 5000,
        "1" + "0" * 400,
        "१२३",
        "²",
    ),
)
"""Numbers at the limits of types, and texts that only look like numbers."""
TEXTS = (
    *("", " ", "\t", "\n", "-", "--", "=", ":", ";", ",", "/", "..", ".", "~", "*", "%s", "{0}", "\\", "'", '"', "#"),
    *(
        "a" * 300,
        "x" * 70_000,
        "é",
        "日本語",
        "🎲" * 50,
        "\u202e\u200b",
        "\u0131",
        "ß",
        "\x1b[31mred\x1b[0m",
        "\x00",
        "\r\n",
    ),
    *("\x7f", "\ud800", "null", "None", "True", "yes", "@", "@1", "a@b@c", "x=y", "=1", "a:b:c", "(" * 200, "[" * 2000),
)
"""Texts that parsers seldom expect. Lone surrogates are how Python passes on arguments that are not UTF-8."""
VALUES = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        0.5,
        2**31,
        2**63,
        -(2**70),
        10**400,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        [],
    ),
    *({}, [[]], {"": None}, "9" * 5000, "\ud800", [0] * 1000),
)
"""Values at places of a JSON document that are meant for others."""
LONGEST = 200_000
"""Upper limit for the length of a mutated text or file."""


def hostile_text(random: Random) -> str:
    """A number or a text from the lists above, or a mixture of both."""
    pool = NUMBERS if random.random() < 0.5 else TEXTS
    text = random.choice(pool)
    if random.random() < 0.15:
        text += random.choice(("s", "k", "MB", "=", ":", "+1s", "%", " ", "@2")) + random.choice(NUMBERS)
    return text


def mutate_text(random: Random, text: str, others: tuple[str, ...] = ()) -> str:
    """The text after one to four mutations; `others` are texts of the same kind to splice with."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        text = _mutate_once(random, text, others)
    return text[:LONGEST]


def _mutate_once(random: Random, text: str, others: tuple[str, ...]) -> str:
    begin, end = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
    near = min(end, begin + random.randint(1, 4))
    match random.randrange(11):
        case 0:  # truncate
            return text[:begin]
        case 1:  # delete
            return text[:begin] + text[near:]
        case 2:  # duplicate
            return text[:end] + text[begin:end] * random.choice((1, 1, 2, 50)) + text[end:]
        case 3:  # replace a character by one of the same text
            return text[:begin] + random.choice(text or " ") + text[begin + 1 :]
        case 4:  # replace a character by any
            return text[:begin] + chr(random.choice((random.randrange(128), random.randrange(0x3000)))) + text[near:]
        case 5:  # swap two parts
            return text[end:] + text[begin:end] + text[:begin]
        case 6:  # insert
            return text[:begin] + hostile_text(random) + text[begin:]
        case 7:  # replace a part
            return text[:begin] + hostile_text(random) + text[end:]
        case 8:  # splice
            other = random.choice(others or (text,))
            return text[:begin] + other[random.randint(0, len(other)) :]
        case 9:  # replace a number
            return _replace_number(random, text)
        case _:
            return hostile_text(random) if random.random() < 0.2 else text.swapcase()


def _replace_number(random: Random, text: str) -> str:
    places = [index for index, each in enumerate(text) if each.isdigit()]
    if not places:
        return text + random.choice(NUMBERS)
    begin = end = random.choice(places)
    while end < len(text) and text[end].isdigit():
        end += 1
    return text[:begin] + random.choice(NUMBERS) + text[end:]


def mutate_bytes(random: Random, content: bytes) -> bytes:
    """The content after some bit flips, truncation, duplication, deletion or overwriting."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        begin = random.randrange(len(data) + 1)
        end = min(len(data), begin + random.choice((1, 2, 4, 8, 100, 4096)))
        match random.randrange(7):
            case 0 | 1 if data:
                data[min(begin, len(data) - 1)] ^= 1 << random.randrange(8)
            case 2 if random.random() < 0.3:
                del data[begin:]
            case 3:
                data[end:end] = data[begin:end]
            case 4:
                del data[begin:end]
            case 5:
                data[begin:end] = random.choice((b"\0", b"\xff", b"\x7f\xff\xff\xff", random.randbytes(end - begin)))
            case _:
                data[begin:end] = bytes(end - begin)
    return bytes(data[:LONGEST])


def mutate_json(random: Random, value: Any, others: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON value in which one to three places are replaced, removed, added or mutated."""
    value = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return copy.deepcopy(random.choice(VALUES))
        holder, key = random.choice(places)
        match random.randrange(6):
            case 0 | 1:
                holder[key] = copy.deepcopy(random.choice(VALUES))
            case 2 if isinstance(holder[key], str):
                holder[key] = mutate_text(random, holder[key], others)
            case 2:
                other, place = random.choice(places)
                holder[key] = copy.deepcopy(other[place])
            case 3:
                del holder[key]
            case 4 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case 4:
                holder[mutate_text(random, str(key))] = copy.deepcopy(random.choice(VALUES))
            case _ if isinstance(holder[key], int | float):
                step = random.choice((1, -1, 0.5, 2**31, 2**63))
                with contextlib.suppress(OverflowError):  # a whole number that no float holds
                    holder[key] = random.choice((-1, 1)) * (holder[key] + step)
            case _:
                holder[key] = copy.deepcopy(random.choice(VALUES))
    return value


def mutate_document(random: Random, value: Any) -> str:
    """The JSON text of a value, mutated as a value or as a text."""
    if random.random() < 0.7:
        return json.dumps(mutate_json(random, value))
    return mutate_text(random, json.dumps(value))


def _places(value: Any) -> Any:
    """All (container, key) of a nested value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)
