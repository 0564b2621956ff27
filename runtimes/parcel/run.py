# Runs one agent's program on a machine without the server. The folder of this file contains the program, its input and
# its job. This script writes the result to out/result.json. Calls of host functions are marked lines of stdout.
import inspect
import json
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = HERE + "/program"
PACKAGE = "__agent__"  # name of the package that makes relative imports work
DEPTH = 256
WASI = sys.platform == "wasi"  # this is Python as a WebAssembly module
_until = float("inf")  # time.monotonic() at which the time of the program is over


class Stop(Exception):
    """Ends the run with an error."""

    def __init__(self, kind, message, **more):
        super().__init__(message)
        self.error = {"type": kind, "message": message, **more}


class Denied(PermissionError):
    """A host function was called that does not exist on this machine."""


class Context:
    """The object ctx, with the host functions that a program may call."""

    _levels = {"debug": "debug", "info": "info", "warn": "warn", "warning": "warn", "error": "error", "critical": "error"}

    def __init__(self, mark, env):
        self._mark, self.env = mark, env

    def _say(self, name, args):
        sys.stdout.flush()
        line = json.dumps({"call": name, "args": args}, default=str, allow_nan=False)
        os.write(1, ("\0" + self._mark + line + "\n").encode())

    def log(self, level, message=None, fields=None, /, **more):
        if message is None:
            level, message = "info", level
        known = self._levels.get(str(level).lower())
        if known is None:
            raise ValueError(f"log level {level!r} must be debug, info, warn or error")
        args = {"level": known, "message": str(message)}
        if fields or more:
            args["fields"] = {**(fields or {}), **more}
        self._say("log", args)

    def progress(self, done, total=0, message=""):
        self._say("progress", {"done": done, "total": total, "message": str(message)})

    def call(self, name, /, **args):
        raise Denied(f"The host function {name} is not available in this runtime.")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **named: self.call(name)


def relative(path):
    return path[len(ROOT) + 1:] if path and path.startswith(ROOT + "/") else ""


def arguments(function, value, ctx):
    """Returns main's arguments for the input. A first parameter named input receives the whole input. Other parameters
    receive the property with their name."""
    listed = list(inspect.signature(function).parameters.values())
    title = getattr(function, "__name__", "main")
    if title == "run" and [p.name for p in listed[:2]] == ["action", "args"]:
        if isinstance(value, dict) and isinstance(value.get("action"), str):
            return [value["action"], value.get("args", {})], {}
        return ["run", value], {}
    properties = value if isinstance(value, dict) else {}
    args, named, missing = [], {}, []
    for i, p in enumerate(listed):
        plain = p.name.lstrip("_")
        if p.kind == p.VAR_POSITIONAL:
            continue
        if p.kind == p.VAR_KEYWORD:
            if listed[0].name.lstrip("_") != "input":
                taken = {q.name for q in listed if q.kind in (q.POSITIONAL_OR_KEYWORD, q.KEYWORD_ONLY)}
                named.update((k, v) for k, v in properties.items() if k not in taken)
            continue
        if i == 0 and plain in ("input", ""):
            found = value
        elif plain in ("ctx", "context"):
            found = ctx
        elif p.name in properties:
            found = properties[p.name]
        elif p.default is not p.empty:
            continue
        elif i == 0 and not isinstance(value, dict):
            found = value
        else:
            missing.append(p.name)
            continue
        if p.kind == p.POSITIONAL_ONLY:
            args.append(found)
        else:
            named[p.name] = found
    if missing:
        code = getattr(function, "__code__", None)
        raise Stop("runtime_error", f"{title}() needs {' and '.join(map(repr, missing))}, which the input does not have.",
                   file=relative(getattr(code, "co_filename", "")), line=getattr(code, "co_firstlineno", 0),
                   remedy="Name the first parameter input to get the whole input, or give the parameter a default.")
    return args, named


def flaw(value, path, above):
    """Raises an error with the path of the first value that JSON does not support."""
    if value is None or isinstance(value, (str, bool, int)):
        return
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            name = "NaN" if value != value else "infinity"
            raise Stop("invalid_output", f"{path}: float {name} is not JSON.")
        return
    if isinstance(value, (dict, list, tuple)):
        if id(value) in above or len(above) >= DEPTH:
            raise Stop("invalid_output", f"{path}: the value contains itself or is nested too deeply.")
        above = above | {id(value)}
        if isinstance(value, dict):
            for key, one in value.items():
                if key is not None and not isinstance(key, (str, int, float, bool)):
                    raise Stop("invalid_output", f"{path}: a key of type {type(key).__name__} is not JSON.")
                flaw(one, f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{json.dumps(str(key))}]", above)
        else:
            for i, one in enumerate(value):
                flaw(one, f"{path}[{i}]", above)
        return
    raise Stop("invalid_output", f"{path}: {type(value).__name__} is not JSON.")


def encode(value, largest):
    flaw(value, "output", frozenset())
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        data = text.encode()
    except UnicodeEncodeError:  # only a JSON escape can express a lone surrogate
        data = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    if len(data) > largest:
        raise Stop("output_limit", "")
    return data


def describe(error, entry):
    """Describes an exception with its position in the program's files."""
    if isinstance(error, Stop):
        return error.error
    message = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, SyntaxError) and relative(error.filename or ""):
        return {"type": "syntax_error", "message": f"{type(error).__name__}: {error.msg}", "file": relative(error.filename), "line": error.lineno or 0, "column": error.offset or 0}
    kind = "runtime_error"
    if isinstance(error, RecursionError):
        kind = "recursion_limit"
    elif isinstance(error, MemoryError):
        kind = "memory_limit"
    elif isinstance(error, Denied):
        kind = "denied"
    failure = {"type": kind, "message": message if kind in ("runtime_error", "denied") else ""}
    steps = [s for s in traceback.extract_tb(error.__traceback__) if relative(s.filename)]
    if steps:
        failure.update(file=relative(steps[-1].filename), line=steps[-1].lineno or 0)
        failure["stack"] = "".join(traceback.format_list(steps)).replace(ROOT + "/", "")
    return failure


def load(entry):
    path = ROOT + "/" + entry
    with open(path, "rb") as file:
        source = file.read()
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except (MemoryError, RecursionError):
        raise Stop("syntax_error", "The program is nested too deeply.", file=entry) from None
    except ValueError as e:
        raise Stop("syntax_error", f"SyntaxError: {e}", file=entry) from None
    import types
    package = types.ModuleType(PACKAGE)
    package.__path__ = [os.path.dirname(path)]
    sys.modules[PACKAGE] = package
    module = types.ModuleType("__main__")
    module.__file__, module.__package__ = path, PACKAGE
    sys.modules["__main__"] = module
    sys.path[:] = [ROOT] + [p for p in sys.path if p != HERE]
    exec(code, module.__dict__)
    function = getattr(module, "main", None) or getattr(module, "run", None)
    if not callable(function):
        raise Stop("runtime_error", "The program has no main function.", file=entry, line=1, remedy="Define def main(input, ctx).")
    return function


class TimeOver(BaseException):
    """Ends a program whose time is over. It is no Exception, so that a program does not catch it by accident."""


def check():
    if time.monotonic() > _until:
        raise TimeOver()


def sleep(seconds):
    """Sleeps as time.sleep does. Bacalhau's WebAssembly engine does not support the clock that time.sleep uses."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    end = time.monotonic() + seconds
    check()
    while time.monotonic() < end:
        check()


def adapt():
    """Replaces what does not work in a WebAssembly module: sleeping, and event loops, which need sockets. Removes the
    node's variables from the environment."""
    import asyncio

    class Selector:
        def select(self, timeout):
            if timeout is None:
                raise RuntimeError("A task waits for an event that no other task sets.")
            sleep(max(timeout, 0))
            return []

    class Loop(asyncio.base_events.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = Selector()

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            pass

    class Policy(asyncio.DefaultEventLoopPolicy):
        _loop_factory = Loop

    asyncio.set_event_loop_policy(Policy())
    time.sleep = sleep
    os.environ.clear()


def run(job):
    with open(HERE + "/input.json", "rb") as file:
        value = json.load(file)
    ctx = Context(job["mark"], job["env"])
    ctx._say("start", {})  # the time limit of the program starts here
    if WASI:  # nobody else sees when the program starts
        global _until
        _until = time.monotonic() + job["seconds"]
    function = load(job["entry"])
    args, named = arguments(function, value, ctx)
    result = function(*args, **named)
    if inspect.isawaitable(result):
        import asyncio

        async def wait():
            return await result
        result = asyncio.run(wait())
    return encode(result, job["largest"])


def main():
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    with open(HERE + "/job.json", "rb") as file:
        job = json.load(file)
    if WASI:
        adapt()
    os.environ.update(job["env"])
    work, out = job.get("work") or HERE + "/work", job.get("out") or HERE + "/out"
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    sys.argv = [ROOT + "/" + job["entry"]]
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(max(100, job["depth"]))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    status = 0
    try:
        data = b'{"output":' + run(job) + b"}"
    except SystemExit as e:
        status = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
        failure = {"type": "runtime_error", "message": f"The program ended with exit code {status} and no result."}
        data = json.dumps({"error": failure}).encode()
    except BaseException as e:
        sys.setrecursionlimit(10_000)
        status = 1
        data = json.dumps({"error": describe(e, job["entry"])}).encode()
    if time.monotonic() > _until:
        status, data = 1, b'{"error":{"type":"timeout","message":""}}'
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os.makedirs(out, exist_ok=True)
    with open(out + "/result.json", "wb") as file:
        file.write(data)
    sys.exit(status)


main()
