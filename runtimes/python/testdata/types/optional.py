from typing import Optional


def main(name: Optional[str], nick: Optional[str] = None, age: "int | None" = None) -> Optional[str]:
    return nick or name
# valid {"name": null}
# valid {"name": "Ada", "nick": "A", "age": 3}
# invalid {}
# invalid {"name": 1}
