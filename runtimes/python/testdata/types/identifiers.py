import pathlib
import uuid
from decimal import Decimal


def main(id: uuid.UUID, price: Decimal, path: pathlib.PurePosixPath = pathlib.PurePosixPath("/")) -> dict[str, Decimal | uuid.UUID]:
    assert isinstance(id, uuid.UUID) and isinstance(price, Decimal) and isinstance(path, pathlib.PurePosixPath)
    return {"id": id, "double": price * 2}
# valid {"id": "5b3a3a3e-6a7f-4c44-9d7d-0d0f5f0c1a2b", "price": "19.90"}
# valid {"id": "5b3a3a3e-6a7f-4c44-9d7d-0d0f5f0c1a2b", "price": 2.5, "path": "a/b"}
# invalid {"id": "1", "price": "19.90"}
# invalid {"id": "5b3a3a3e-6a7f-4c44-9d7d-0d0f5f0c1a2b", "price": "cheap"}
