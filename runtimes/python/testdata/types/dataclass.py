from dataclasses import dataclass, field


@dataclass
class Address:
    street: str
    city: str = "Oslo"


@dataclass
class Person:
    """A person.

    Attributes:
        name: The full name.
        address: Where the person
            lives.
    """

    name: str
    address: Address
    tags: list[str] = field(default_factory=list)
    size: int = field(default=0, init=False)


def main(input: Person) -> Person:
    assert isinstance(input, Person) and isinstance(input.address, Address)
    return input
# valid {"name": "Ada", "address": {"street": "A 1"}}
# valid {"name": "Ada", "address": {"street": "A 1", "city": "Bergen"}, "tags": ["x"]}
# invalid {"name": "Ada"}
# invalid {"name": "Ada", "address": {"city": "Bergen"}}
# invalid {"name": "Ada", "address": {"street": "A 1"}, "tags": [1]}
