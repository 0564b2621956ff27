"""Reads safetensors files: the length of the header, the header in JSON, then little-endian numbers. Data is read when
it is needed. Such a file contains no code."""

import array
import json
import mmap
import os
import struct
import sys

LARGEST_HEADER = 16 << 20


class Weights:
    def __init__(self, path, error):
        self.error = error
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 8:
                raise error("model.safetensors is cut off")
            length = struct.unpack("<Q", file.read(8))[0]
            if length > min(LARGEST_HEADER, size - 8):
                raise error("model.safetensors is damaged: its header is longer than allowed")
            try:
                header = json.loads(file.read(length))
            except ValueError:
                raise error("model.safetensors is damaged: its header is not JSON") from None
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.start, self.size = 8 + length, size
        # Some files put the model's name in front of the names of its parts.
        self.parts = {name.removeprefix("bert."): part for name, part in header.items() if name != "__metadata__"}

    def shape(self, name):
        part = self.parts.get(name)
        if part is None:
            raise self.error(f"model.safetensors has no {name}")
        return part["shape"]

    def raw(self, name, first, count):
        """Returns the bytes of count rows, starting at the row first, and their type."""
        shape, part = self.shape(name), self.parts[name]
        width = {"F32": 4, "F16": 2, "BF16": 2}.get(part["dtype"])
        if width is None:
            raise self.error(f"{name} has numbers of type {part['dtype']}; F32, F16 and BF16 are read")
        row = width
        for n in shape[1:]:
            row *= n
        begin, end = part["data_offsets"]
        if end - begin != row * shape[0] or not 0 <= begin <= end <= self.size - self.start or not 0 <= first <= shape[0] - count:
            raise self.error(f"model.safetensors is damaged at {name}")
        at = self.start + begin + first * row
        return self.memory[at:at + count * row], part["dtype"]

    def rows(self, name, first, count):
        """Returns the rows as lists of floats."""
        raw, kind = self.raw(name, first, count)
        if kind == "F16":
            numbers = list(struct.unpack(f"<{len(raw) // 2}e", raw))
        else:
            if kind == "BF16":  # the upper half of an F32
                raw = b"".join(b"\0\0" + raw[i:i + 2] for i in range(0, len(raw), 2))
            packed = array.array("f", raw)
            if sys.byteorder == "big":
                packed.byteswap()
            numbers = packed.tolist()
        width = len(numbers) // count
        return [numbers[i:i + width] for i in range(0, len(numbers), width)]

    def vector(self, name):
        return [row[0] for row in self.rows(name, 0, self.shape(name)[0])]
