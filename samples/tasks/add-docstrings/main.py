"""Adds a docstring to each function and class that has none. The text comes from the name."""

import ast


def words(name):
    """Returns the words of a name: with_tax is "With tax."."""
    text = name.strip("_").replace("_", " ")
    return text[:1].upper() + text[1:] + "."


def head(lines, node):
    """Returns the text before a node in its line, such as its indentation with spaces or tabs."""
    return lines[node.lineno - 1].encode()[: node.col_offset].decode()


def documented(text):
    """Returns the file with docstrings, and how many were added."""
    lines = text.split("\n")  # as ast counts them: a form feed or U+2028 ends no line
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds) and ast.get_docstring(node) is None]
    # A body on the line of its head stays as it is.
    found = [node for node in found if not head(lines, node.body[0]).strip()]
    # From the end, so that the lines above keep their numbers.
    for node in sorted(found, key=lambda node: node.lineno, reverse=True):
        first = node.body[0]
        above = first.decorator_list[0].lineno if getattr(first, "decorator_list", None) else first.lineno
        while above > 1 and lines[above - 2].lstrip().startswith("#"):
            above -= 1
        end = "\r" if lines[above - 1].endswith("\r") else ""
        lines.insert(above - 1, f'{head(lines, first)}"""{words(node.name)}"""{end}')
    return "\n".join(lines), len(found)


def main(input, ctx):
    folder = input.get("path", ".").strip("./")
    changed, added = [], 0
    for path in ctx.search_files("**/*.py"):
        if folder and not path.startswith(folder + "/"):
            continue
        before = ctx.read_file(path)
        try:
            after, count = documented(before)
        except SyntaxError as error:
            ctx.log("warn", f"{path} is no Python: {error}")
            continue
        if count:
            ctx.write_file(path, after)
            changed.append(path)
            added += count
    ctx.submit_result(f"Added {added} docstrings", changed)
    return {"added": added, "files": changed}
