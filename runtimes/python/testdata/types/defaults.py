def main(text: str, times: int = 2, sep: str = ", ", *, upper: bool = False) -> str:
    joined = sep.join([text] * times)
    return joined.upper() if upper else joined
# valid {"text": "a"}
# valid {"text": "a", "times": 3, "sep": "-", "upper": true}
# invalid {"times": 3}
# invalid {"text": "a", "upper": "yes"}
