from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elsewhere import Thing


def main(
    count: int,
    thing: Thing,
) -> list[Thing]:
    return [count]
# valid {"count": 1, "thing": {}}
# invalid {"count": "1", "thing": {}}
# invalid {"count": 1}
