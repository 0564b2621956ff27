# Lists facts about the Python files of an agent without running them. This program runs in the sandbox of the Python
# engine. Its input contains the files, with one character for each byte.
import ast, builtins, re, sys, warnings

MOST, facts, errors, cut = 0, [], [], 0

BUILTINS = {"eval", "exec", "compile", "__import__", "open", "input", "getattr", "setattr", "globals", "locals", "vars", "breakpoint"}
ATTRIBUTES = {
    "__subclasses__", "__globals__", "__builtins__", "__code__", "__bases__", "__base__", "__mro__", "__closure__", "__getattribute__", "__loader__",
    "f_globals", "f_locals", "f_builtins", "f_back", "gi_frame", "cr_frame", "tb_frame", "func_globals",
}
STARTS = re.compile(
    r"^(subprocess\.\w+|os\.(system|popen|exec\w+|spawn\w+|posix_spawnp?|fork|forkpty|startfile)|pty\.(spawn|fork)|commands\.\w+"
    r"|asyncio\.create_subprocess_\w+|multiprocessing\.(Process|Pool|pool\.\w+)|concurrent\.futures\.ProcessPoolExecutor)$")
NETWORK = ("http.", "urllib", "socket.", "smtplib.", "ftplib.", "imaplib.", "poplib.", "telnetlib.", "ssl.", "requests.", "httpx.", "aiohttp.", "asyncio.open_connection", "xmlrpc.")
URL = re.compile(r"\b(https?|wss?|ftps?|sftp|ssh|smtps?|imaps?|postgres(?:ql)?|mysql|redis|mongodb|amqp|ldaps?|grpc)://(?:[^/@\s'\"]*@)?([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?")
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ftps": 990, "sftp": 22, "ssh": 22, "smtp": 25, "smtps": 465, "imap": 143, "imaps": 993, "postgres": 5432, "postgresql": 5432, "mysql": 3306, "redis": 6379, "mongodb": 27017, "amqp": 5672, "ldap": 389, "ldaps": 636, "grpc": 443}
HOST = re.compile(r"^(?=.{4,253}$)([A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}$|^\d{1,3}(\.\d{1,3}){3}$")
SECRET_NAME = re.compile(r"(^|_)(pass(word|wd|phrase)?|secret(_key)?|(api|access|auth|private|signing|encryption)_?(key|token)|token|credentials?|client_secret)($|_)", re.I)
KNOWN_SECRET = re.compile(r"\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|sk-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|glpat-[A-Za-z0-9_-]{15,})|-----BEGIN [A-Z ]*PRIVATE KEY-----|^eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.")
PLACEHOLDER = re.compile(r"[<>{}*%$\s]|example|change|your|dummy|placeholder|redacted|xxx|^test|^none$|^null$", re.I)
PAUSES = re.compile(r"(^|\.)(sleep|wait|wait_for|get|recv\w*|accept|read\w*|select|poll|join|acquire|input|next|pop|popleft|fetch\w*|receive)$")


def secret_value(name, value):
    if KNOWN_SECRET.search(value):
        return True
    if not SECRET_NAME.search(name or "") or len(value) < 8 or PLACEHOLDER.search(value):
        return False
    return bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value)) or bool(re.search(r"[^\w.-]", value))


FIELDS = {}


def fields(kind):
    FIELDS[kind] = [field for field in kind._fields if field not in ("ctx", "op", "ops")]
    return FIELDS[kind]


class File:
    def __init__(self, name, raw):
        self.name, self.names, self.parents, self.called = name, {}, {}, set()
        self.lines = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self.tree = ast.parse(raw, name)
        self.nodes = nodes = [self.tree]  # in the order of ast.walk, but without contexts and operators
        parents = self.parents
        for node in nodes:
            kind = type(node)
            for field in FIELDS.get(kind) or fields(kind):
                value = getattr(node, field, None)
                for child in value if type(value) is list else (value,):
                    if isinstance(child, ast.AST):
                        parents[child] = node
                        nodes.append(child)
            if kind is ast.Call:
                self.called.add(node.func)

    def add(self, node, kind, name, given=None):
        global cut
        if len(facts) >= MOST:
            cut += 1
            return
        line = getattr(node, "lineno", 1)
        raw = self.lines[line - 1][: getattr(node, "col_offset", 0)] if line <= len(self.lines) else b""
        fact = {"kind": kind, "name": name[:200], "file": self.name, "line": line, "column": len(raw.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")) // 2 + 1}
        if given:
            fact["with"] = given
        facts.append(fact)

    # Names

    def bind(self):
        """Records the names that the file gives to modules and functions, by imports and plain assignments."""
        own = set()
        assigned = []
        for node in self.nodes:
            kind = type(node)
            if kind is ast.Assign:
                if type(node.value) is not ast.Constant:
                    assigned.append(node)
            elif kind is ast.Import:
                for alias in node.names:
                    self.names[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else alias.name.partition(".")[0]
            elif kind is ast.ImportFrom:
                for alias in node.names if not node.level else ():
                    self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef or kind is ast.ClassDef:
                if not isinstance(self.parents.get(node), ast.ClassDef):
                    own.add(node.name)
            elif kind is ast.arg:
                own.add(node.arg)
        for name in BUILTINS.union(dir(builtins)) - own:
            self.names.setdefault(name, name)
        self.names.setdefault("__builtins__", "builtins")
        if "ctx" in own:
            self.names["ctx"] = "ctx"
        for _ in range(3):  # repeat for chains such as e = eval; f = e
            for node in assigned:
                known = self.qualified(node.value)
                for target in node.targets:
                    if known and isinstance(target, ast.Name):
                        self.names.setdefault(target.id, known)

    def text(self, node):
        """Returns the value of a string expression if it is known without running the program, otherwise None."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.text(node.left), self.text(node.right)
            return None if left is None or right is None else left + right
        if isinstance(node, ast.JoinedStr):
            parts = [self.text(part) for part in node.values]
            return None if None in parts else "".join(parts)
        return None

    def qualified(self, node):
        """Returns the full name of a function or module, such as os.path.join, or None if the name is not known."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return self.plain(f"{base}.{node.attr}") if base else None
        if isinstance(node, ast.Call):
            name = self.qualified(node.func)
            if name in ("getattr", "__import__", "importlib.import_module") and node.args:
                wanted = self.text(node.args[1] if name == "getattr" and len(node.args) > 1 else node.args[0])
                if name != "getattr":
                    return wanted if wanted and name != "__import__" else (wanted or "").partition(".")[0] or None
                base = self.qualified(node.args[0])
                return self.plain(f"{base}.{wanted}") if base and wanted else None
            if name in ("globals", "locals", "vars"):
                return "builtins" if not node.args else self.qualified(node.args[0])
            if name == "os.environ.copy":
                return "os.environ"
        if isinstance(node, ast.Subscript):
            base, key = self.qualified(node.value), self.text(node.slice)
            if base == "sys.modules" and key:
                return key
            if base and key and (base == "builtins" or isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__"):
                return self.plain(f"{base.removesuffix('.__dict__')}.{key}")
        return None

    @staticmethod
    def plain(name):
        """Returns a full name without .__dict__ and without the prefix builtins, so that each object has exactly one
        name."""
        name = name.replace(".__dict__.", ".")
        while name.startswith("builtins."):
            name = name[len("builtins."):]
            if name == "__builtins__":
                name = "builtins"
        return name

    # Facts

    def literal(self, node):
        if isinstance(node, ast.Constant) and node.value is not None and not isinstance(node.value, (bytes, complex)):
            return str(node.value)[:200]
        if isinstance(node, ast.Constant) and node.value is None:
            return "None"
        text = self.text(node)
        if text is not None:
            return text[:200]
        if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
            return self.literal(node.elts[0])
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = self.qualified(node)
            return name or f"{self.qualified(node.func) or ('.' + node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id)}()"
        return self.qualified(node)

    def given(self, node):
        args = {}
        for at, value in enumerate(node.args[:8]):
            args[str(at)] = "*" if isinstance(value, ast.Starred) else self.literal(value)
        for keyword in node.keywords:
            args[keyword.arg or "**"] = self.literal(keyword.value)
        return {name: "?" if value is None else value for name, value in args.items()}

    def call(self, node):
        name = self.qualified(node.func)
        if name is None:
            if isinstance(node.func, ast.Attribute):
                given = self.given(node)
                if given:
                    self.add(node, "call", "." + node.func.attr, given)
            return
        given = self.given(node)
        self.add(node, "call", name, given)
        if STARTS.match(name):
            self.add(node, "subprocess", name, given)
        if name in ("eval", "exec", "compile"):
            self.add(node, "dynamic", name)
        if name in ("__import__", "importlib.import_module", "importlib.__import__") and node.args:
            wanted = self.text(node.args[0])
            self.add(node, "import" if wanted else "dynamic", wanted or name)
        if name == "getattr" and len(node.args) > 1 and self.text(node.args[1]) is None and self.qualified(node.args[0]):
            self.add(node, "dynamic", "getattr")
        if name in ("os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault", "ctx.env.get", "os.getenvb", "os.environb.get"):
            wanted = self.text(node.args[0]) if node.args else None
            self.add(node, "environment", wanted or "*")
        if name.startswith("ctx.") and name.count(".") == 1:
            self.add(node, "host_function", name[4:])
        if name.startswith(NETWORK):
            for value in node.args[:1] + [keyword.value for keyword in node.keywords if keyword.arg in ("host", "hostname")]:
                if isinstance(value, ast.Tuple) and value.elts:
                    port = value.elts[1] if len(value.elts) > 1 else None
                    value = value.elts[0]
                else:
                    port = node.args[1] if len(node.args) > 1 else None
                host = self.text(value)
                if host and HOST.match(host) and host != "0.0.0.0":
                    number = port.value if isinstance(port, ast.Constant) and isinstance(port.value, int) else 443 if "HTTPS" in name or "ssl" in name.lower() else 80
                    self.add(value, "host", f"{host}:{number}")

    def reads(self, node):
        """Adds facts about reads of the environment."""
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self.qualified(node.value) in ("os.environ", "ctx.env", "os.environb"):
            self.add(node, "environment", self.text(node.slice) or "*")
        elif isinstance(node, ast.Attribute) and self.qualified(node) in ("os.environ", "os.environb"):
            parent = self.parents.get(node)
            if not isinstance(parent, (ast.Subscript, ast.Attribute)) and not isinstance(parent, ast.Assign):
                self.add(node, "environment", "*")
            if isinstance(parent, ast.Attribute) and parent.attr in ("items", "values", "copy", "keys"):
                self.add(node, "environment", "*")

    def strings(self, node):
        parent = self.parents.get(node)
        if isinstance(parent, ast.Expr):
            return  # a docstring
        value = node.value
        for scheme, host, port in URL.findall(value):
            host = host.strip("[]")
            if host:
                self.add(node, "host", f"{host.lower()}:{port or PORTS[scheme]}")
        if value in ("0.0.0.0", "::") and not isinstance(parent, ast.Compare):
            self.add(node, "address", value)
        if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            named = [self.last(target) for target in targets]
        elif isinstance(parent, ast.keyword):
            named = [parent.arg]
        elif isinstance(parent, ast.Dict) and node in parent.values:
            named = [self.text(parent.keys[parent.values.index(node)]) if parent.keys[parent.values.index(node)] else None]
        elif isinstance(parent, ast.arguments):
            every = parent.posonlyargs + parent.args
            at = parent.defaults.index(node) - len(parent.defaults) if node in parent.defaults else None
            named = [every[at].arg if at is not None else None]
        else:
            named = [None]
        for name in named:
            if secret_value(name, value):
                self.add(node, "secret", name or "a string")
                break

    def last(self, target):
        if isinstance(target, ast.Attribute):
            return target.attr
        if isinstance(target, ast.Subscript):
            return self.text(target.slice)
        return target.id if isinstance(target, ast.Name) else None

    def endless(self, node):
        """Adds a fact about a loop that neither ends nor pauses."""
        if isinstance(node, ast.While):
            forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        else:
            forever = isinstance(node.iter, ast.Call) and (self.qualified(node.iter.func) in ("itertools.count", "itertools.cycle", "itertools.repeat") or isinstance(node.iter.func, ast.Name) and node.iter.func.id == "iter" and len(node.iter.args) == 2)
        if not forever:
            return
        pending = list(node.body)
        while pending:
            part = pending.pop()
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                continue
            if isinstance(part, (ast.Return, ast.Raise, ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)):
                return
            if isinstance(part, ast.Break) and self.loop(part) is node:
                return
            if isinstance(part, ast.Call):
                name = self.qualified(part.func) or (part.func.attr if isinstance(part.func, ast.Attribute) else part.func.id if isinstance(part.func, ast.Name) else "")
                if PAUSES.search(name) or name in ("sys.exit", "exit", "quit", "os._exit"):
                    return
            pending.extend(ast.iter_child_nodes(part))
        self.add(node, "loop", "endless")

    def loop(self, node):
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
                return node
        return None

    def list(self):
        self.bind()
        for node in self.nodes:
            kind = type(node)
            if kind is ast.Name:
                self.refers(node)
            elif kind is ast.Call:
                self.call(node)
            elif kind is ast.Constant:
                if type(node.value) is str:
                    self.strings(node)
                    if node.value in ATTRIBUTES and isinstance(self.parents.get(node), ast.Call):
                        self.add(node, "attribute", node.value)
            elif kind is ast.Attribute or kind is ast.Subscript:
                if kind is ast.Attribute and node.attr in ATTRIBUTES:
                    self.add(node, "attribute", node.attr)
                self.reads(node)
                self.refers(node)
            elif kind is ast.Import:
                for alias in node.names:
                    self.add(node, "import", alias.name)
            elif kind is ast.ImportFrom:
                if not node.level:
                    self.add(node, "import", node.module, {alias.name: "" for alias in node.names[:50]})
            elif kind is ast.While or kind is ast.For:
                self.endless(node)
            elif kind.__name__ == "MatchClass":
                for name in node.kwd_attrs:
                    if name in ATTRIBUTES:
                        self.add(node, "attribute", name)

    def refers(self, node):
        """Adds a fact about a function or module that is used without a call, for example as an argument."""
        if node in self.called or type(node.ctx) is not ast.Load or isinstance(self.parents.get(node), ast.Attribute):
            return
        name = self.qualified(node)
        if name and (name in BUILTINS or "." in name or type(node) is ast.Subscript):
            self.add(node, "reference", name)


def read(name, raw):
    try:
        file = File(name, raw)
    except SyntaxError as e:
        errors.append({"file": name, "line": e.lineno or 1, "column": max(e.offset or 1, 1), "code": "syntax_error", "message": f"{type(e).__name__}: {e.msg}."[:1000]})
        return
    except (RecursionError, MemoryError):
        errors.append({"file": name, "line": 1, "column": 1, "code": "nested_too_deeply", "message": "The file is nested too deeply."})
        return
    except (ValueError, UnicodeDecodeError):
        errors.append({"file": name, "line": 1, "column": 1, "code": "syntax_error", "message": "The file is not valid Python source."})
        return
    file.list()


def main(input, ctx):
    global MOST
    MOST = input["most"]
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(5000)
    for name, text in sorted(input["files"].items()):
        if len(errors) < 50:
            read(name, text.encode("latin-1"))
    return {"errors": errors, "facts": facts, "cut": cut}
