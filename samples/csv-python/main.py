"""Describes the columns of a CSV table, with the standard library alone."""

import csv
import io
import math
from collections import Counter
from statistics import fmean

GREEN, RESET = "\x1b[32m", "\x1b[0m"


def main(input, ctx):
    reader = csv.DictReader(io.StringIO(input["csv"]), delimiter=input.get("delimiter", ","))
    rows = list(reader)
    print(f"Read {len(rows)} rows and {len(reader.fieldnames or [])} columns")

    columns = []
    for name in reader.fieldnames or []:
        column = describe(name, [row[name] or "" for row in rows])
        columns.append(column)
        print(f"  {GREEN}{name}{RESET}: {column['kind']}, {column['missing']} missing")
    return {"rows": len(rows), "columns": columns}


def describe(name, values):
    filled = [value for value in values if value.strip()]
    column = {"name": name, "kind": "empty", "filled": len(filled), "missing": len(values) - len(filled)}
    if not filled:
        return column
    numbers = as_numbers(filled)
    if numbers is None:
        counts = Counter(filled)
        return column | {"kind": "text", "distinct": len(counts), "mostCommon": counts.most_common(1)[0][0]}
    return column | {"kind": "number", "min": min(numbers), "max": max(numbers), "mean": round(fmean(numbers), 4)}


def as_numbers(values):
    """The values as numbers, or None when one of them is not a number. "nan" and "inf" are text: JSON has no word for them."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return None
    return numbers if all(math.isfinite(number) for number in numbers) else None
