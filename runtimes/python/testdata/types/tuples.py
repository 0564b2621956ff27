def main(pair: tuple[str, int], many: tuple[float, ...] = (), none: tuple[()] = ()) -> tuple[int, str]:
    assert isinstance(pair, tuple) and isinstance(many, tuple)
    return pair[1], pair[0]
# valid {"pair": ["a", 1]}
# valid {"pair": ["a", 1], "many": [1, 2.5], "none": []}
# invalid {"pair": ["a"]}
# invalid {"pair": [1, "a"]}
# invalid {"pair": ["a", 1], "none": [1]}
