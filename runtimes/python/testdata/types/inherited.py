from dataclasses import InitVar, dataclass
from typing import ClassVar


@dataclass(kw_only=True)
class Base:
    """Base.

    :ivar id: Its number.
    """

    version: ClassVar[int] = 1
    id: int


@dataclass(kw_only=True)
class Child(Base):
    name: str = ""
    scale: InitVar[float] = 1.0

    def __post_init__(self, scale):
        self.id = int(self.id * scale)


def main(child: Child) -> Base:
    return child
# valid {"child": {"id": 1}}
# valid {"child": {"id": 2, "name": "a", "scale": 2.5}}
# invalid {"child": {"name": "a"}}
# invalid {"child": {"id": 1, "scale": "x"}}
