from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Folder:
    name: str
    parent: Folder | None = None
    folders: list[Folder] = field(default_factory=list)


def main(input: Folder) -> Folder:
    assert all(isinstance(one, Folder) for one in input.folders)
    return input
# valid {"name": "/"}
# valid {"name": "/", "folders": [{"name": "a", "folders": [{"name": "b"}]}], "parent": {"name": "x"}}
# invalid {"folders": []}
# invalid {"name": "/", "folders": [{"folders": []}]}
