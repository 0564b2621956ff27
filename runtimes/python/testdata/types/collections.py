from collections.abc import Mapping, Sequence


def main(names: list[str], scores: dict[str, float], lines: Sequence[list[int]] = (), extra: Mapping[str, list[str]] = {}) -> dict[str, list[float]]:
    return {name: [scores.get(name, 0)] for name in names}
# valid {"names": ["a"], "scores": {"a": 1.5}}
# valid {"names": [], "scores": {}, "lines": [[1], []], "extra": {"k": ["v"]}}
# invalid {"names": [1], "scores": {}}
# invalid {"names": [], "scores": {"a": "b"}}
# invalid {"names": [], "scores": {}, "lines": [1]}
