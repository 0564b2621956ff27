"""Writes src/atelier_client/models.py: the types of the API, from docs/openapi.json.

With --check it only says whether they differ.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOTS = [
    "Accepted",
    "Agent",
    "AgentBody",
    "AwaitedPublication",
    "Detail",
    "Event",
    "InlineBody",
    "LimitsBody",
    "Published",
    "ResolvedReference",
    "Run",
    "RunAnswer",
    "ToolSet",
]
SIMPLE = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
WIDTH = 100

Schema = dict[str, Any]


def named(reference: str) -> str:
    return reference.rsplit("/", 1)[1]


def alternatives(types: list[str]) -> str:
    known = list(dict.fromkeys(types))
    return "Any" if "Any" in known else " | ".join(known)


def type_of(schema: Schema) -> str:
    """Returns the Python annotation of a schema. It returns Any for a schema that Python types
    cannot express.
    """
    kind = schema.get("type")
    if "$ref" in schema:
        return named(schema["$ref"])
    if "anyOf" in schema:
        return alternatives([type_of(s) for s in schema["anyOf"]])
    if "enum" in schema:
        return "Literal[" + ", ".join(json.dumps(v) for v in schema["enum"]) + "]"
    if isinstance(kind, list):
        return alternatives([type_of({**schema, "type": k}) for k in kind])
    if kind == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if kind == "object":
        if schema.get("properties"):
            return "dict[str, Any]"
        more = schema.get("additionalProperties")
        return f"dict[str, {type_of(more) if isinstance(more, dict) else 'Any'}]"
    return SIMPLE.get(str(kind), "Any")


def member(name: str, annotation: str) -> str:
    """Returns the source of a member. It has several lines if one line would be too long."""
    line = f"    {name}: {annotation}"
    if len(line) <= WIDTH:
        return line
    head, inside = annotation.removesuffix("]").split("[", 1)
    if head == "NotRequired" and inside.startswith("Literal["):
        values = inside.removeprefix("Literal[").removesuffix("]")
        if len(values) + 8 + len("Literal[]") <= WIDTH:
            return f"    {name}: NotRequired[\n        {inside}\n    ]"
        listed = "".join(f"            {v},\n" for v in values.split(", "))
        return f"    {name}: NotRequired[\n        Literal[\n{listed}        ]\n    ]"
    if head == "Literal":
        listed = "".join(f"        {v},\n" for v in inside.split(", "))
        return f"    {name}: Literal[\n{listed}    ]"
    return f"    {name}: {head}[\n        {inside}\n    ]"


def class_of(name: str, schema: Schema) -> str:
    lines = [f"class {name}(TypedDict):"]
    required = set(schema.get("required", []))
    for key, value in schema.get("properties", {}).items():
        annotation = type_of(value)
        lines.append(member(key, annotation if key in required else f"NotRequired[{annotation}]"))
    if len(lines) == 1:
        lines.append("    pass")
    return "\n".join(lines)


def reachable(schemas: dict[str, Schema]) -> list[str]:
    found: set[str] = set()
    todo = list(ROOTS)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)

        def visit(value: object) -> None:
            if isinstance(value, dict):
                if isinstance(value.get("$ref"), str):
                    todo.append(named(value["$ref"]))
                for inner in value.values():
                    visit(inner)
            elif isinstance(value, list):
                for inner in value:
                    visit(inner)

        visit(schemas[name])
    return sorted(found)


def main() -> None:
    here = Path(__file__).parent
    document = json.loads((here / "../../docs/openapi.json").read_text())
    schemas: dict[str, Schema] = document["components"]["schemas"]
    classes = [class_of(name, schemas[name]) for name in reachable(schemas)]
    head = (
        '"""The types of the API. generate.py writes this file from docs/openapi.json."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Any, Literal, NotRequired, TypedDict\n"
    )
    target = here / "src/atelier_client/models.py"
    text = "\n\n\n".join([head.rstrip("\n"), *classes]) + "\n"
    if "--check" not in sys.argv:
        target.write_text(text)
    elif target.read_text() != text:
        sys.exit(f"{target} is not what docs/openapi.json describes; run make gen")


if __name__ == "__main__":
    main()
