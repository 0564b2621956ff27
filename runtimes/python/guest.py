# This script runs one agent's program inside its sandbox. The interpreter starts it before the run. It imports the
# modules that every run needs and waits on descriptor 3 for one line with the job. On the same descriptor it calls the
# host (one line per call, one line per reply) and finally sends the result. The server checks everything that this
# script sends, because the program may change the script's behavior. The checks here only produce good error messages.
import _frozen_importlib_external
import _imp
import _thread
import binascii
import itertools
import json
import marshal
import os
import sys

# In a forked process, the kernel copies each memory page that changes, even if only a reference counter changes. This
# script calls the functions beneath json, open and update directly, because they change a third fewer pages.
scan = json.JSONDecoder().scan_once
compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

ROOT = "/work"
PACKAGES = "/packages"  # exists only if the program has packages
AHEAD = 4  # maximum seconds for imports before the job arrives
PACKAGE = "__agent__"  # name of the package that makes relative imports work
MESSAGE, STACK, DEPTH = 16_000, 64_000, 256
PIECE = 1 << 16  # maximum characters of a file in one host call
CALL = (1 << 20) + 1  # maximum bytes of a line to the host, with the end of the line
KEPT = 64 << 10  # maximum bytes of a program's compiled code in the host's cache, and of the sources compiled for it
NOTHING = b"-"  # stored in the host's cache for a program whose code is not cached, so that later runs are not asked for it
MAGIC = _frozen_importlib_external.MAGIC_NUMBER  # first bytes of cached code; they differ between Python versions
NUMBER = int.from_bytes(MAGIC, "little")
# Values of these annotations need no conversion and so do not need typed.py.
PLAIN, PLAIN_NAMES = (None, object, dict, list, str, int, float, bool), ("None", "object", "dict", "list", "str", "int", "float", "bool", "Any", "typing.Any")
GENERIC = type(list[int])


class HostError(Exception):
    """A host function refused a call. code is the reason: denied, invalid_arguments, tool_failed or failed. tool
    describes the run of a called agent if that run did not succeed."""

    def __init__(self, code, message, rule=None, remedy=None, grant=None, tool=None):
        super().__init__(message)
        self.code, self.rule, self.remedy, self.grant, self.tool = code, rule, remedy, grant, tool


class Channel:
    """The connection to the host on descriptor 3. A signal handler may run, and raise an exception, after any call.
    Received data and the progress of writing must not be lost then, so both are stored in lists before Python checks
    for signals. A handler may also call the host during another call. Each reply has the tag of its call, and replies
    are stored where both callers find them."""

    def __init__(self):
        self.lock, self.saying, self.owner = _thread.RLock(), _thread.RLock(), os.getpid()
        self.parts, self.parsing, self.answers, self.tags = [b""], False, {}, itertools.count(1)
        # Whether the host has been told that the job has arrived; from then on time counts for the program.
        self.started = False
        self.begun = None  # an unfinished line and the number of bytes of each write of it

    def receive(self):
        self.parts.extend(map(os.read, (3,), (1 << 16,)))
        if not self.parts[-1] and len(self.parts) > 1:
            os._exit(1)  # the server has closed the connection
        if b"\n" not in self.parts[-1]:
            return
        if not self.started:
            self.started = True
            self.send(b'{"start":true}\n')
        inside, self.parsing = self.parsing, True
        seen = len(self.parts)  # a signal handler may append parts during the next lines
        *lines, rest = b"".join(self.parts[:seen]).split(b"\n")
        for line in lines:
            answer = scan(str(line, "utf-8", "surrogatepass"), 0)[0]
            self.answers[answer.get("tag")] = answer
        if not inside:
            self.parts[:seen] = [rest]
            self.parsing = False

    def job(self):
        while not self.answers:
            self.receive()
        return self.answers.popitem()[1]

    def send(self, line):
        # True if a signal handler interrupted a send of this thread; that send continues afterwards.
        inside = self.saying._is_owned()
        with self.saying:  # another thread may make a call when the program ends
            before = self.begun
            if before and before[1]:
                if not inside:
                    self.write(*before)  # an exception of a handler ended the call, so complete its line
                elif sum(before[1]) < len(before[0]):
                    raise HostError("failed", "A signal's handler cannot use ctx while a large call is being sent.")
            said = []
            self.begun = line, said
            self.write(line, said)
            self.begun = before if inside else None

    def write(self, line, said):
        while sum(said) < len(line):
            said.extend(map(os.write, (3,), (memoryview(line)[sum(said):],)))

    def ask(self, name, args):
        if os.getpid() != self.owner:
            raise HostError("failed", "ctx is available only in the main process.")
        tag = next(self.tags)
        call = {"call": name, "tag": tag, "args": args}
        try:
            line = json.dumps(call, default=str, allow_nan=False, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:  # only a JSON escape can express a lone surrogate
            line = json.dumps(call, default=str, allow_nan=False).encode() + b"\n"
        if len(line) > CALL:
            raise HostError("invalid_arguments", "A host call must have at most 1 MiB.")
        flush()  # the host must receive earlier output first
        inside = self.lock._is_owned()
        with self.lock:
            if not inside:
                self.parsing = False
                self.answers.clear()  # discards replies to calls that an exception ended
            try:
                self.send(line)
                while tag not in self.answers:
                    self.receive()
                answer = self.answers.pop(tag)
            finally:
                if inside:
                    # The host refuses an empty line with a reply. The interrupted call may be blocked in a read, and
                    # this reply wakes it, so that it finds its own reply.
                    self.send(b"\n")
        error = answer.get("error")
        if error:
            raise HostError(error.get("code"), error.get("message"), error.get("rule"), error.get("remedy"), error.get("grant"), error.get("tool"))
        return answer.get("result")


class Response:
    """The result of ctx.fetch."""

    def __init__(self, told):
        self.url, self.status, self.status_text, self.redirected = told["url"], told["status"], told["statusText"], told["redirected"]
        self.ok, self.headers = 200 <= self.status < 300, {}
        for name, value in told["headers"]:
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        self._text, self._base64 = told.get("text"), told.get("base64")

    def bytes(self):
        if self._text is not None:
            return self._text.encode()
        import base64
        return base64.b64decode(self._base64 or "")

    def text(self):
        return self._text if self._text is not None else self.bytes().decode(errors="replace")

    def json(self):
        return json.loads(self.text().removeprefix("\ufeff"))


class Context:
    """The object ctx, with the host functions that a program may call."""

    _levels = {"debug": "debug", "info": "info", "warn": "warn", "warning": "warn", "error": "error", "critical": "error"}

    def __init__(self, channel, env):
        self._channel, self.env = channel, env

    def call(self, name, /, **args):
        return self._channel.ask(name, args)

    def log(self, level, message=None, fields=None, /, **more):
        if message is None:
            level, message = "info", level
        known = self._levels.get(str(level).lower())
        if known is None:
            raise ValueError(f"log level {level!r} must be debug, info, warn or error")
        args = {"level": known, "message": str(message)}
        if fields or more:
            args["fields"] = {**(fields or {}), **more}
        self._channel.ask("log", args)

    def progress(self, done, total=0, message=""):
        self._channel.ask("progress", {"done": done, "total": total, "message": str(message)})

    def fetch(self, url, method="GET", headers=None, body=None, redirect="follow"):
        args = {"url": str(url), "method": method, "redirect": redirect}
        if headers:
            args["headers"] = [[str(k), str(v)] for k, v in (headers.items() if hasattr(headers, "items") else headers)]
        if isinstance(body, (bytes, bytearray, memoryview)):
            import base64
            args["base64"] = base64.b64encode(body).decode()
        elif body is not None:
            args["body"] = body if isinstance(body, str) else json.dumps(body)
        return Response(self._channel.ask("fetch", args))

    def call_tool(self, reference, input=None, /, **properties):
        if input is None or properties:
            input = {**(input or {}), **properties}
        return self._channel.ask("callTool", {"reference": str(reference), "input": input})

    callTool = call_tool

    def ask_llm(self, prompt, context=""):
        # None becomes an empty text. Otherwise the model would read the word None.
        return self._channel.ask("askLLM", {"prompt": "" if prompt is None else str(prompt), "context": "" if context is None else str(context)})

    askLLM = ask_llm

    def read_file(self, path):
        parts, offset = [], 0
        while True:
            piece = self._channel.ask("readFile", {"path": str(path), "offset": offset})
            parts.append(piece["content"])
            offset = piece["next"]
            if not offset:
                return "".join(parts)

    def write_file(self, path, content):
        if not isinstance(content, str):
            raise TypeError(f"write_file: content must be a str, not {type(content).__name__}")
        sent = 0
        for at in range(0, len(content) or 1, PIECE):
            piece = content[at:at + PIECE]
            size = len(piece.encode())  # raises an error for a lone surrogate, which UTF-8 cannot encode
            self._channel.ask("writeFile", {"path": str(path), "content": piece, "offset": sent, "more": at + PIECE < len(content)})
            sent += size
        return True

    def delete_file(self, path):
        return self._channel.ask("deleteFile", {"path": str(path)})

    def list_dir(self, path="."):
        return self._channel.ask("listDir", {"path": str(path)})

    def file_exists(self, path):
        return self._channel.ask("fileExists", {"path": str(path)})

    def search_files(self, pattern):
        return self._channel.ask("searchFiles", {"pattern": str(pattern)})

    def search_content(self, pattern, path="."):
        return self._channel.ask("searchContent", {"pattern": str(pattern), "path": str(path)})

    def submit_result(self, summary, changed_files=()):
        return self._channel.ask("submitResult", {"summary": str(summary), "changedFiles": [str(name) for name in changed_files]})

    readFile, writeFile, deleteFile, listDir, fileExists = read_file, write_file, delete_file, list_dir, file_exists
    searchFiles, searchContent, submitResult = search_files, search_content, submit_result

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        head, *tail = name.split("_")
        host = head + "".join(part[:1].upper() + part[1:] for part in tail)
        return lambda **args: self._channel.ask(host, args)


class Agents:
    """Imports the module "agents", for example in "from agents import summarise". A file or package of the program with
    this name comes first."""

    ctx = None  # the context of the current run

    def find_spec(self, name, path=None, target=None):
        return type(sys.__spec__)(name, self, origin="the agents that the program may call") if name == "agents" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        def stub(name):
            if name.startswith("__"):
                raise AttributeError(name)

            def call(input=None, /, **properties):
                return self.ctx.call_tool(name, input, **properties)

            call.__name__ = call.__qualname__ = name
            return call

        module.__getattr__ = stub


agents = Agents()
sys.meta_path.append(agents)


class Stop(Exception):
    """Ends the run with an error."""

    def __init__(self, kind, message="", **more):
        self.error = {"type": kind, "message": message, **more}


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def relative(path):
    return path[len(ROOT) + 1:] if path and path.startswith(ROOT + "/") else ""


def content(path):
    """Returns the content of a file as bytes."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    parts = [os.read(file, 1 << 16)]
    while parts[-1]:
        parts.append(os.read(file, 1 << 16))
    os.close(file)
    return b"".join(parts)


def translate(path, entry):
    """Compiles the entry file."""
    source = content(path)
    try:
        try:
            return compile(source, path, "exec", dont_inherit=True)
        except SyntaxError:
            # If the source is bytes, Python counts the column of the error in bytes. The text is compiled again to get
            # the column in characters.
            return compile(str(source, "utf-8-sig"), path, "exec", dont_inherit=True)
    except UnicodeDecodeError as e:
        line = source[:e.start].count(b"\n") + 1
        raise Stop("syntax_error", f"SyntaxError: the file is not UTF-8 (byte {source[e.start]:#x})", file=entry, line=line) from None
    except (MemoryError, RecursionError):
        raise Stop("syntax_error", "The program is nested too deeply.", file=entry) from None
    except ValueError as e:  # before Python 3.12, null bytes in the source raise ValueError
        raise Stop("syntax_error", f"SyntaxError: {e}", file=entry) from None


def code_of(path, job, channel):
    """Returns the code of the entry file. If the host asks for it, this sends the compiled code of the entry and of its
    possible imports to the host, for the next runs of the same program. It sends the code before any part of the
    program runs, because a running program could send false code."""
    kept = binascii.a2b_base64(job.get("code", ""))
    if kept.startswith(MAGIC):
        code, others = marshal.loads(kept[len(MAGIC):])
        imported.update(others)
        return code
    if not job.get("keep"):
        return translate(path, job["entry"])
    import warnings
    said, show = [], warnings.showwarning
    warnings.showwarning = lambda *one, **more: (said.append(one), show(*one, **more))
    code = translate(path, job["entry"])
    warnings.showwarning = show
    kept = NOTHING if said else packed(code, imported)  # do not cache code with warnings, because each run must show them
    if kept is not NOTHING and job.get("modules"):
        imported.update(reachable(code, job, KEPT - len(kept)))
        kept = packed(code, imported)
    channel.send(b'{"kept":"' + binascii.b2a_base64(kept, newline=False) + b'"}\n')
    return code


def packed(code, others):
    """Encodes the code for the host's cache."""
    try:
        kept = MAGIC + marshal.dumps((code, others))
    except (ValueError, MemoryError):
        return NOTHING  # the nesting exceeds the limit of marshal
    return kept if len(kept) <= KEPT else NOTHING


def reachable(code, job, room):
    """Compiles the other files of the program that the entry's code may import, directly or indirectly. Such a file is
    found if the parts of its path occur as names in the code. This executes none of their code. A file that is too
    large or has an error is skipped; it is compiled when it is imported."""
    waiting = {name: set(name.removesuffix(".py").removesuffix("/__init__").split("/")) for name in job["modules"]}
    importing, found, unread = [(code, job["entry"])], {}, KEPT
    for code, importer in importing:
        named = names(code).union(importer.split("/")[:-1])
        for name in [name for name, parts in waiting.items() if parts <= named]:
            del waiting[name]
            path = f"{ROOT}/{name}"
            source = content(path)
            if len(source) > unread:
                continue
            unread -= len(source)
            try:
                code = silent(source, path)
                one = digest(source), marshal.dumps(code)
            except Exception:
                continue
            size = len(marshal.dumps((path, one)))
            if size <= room:
                room -= size
                found[path] = one
                importing.append((code, name))
    return found


def names(code):
    """Returns the names that a code object and its nested code objects use, including the imported modules."""
    found, codes = set(), [code]
    for one in codes:
        found.update(part for name in one.co_names for part in name.split("."))
        codes += [inner for inner in one.co_consts if type(inner) is type(code)]
    return found


def silent(source, path):
    """Compiles a file. Raises an exception if Python has a warning about it, because the warning must appear when the
    file is imported."""
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compile(source, path, "exec", dont_inherit=True)


def digest(source):
    return _imp.source_hash(NUMBER, source)


imported = {}  # path → (digest of the source, compiled code)


def source_to_code(self, data, path, *, _optimize=-1):
    """Replaces the compilation step of Python's import system. If the same source was compiled before, it returns that
    code. The other steps of an import are unchanged. If the program has overwritten a file, the digest differs and the
    file is compiled again."""
    known = imported.get(path)
    if known and _optimize == -1 and type(data) is bytes and digest(data) == known[0]:
        return marshal.loads(known[1])
    return compiles(self, data, path, _optimize=_optimize)


compiles = _frozen_importlib_external.SourceLoader.source_to_code
# The import system removes its own frames from tracebacks by their file name, so this function needs the same file
# name.
source_to_code.__code__ = source_to_code.__code__.replace(co_filename=compiles.__code__.co_filename)
_frozen_importlib_external.SourceLoader.source_to_code = source_to_code


def packaged(folders):
    """Reports whether the folders of the entry file form a package that other files can import by its name."""
    if not folders or folders[0] in sys.stdlib_module_names or not all(map(str.isidentifier, folders)):
        return False
    return all(os.path.isfile("/".join([ROOT, *folders[:n], "__init__.py"])) for n in range(1, len(folders) + 1))


entries = []  # contains the name of the entry module if the module is in a package of the program


def load(job, channel, rules=None):
    """Creates and executes a module from the entry file. The module is in a package, so that relative imports work. If
    the entry is in a package of the program, the module has that package's name, so that each of its modules is loaded
    only once."""
    entry = job["entry"]
    path = f"{ROOT}/{entry}"
    # This comes before ROOT is in sys.path: compiling imports library modules, which a file of the program could
    # replace.
    code = code_of(path, job, channel)
    *folders, last = entry.removesuffix(".py").split("/")
    real = packaged(folders)
    package = ".".join(folders if real else [PACKAGE, *folders])
    last = last.replace(".", "_")
    name = f"{package}.{last}"
    root = type(sys)(PACKAGE)
    root.__path__ = [ROOT]
    sys.modules[PACKAGE] = root
    sys.path.insert(0, ROOT)
    sys.argv = [entry]
    module = type(sys)(name)
    module.__file__, module.__package__ = path, package
    module.__spec__ = type(sys.__spec__)(name, None, origin=path)
    sys.modules[name] = module
    if rules:
        module.__dict__["__builtins__"] = rules.given
    if not folders and last not in sys.stdlib_module_names:
        sys.modules.setdefault(last, module)  # so that "import main" in another file finds the same module
    if real:
        entries.append(name)
        __import__(package)
        setattr(sys.modules[package], last, module)  # so that "pkg.main" is an attribute after "import pkg.main"
    exec(code, module.__dict__)
    return module


def obey(rules, entry):
    """Rejects a program that violates the rules, before any part of it runs. The error describes the first violation.
    """
    import ast
    for folder, folders, files in os.walk(ROOT):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not name.endswith(".py") and relative(path) != entry:
                continue
            with open(path, "rb") as file:
                source = file.read()
            try:
                tree = ast.parse(source)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                continue  # the file cannot run; if the program imports it, Python reports the error
            lines = source.removeprefix(b"\xef\xbb\xbf").splitlines()
            found = sorted((node.lineno, node.col_offset, str(error), error) for node, error in rules.broken(tree) if hasattr(node, "lineno"))
            for line, offset, message, error in found:
                at = len(lines[line - 1][:offset].decode(errors="replace")) + 1
                raise Stop("denied", message, file=relative(path), line=line, column=at, rule=error.rule, remedy=error.remedy)


def annotations():
    """Returns the module typed.py. It is loaded at the first call, because most programs do not need it."""
    if not loaded:
        module = type(sys)("<typed>")
        exec(compile(TYPED, "<typed>", "exec") if isinstance(TYPED, str) else TYPED, module.__dict__)  # noqa: F821
        loaded.append(module)
    return loaded[0]


loaded = []


def unconverted(hint):
    """Reports whether values of this annotation are equal in the program and in JSON, so that they need no conversion.
    """
    if type(hint) is str:
        return hint in PLAIN_NAMES
    if type(hint) is GENERIC:
        return hint.__origin__ in (dict, list) and all(map(unconverted, hint.__args__))
    return any(hint is one for one in PLAIN) or getattr(hint, "__module__", "") == "typing" and getattr(hint, "__name__", "") == "Any"


def conversions(function):
    """Returns the annotations of a function as a dict from parameter to annotation, or {} if no parameter needs a
    conversion."""
    try:
        found = getattr(function, "__annotations__", None)
    except Exception:
        return {}  # since Python 3.14, reading the annotations evaluates them, which can fail
    if not found or type(found) is not dict or all(map(unconverted, found.values())):
        return {}
    return annotations().hints_of(function)


def pointer(path, whole):
    """Returns the JSON pointer of a value in the input. whole is true if the parameter receives the whole input."""
    return "".join("/" + str(one).replace("~", "~0").replace("/", "~1") for one in ("input", *path[1 if whole else 0:]))


def converted(function, value, hint, name, whole):
    """Converts a JSON value to the type of a parameter. whole is true if the parameter receives the whole input."""
    types = annotations()
    try:
        return types.build(value, hint, (name,))
    except types.Unfit as error:
        code = getattr(function, "__code__", None)
        raise Stop(
            "invalid_input", str(error), errors=[{"pointer": pointer(path, whole), "message": message} for path, message in error.places], file=relative(getattr(code, "co_filename", "")), line=getattr(code, "co_firstlineno", 0),
            remedy=f"Give a value that fits the type of the parameter {name}. A schema inferred from the code refuses others before the run.",
        ) from None


def parameters(function):
    """Lists (name, kind, optional) for each parameter. It avoids the module inspect if possible: importing that module
    takes longer than most programs."""
    code = getattr(function, "__code__", None)
    if type(function) is not type(load) or hasattr(function, "__wrapped__"):
        import inspect
        kinds = {0: "positional", 1: "named", 2: "rest", 3: "named", 4: "others"}
        return [(p.name, kinds[int(p.kind)], p.default is not p.empty) for p in inspect.signature(function).parameters.values()]
    names, count, keywords = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    first_optional = count - len(function.__defaults__ or ())
    listed = [(n, "positional" if i < code.co_posonlyargcount else "named", i >= first_optional) for i, n in enumerate(names[:count])]
    listed += [(n, "named", n in (function.__kwdefaults__ or ())) for n in names[count:count + keywords]]
    at = count + keywords
    if code.co_flags & 4:
        listed.append((names[at], "rest", True))
        at += 1
    if code.co_flags & 8:
        listed.append((names[at], "others", True))
    return listed


def arguments(function, value, ctx, types):
    """Returns main's arguments for the input. A first parameter named input receives the whole input. Other parameters
    receive the property with their name. types contains the annotations that need a conversion."""
    args, named, missing = [], {}, []
    listed = parameters(function)
    title = getattr(function, "__name__", "main")
    if title == "run" and [p[0] for p in listed[:2]] == ["action", "args"]:
        if isinstance(value, dict) and isinstance(value.get("action"), str):
            return [value["action"], value.get("args", {})], {}
        return ["run", value], {}
    properties = value if isinstance(value, dict) else {}
    for i, (name, kind, optional) in enumerate(listed):
        plain = name.lstrip("_")
        if kind == "rest":
            continue
        if kind == "others":
            if not (listed[0][0].lstrip("_") == "input"):
                # **kwargs may contain the names of positional-only parameters and of *args.
                taken = {p[0] for p in listed if p[1] == "named"}
                named.update((k, v) for k, v in properties.items() if k not in taken)
            continue
        if i == 0 and plain in ("input", ""):
            found = value
        elif plain in ("ctx", "context"):
            found = ctx
        elif name in properties:
            found = properties[name]
        elif optional:
            continue
        elif i == 0 and not isinstance(value, dict):
            found = value
        else:
            missing.append(name)
            continue
        if name in types and found is not ctx:
            found = converted(function, found, types[name], name, found is value)
        if kind == "positional":
            args.append(found)
        else:
            named[name] = found
    if missing:
        code = getattr(function, "__code__", None)
        raise Stop(
            "runtime_error",
            f"{title}() needs {' and '.join(map(repr, missing))}, which the input does not have.",
            file=relative(getattr(code, "co_filename", "")),
            line=getattr(code, "co_firstlineno", 0),
            remedy="Name the first parameter input to get the whole input, or give the parameter a default.",
        )
    return args, named


def flaw(value, path, above):
    """Raises an error with the path of the value that is not JSON."""
    if value is None or isinstance(value, (bool, int)):
        return None
    if isinstance(value, str):
        return None if encodes(value) else (f"{path}: an incomplete surrogate pair is not text", "")
    if isinstance(value, float):
        if value == value and abs(value) != float("inf"):
            return None
        return f"{path}: float {'NaN' if value != value else 'Infinity'} is not JSON", "Use None or a string instead."
    if not isinstance(value, (dict, list, tuple)):
        hints = {
            "bytes": "Decode it, or use base64.", "bytearray": "Decode it, or use base64.", "set": "Use sorted(…) or list(…).",
            "frozenset": "Use sorted(…) or list(…).", "datetime": "Use .isoformat().", "date": "Use .isoformat().",
            "Decimal": "Use str(…) or float(…).", "coroutine": "Await it.", "generator": "Use list(…).",
        }
        name = type(value).__name__
        hint = hints.get(name) or ("Use dataclasses.asdict(…)." if hasattr(value, "__dataclass_fields__") else "Return dicts, lists, strings, numbers, booleans and None.")
        return f"{path}: {name} is not JSON", hint
    if id(value) in above:
        return f"{path}: contains itself", ""
    if len(above) >= DEPTH:
        return f"{path[:200]}: nested deeper than {DEPTH} levels", ""
    above = above | {id(value)}
    if isinstance(value, dict):
        for key, item in value.items():
            if not (key is None or isinstance(key, (str, int, float))):
                return f"{path}: a key of type {type(key).__name__} is not JSON", "Use strings as keys."
            if isinstance(key, str) and not encodes(key):
                return f"{path}: an incomplete surrogate pair is not text", ""
            key = str(key)
            found = flaw(item, path + (f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]"), above)
            if found:
                return found
        return None
    for i, item in enumerate(value):
        found = flaw(item, f"{path}[{i}]", above)
        if found:
            return found
    return None


def encodes(text):
    try:
        text.encode()
        return True
    except UnicodeEncodeError:
        return False


def encode(value, largest):
    try:
        text = compact(value).encode()
    except (ValueError, TypeError, RecursionError) as e:
        sys.setrecursionlimit(sys.getrecursionlimit() + 2 * DEPTH)
        message, remedy = flaw(value, "output", frozenset()) or (f"output: {e}", "")
        raise Stop("invalid_output", message, remedy=remedy) from None
    if len(text) > largest:
        raise Stop("output_limit")
    return text


def frames(error):
    trace = error.__traceback__
    while trace:
        yield trace
        trace = trace.tb_next


def ours(trace):
    code = trace.tb_frame.f_code
    return trace.tb_frame.f_globals is globals() or code.co_filename.startswith(("<frozen importlib", "<typed>"))


def position(error):
    """Finds the innermost line in the agent's own files."""
    for trace in reversed(list(frames(error))):
        code = trace.tb_frame.f_code
        name = relative(code.co_filename)
        if name and not ours(trace):
            return {"file": name, "line": trace.tb_lineno or 0, "column": column(code, trace)}
    return {}


def column(code, trace):
    if not hasattr(code, "co_positions"):
        return 0
    line, _, start, _ = next(itertools.islice(code.co_positions(), trace.tb_lasti // 2, None), (None,) * 4)
    if start is None or line != trace.tb_lineno:
        return 0
    import linecache
    text = linecache.getline(code.co_filename, line).encode()
    return len(text[:start].decode(errors="replace")) + 1


def stack(error):
    """Formats a traceback as Python does, but without this script's frames and with file names relative to the agent's
    files."""
    import traceback
    whole = traceback.TracebackException.from_exception(error, compact=True)
    seen = set()

    def trim(told, error):
        if told is None or error is None or id(told) in seen:
            return
        seen.add(id(told))
        kept = [line for line, trace in zip(told.stack, frames(error)) if not ours(trace)]
        told.stack[:] = kept
        trim(told.__cause__, error.__cause__)
        trim(told.__context__, error.__context__)

    trim(whole, error)
    return "".join(whole.format()).replace(f'File "{ROOT}/', 'File "').replace(f"{PACKAGE}.", "")


def words(error):
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__", *entries) and not kind.__module__.startswith(PACKAGE):
        name = f"{kind.__module__}.{name}"
    try:
        text = str(error)
    except Exception:
        text = ""
    return (f"{name}: {text}" if text else name)[:MESSAGE]


def kind_of(error):
    number = getattr(error, "errno", None)
    if isinstance(error, RecursionError):
        return "recursion_limit"
    if isinstance(error, MemoryError):
        return "memory_limit"
    if isinstance(error, OSError) and number in (28, 122, 27):  # ENOSPC, EDQUOT, EFBIG
        return "disk_limit"
    if isinstance(error, OSError) and number == 12:  # ENOMEM
        return "memory_limit"
    if isinstance(error, BlockingIOError) and any(t.tb_frame.f_code.co_name in ("_execute_child", "_launch", "fork") for t in frames(error)):
        return "process_limit"
    if isinstance(error, BlockingIOError) and number == 11 and error.filename is None:
        return "process_limit"  # os.fork is a C function and has no frame in the traceback
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "process_limit"
    if isinstance(error, HostError) and error.code == "denied" or isinstance(error, RuleError):
        return "denied"
    return "runtime_error"


def chain(error):
    """Returns the error and its causes."""
    seen = []
    while error is not None and error not in seen and len(seen) < 50:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def denial(error):
    """Finds the rule of the sandbox that caused the error: a denied host, path or system call. Returns None if the
    error does not show a denial."""
    if isinstance(error, HostError) and error.code == "denied":
        return {"rule": error.rule, "remedy": error.remedy, "grant": error.grant}
    if isinstance(error, RuleError):
        return {"rule": error.rule, "remedy": error.remedy}
    if not isinstance(error, OSError):
        return None
    for one in chain(error):
        number = getattr(one, "errno", None)
        if type(one).__name__ == "gaierror" and type(one).__module__ == "socket" or isinstance(one, OSError) and number in (101, 113):
            host = wanted(one)
            if host:
                return {"rule": "network", "grant": {"hosts": [host]}, "remedy": f"Add \"{host}\" to capabilities.hosts."}
            return {"rule": "network", "remedy": "Grant the host in capabilities.hosts, and use a client that supports http_proxy."}
    number, path = error.errno, error.filename
    if number not in (1, 13, 30, 38, 97):  # EPERM, EACCES, EROFS, ENOSYS, EAFNOSUPPORT
        return None
    if isinstance(path, (str, bytes)) and number != 1:
        path = os.path.abspath(os.fsdecode(path))
        if path.startswith(("/work/", "/tmp/", "/dev/shm/")):
            return None  # the sandbox allows writing here, so the program itself caused the error
        return {"rule": "files", "remedy": "A program can write to /work, /tmp and /dev/shm and read its language runtime. No capability grants more."}
    return {"rule": "system calls", "remedy": "The sandbox refuses this system call to all programs. No capability grants it."}


def wanted(error):
    """Finds the host that a library tried to connect to, in the local variables of the library's frames."""
    for trace in reversed(list(frames(error))):
        code, names = trace.tb_frame.f_code, trace.tb_frame.f_locals
        if relative(code.co_filename):
            continue
        host, port = None, None
        if code.co_name == "create_connection" and isinstance(names.get("address"), tuple):
            host, port = names["address"][:2]
        elif code.co_name in ("getaddrinfo", "create_connection"):
            host, port = names.get("host"), names.get("port")
        port = {"http": 80, "https": 443}.get(port, port)
        if isinstance(host, str) and isinstance(port, int) and 0 < port < 65536:
            return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return None


def describe(error):
    if isinstance(error, Stop):
        return error.error
    if isinstance(error, SyntaxError) and relative(error.filename) and not any(relative(t.tb_frame.f_code.co_filename) and t.tb_frame.f_code.co_filename == error.filename for t in frames(error)):
        return {
            "type": "syntax_error", "message": words(error).split(" (", 1)[0] if error.lineno else words(error),
            "file": relative(error.filename), "line": error.lineno or 0, "column": max(error.offset or 0, 0),
        }
    told = {"type": kind_of(error), "message": words(error), **position(error)}
    try:
        text = stack(error)
        told["stack"] = text if len(text) <= STACK else text[:STACK // 2] + "\n…\n" + text[-STACK // 2:]
    except Exception:
        pass  # report the error without a stack if it cannot be formatted
    if told["type"] in ("denied", "runtime_error"):
        try:
            found = denial(error)
        except Exception:
            found = None  # reading attributes of the program's error may itself raise an exception
        if found:
            told.update({name: value for name, value in found.items() if value}, type="denied")
    if isinstance(error, RuleError):
        told["message"] = str(error)[:MESSAGE]
    if isinstance(error, UnicodeError) and "surrogate" in str(error):
        told["remedy"] = "An incomplete surrogate pair cannot be written. Encode with errors='replace'."
    return told


def leave(status):
    """Handles sys.exit in a program: success without a result, or a failure."""
    code = status.code
    if code is None or code == 0:
        return b'{"output":null}', 0
    if isinstance(code, int):
        error = {"type": "runtime_error", "message": f"The program exited with code {code}.", **position(status)}
        return fail(error), code & 255
    print(code, file=sys.stderr)
    return fail({"type": "runtime_error", "message": words(status), **position(status)}), 1


def fail(error):
    return json.dumps({"error": error}).encode()


def run(job, channel):
    environment = job["env"]
    for name, value in environment.items():
        os.environ[name] = value
    ctx = Context(channel, dict(environment))
    agents.ctx = ctx
    sys.setrecursionlimit(job["recursion"] + 10)  # 10 for the frames of this script below the program's first frame
    try:
        rules = None
        if job.get("rules"):
            rules = Rules(job["rules"], ROOT)
            obey(rules, job["entry"])
            rules.govern()
        module = load(job, channel, rules)
        function = getattr(module, "main", None)
        if not callable(function):
            function = getattr(module, "run", None)
        if not callable(function):
            raise Stop("runtime_error", f"{job['entry']} has no main function.", file=job["entry"], line=1, remedy="Define main(input, ctx), or run(action, args).")
        if job.get("infer"):
            return b'{"output":' + encode(annotations().infer(function, ROOT), job["largest"]) + b"}", 0
        types = conversions(function)
        args, named = arguments(function, job["input"], ctx, types)
        result = function(*args, **named)
        if hasattr(result, "__await__"):
            import asyncio

            async def wait():
                return await result

            result = asyncio.run(wait())
        if "return" in types and annotations().converts(types["return"]):
            result = annotations().dump(result)
        return b'{"output":' + encode(result, job["largest"]) + b"}", 0
    except SystemExit as status:
        return leave(status)
    except BaseException as error:
        sys.setrecursionlimit(sys.getrecursionlimit() + 200)
        return fail(describe(error)), 1


def settle():
    """Makes the settings that are the same for every program."""
    sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None
    sys.stdout.reconfigure(line_buffering=True)
    if os.path.isdir(PACKAGES):
        sys.path.append(PACKAGES)


def expect():
    """Returns the packages to import before the job arrives. It removes the environment variable, so that the program
    does not see it."""
    return os.environ.pop("ATELIER_IMPORTS", "").split()


def ahead(names):
    """Imports the packages that the program will import, while this process waits for its job in the sandbox. For
    "MODULE:NAME" it also reads the name, because that may load a submodule. If a package fails, the program imports it
    itself. If the time limit ends, the remaining packages are skipped."""
    if not names:
        return
    import signal

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, AHEAD)
    try:
        for name in names:
            try:
                module, _, taken = name.partition(":")
                found = __import__(module, None, None, [taken] if taken else [])
                if taken:
                    getattr(found, taken, None)
            except TimeoutError:
                break
            except BaseException:  # the program receives this error when it imports the package itself
                pass
    except TimeoutError:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def part(told, code):
    """Ends a process that the program forked and that returned from main. Only the parent process reports the result.
    """
    if told.startswith(b'{"error"'):
        sys.stderr.write(json.loads(told)["error"].get("stack", ""))
        flush()
    os._exit(code)


def end(channel, told, code):
    flush()
    if os.getpid() != channel.owner:
        part(told, code)
    channel.send(b'{"end":' + told + b',"code":' + str(code).encode() + b"}\n")


def boot(ready):
    channel = Channel()
    if ready:
        ahead(expect())
        channel.send(b'{"ready":true}\n')
    told, code = run(channel.job(), channel)
    if "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()
    end(channel, told, code)
    os._exit(code)
