async def main(first: int, /, second: int = 2, *rest: str, third: int, **others: float) -> int:
    return first + second + third + len(others)
# valid {"first": 1, "third": 3}
# valid {"first": 1, "second": 2, "third": 3, "more": 1.5}
# invalid {"first": 1}
# invalid {"first": 1, "third": 3, "more": "x"}
