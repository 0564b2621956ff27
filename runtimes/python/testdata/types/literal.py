from typing import Literal


def main(unit: Literal["celsius", "kelvin"], level: Literal[1, 2, 3] = 1, kind: Literal["fixed"] = "fixed") -> Literal[True]:
    return True
# valid {"unit": "kelvin"}
# valid {"unit": "celsius", "level": 3, "kind": "fixed"}
# invalid {"unit": "f"}
# invalid {"unit": "kelvin", "level": 4}
