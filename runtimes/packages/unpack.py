# Unpacks wheels inside a jail without network. It prints each file to stdout: a line of JSON with path and size, then
# the bytes. The server checks every path again and writes the files. Modules are compiled to bytecode here, so that
# runs do not have to compile them. No code of a package runs.
import importlib.util
import json
import os
import re
import stat
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

LARGEST = 256 << 20  # maximum bytes of one file
# Folders that wheels contain only by mistake.
STRAY = {"test", "tests", "doc", "docs", "example", "examples", "benchmark", "benchmarks"}
TAG = sys.implementation.cache_tag
out = open(1, "wb", buffering=1 << 20, closefd=False)


class Refused(Exception):
    pass


def say(head, content=b""):
    out.write(json.dumps(head).encode() + b"\n")
    out.write(content)


def place(name):
    """Returns the installed path of a member of a wheel, or None if it is not installed."""
    if name.endswith("/"):
        return None
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or "\0" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        raise Refused("contains the path %s, which leaves its folder" % json.dumps(name[:200]))
    if parts[0].endswith(".data"):
        if len(parts) < 3 or parts[1] not in ("purelib", "platlib"):
            return None  # programs do not need scripts, headers and data files
        parts = parts[2:]
    if parts[-1].endswith(".pth") and len(parts) == 1:
        return None  # a .pth file runs code when an interpreter starts
    if "__pycache__" in parts:
        return None  # not installed, because modules are compiled here
    return "/".join(parts)


def check(path):
    """Refuses files that would replace a module of the standard library."""
    top = path.partition("/")[0]
    module = top.partition(".")[0]
    if module in sys.stdlib_module_names and (top == module and "/" in path or re.fullmatch(r"[^/.]+(\.[^/]+)?\.(py|so)", path)):
        raise Refused("contains the module %s, which would replace a module of the standard library" % module)


def compiled(path, content):
    """Returns the bytecode of a module, or None if the source has errors. Interpreters use the bytecode without
    comparing it with the source."""
    try:
        code = compile(content, "/packages/" + path, "exec", dont_inherit=True, optimize=0)
        return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(content), False))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def describe(text):
    """Reads name, version, licence and summary from a wheel's METADATA."""
    fields, classified = {}, []
    for line in text.split("\n\n", 1)[0].splitlines():
        key, colon, value = line.partition(":")
        value = value.strip()
        if colon and key == "Classifier" and value.startswith("License ::"):
            classified.append(value.rpartition("::")[2].strip())
        elif colon and key and not key[0].isspace():
            fields.setdefault(key.lower(), value)
    declared = fields.get("license", "")
    if len(declared) > 100:
        declared = ""
    return {
        "name": fields.get("name", ""), "version": fields.get("version", ""), "summary": fields.get("summary", "")[:300],
        "license": (fields.get("license-expression") or declared or ", ".join(classified))[:200],
    }


def unpack(path, known, room):
    meta = {}
    with zipfile.ZipFile(path) as wheel:
        for member in wheel.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise Refused("contains %s, which is a link or a device" % json.dumps(member.filename[:200]))
            target = place(member.filename)
            if target is None:
                continue
            if target.partition("/")[0] in STRAY and "/" in target:
                continue
            check(target)
            if member.file_size > min(LARGEST, room[0]):
                raise Refused("is larger than allowed when it is unpacked")
            with wheel.open(member) as file:
                content = file.read(min(LARGEST, room[0]) + 1)
            room[0] -= len(content)
            if room[0] < 0 or len(content) > LARGEST:
                raise Refused("is larger than allowed when it is unpacked")
            content_hash = hash(content)
            folded = target.lower()
            if folded in known:
                if known[folded] == (target, content_hash):
                    continue  # an identical file, as in a namespace that several packages share
                raise Refused("contains the file %s, which another package or file of this package also has" % json.dumps(target[:200]))
            known[folded] = target, content_hash
            say({"path": target, "size": len(content)}, content)
            if target.endswith(".dist-info/METADATA"):
                meta = describe(content.decode("utf-8", "replace"))
            if target.endswith(".py"):
                code = compiled(target, content)
                if code is not None:
                    room[0] -= len(code)
                    folder, _, name = target.rpartition("/")
                    cached = (folder + "/" if folder else "") + "__pycache__/" + name[:-3] + "." + TAG + ".pyc"
                    say({"path": cached, "size": len(code)}, code)
    return meta


def main(request):
    known, room = {}, [request["room"]]
    for i, archive in enumerate(request["archives"]):
        say({"archive": i})
        out.flush()
        try:
            meta = unpack("/archives/" + archive, known, room)
        except Refused as refused:
            say({"refused": str(refused), "archive": i})
            break
        except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError, OSError, ValueError) as error:
            say({"refused": "is not a usable wheel (%s)" % type(error).__name__, "archive": i})
            break
        except Exception as error:  # for example zlib.error
            say({"refused": "is damaged (%s)" % type(error).__name__, "archive": i})
            break
        say({"meta": meta, "archive": i})
    else:
        say({"done": True})
    out.flush()


with open("request.json", "rb") as source:
    asked = json.load(source)
main(asked)
