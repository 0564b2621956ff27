from typing import TypedDict


class Point(TypedDict):
    x: float
    y: float


class Shape(TypedDict, total=False):
    points: list[Point]
    name: str


def main(input: Shape) -> Point:
    return (input.get("points") or [{"x": 0, "y": 0}])[0]
# valid {}
# valid {"points": [{"x": 1, "y": 2.5}], "name": "line"}
# invalid {"points": [{"x": 1}]}
# invalid {"name": 1}
