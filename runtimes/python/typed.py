# Describes the types of an agent's main as JSON Schema, builds typed arguments from JSON, and converts typed results to
# JSON. guest.py loads this module only for a program whose annotations need it. It runs inside the sandbox, after the
# program's own code has been loaded, so the server checks everything that it sends.
import ast
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import ipaddress
import json
import math
import pathlib
import re
import sys
import types
import typing
import uuid

NODES = 10_000  # maximum size of a schema, in nodes
NOTES = 100
TEXT = 2_000  # maximum characters of a description
PLACES = 50  # maximum number of places that an error lists
FORMATS = {
    datetime.datetime: "date-time", datetime.date: "date", datetime.time: "time", uuid.UUID: "uuid",
    re.Pattern: "regex", ipaddress.IPv4Address: "ipv4", ipaddress.IPv6Address: "ipv6",
}
PRIMITIVES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
LISTS = (list, collections.deque, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Collection, collections.abc.Iterable)
SETS = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
DICTS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter, collections.abc.Mapping, collections.abc.MutableMapping)
AWAITED = (collections.abc.Awaitable, collections.abc.Coroutine)
UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
WRAPPERS = {getattr(typing, name, None) for name in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar")} - {None}
DECIMAL = r"^-?(\d+\.?\d*|\.\d+)$"
INTEGER = r"^-?\d+$"
DURATION = r"^[-+]?P(\d+W)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$"  # the format "duration" does not allow fractions
BOUNDS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf", "pattern": "pattern",
}
# The modules of the agent's program are in this package, and so are its classes.
PACKAGE = "__agent__"


class TooLarge(Exception):
    """The schema of a type has more than NODES nodes."""


class Unfit(ValueError):
    """A JSON value does not fit the type of a parameter. Each place is a pair of a path, such as ("input", "items", 2),
    and a message."""

    def __init__(self, *places):
        super().__init__("; ".join(f"{dotted(path)}: {message}" for path, message in places))
        self.places = places


def dotted(path):
    return path[0] + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path[1:])


class Places:
    """Finds the file and line of a function's parameters and a class's fields."""

    def __init__(self, root):
        self.root, self.trees = root, {}

    def tree(self, path):
        if path not in self.trees:
            try:
                with open(path, "rb") as file:
                    self.trees[path] = ast.parse(file.read())
            except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
                self.trees[path] = ast.Module([], [])
        return self.trees[path]

    def of(self, path, line=0):
        inside = isinstance(path, str) and path.startswith(self.root + "/")
        return {"file": path[len(self.root) + 1:], "line": max(line, 1)} if inside else {}

    def parameter(self, function, name):
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code is None:
            return {}
        line = code.co_firstlineno
        for node in ast.walk(self.tree(code.co_filename)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name and line <= node.lineno <= line + 50:
                given = node.args
                every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
                if name == "return" and node.returns is not None:
                    return self.of(code.co_filename, node.returns.lineno)
                return self.of(code.co_filename, next((one.lineno for one in every if one.arg == name), node.lineno))
        return self.of(code.co_filename, line)

    def field(self, cls, name=None):
        path = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if not isinstance(path, str) or not path.startswith(self.root + "/"):
            return {}
        for node in ast.walk(self.tree(path)):
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                for part in node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id == name:
                        return self.of(path, part.lineno)
                return self.of(path, node.lineno)
        return self.of(path)


SECTION = re.compile(r"^(Args|Arguments|Parameters|Attributes|Keyword Args|Keyword Arguments|Other Parameters|Returns?|Yields|Raises|Examples?|Notes?)\s*:?\s*$", re.I)
GOOGLE = re.compile(r"^\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s+(.*)$")
NUMPY = re.compile(r"^\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
REST = re.compile(r"^:(param|parameter|arg|argument|key|keyword|ivar|var|attribute)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
FIELDED = {"args", "arguments", "parameters", "attributes", "keyword args", "keyword arguments", "other parameters"}


def described(text):
    """Reads the descriptions of parameters from a docstring in the style of Google, NumPy or reST."""
    lines = inspect.cleandoc(text or "").splitlines()
    found, current, section, base, numpy = {}, None, None, None, False
    for at, line in enumerate(lines):
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        rest = REST.match(bare)
        if rest:
            section, current = None, rest[2]
            found[current] = [rest[3]]
            continue
        if bare.startswith(":"):
            current = None
            continue
        heading = SECTION.match(bare)
        under = lines[at + 1].strip() if at + 1 < len(lines) else ""
        ruled = len(under) >= 3 and not under.strip("-")
        if heading and (bare.endswith(":") or ruled):
            section, current, base, numpy = heading[1].lower(), None, None, ruled
            continue
        if bare and not bare.strip("-"):
            continue
        if section is None:
            if current and bare and indent:
                found[current].append(bare)
            elif not bare:
                current = None
            continue
        if section not in FIELDED or not bare:
            if not bare and not numpy:
                current = None
            continue
        base = indent if base is None else base
        named = (NUMPY if numpy else GOOGLE).match(bare) if indent <= base else None
        if named and numpy:
            names = re.split(r"\s*,\s*", named[1])
            current = names[0]
            found.update(dict.fromkeys(names, []))
        elif named:
            current = named[1]
            found[current] = [named[2]]
        elif indent < base:
            section = None
        elif current:
            found[current].append(bare)
    return {name: " ".join(part for part in parts if part)[:TEXT] for name, parts in found.items() if any(parts)}


def hints_of(owner, note=None, place=None):
    """Returns the annotations of a function or class. An annotation that cannot be resolved becomes an Unresolved."""
    owner = inspect.unwrap(owner) if callable(owner) and not isinstance(owner, type) else owner
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except Exception:
        pass  # one annotation cannot be resolved; resolve the others one by one
    found = {}
    for cls in reversed(owner.__mro__) if isinstance(owner, type) else (owner,):
        space = getattr(sys.modules.get(cls.__module__), "__dict__", None) if isinstance(cls, type) else getattr(cls, "__globals__", None)
        local = dict(vars(cls)) if isinstance(cls, type) else {}
        try:
            own = cls.__dict__.get("__annotations__", {}) if isinstance(cls, type) else getattr(cls, "__annotations__", {})
        except Exception:
            own = {}
        for name, hint in own.items():
            one = types.SimpleNamespace(__annotations__={name: hint})
            try:
                found.update(typing.get_type_hints(one, space or {}, local, include_extras=True))
            except Exception as error:
                found[name] = Unresolved(f"The annotation {shown(hint)} cannot be resolved: {error}")
    return found


class Unresolved:
    """Stands for an annotation that cannot be resolved."""

    def __init__(self, reason):
        self.reason = reason


def shown(hint):
    if isinstance(hint, str):
        return hint
    if isinstance(hint, typing.ForwardRef):
        return hint.__forward_arg__
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__qualname__
    return repr(hint).replace("typing.", "").replace(PACKAGE + ".", "")


def is_typed_dict(cls):
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__total__") and hasattr(cls, "__required_keys__")


def is_named_tuple(cls):
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_model(cls):
    return isinstance(cls, type) and hasattr(cls, "model_json_schema") and hasattr(cls, "model_validate")


def unwrapped(hint):
    """Removes Required, NotRequired, ReadOnly, Final, ClassVar and InitVar from an annotation. It also returns whether
    Required or NotRequired was there."""
    required = None
    while True:
        origin = typing.get_origin(hint)
        if isinstance(hint, dataclasses.InitVar):
            hint = hint.type
        elif origin in WRAPPERS:
            if origin is getattr(typing, "Required", WRAPPERS):
                required = True
            elif origin is getattr(typing, "NotRequired", WRAPPERS):
                required = False
            hint = typing.get_args(hint)[0]
        elif origin is typing.Annotated and typing.get_origin(typing.get_args(hint)[0]) in WRAPPERS:
            inner, *more = typing.get_args(hint)
            base, required = unwrapped(inner)
            return typing.Annotated[(base, *more)], required
        else:
            return hint, required


def bound_types(hint):
    """Maps the type variables of a generic class to the arguments in hint."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    return dict(zip(getattr(origin, "__parameters__", ()), args)) if args else {}


def filled(hint, variables):
    """Replaces the type variables in an annotation."""
    if isinstance(hint, typing.TypeVar):
        return variables.get(hint, hint)
    wanted = getattr(hint, "__parameters__", ())
    if not isinstance(hint, type) and wanted and any(one in variables for one in wanted):
        try:
            return hint[tuple(variables.get(one, one) for one in wanted)]
        except TypeError:
            return hint
    return hint


def fields_of(cls, variables, output):
    """Yields (name, hint, required, default) for each field of a class. default is dataclasses.MISSING if the field has
    none."""
    hints = hints_of(cls)
    if is_typed_dict(cls):
        for name, hint in hints.items():
            hint, required = unwrapped(hint)
            yield name, filled(hint, variables), name in cls.__required_keys__ if required is None else required, dataclasses.MISSING
    elif is_named_tuple(cls):
        for name in cls._fields:
            default = cls._field_defaults.get(name, dataclasses.MISSING)
            yield name, filled(hints.get(name, typing.Any), variables), output or default is dataclasses.MISSING, default
    else:
        given = inspect.signature(cls).parameters if not output else {}
        for field in dataclasses.fields(cls):
            if not output and field.name not in given:
                continue  # a field with init=False is computed by the class
            default = field.default
            if default is dataclasses.MISSING and field.default_factory in (list, dict, set, tuple, str, int, float, bool):
                default = field.default_factory()
            optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            hint, _ = unwrapped(hints.get(field.name, typing.Any))
            yield field.name, filled(hint, variables), output or not optional, default
        if not output:
            for name, parameter in given.items():
                if isinstance(cls.__annotations__.get(name), dataclasses.InitVar) or isinstance(hints.get(name), dataclasses.InitVar):
                    default = dataclasses.MISSING if parameter.default is parameter.empty else parameter.default
                    yield name, filled(unwrapped(hints[name])[0], variables), parameter.default is parameter.empty, default


class Describer:
    """Describes types as JSON Schema. output is true for types of a result, whose values come from the program."""

    def __init__(self, places, notes, space, output):
        self.places, self.notes, self.space, self.output = places, notes, space, output
        self.nodes, self.active, self.repeated, self.definitions, self.called = 0, [], set(), {}, {}

    def note(self, place, message):
        one = {**place, "message": message[:TEXT]}
        if one not in self.notes and len(self.notes) < NOTES:
            self.notes.append(one)

    def nothing(self, place, reason):
        """Returns a schema that accepts any value, for a type that JSON Schema cannot describe, and adds a note with
        the reason."""
        self.note(place, reason)
        return {}

    def root(self, hint, place):
        """Describes a type as a complete schema document."""
        return self.complete(self.of(hint, place))

    def complete(self, schema):
        name = schema.get("$ref", "").removeprefix("#/$defs/") if len(schema) == 1 else ""
        if name in self.definitions:
            schema = dict(self.definitions[name])  # the schema of a tool must have its type at the root
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def of(self, hint, place):
        self.nodes += 1
        if self.nodes > NODES:
            raise TooLarge(place)
        hint, _ = unwrapped(hint)
        if isinstance(hint, Unresolved):
            return self.nothing(place, hint.reason + ". Any value is accepted.")
        if hint is typing.Any or hint is object or hint is inspect.Parameter.empty:
            return self.nothing(place, "The type is Any: any value is accepted.") if hint is typing.Any else {}
        if hint is None:
            hint = type(None)
        if isinstance(hint, (str, typing.ForwardRef)):
            return self.forward(shown(hint), place)
        if hasattr(hint, "__supertype__"):
            return self.of(hint.__supertype__, place)
        if type(hint).__name__ == "TypeAliasType":
            return self.named(hint, hint.__name__, lambda: self.of(hint.__value__, place))
        if isinstance(hint, typing.TypeVar):
            return self.variable(hint, place)
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin is None:
            return self.plain(hint, place)
        if origin is typing.Annotated:
            return self.annotated(args[0], args[1:], place)
        if origin is typing.Literal:
            return self.literal(args, place)
        if origin in UNIONS:
            return self.union(args, place)
        if type(origin).__name__ == "TypeAliasType":
            return self.named(hint, origin.__name__, lambda: self.of(filled(origin.__value__, dict(zip(origin.__type_params__, args))), place))
        return self.generic(hint, origin, args, place)

    def forward(self, text, place):
        """Describes a name that an alias contains, such as "Json" in Json = dict[str, "Json"]."""
        one = types.SimpleNamespace(__annotations__={"it": text})
        try:
            hint = typing.get_type_hints(one, self.space, include_extras=True)["it"]
        except Exception as error:
            return self.nothing(place, f"The annotation {text} cannot be resolved: {error}. Any value is accepted.")
        return self.named(("forward", text), text, lambda: self.of(hint, place))

    def variable(self, hint, place):
        if hint.__constraints__:
            return self.union(hint.__constraints__, place)
        if hint.__bound__ is not None:
            return self.of(hint.__bound__, place)
        return self.nothing(place, f"The type variable {hint.__name__} has no type here: any value is accepted.")

    def plain(self, hint, place):
        if hint in PRIMITIVES:
            return {"type": PRIMITIVES[hint]}
        if hint in FORMATS:
            return {"type": "string", "format": FORMATS[hint]}
        if hint is datetime.timedelta:
            return {"type": "string", "pattern": DURATION}
        if hint is decimal.Decimal:
            text = {"type": "string", "pattern": DECIMAL}
            return text if self.output else {"anyOf": [{"type": "number"}, text]}
        if hint in (typing.NoReturn, getattr(typing, "Never", typing.NoReturn)):
            return {"not": {}}
        if hint is getattr(typing, "LiteralString", str):
            return {"type": "string"}
        if hint is tuple or hint in LISTS:
            return {"type": "array"}
        if hint in SETS:
            return {"type": "array", "uniqueItems": True}
        if hint in DICTS:
            return {"type": "object"}
        if isinstance(hint, type):
            return self.cls(hint, hint, place)
        return self.nothing(place, f"{shown(hint)} has no JSON form: any value is accepted.")

    def cls(self, hint, cls, place):
        if issubclass(cls, enum.Enum):
            return self.choices(cls, place)
        if dataclasses.is_dataclass(cls) or is_typed_dict(cls):
            return self.named(hint, cls.__name__, lambda: self.record(hint, cls))
        if is_named_tuple(cls):
            return self.named(hint, cls.__name__, lambda: self.named_tuple(hint, cls))
        if issubclass(cls, pathlib.PurePath):
            return {"type": "string"}
        for base, name in PRIMITIVES.items():
            if issubclass(cls, base):
                return {"type": name}
        if issubclass(cls, (bytes, bytearray, memoryview)):
            return self.nothing(place, f"{shown(cls)} has no JSON form: any value is accepted. Use str with base64.")
        if cls is complex or cls is type or cls in (collections.abc.Callable, types.FunctionType):
            return self.nothing(place, f"{shown(cls)} has no JSON form: any value is accepted.")
        if hasattr(cls, "__annotations__") and cls.__module__.startswith(PACKAGE):
            return self.nothing(place, f"The class {cls.__name__} has no JSON form: any value is accepted. Make it a dataclass, or use TypedDict.")
        return self.nothing(place, f"{shown(cls)} has no JSON form: any value is accepted.")

    def choices(self, cls, place):
        if issubclass(cls, enum.Flag):
            return {"type": "integer"}
        values = [one.value for one in cls]
        if not all(isinstance(one, (str, int, float, bool, type(None))) for one in values):
            return self.nothing(place, f"The values of {cls.__name__} have no JSON form: any value is accepted.")
        return enumerated(values)

    def literal(self, args, place):
        values = [one.value if isinstance(one, enum.Enum) else one for one in args]
        if any(isinstance(one, (bytes, bytearray)) for one in values):
            return self.nothing(place, "bytes has no JSON form: any value is accepted. Use str with base64.")
        return enumerated(values)

    def union(self, args, place):
        found = []
        for one in args:
            schema = self.of(one, place)
            if schema not in found:
                found.append(schema)
        if len(found) == 1:
            return found[0]
        if {} in found:
            return {}
        if all(set(one) == {"type"} for one in found):
            return {"type": [one["type"] for one in found]}
        return {"anyOf": found}

    def annotated(self, base, more, place):
        schema = dict(self.of(base, place))
        for one in more:
            self.bound(schema, one, place)
        return schema

    def bound(self, schema, one, place):
        """Adds metadata of Annotated to a schema: a text as the description, a dict as keywords of JSON Schema, or an
        object with bounds, such as those of annotated-types."""
        if isinstance(one, str):
            schema["description"] = one[:TEXT]
            return
        if isinstance(one, dict):
            schema.update({str(name): value for name, value in one.items()})
            return
        for text in ("documentation", "description"):
            if isinstance(getattr(one, text, None), str):
                schema["description"] = getattr(one, text)[:TEXT]
        kind = schema.get("type")
        size = {"string": "Length", "array": "Items", "object": "Properties"}.get(kind if isinstance(kind, str) else "", "")
        for name, keyword in BOUNDS.items():
            value = getattr(one, name, None)
            if isinstance(value, re.Pattern):
                value = value.pattern
            if isinstance(value, str) == (keyword == "pattern") and isinstance(value, (str, int, float, decimal.Decimal)) and not isinstance(value, bool):
                schema[keyword] = float(value) if isinstance(value, decimal.Decimal) else value
        for name, keyword in (("min_length", "min"), ("max_length", "max")):
            if isinstance(getattr(one, name, None), int) and size:
                schema[keyword + size] = getattr(one, name)
        for inner in getattr(one, "metadata", None) or ():  # a FieldInfo of Pydantic has its bounds in metadata
            self.bound(schema, inner, place)

    def generic(self, hint, origin, args, place):
        if origin is tuple:
            return self.tuple(args, place)
        if origin in SETS:
            return {"type": "array", **self.items(args[0], place), "uniqueItems": True}
        if origin in DICTS:
            return self.mapping(origin, args, place)
        if origin in LISTS:
            return {"type": "array", **self.items(args[0], place)}
        if origin in AWAITED:
            return self.of(args[-1], place)
        if origin is collections.abc.Callable:
            return self.nothing(place, "A function has no JSON form: any value is accepted.")
        if origin is type:
            return self.nothing(place, "A class has no JSON form: any value is accepted.")
        if origin is re.Pattern:
            return {"type": "string", "format": "regex"}
        if isinstance(origin, type) and (dataclasses.is_dataclass(origin) or is_typed_dict(origin) or is_named_tuple(origin)):
            return self.cls(hint, origin, place)
        return self.nothing(place, f"{shown(hint)} has no JSON form: any value is accepted.")

    def items(self, hint, place):
        found = self.of(hint, place)
        return {"items": found} if found else {}

    def tuple(self, args, place):
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", **self.items(args[0], place)}
        if not args or args == ((),):
            return {"type": "array", "maxItems": 0}
        return {"type": "array", "prefixItems": [self.of(one, place) for one in args], "minItems": len(args), "maxItems": len(args)}

    def mapping(self, origin, args, place):
        key, value = (args[0], int) if origin is collections.Counter else args
        schema = {"type": "object"}
        found = self.of(value, place)
        if found:
            schema["additionalProperties"] = found
        names = self.of(key, place)
        if names == {"type": "integer"}:
            schema["propertyNames"] = {"pattern": INTEGER}
        elif names not in ({}, {"type": "string"}):
            if names.get("type", "string") != "string":
                self.note(place, f"{shown(key)} cannot be checked in the names of an object: any name is accepted.")
            else:
                schema["propertyNames"] = names
        return schema

    def named(self, hint, name, describe):
        """Describes a type that may refer to itself. Only such a type becomes a definition."""
        key = hint if hashable(hint) else id(hint)
        if key in self.called and self.called[key] in self.definitions:
            return {"$ref": "#/$defs/" + self.called[key]}
        if key in self.active:
            self.repeated.add(key)
            return {"$ref": "#/$defs/" + self.name(key, name)}
        self.active.append(key)
        try:
            schema = describe()
        finally:
            self.active.pop()
        if key not in self.repeated:
            return schema
        self.definitions[self.called[key]] = schema
        return {"$ref": "#/$defs/" + self.called[key]}

    def name(self, key, name):
        if key not in self.called:
            taken, plain = set(self.called.values()), re.sub(r"\W", "_", name)
            self.called[key] = next(one for one in [plain, *(f"{plain}{n}" for n in range(2, NODES))] if one not in taken)
        return self.called[key]

    def record(self, hint, cls):
        texts = {}
        for base in reversed(cls.__mro__):
            if base.__module__ not in ("builtins", "typing") and base.__doc__:
                texts.update(described(base.__doc__))
        properties, required = {}, []
        for name, of, needed, default in fields_of(cls, bound_types(hint), self.output):
            properties[name] = self.member(of, self.places.field(cls, name), texts.get(name), default)
            if needed:
                required.append(name)
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return schema

    def named_tuple(self, hint, cls):
        listed = list(fields_of(cls, bound_types(hint), self.output))
        items = []
        for name, of, _, default in listed:
            one = self.member(of, self.places.field(cls, name), None, default)
            items.append({"title": name, **one} if "$ref" not in one else one)
        return {"type": "array", "prefixItems": items, "minItems": sum(needed for _, _, needed, _ in listed), "maxItems": len(items)}

    def member(self, hint, place, text, default):
        """Describes a property, with its description and default."""
        schema = dict(self.of(hint, place))
        if text and "description" not in schema:
            schema["description"] = text
        if default is not dataclasses.MISSING and not self.output:
            value = simple(default)
            if value is not dataclasses.MISSING and (value is not None or admits_null(schema)):
                schema["default"] = value
        return schema


def admits_null(schema):
    kind = schema.get("type")
    return kind == "null" or isinstance(kind, list) and "null" in kind or any(map(admits_null, schema.get("anyOf", ()))) or None in schema.get("enum", ())


def hashable(value):
    try:
        hash(value)
        return True
    except TypeError:
        return False


def enumerated(values):
    kinds = sorted({PRIMITIVES.get(type(one), "string") for one in values})
    schema = {"type": kinds[0]} if len(kinds) == 1 and kinds != ["null"] else {}
    return {**schema, "const": values[0]} if len(values) == 1 else {**schema, "enum": values}


def simple(value):
    """Returns a default as JSON, or MISSING if the default has no JSON form."""
    try:
        value = dump(value)
        json.dumps(value, allow_nan=False)
        return value
    except (TypeError, ValueError, RecursionError):
        return dataclasses.MISSING


def uses_models(hint, seen):
    """Reports whether a type contains a Pydantic model."""
    if is_model(hint):
        return True
    if not hashable(hint) or hint in seen:
        return False
    seen.add(hint)
    parts = [one for one in typing.get_args(hint) if not isinstance(one, (str, int, float, bytes))]
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or is_typed_dict(hint) or is_named_tuple(hint)):
        parts += hints_of(hint).values()
    return any(uses_models(one, seen) for one in parts)


def takes_context(name):
    return name.lstrip("_") in ("ctx", "context")


def infer(function, root):
    """Describes the input and the output of a function. The input follows the way in which guest.py binds parameters.
    """
    places, notes = Places(root), []
    try:
        listed = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {"inputSchema": {"type": "object"}, "outputSchema": {}, "source": "python", "notes": [{"message": "The function has no signature: any object is accepted."}]}
    hints = hints_of(function)
    try:
        if any(uses_models(one, set()) for one in hints.values()):
            return by_pydantic(function, listed, hints, places, notes)
        space = getattr(inspect.unwrap(function), "__globals__", {})
        given = Describer(places, notes, space, False)
        schema = given.complete(parameters(function, listed, hints, given))
        gives = Describer(places, notes, space, True)
        result = gives.root(hints.get("return", inspect.Parameter.empty), places.parameter(function, "return"))
    except TooLarge as error:
        return {"failed": {**error.args[0], "code": "too_large", "message": f"The schema has more than {NODES} nodes. Use a type that contains itself, or dict."}}
    return {"inputSchema": accepted(schema, notes, places.parameter(function, "")), "outputSchema": result, "source": "python", "notes": notes, "main": places.parameter(function, "")}


def accepted(schema, notes, place):
    """Returns the schema of an input. The schema must describe an object."""
    kinds = schema.get("type")
    if kinds == "object":
        return schema
    if "anyOf" in schema and all(one.get("type") == "object" for one in schema["anyOf"]):
        return {"type": "object", **schema}
    if schema:
        notes.append({**place, "message": "The input of an agent is an object, and this type is none: any object is accepted. Take the value as a parameter with another name."})
    return {"type": "object"}


def parameters(function, listed, hints, describer):
    """Describes the parameters of a function as the properties of one object."""
    texts = described(inspect.getdoc(function))
    properties, required, schema = {}, [], {"type": "object"}
    if getattr(function, "__name__", "") == "run" and [one.name for one in listed[:2]] == ["action", "args"]:
        return schema
    whole = bool(listed) and listed[0].name.lstrip("_") in ("input", "")
    for at, one in enumerate(listed):
        place = describer.places.parameter(function, one.name)
        hint = hints.get(one.name, one.empty)
        if takes_context(one.name) or one.kind is one.VAR_POSITIONAL:
            continue
        if one.kind is one.VAR_KEYWORD:
            if not whole:
                found = describer.of(hint, place)
                if found:
                    schema["additionalProperties"] = found
        elif at == 0 and whole:
            if hint is one.empty:
                describer.note(place, f"The parameter {one.name} has no annotation: any object is accepted.")
            else:
                schema = describer.of(hint, place)
                schema = {"type": "object"} if schema == {} else schema
                if texts.get(one.name) and "$ref" not in schema:
                    schema = {"description": texts[one.name], **schema}
        else:
            if hint is one.empty:
                describer.note(place, f"The parameter {one.name} has no annotation: any value is accepted.")
            properties[one.name] = describer.member(hint, place, texts.get(one.name), dataclasses.MISSING if one.default is one.empty else one.default)
            if one.default is one.empty:
                required.append(one.name)
    if properties:
        if "$ref" in schema:
            schema = dict(describer.definitions[schema["$ref"].removeprefix("#/$defs/")])
        schema["properties"] = {**schema.get("properties", {}), **properties}
        if required:
            schema["required"] = [*schema.get("required", ()), *required]
    return schema


def by_pydantic(function, listed, hints, places, notes):
    """Describes the parameters with Pydantic's own function, because only Pydantic knows the bounds of its fields."""
    import pydantic
    describer = Describer(places, notes, {}, False)
    texts = described(inspect.getdoc(function))
    given, whole = {}, None
    for at, one in enumerate(listed):
        if takes_context(one.name) or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        hint, place = hints.get(one.name, one.empty), places.parameter(function, one.name)
        if hint is one.empty or isinstance(hint, Unresolved):
            reason = f"The parameter {one.name} has no annotation" if hint is one.empty else hint.reason
            hint = describer.nothing(place, f"{reason}: any value is accepted.") or typing.Any
        else:
            lossy(hint, place, describer, set())
        if at == 0 and one.name.lstrip("_") in ("input", ""):
            whole = hint
            continue
        text = {"description": texts[one.name]} if one.name in texts else {}
        given[one.name] = (hint, pydantic.Field(... if one.default is one.empty else one.default, **text))
    try:
        schema = {} if whole is None else schema_of(whole, "validation", describer, places.parameter(function, listed[0].name))
        if given or whole is None:
            named = schema_of(given, "validation", describer, places.parameter(function, ""))
            if collide(schema, named):
                schema, named = together(whole, given, describer, places.parameter(function, ""))
            schema = joined(schema, named)
        place = places.parameter(function, "return")
        result = {}
        if isinstance(hints.get("return"), Unresolved):
            describer.nothing(place, hints["return"].reason + ": any value is accepted.")
        elif "return" in hints:
            lossy(hints["return"], place, describer, set())
            result = schema_of(hints["return"], "serialization", describer, place)
    except NotDescribed as error:
        return {"failed": {**error.args[0], "code": "not_described", "message": error.args[1][:TEXT]}}
    place = places.parameter(function, "")
    return {"inputSchema": accepted(schema, notes, place), "outputSchema": result, "source": "pydantic", "notes": notes, "main": place}


def joined(whole, named):
    """Adds named parameters to the schema of the whole input."""
    both, required = {**named, **whole}, [*whole.get("required", ()), *named.get("required", ())]
    for name in ("properties", "$defs"):
        if name in named:
            both[name] = {**whole.get(name, {}), **named[name]}
    return {**both, "required": required} if required else both


def collide(one, other):
    """Reports whether two schemas contain different definitions with the same name, such as two classes Item of
    different modules."""
    found, more = one.get("$defs", {}), other.get("$defs", {})
    return any(name in more and more[name] != found[name] for name in found)


def together(whole, given, describer, place):
    """Returns the schemas of the whole input and of named parameters. Pydantic describes both in one call, so that
    definitions with the same name get different names."""
    name = "input"
    while name in given:
        name += "_"
    import pydantic

    named = schema_of({name: (whole, pydantic.Field(...)), **given}, "validation", describer, place)
    schema = named["properties"].pop(name)
    named["required"].remove(name)
    if "$ref" in schema:
        schema = named["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema, named


class NotDescribed(Exception):
    """Pydantic cannot describe a type. The exception contains the place and the reason."""


def schema_of(hint, mode, describer, place):
    """Returns the schema that Pydantic generates for a type, or for parameters. A part that Pydantic cannot describe
    accepts any value, with a note."""
    import pydantic
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def handle_invalid_for_json_schema(self, schema, error_info):
            if schema["type"] != "callable":  # for functions, lossy adds a note that names the field
                describer.note(place, f"Pydantic has no JSON Schema for a part of this type ({error_info}): any value is accepted.")
            return {}

    try:
        of = pydantic.create_model("Input", __config__={"arbitrary_types_allowed": True}, **hint) if type(hint) is dict else hint
        schema = pydantic.TypeAdapter(of).json_schema(mode=mode, schema_generator=Generator)
    except Exception as error:
        inside = [one for one, _ in hint.values()] if type(hint) is dict else [hint]
        found = next(filter(None, (undefined(one, describer.places, set()) for one in inside)), None)
        at, reason = found or (place, str(error).split("\n")[0])
        raise NotDescribed(at, f"Pydantic cannot describe this type: {reason}") from None
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return {**schema["$defs"][name], "$defs": schema["$defs"]} if name and mode == "validation" else schema


def parts_of(hint, places):
    """Yields the types that a type contains. Each comes with its place if it is a field, else with {}."""
    if is_model(hint):
        cls = (getattr(hint, "__pydantic_generic_metadata__", None) or {}).get("origin") or hint
        for name, field in hint.model_fields.items():
            yield field.annotation, places.field(cls, name)
    elif isinstance(hint, type) and (dataclasses.is_dataclass(hint) or is_typed_dict(hint) or is_named_tuple(hint)):
        for name, one in hints_of(hint).items():
            yield one, places.field(hint, name)
    elif typing.get_origin(hint) is not typing.Literal:
        for one in typing.get_args(hint):
            yield one, {}


def lossy(hint, place, describer, seen):
    """Adds a note for each type inside of Pydantic models that JSON Schema cannot express."""
    hint, _ = unwrapped(hint)
    if hint is typing.Any:
        describer.note(place, "The type is Any: any value is accepted.")
    elif collections.abc.Callable in (hint, typing.get_origin(hint)):
        describer.note(place, "A function has no JSON form: any value is accepted.")
    elif hashable(hint) and hint not in seen:
        seen.add(hint)
        for one, at in parts_of(hint, describer.places):
            lossy(one, at or place, describer, seen)


def undefined(hint, places, seen):
    """Finds an annotation inside of Pydantic models that cannot be resolved. Returns its place and a message, or None.
    """
    if hashable(hint) and hint not in seen:
        seen.add(hint)
        for one, at in parts_of(hint, places):
            if at and isinstance(one, (str, typing.ForwardRef, Unresolved)):
                return at, one.reason if isinstance(one, Unresolved) else f"The annotation {shown(one)} cannot be resolved."
            found = undefined(one, places, seen)
            if found:
                return found
    return None


def converts(hint, seen=()):
    """Reports whether a value of a type may differ from its JSON form."""
    hint, _ = unwrapped(hint)
    if not hashable(hint):
        return True
    if hint in seen or hint in PRIMITIVES or hint in LISTS or hint in DICTS or hint is None or hint is typing.Any or hint is object:
        return False
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return converts(args[0], seen)
    if origin is typing.Literal:
        return any(isinstance(one, enum.Enum) for one in args)
    if origin in UNIONS or origin in LISTS and origin is not collections.deque:
        return any(converts(one, seen) for one in args)
    if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping):
        return args[0] is not str or converts(args[1], seen)
    if is_typed_dict(hint):
        return any(converts(one, (*seen, hint)) for one in hints_of(hint).values())
    return True


def build(value, hint, path, strict=False):
    """Builds a value of a type from JSON. strict is for the members of a union: it rejects a value that would need a
    conversion to another type."""
    hint, _ = unwrapped(hint)
    if not strict and not converts(hint):
        return value
    if isinstance(hint, (str, typing.ForwardRef, Unresolved)) or hint is typing.Any or hint is object:
        return value
    if hasattr(hint, "__supertype__"):
        return build(value, hint.__supertype__, path, strict)
    if type(hint).__name__ == "TypeAliasType":
        return build(value, hint.__value__, path, strict)
    if isinstance(hint, typing.TypeVar):
        return value
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if uses_models(hint, set()):
        return modelled(value, hint, path)
    if origin is typing.Annotated:
        return build(value, args[0], path, strict)
    if origin is typing.Literal:
        return literally(value, args, path, strict)
    if origin in UNIONS:
        return chosen(value, args, path, strict)
    base = origin or hint
    if base in PRIMITIVES or hint is None:
        return primitive(value, type(None) if hint is None else base, path, strict)
    if base in PARSERS:
        if isinstance(value, base):
            return value
        return parsed(PARSERS[base], value, path)
    if base in LISTS or base in SETS or base is tuple:
        return collected(value, base, args, path, strict)
    if base in DICTS:
        return mapped(value, base, args, path, strict)
    if isinstance(base, type):
        return built(value, hint, base, path)
    return value


def primitive(value, cls, path, strict):
    if not strict:
        return value
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = numeric if cls is float else numeric and float(value).is_integer() if cls is int else isinstance(value, cls)
    if not fits:
        raise Unfit((path, f"must be {PRIMITIVES[cls]}"))
    return value


def literally(value, args, path, strict):
    for one in args:
        plain = one.value if isinstance(one, enum.Enum) else one
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return one
    if strict:
        raise Unfit((path, f"must be one of {', '.join(map(repr, args))}"))
    return value


def chosen(value, args, path, strict):
    """Builds a value with the first member type of a union that accepts it."""
    faults = []
    for one in args:
        try:
            return build(value, one, path, True)
        except Unfit as error:
            faults.append(error)
    if strict or any(isinstance(one, type) and dataclasses.is_dataclass(one) for one in args):
        raise faults[-1] if len(faults) == 1 else Unfit((path, "fits none of the types " + ", ".join(map(shown, args))))
    return value


def parsed(parse, value, path):
    try:
        return parse(value)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise Unfit((path, str(error) or "is not valid")) from None


def moment(text):
    if not isinstance(text, str):
        raise ValueError("must be a date and time as text")
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "Zz" else text)


def duration(text):
    found = re.match(DURATION, text) if isinstance(text, str) else None
    if not found:
        raise ValueError("must be a duration such as PT1H30M")
    weeks, days, _, hours, minutes, seconds, _ = (one or "0S" for one in found.groups())
    parts = {"weeks": weeks, "days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
    whole = datetime.timedelta(**{name: float(part[:-1]) for name, part in parts.items()})
    return -whole if text.startswith("-") else whole


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError("must be a number, as a number or as text")
    try:
        return decimal.Decimal(str(value))
    except decimal.InvalidOperation:
        raise ValueError("must be a number, as a number or as text") from None


PARSERS = {
    datetime.datetime: moment, datetime.date: datetime.date.fromisoformat, datetime.time: datetime.time.fromisoformat, datetime.timedelta: duration,
    uuid.UUID: lambda text: uuid.UUID(text) if isinstance(text, str) else uuid.UUID(None), decimal.Decimal: number, re.Pattern: re.compile,
    ipaddress.IPv4Address: ipaddress.IPv4Address, ipaddress.IPv6Address: ipaddress.IPv6Address,
}


def collected(value, base, args, path, strict):
    if not isinstance(value, (list, tuple)):
        if strict:
            raise Unfit((path, "must be an array"))
        return value
    if base is tuple and args and not (len(args) == 2 and args[1] is Ellipsis):
        if len(args) != len(value) and args != ((),):
            raise Unfit((path, f"must have {len(args)} items"))
        return tuple(build(one, of, (*path, at), strict) for at, (one, of) in enumerate(zip(value, args)))
    items = [build(one, args[0], (*path, at), strict) for at, one in enumerate(value)] if args else value
    if base is tuple:
        return tuple(items)
    if base in SETS:
        make = frozenset if base is frozenset else set
        return make(items) if all(map(hashable, items)) else items
    return collections.deque(items) if base is collections.deque else items


def mapped(value, base, args, path, strict):
    if not isinstance(value, dict):
        if strict:
            raise Unfit((path, "must be an object"))
        return value
    key, of = (args if len(args) == 2 else (args[0], int)) if args else (str, typing.Any)
    pairs = {named(name, key, path): build(one, of, (*path, name), strict) for name, one in value.items()}
    return pairs if base not in (collections.OrderedDict, collections.Counter) else base(pairs)


def named(name, key, path):
    """Builds a key of a dictionary from the name of a JSON property."""
    key = getattr(key, "__supertype__", key)
    if key is int:
        return parsed(int, name, (*path, name))
    return build(name, key, (*path, name)) if key is not str else name


def built(value, hint, cls, path):
    """Builds an instance of a class of the program."""
    if issubclass(cls, enum.Enum):
        return parsed(cls, value, path)
    if issubclass(cls, pathlib.PurePath):
        return parsed(cls, value, path)
    if is_named_tuple(cls):
        listed = list(fields_of(cls, bound_types(hint), False))
        if not isinstance(value, (list, tuple)) or not sum(one[2] for one in listed) <= len(value) <= len(listed):
            raise Unfit((path, f"must be an array of {len(listed)} items"))
        return cls(*(build(one, of, (*path, at)) for at, (one, (_, of, _, _)) in enumerate(zip(value, listed))))
    if not (dataclasses.is_dataclass(cls) or is_typed_dict(cls)):
        return value
    if not isinstance(value, dict):
        if isinstance(value, cls):
            return value
        raise Unfit((path, "must be an object"))
    found = {}
    for name, of, needed, _ in fields_of(cls, bound_types(hint), False):
        if name in value:
            found[name] = build(value[name], of, (*path, name), typing.get_origin(of) is typing.Literal)
        elif needed:
            raise Unfit((path, f"must have {name}"))
    return {**value, **found} if is_typed_dict(cls) else cls(**found)


def modelled(value, hint, path):
    """Builds a value that contains Pydantic models."""
    import pydantic
    try:
        return pydantic.TypeAdapter(hint).validate_python(value)
    except pydantic.ValidationError as error:
        raise Unfit(*((path + within(value, one), one["msg"]) for one in error.errors(include_url=False, include_input=False)[:PLACES])) from None


def within(value, error):
    """Returns the path of the JSON value that an error of Pydantic is about. Pydantic's own location also contains
    names of union members and validators, which are omitted."""
    found, loc = (), error["loc"]
    for at, name in enumerate(loc):
        if isinstance(value, dict) and name in value or isinstance(value, list) and isinstance(name, int) and name < len(value):
            found, value = (*found, name), value[name]
        elif at == len(loc) - 1 and error["type"] == "missing":
            found = (*found, name)
    return found


def dump(value):
    """Converts a typed result to JSON. A value without a JSON form stays as it is."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, enum.Enum):
        return dump(value.value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return spelled(value)
    if isinstance(value, (uuid.UUID, pathlib.PurePath, ipaddress.IPv4Address, ipaddress.IPv6Address)):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f") if value.is_finite() else math.nan
    if isinstance(value, re.Pattern):
        return value.pattern
    if is_model(type(value)):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: dump(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, collections.abc.Mapping):
        return {str(dump(key)) if not isinstance(key, (str, int, float, bool, type(None))) else dump(key): dump(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, collections.deque)):
        return [dump(one) for one in value]
    if isinstance(value, (set, frozenset)):
        items = [dump(one) for one in value]
        try:
            return sorted(items)
        except TypeError:
            return items
    return value


def spelled(length):
    """Formats a duration as ISO 8601."""
    sign, length = ("-", -length) if length < datetime.timedelta() else ("", length)
    seconds, micro = length.seconds, length.microseconds
    fraction = f".{micro:06d}".rstrip("0") if micro else ""
    return f"{sign}P{length.days}DT{seconds // 3600}H{seconds // 60 % 60}M{seconds % 60}{fraction}S"
