from dataclasses import dataclass
from typing import Generic, Optional, TypeVar

T = TypeVar("T")
N = TypeVar("N", int, float)


@dataclass
class Page(Generic[T]):
    items: list[T]
    next: Optional[str] = None


@dataclass
class Item:
    id: int


def main(page: Page[Item], names: Page[str], free: Page[N]) -> Page[Item]:
    assert isinstance(page.items[0], Item)
    return page
# valid {"page": {"items": [{"id": 1}]}, "names": {"items": ["a"], "next": "b"}, "free": {"items": [1.5]}}
# invalid {"page": {"items": [1]}, "names": {"items": []}, "free": {"items": []}}
# invalid {"page": {"items": []}, "names": {"items": [1]}, "free": {"items": []}}
