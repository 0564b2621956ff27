# Compiles the Python files of an agent without running them, and sends the errors as JSON on the channel to the server.
import ast, json, os, sys, warnings

channel = os.fdopen(3, "r+b", buffering=0)
job = json.loads(channel.readline())
entries = job["entries"]  # entrypoints: of one program, or of several programs in separate folders
rules = Rules(job["rules"], os.getcwd()) if job["rules"] else None
channel.write(b'{"start":true}\n')  # the time limit of the job starts here
errors, notes, defined = [], [], {}


def column(text, line, offset):
    """Converts the column of a syntax error from characters to UTF-16 units, which editors use."""
    lines = text.split("\n")
    if not line or not offset or line > len(lines):
        return 1
    return len(lines[line - 1][: offset - 1].encode("utf-16-le", "surrogatepass")) // 2 + 1


def note(to, name, text, line, offset, code, message):
    to.append({"file": name, "line": line or 1, "column": column(text, line, offset), "code": code, "message": message[:1000]})


def names(targets):
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                yield node.id


def bound(body):
    """Yields the names that the top level of a module binds, and * if it may also bind other names."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from names(node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            yield from names([node.target])
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0]
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for part in ("body", "orelse", "finalbody"):
                yield from bound(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from bound(handler.body)


def check(name):
    with open(name, "rb") as file:
        raw = file.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        return note(errors, name, "", raw[: e.start].count(b"\n") + 1, 1, "syntax_error", "The file is not UTF-8.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            tree = ast.parse(raw, name)
            compile(raw, name, "exec", dont_inherit=True)
        except SyntaxError as e:
            return note(errors, name, text, e.lineno, e.offset, "syntax_error", f"{type(e).__name__}: {e.msg}.")
        except (RecursionError, MemoryError):
            return note(errors, name, text, 1, 1, "nested_too_deeply", "The file is nested too deeply.")
        except ValueError as e:
            return note(errors, name, text, 1, 1, "syntax_error", f"{e}.")
    for warning in caught:
        if issubclass(warning.category, (SyntaxWarning, DeprecationWarning)):
            note(notes, name, text, warning.lineno, 1, "syntax_warning", f"{warning.message}.")
    for node, error in rules.broken(tree) if rules else ():
        if hasattr(node, "lineno"):
            lines = raw.removeprefix(b"\xef\xbb\xbf").splitlines()
            offset = len(lines[node.lineno - 1][: node.col_offset].decode(errors="replace")) + 1
            note(errors, name, text, node.lineno, offset, "restricted_" + error.kind, f"{str(error)[:1].upper()}{str(error)[1:]}. {error.remedy}")
    if name in entries:
        found = set(bound(tree.body))
        defined[name] = sorted(found)[:1000]
        if not found & {"main", "run", "*"}:
            note(errors, name, text, 1, 1, "missing_entry", "The program has no entry: define main(input, ctx).")


for folder, folders, files in os.walk("."):
    for file in files:
        name = os.path.relpath(os.path.join(folder, file))
        if (name.endswith(".py") or name in entries) and len(errors) < 50:
            check(name)
errors.sort(key=lambda e: (e["file"], e["line"], e["column"]))
notes.sort(key=lambda e: (e["file"], e["line"], e["column"]))
channel.write(json.dumps({"end": {"errors": errors, "warnings": notes[:50], "names": defined}}).encode() + b"\n")
