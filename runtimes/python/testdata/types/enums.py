import enum


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


def main(color: Color, level: Level = Level.LOW, rights: Rights = Rights.READ) -> dict[str, Color]:
    assert isinstance(color, Color) and isinstance(level, Level) and isinstance(rights, Rights)
    return {"color": color}
# valid {"color": "red"}
# valid {"color": "blue", "level": 2, "rights": 3}
# invalid {"color": "green"}
# invalid {"color": "red", "level": 3}
