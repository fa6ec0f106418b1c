"""How large a Parquet file is once unpacked, from its footer; Polars does not tell.

The footer is Thrift in the compact protocol: numbers of seven bits a byte, and structs of numbered
fields, each with its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ROW_GROUPS, TOTAL_BYTES = 4, 2
"""Fields of the file's metadata, and of a row group in it."""
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def unpacked_bytes(content: bytes) -> int:
    """The bytes of all columns before they were compressed, as the file says itself."""
    length = int.from_bytes(content[-8:-4], "little")
    metadata = _struct(iter(content[-8 - length : -8]))
    return sum(int(group.get(TOTAL_BYTES, 0)) for group in metadata.get(ROW_GROUPS, ()))


def _struct(data: Iterator[int]) -> dict[int, Any]:
    fields: dict[int, Any] = {}
    number = 0
    while head := next(data):
        number = number + (head >> 4) if head >> 4 else _signed(data)
        kind = head & 15
        fields[number] = kind == TRUE if kind in (TRUE, FALSE) else _value(data, kind)
    return fields


def _value(data: Iterator[int], kind: int) -> Any:
    if kind in (TRUE, FALSE, BYTE):
        return next(data)
    if kind == DOUBLE:
        return bytes(next(data) for _ in range(8))
    if kind == BINARY:
        return bytes(next(data) for _ in range(_varint(data)))
    if kind in (LIST, SET):
        head = next(data)
        size = head >> 4 if head >> 4 < 15 else _varint(data)
        return [_value(data, head & 15) for _ in range(size)]
    if kind == MAP:
        size = _varint(data)
        kinds = next(data) if size else 0
        return [(_value(data, kinds >> 4), _value(data, kinds & 15)) for _ in range(size)]
    return _struct(data) if kind == STRUCT else _signed(data)


def _varint(data: Iterator[int]) -> int:
    number = shift = 0
    while (byte := next(data)) & 128:
        number |= (byte & 127) << shift
        shift += 7
    return number | byte << shift


def _signed(data: Iterator[int]) -> int:
    number = _varint(data)
    return number >> 1 ^ -(number & 1)
