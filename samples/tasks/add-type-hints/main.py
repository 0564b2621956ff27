"""Adds type hints where the code shows the type: default values, f-strings, comparisons, and functions without a result."""

import ast


def type_of(node):
    """Returns the name of the type of an expression, or None if the expression does not show it."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return type(value).__name__
        case ast.JoinedStr():
            return "str"
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "bool"
    return None


def own(node):
    """Yields the statements of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from own(child)


def result_of(function):
    """Returns the type of a function's results if all of them show the same one."""
    inside = list(own(function))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inside):
        return None
    results = [node.value for node in inside if isinstance(node, ast.Return)]
    if results and not isinstance(function.body[-1], ast.Return):
        return None  # it may end without a result too
    types = {"None" if value is None else type_of(value) for value in results} or {"None"}
    return types.pop() if len(types) == 1 else None


def hinted(text):
    """Returns the file with type hints, and how many were added."""
    inserts, lines = [], text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = node.args.args
        for argument, default in zip(arguments[len(arguments) - len(node.args.defaults):], node.args.defaults):
            if argument.annotation is None and type_of(default):
                # An annotated default has spaces around the sign.
                inserts.append((argument.end_lineno, argument.end_col_offset, f": {type_of(default)} ", "="))
        head = lines[node.lineno - 1]
        if node.returns is None and result_of(node) and head.rstrip().endswith("):"):
            inserts.append((node.lineno, len(head.rstrip().encode()) - 1, f" -> {result_of(node)}", ""))
    for line, column, hint, sign in sorted(inserts, reverse=True):
        raw = lines[line - 1].encode()
        rest = raw[column:]
        if sign and rest.startswith(b"="):
            rest = b"= " + rest[1:].lstrip()
        lines[line - 1] = (raw[:column] + hint.encode() + rest).decode()
    return "\n".join(lines), len(inserts)


def main(input, ctx):
    changed, added = [], 0
    for path in ctx.search_files("**/*.py"):
        try:
            after, count = hinted(ctx.read_file(path))
        except SyntaxError as error:
            ctx.log("warn", f"{path} is no Python: {error}")
            continue
        if count:
            ctx.write_file(path, after)
            changed.append(path)
            added += count
    ctx.submit_result(f"Added {added} type hints", changed)
    return {"added": added, "files": changed}
