from typing import Union


def main(id: Union[int, str], amount: int | float | None, flag: bool | list[int] = True) -> int | str:
    return id
# valid {"id": 1, "amount": 2.5}
# valid {"id": "a", "amount": null, "flag": [1]}
# invalid {"id": [], "amount": 1}
# invalid {"id": 1, "amount": 1, "flag": ["a"]}
