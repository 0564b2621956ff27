"""Common Python. Each idiom is a function without parameters that returns True when it works."""

import asyncio
import base64
import bisect
import collections
import contextlib
import copy
import csv
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import functools
import hashlib
import heapq
import hmac
import html
import io
import itertools
import json
import logging
import math
import operator
import os
import pathlib
import random
import re
import secrets
import statistics
import string
import struct
import sys
import tempfile
import textwrap
import time
import types
import unicodedata
import urllib.parse
import uuid
import zlib
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Optional, Protocol, TypedDict, TypeVar, Union, cast

T = TypeVar("T")
WORDS = ["pear", "fig", "apple"]
Idiom = Callable[[], bool]
idioms: dict[str, Idiom] = {}


def idiom(work: Idiom) -> Idiom:
    idioms[work.__name__] = work
    return work


class Level(enum.Enum):
    LOW = 1
    HIGH = enum.auto()


class Flag(enum.IntFlag):
    READ = 1
    WRITE = 2


@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list, compare=False)

    @property
    def length(self) -> float:
        return math.hypot(self.x, self.y)


class Pair(NamedTuple):
    name: str
    age: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


class Named(Protocol):
    name: str


class Animal(ABC):
    made: ClassVar[int] = 0

    def __init__(self, name: str) -> None:
        self.name = name
        Animal.made += 1

    @abstractmethod
    def sound(self) -> str: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Dog(Animal):
    def sound(self) -> str:
        return "woof"

    @classmethod
    def rex(cls) -> "Dog":
        return cls("Rex")

    @staticmethod
    def legs() -> int:
        return 4


class Stack(Generic[T]):
    def __init__(self) -> None:
        self._items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self._items.append(item)
        return self

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        yield from self._items

    def __getitem__(self, at: int) -> T:
        return self._items[at]

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __enter__(self) -> "Stack[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._items.clear()


class NotFound(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(f"{name} was not found")
        self.name = name


def first(items: Sequence[T], default: Optional[T] = None) -> Optional[T]:
    return items[0] if items else default


def timed(work: Callable[..., T]) -> Callable[..., T]:
    @functools.wraps(work)
    def wrapper(*args: Any, **kwargs: Any) -> T:
        started = time.perf_counter()
        try:
            return work(*args, **kwargs)
        finally:
            assert time.perf_counter() >= started

    return wrapper


@contextlib.contextmanager
def noted(log: list[str]) -> Generator[None, None, None]:
    log.append("in")
    try:
        yield
    finally:
        log.append("out")


async def ticks(to: int) -> AsyncIterator[int]:
    for n in range(to):
        await asyncio.sleep(0)
        yield n


def count(to: int) -> Iterator[int]:
    n = 0
    while n < to:
        yield n
        n += 1


@timed
def add(a: int, b: int = 1, *more: int, scale: int = 1, **options: int) -> int:
    return (a + b + sum(more) + sum(options.values())) * scale


@functools.lru_cache(maxsize=None)
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.singledispatch
def describe(value: object) -> str:
    return "thing"


@describe.register
def _(value: int) -> str:
    return "number"


def kind(value: Any) -> str:
    match value:
        case {"type": "circle", "radius": r}:
            return f"circle {r}"
        case [x, *_]:
            return f"list of {x}"
        case str() as text if text:
            return text
        case Point(x=0):
            return "origin"
        case 1 | 2:
            return "small"
        case _:
            return "other"


@idiom
def list_comprehension() -> bool:
    return [n * 2 for n in range(4) if n % 2] == [2, 6]


@idiom
def dict_comprehension() -> bool:
    return {w: len(w) for w in WORDS}["fig"] == 3


@idiom
def set_comprehension() -> bool:
    return {len(w) for w in WORDS} == {3, 4, 5}


@idiom
def generator_expression() -> bool:
    return sum(n for n in range(4)) == 6


@idiom
def nested_comprehension() -> bool:
    return [c for row in [[1], [2]] for c in row] == [1, 2]


@idiom
def unpacking() -> bool:
    head, *tail = WORDS
    return head == "pear" and len(tail) == 2


@idiom
def swap() -> bool:
    a, b = 1, 2
    a, b = b, a
    return (a, b) == (2, 1)


@idiom
def merged_dicts() -> bool:
    return {**{"a": 1}, "b": 2} == {"a": 1} | {"b": 2}


@idiom
def enumerated() -> bool:
    return [(n, w) for n, w in enumerate(WORDS, start=1)][0] == (1, "pear")


@idiom
def zipped() -> bool:
    return dict(zip(["a", "b"], [1, 2], strict=True))["b"] == 2


@idiom
def sliced() -> bool:
    return WORDS[::-1][0] == "apple" and WORDS[-2:] == ["fig", "apple"]


@idiom
def sorted_by_key() -> bool:
    return sorted(WORDS, key=lambda w: (len(w), w), reverse=True)[0] == "apple"


@idiom
def greatest_by_key() -> bool:
    return max(WORDS, key=len) == "apple" and min([], default=0) == 0


@idiom
def any_and_all() -> bool:
    return any(w.startswith("f") for w in WORDS) and all(WORDS)


@idiom
def chained_comparison() -> bool:
    return 0 < len(WORDS) <= 3


@idiom
def walrus() -> bool:
    return (n := len(WORDS)) == 3 and n > 2


@idiom
def conditional() -> bool:
    return ("a" if WORDS else "b") == "a"


@idiom
def loop_with_else() -> bool:
    for w in WORDS:
        if w == "kiwi":
            break
    else:
        return True
    return False


@idiom
def matched_mapping() -> bool:
    return kind({"type": "circle", "radius": 2}) == "circle 2"


@idiom
def matched_sequence() -> bool:
    return kind([7, 8]) == "list of 7"


@idiom
def matched_class() -> bool:
    return kind(Point(0)) == "origin" and kind(2) == "small" and kind("x") == "x"


@idiom
def keyword_arguments() -> bool:
    return add(1, 2, 3, scale=2, more=4) == 20


@idiom
def default_argument() -> bool:
    return add(1) == 2


@idiom
def partial_function() -> bool:
    return functools.partial(add, b=5)(1) == 6


@idiom
def closure() -> bool:
    total = 0

    def grow(by: int) -> int:
        nonlocal total
        total += by
        return total

    grow(1)
    return grow(2) == 3


@idiom
def decorator() -> bool:
    return add.__name__ == "add"


@idiom
def cached() -> bool:
    return fibonacci(30) == 832040


@idiom
def dispatched() -> bool:
    return describe(1) == "number" and describe("a") == "thing"


@idiom
def generator() -> bool:
    return list(count(3)) == [0, 1, 2] and next(count(1)) == 0


@idiom
def chunked() -> bool:
    return [WORDS[i : i + 2] for i in range(0, len(WORDS), 2)][1] == ["apple"]


@idiom
def flattened() -> bool:
    return list(itertools.chain.from_iterable([[1], [2, 3]])) == [1, 2, 3]


@idiom
def grouped() -> bool:
    ordered = sorted(WORDS, key=len)
    return [k for k, _ in itertools.groupby(ordered, key=len)] == [3, 4, 5]


@idiom
def combined() -> bool:
    return len(list(itertools.combinations(range(4), 2))) == 6


@idiom
def taken() -> bool:
    return list(itertools.islice(itertools.count(1), 2)) == [1, 2]


@idiom
def accumulated() -> bool:
    return list(itertools.accumulate([1, 2, 3])) == [1, 3, 6]


@idiom
def reduced() -> bool:
    return functools.reduce(operator.mul, [1, 2, 3], 1) == 6


@idiom
def class_methods() -> bool:
    return Dog.rex().sound() == "woof" and Dog.legs() == 4


@idiom
def representation() -> bool:
    return repr(Dog.rex()) == "Dog('Rex')"


@idiom
def protocol() -> bool:
    named: Named = Dog.rex()
    return named.name == "Rex"


@idiom
def generic_class() -> bool:
    stack = Stack[int]().push(1).push(2)
    return len(stack) == 2 and 1 in stack and stack[1] == 2 and list(stack) == [1, 2]


@idiom
def context_of_a_class() -> bool:
    with Stack[int]() as stack:
        stack.push(1)
    return len(stack) == 0


@idiom
def context_of_a_function() -> bool:
    log: list[str] = []
    with noted(log):
        log.append("work")
    return log == ["in", "work", "out"]


@idiom
def suppressed() -> bool:
    with contextlib.suppress(KeyError):
        _ = {}["x"]
    return True


@idiom
def several_contexts() -> bool:
    with contextlib.ExitStack() as stack:
        stack.enter_context(io.StringIO())
    return True


@idiom
def dataclass_order() -> bool:
    return Point(1) < Point(2) and Point(3, 4).length == 5


@idiom
def dataclass_as_dict() -> bool:
    return asdict(Point(1, 2)) == {"x": 1, "y": 2, "tags": []}


@idiom
def dataclass_replaced() -> bool:
    return dataclasses.replace(Point(1), y=9).y == 9


@idiom
def typed_tuple() -> bool:
    return Pair("a").age == 0 and Pair("a", 1)._replace(age=2).age == 2


@idiom
def named_tuple() -> bool:
    Row = namedtuple("Row", ["a", "b"])
    return Row(1, 2).b == 2


@idiom
def typed_dict() -> bool:
    movie: Movie = {"title": "x"}
    return movie.get("year", 0) == 0


@idiom
def enumeration() -> bool:
    return Level(1) is Level.LOW and [level.name for level in Level] == ["LOW", "HIGH"]


@idiom
def flags() -> bool:
    return Flag.READ | Flag.WRITE == 3


@idiom
def literal_type() -> bool:
    mode: Literal["r", "w"] = "r"
    return mode == "r"


@idiom
def union_type() -> bool:
    value: Union[int, str] = 1
    other: int | None = None
    return isinstance(value, int) and other is None


@idiom
def cast_value() -> bool:
    return cast(dict[str, int], json.loads('{"a": 1}'))["a"] == 1


@idiom
def optional_result() -> bool:
    return first(WORDS) == "pear" and first([], "x") == "x"


@idiom
def own_exception() -> bool:
    try:
        raise NotFound("x")
    except (NotFound, KeyError) as error:
        return isinstance(error, NotFound) and error.name == "x"


@idiom
def exception_with_a_cause() -> bool:
    try:
        try:
            _ = 1 / 0
        except ZeroDivisionError as error:
            raise ValueError("bad") from error
    except ValueError as error:
        return isinstance(error.__cause__, ZeroDivisionError)
    return False


@idiom
def else_and_finally() -> bool:
    log: list[str] = []
    try:
        pass
    except ValueError:
        log.append("except")
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log == ["else", "finally"]


@idiom
def counted() -> bool:
    return Counter("banana").most_common(1) == [("a", 3)]


@idiom
def lists_by_key() -> bool:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for word in WORDS:
        groups[len(word)].append(word)
    return groups[3] == ["fig"]


@idiom
def double_ended() -> bool:
    queue = deque([1, 2], maxlen=2)
    queue.append(3)
    return queue.popleft() == 2


@idiom
def ordered_dict() -> bool:
    order = OrderedDict(a=1, b=2)
    order.move_to_end("a")
    return list(order) == ["b", "a"]


@idiom
def chained_maps() -> bool:
    return collections.ChainMap({"a": 1}, {"a": 2})["a"] == 1


@idiom
def priority_queue() -> bool:
    heap: list[tuple[int, str]] = []
    heapq.heappush(heap, (2, "b"))
    heapq.heappush(heap, (1, "a"))
    return heapq.heappop(heap)[1] == "a"


@idiom
def bisected() -> bool:
    return bisect.bisect_left([1, 3, 5], 3) == 1


@idiom
def formatted() -> bool:
    return f"{3.14159:.2f} {1234567:,} {'x':>3} {255:#x} {0.5:%}" == "3.14 1,234,567   x 0xff 50.000000%"


@idiom
def debugging_format() -> bool:
    n = 1
    return f"{n=}" == "n=1"


@idiom
def joined_and_split() -> bool:
    return ", ".join("a b  c".split()) == "a, b, c"


@idiom
def partitioned() -> bool:
    return "key=value=x".partition("=") == ("key", "=", "value=x")


@idiom
def prefix_removed() -> bool:
    return "prefix-x".removeprefix("prefix-") == "x"


@idiom
def translated() -> bool:
    return "a.b!".translate(str.maketrans("", "", string.punctuation)) == "ab"


@idiom
def without_accents() -> bool:
    return unicodedata.normalize("NFD", "é").encode("ascii", "ignore") == b"e"


@idiom
def wrapped_text() -> bool:
    return textwrap.dedent("  a\n  b") == "a\nb" and textwrap.shorten("a b c d", 5, placeholder="…") != ""


@idiom
def pattern() -> bool:
    match = re.search(r"(?P<year>\d{4})-(\d{2})", "on 2026-11-23")
    return match is not None and match.group("year") == "2026"


@idiom
def pattern_replaced() -> bool:
    return re.sub(r"\d", lambda m: str(int(m[0]) + 1), "a1") == "a2"


@idiom
def all_matches() -> bool:
    return [m.group() for m in re.finditer(r"\w+", "a b")] == ["a", "b"]


@idiom
def json_round_trip() -> bool:
    return json.loads(json.dumps({"a": [1, None]}, indent=2, sort_keys=True))["a"][1] is None


@idiom
def json_of_dates() -> bool:
    return json.dumps({"at": dt.date(2026, 1, 2)}, default=str) == '{"at": "2026-01-02"}'


@idiom
def csv_rows() -> bool:
    rows = list(csv.DictReader(io.StringIO("a,b\n1,2\n")))
    return rows[0]["b"] == "2"


@idiom
def csv_written() -> bool:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["a", 'b"c'])
    return out.getvalue() == 'a,"b""c"\r\n'


@idiom
def date_arithmetic() -> bool:
    return dt.date(2026, 1, 31) + dt.timedelta(days=1) == dt.date(2026, 2, 1)


@idiom
def date_parsed() -> bool:
    return dt.datetime.strptime("23.11.2026", "%d.%m.%Y").year == 2026


@idiom
def time_of_a_zone() -> bool:
    return dt.datetime.fromisoformat("2026-01-01T00:00:00+00:00").tzinfo is not None and dt.datetime.now(dt.timezone.utc).year > 2000


@idiom
def decimals() -> bool:
    price = decimal.Decimal("1.005")
    return price.quantize(decimal.Decimal("0.01"), rounding=decimal.ROUND_HALF_UP) == decimal.Decimal("1.01")


@idiom
def fraction() -> bool:
    return fractions.Fraction(1, 3) + fractions.Fraction(1, 6) == fractions.Fraction(1, 2)


@idiom
def statistic() -> bool:
    return statistics.mean([1, 2, 3]) == 2 and statistics.median([1, 9, 2]) == 2


@idiom
def mathematics() -> bool:
    return math.isclose(0.1 + 0.2, 0.3) and math.gcd(12, 18) == 6 and round(2.675, 1) == 2.7 and divmod(7, 2) == (3, 1)


@idiom
def seeded_random() -> bool:
    return random.Random(1).random() == random.Random(1).random() and random.choice([1]) == 1


@idiom
def secret() -> bool:
    return len(secrets.token_hex(8)) == 16 and len(str(uuid.uuid4())) == 36


@idiom
def hashed() -> bool:
    return len(hashlib.sha256(b"a").hexdigest()) == 64 and hmac.new(b"k", b"a", "sha256").digest() != b""


@idiom
def encoded() -> bool:
    return base64.b64decode(base64.b64encode("ü".encode())).decode("utf-8") == "ü"


@idiom
def packed() -> bool:
    return struct.unpack("<I", struct.pack("<I", 7))[0] == 7 and int.from_bytes(b"\x01\x00", "big") == 256


@idiom
def compressed() -> bool:
    return zlib.decompress(zlib.compress(b"text")) == b"text"


@idiom
def address() -> bool:
    parts = urllib.parse.urlsplit("https://example.com/a?b=1")
    return urllib.parse.parse_qs(parts.query)["b"] == ["1"] and urllib.parse.urlencode({"q": "x y"}) == "q=x+y"


@idiom
def escaped_html() -> bool:
    return html.unescape(html.escape("<a>")) == "<a>"


@idiom
def file_of_a_folder() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.txt"
        path.write_text("one\ntwo\n", encoding="utf-8")
        with path.open() as lines:
            return [line.strip() for line in lines] == ["one", "two"] and path.suffix == ".txt" and os.path.exists(path)


@idiom
def deep_copy() -> bool:
    nested = {"a": [1]}
    copied = copy.deepcopy(nested)
    copied["a"].append(2)
    return nested["a"] == [1]


@idiom
def simple_namespace() -> bool:
    return types.SimpleNamespace(a=1).a == 1


@idiom
def logged() -> bool:
    logging.getLogger("idioms").warning("%s", "x")
    print("text", file=sys.stderr)
    return True


@idiom
def threads() -> bool:
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(len, WORDS)) == [4, 3, 5]


@idiom
def mapping_type() -> bool:
    def total(values: Mapping[str, float] | Iterable[float]) -> float:
        return sum(values.values()) if isinstance(values, Mapping) else sum(values)

    return total({"a": 1.5}) == 1.5 and total([1, 2]) == 3


async def gathered() -> bool:
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return n * 2

    return await asyncio.gather(double(1), double(2)) == [2, 4]


async def timed_out() -> bool:
    try:
        await asyncio.wait_for(asyncio.sleep(5), timeout=0.001)
    except asyncio.TimeoutError:
        return True
    return False


async def async_loop() -> bool:
    return [n async for n in ticks(3)] == [0, 1, 2]


async def main(input: dict[str, Any]) -> dict[str, Any]:
    failed: list[str] = []
    for name, work in idioms.items():
        try:
            if not work():
                failed.append(name)
        except Exception as error:
            failed.append(f"{name}: {error!r}")
    for later in (gathered, timed_out, async_loop):
        if not await later():
            failed.append(later.__name__)
    return {"tried": len(idioms) + 3, "failed": failed}
