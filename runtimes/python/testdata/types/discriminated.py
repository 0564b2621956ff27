from dataclasses import dataclass
from typing import Literal, Union


@dataclass
class Circle:
    kind: Literal["circle"]
    radius: float


@dataclass
class Square:
    kind: Literal["square"]
    side: float


def main(input: Union[Circle, Square]) -> str:
    return type(input).__name__
# valid {"kind": "circle", "radius": 1}
# valid {"kind": "square", "side": 1}
# invalid {"kind": "circle", "side": 1}
# invalid {"kind": "line"}
