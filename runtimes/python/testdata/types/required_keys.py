from __future__ import annotations

from typing import NotRequired, Required, TypedDict


class Order(TypedDict, total=False):
    id: Required[int]
    note: str


class Paid(Order):
    sum: NotRequired[float]
    currency: str


def main(order: Order, paid: Paid) -> str:
    return paid["currency"]
# valid {"order": {"id": 1}, "paid": {"id": 1, "currency": "NOK"}}
# invalid {"order": {"note": "a"}, "paid": {"id": 1, "currency": "NOK"}}
# invalid {"order": {"id": 1}, "paid": {"id": 1}}
