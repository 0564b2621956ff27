def main(tags: set[str], ids: frozenset[int] = frozenset()) -> set[str]:
    assert isinstance(tags, set) and isinstance(ids, frozenset)
    return tags
# valid {"tags": ["b", "a"]}
# valid {"tags": [], "ids": [1, 2]}
# invalid {"tags": ["a", "a"]}
# invalid {"tags": [1]}
