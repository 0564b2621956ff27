from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class Bounds:
    ge: float = None
    lt: float = None
    min_length: int = None
    max_length: int = None
    pattern: str = None


Name = Annotated[str, Bounds(min_length=1, max_length=5), "A short name."]


def main(name: Name, share: Annotated[float, Bounds(ge=0, lt=1)], code: Annotated[str, Bounds(pattern="^[A-Z]+$")] = "A", few: Annotated[list[int], Bounds(max_length=2)] = [], mail: Annotated[str, {"format": "email"}] = "a@b.no") -> Annotated[int, {"minimum": 0}]:
    return len(name)
# valid {"name": "Ada", "share": 0}
# valid {"name": "Ada", "share": 0.5, "code": "AB", "few": [1, 2], "mail": "x@y.no"}
# invalid {"name": "", "share": 0}
# invalid {"name": "Ada", "share": 1}
# invalid {"name": "Ada", "share": 0, "code": "a"}
# invalid {"name": "Ada", "share": 0, "few": [1, 2, 3]}
# invalid {"name": "Ada", "share": 0, "mail": "nobody"}
