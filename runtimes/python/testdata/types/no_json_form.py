from typing import Any, Callable


class Engine:
    power: int


def main(anything: Any, callback: Callable[[int], int] = None, raw: bytes = b"", engine: Engine = None, odd: complex = 1j) -> object:
    return None
# valid {"anything": 1}
# valid {"anything": null, "callback": {}, "raw": "eA==", "engine": 1, "odd": []}
# invalid {}
