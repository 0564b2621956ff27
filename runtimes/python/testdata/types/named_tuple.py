from typing import NamedTuple


class Point(NamedTuple):
    x: int
    y: int = 0


def main(points: list[Point]) -> Point:
    return Point(sum(p.x for p in points), sum(p.y for p in points))
# valid {"points": [[1, 2], [3]]}
# valid {"points": []}
# invalid {"points": [[]]}
# invalid {"points": [["a", 1]]}
# invalid {"points": [[1, 2, 3]]}
