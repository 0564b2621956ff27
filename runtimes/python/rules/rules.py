# The rule pack "restricted". This file shares one namespace with the guest script and with the checker of inspections.
# It checks a program twice: the syntax tree before the run, and the objects in modules during the run. The rules ensure
# that a program does only what its source shows. A deliberate attack can bypass both checks; the sandbox is the
# security boundary.
import builtins
import os
import sys

# Special names that a program's own classes may define and use. Other names with two underscores give access to the
# interpreter.
PROTOCOLS = frozenset(f"__{name}__" for name in (
    "abs add aenter aexit aiter all and anext await bool call complex contains delitem divmod doc enter eq exit float floordiv format "
    "ge getitem gt hash iadd iand imul index init int invert ior isub iter itruediv ixor le len length_hint lshift lt matmul missing mod mul "
    "name ne neg new next or pos post_init pow qualname radd rand reversed rfloordiv rmod rmul ror round rpow rshift rsub rtruediv rxor "
    "slots str repr sub truediv version xor"
).split())
# Attributes of frames, generators and code objects that give access to the interpreter.
INNARDS = frozenset(
    "ag_await ag_code ag_frame cr_await cr_code cr_frame cr_origin f_back f_builtins f_code f_globals f_lineno f_locals f_trace "
    "gi_code gi_frame gi_yieldfrom tb_frame tb_lasti tb_next co_code co_consts func_globals".split())
REFUSED = {
    "eval": "Parse what you need: json.loads for data, a dict of functions for a choice.",
    "exec": "Write the code as functions, and choose among them.",
    "compile": "Write the code as functions, and choose among them.",
    "open": "Take data from the input and return it as output.",
    "__import__": "Use an import statement with a module of the list.",
    "breakpoint": "Use print, or ctx.log.",
    "globals": "Keep values in a dict of your own.",
    "locals": "Keep values in a dict of your own.",
    "vars": "Keep values in a dict of your own.",
    "__builtins__": "Call the function by its own name.",
}


class RuleError(ImportError):
    """A rule rejects a part of the program. The class is an ImportError, so that a program can test whether a module
    exists."""

    def __init__(self, rule, message, remedy):
        super().__init__(message)
        self.kind, self.rule, self.remedy = rule, f"restricted/{rule}", remedy


class Rules:
    def __init__(self, imports, root):
        self.imports, self.root, self.facades = frozenset(imports), root, {}

    # Allowed modules

    def own(self, name):
        """Reports whether a top-level module name is a file of the agent. A library module comes first, so a file with
        the name of one does not count."""
        top = name.partition(".")[0]
        path = os.path.join(self.root, top)
        return top not in sys.stdlib_module_names and (os.path.isfile(path + ".py") or os.path.isdir(path))

    def listed(self, name):
        while name:
            if name in self.imports:
                return True
            name = name.rpartition(".")[0]
        return False

    def above_listed(self, name):
        return any(known.startswith(name + ".") for known in self.imports)

    def refuse_import(self, name):
        return RuleError(
            "import", f"{name[:100]!r} is not among the modules that may be imported",
            "Use one of: " + ", ".join(sorted(self.imports)) + "; or files of the agent.",
        )

    def check_import(self, name):
        if name != "__future__" and not self.listed(name) and not self.own(name):
            raise self.refuse_import(name)

    # Before the run: the syntax tree

    def broken(self, tree):
        """Yields (node, RuleError) for each violation of the rules, in any order."""
        import ast
        bound = set()
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
            elif isinstance(node, ast.alias):
                bound.add(node.asname or node.name)
        for node in ast.walk(tree):
            for error in self.look(ast, node, bound):
                yield node, error

    def look(self, ast, node, bound):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            # "from urllib import parse" imports the module urllib.parse.
            wanted = [node.module] if not self.above_listed(node.module) or self.listed(node.module) else [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            wanted = []
        for name in wanted:
            if name != "__future__" and not self.listed(name) and not self.own(name):
                yield self.refuse_import(name)
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, getattr(ast, "MatchClass", ())):
            names = node.kwd_attrs  # a class pattern reads attributes with these names
        else:
            names = []
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            names = []
        for name in names:
            if not plain(name):
                yield refuse_attribute(name)
        if isinstance(node, ast.Name) and node.id in REFUSED and node.id not in bound:
            yield refuse_builtin(node.id)

    # During the run: the objects in modules

    def builtins(self):
        """Returns the built-in functions for the agent's modules. Library modules use the original ones."""
        given = dict(vars(builtins))
        for name in REFUSED:
            if name in given:
                given[name] = refusal(name)
        given["__import__"] = self.import_
        # The caller of a skill reads the names of its parameters from __code__, so getattr allows this name. Programs
        # have no other use for it.
        given.update(getattr=guarded(getattr, "__code__"), setattr=guarded(setattr), delattr=guarded(delattr), hasattr=guarded(hasattr))
        for name in ("__loader__", "__spec__"):
            given.pop(name, None)
        return given

    def import_(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level:
            return __import__(name, globals, locals, fromlist, level)
        wanted = [name]
        if fromlist and self.above_listed(name) and not self.listed(name):
            wanted = [f"{name}.{part}" for part in fromlist]
        for one in wanted:
            self.check_import(one)
        for part in fromlist or ():
            if not plain(part) and name != "__future__":
                raise refuse_attribute(part)
        module = __import__(name, None, None, fromlist, 0)
        if self.own(name) or name == "__future__":
            return module
        if fromlist:
            return self.facade(name, sys.modules[name])
        top = name.partition(".")[0]
        self.facades.pop(top, None)  # this import may have added a submodule to the module
        return self.facade(top, module)

    def facade(self, name, module):
        """Returns a copy of a module with its public objects. The copy lacks the modules that the original imports for
        itself."""
        if name in self.facades:
            return self.facades[name]
        shown = self.facades[name] = type(sys)(name, module.__doc__)
        for key in dir(module):
            value = getattr(module, key, None)
            if key.startswith("_") and key != "__version__":
                continue
            if isinstance(value, type(sys)):
                inner = f"{name}.{key}"
                if sys.modules.get(inner) is not value or not (self.listed(inner) or self.above_listed(inner)):
                    continue
                self.facades.pop(inner, None)
                value = self.facade(inner, value)
            elif not self.listed(name):
                continue  # only submodules of this module are allowed, so its other objects are not copied
            setattr(shown, key, value)

        def hidden(key):
            if hasattr(module, key):
                raise self.refuse_import(f"{name}.{key}")
            raise AttributeError(f"module {name!r} has no attribute {key!r}")

        shown.__getattr__ = hidden
        shown.__all__ = [key for key in getattr(module, "__all__", None) or vars(shown) if key in vars(shown) and not key.startswith("_")]
        return shown

    def govern(self):
        """Makes imports of the agent's other modules use the same built-in functions as the entry."""
        import importlib.machinery
        rules = self

        class Loader(importlib.machinery.SourceFileLoader):
            def exec_module(self, module):
                module.__dict__["__builtins__"] = rules.given
                super().exec_module(module)

        class Finder:
            @staticmethod
            def find_spec(name, path=None, target=None):
                spec = importlib.machinery.PathFinder.find_spec(name, path, target)
                if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or not spec.origin.startswith(rules.root + "/"):
                    return None
                spec.loader = Loader(spec.loader.name, spec.loader.path)
                return spec

        self.given = self.builtins()
        sys.meta_path.insert(0, Finder)


def plain(name):
    """Reports whether an attribute with this name is allowed."""
    return name not in INNARDS and (not (name.startswith("__") and name.endswith("__")) or name in PROTOCOLS)


def refuse_attribute(name):
    remedy = "Use type(x) instead." if name == "__class__" else "Use the public names of the object."
    return RuleError("attribute", f"the attribute {name[:100]!r} gives access to the interpreter", remedy)


def refuse_builtin(name):
    return RuleError("builtin", f"{name!r} is not available to this program", REFUSED[name])


def refusal(name):
    def refused(*_, **__):
        raise refuse_builtin(name)
    return refused


def guarded(function, *readable):
    def checked(value, name, *rest):
        if type(name) is not str:
            raise TypeError("attribute name must be a string")
        if not plain(name) and name not in readable:
            raise refuse_attribute(name)
        return function(value, name, *rest)
    return checked
