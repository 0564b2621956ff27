from __future__ import annotations

from dataclasses import dataclass


def main(order: Order) -> Total:
    return Total(sum(line.count * line.price for line in order.lines))


@dataclass
class Order:
    lines: list[Line]


@dataclass
class Line:
    count: int
    price: float


@dataclass
class Total:
    total: float
# valid {"order": {"lines": [{"count": 2, "price": 1.5}]}}
# invalid {"order": {"lines": [{"count": 2}]}}
# invalid {"order": {}}
