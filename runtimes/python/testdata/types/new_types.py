from typing import Final, NewType, Union

UserId = NewType("UserId", int)
Json = Union[dict[str, "Json"], list["Json"], str, float, bool, None]
LIMIT: Final = 10


def main(user: UserId, by_user: dict[UserId, str], document: Json = None) -> list[UserId]:
    assert all(isinstance(one, int) for one in by_user)
    return [user, *by_user]
# valid {"user": 1, "by_user": {"2": "b"}}
# valid {"user": 1, "by_user": {}, "document": {"a": [1, "b"]}}
# invalid {"user": "1", "by_user": {}}
# invalid {"user": 1, "by_user": {"b": "b"}}
