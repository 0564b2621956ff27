# Resolves a list of Python requirements with uv, inside a jail that can only reach the package index. It writes the
# lock to result.json. If there is no lock, it writes the reason. Only if the request has builds does it build source
# distributions, which runs code of packages.
import json
import os
import re
import subprocess
import sys
import sysconfig


def glibc():
    """Returns the version of glibc, or (0, 0) if the machine has another C library."""
    try:
        found = re.fullmatch(r"glibc (\d+)\.(\d+).*", os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (ValueError, OSError):
        found = None
    return (int(found[1]), int(found[2])) if found else (0, 0)


MAJOR, MINOR = sys.version_info[:2]
ARCH = sysconfig.get_platform().rpartition("-")[2].replace("-", "_").replace(".", "_")
LIBC = glibc()
OLD = {(2, 5): "manylinux1", (2, 12): "manylinux2010", (2, 17): "manylinux2014"}


def platforms():
    """Lists the platform tags of wheels that run on this machine, the most specific first."""
    tags = []
    for minor in range(LIBC[1], 4, -1) if LIBC[0] == 2 else ():
        tags.append("manylinux_2_%d_%s" % (minor, ARCH))
        if (2, minor) in OLD:
            tags.append("%s_%s" % (OLD[2, minor], ARCH))
    return tags + ["linux_" + ARCH]


def rank(filename):
    """Returns the rank of a wheel for this interpreter, or None if the wheel is incompatible. A lower rank is better.
    """
    parts = filename[: -len(".whl")].split("-")
    if not filename.endswith(".whl") or len(parts) not in (5, 6):
        return None
    pythons, abis, systems = (part.split(".") for part in parts[-3:])
    known, best = platforms(), None
    own = "cp%d%d" % (MAJOR, MINOR)
    for python in pythons:
        for abi in abis:
            for system in systems:
                place = known.index(system) if system in known else len(known) if system == "any" else None
                if place is None:
                    continue
                found = re.fullmatch(r"(cp|py)3(\d*)", python)
                minor = int(found[2]) if found and found[2] else None
                if python == own and abi == own:
                    kind = 0
                elif found and found[1] == "cp" and abi == "abi3" and minor is not None and minor <= MINOR:
                    kind = 1 + MINOR - minor
                elif python == own and abi == "none":
                    kind = 100
                elif found and found[1] == "py" and abi == "none" and (minor is None or minor <= MINOR):
                    kind = 200 + (MINOR - minor if minor is not None else 90)
                else:
                    continue
                if best is None or (kind, place) < best:
                    best = kind, place
    return best


def wheel(package):
    """Chooses the best wheel of a locked package."""
    fitting = []
    for one in package.get("wheels", ()):
        name = one.get("name") or one["url"].partition("#")[0].rpartition("/")[2]
        from urllib.parse import unquote

        fit = rank(unquote(name))
        if fit is not None and "sha256" in one.get("hashes", {}):
            fitting.append((fit, unquote(name), one))
    return min(fitting, key=lambda entry: entry[:2], default=(None, None, None))[2]


def source_distribution(package):
    """Returns the source distribution of a locked package, or None if the index does not report its hash."""
    one = package.get("sdist", {})
    usual = one.get("url", "").partition("#")[0].endswith((".tar.gz", ".zip"))
    return one if usual and "sha256" in one.get("hashes", {}) else None


def fail(code, message, package=""):
    return {"error": {"code": code, "message": message, "package": package}}


def explain(text):
    """Converts the resolver's explanation of a failure to an error code, a message and a package."""
    errors = re.findall(r"^\s*((?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception): .*)", text, flags=re.M)
    text = re.sub(r"^(error:|\s+[×╰├│]─?▶?)\s*", "", re.sub(r"\x1b\[[0-9;]*m", "", text), flags=re.M).strip()
    text = re.sub(r"[×╰├│─▶]+", "", text)
    text = re.sub(r"//[^/@\s]+@", "//", re.sub(r"\s+", " ", text)).strip()  # removes passwords from addresses
    if re.search(r"lack of valid authentication|\b(401 Unauthorized|403 Forbidden)\b", text):
        return fail("index", "it requires valid credentials, which neither the server nor the workspace has")
    missing = re.search(r"Because (\S+) was not found in the (?:package )?(?:registry|index)|(\S+) was not found in the package registry", text)
    if missing:
        return fail("not_found", "was not found in the package index", (missing[1] or missing[2]).partition("[")[0])
    failed = re.search(r"Failed to (?:build|download and build) [`']?([A-Za-z0-9._-]+?)(?:==\S+?)?[`']?(?:\s|$)", text)
    if failed:
        return fail("build", "could not be built from source: " + (errors or [text[failed.end():]])[-1].strip().rstrip("."), failed[1])
    if "has no usable wheels" in text or "no wheels with a matching" in text or "building from source is disabled" in text:
        found = re.search(r"Because (\S+?)(?:[=<>!~]\S*)? has no", text) or re.search(r"(?:of|for) [`']?(\S+?)[`']?(?:[=<>!~]\S*)? (?:has|have) no", text)
        return fail("no_wheel", text, found[1] if found else "")
    if "No solution found" in text or "unsatisfiable" in text:
        return fail("conflict", text.replace("No solution found when resolving dependencies:", "").strip())
    return fail("index", text)


def resolve(request):
    try:
        import tomllib
    except ImportError:
        return fail("interpreter", "Packages need Python 3.11 or later.")
    if LIBC == (0, 0):
        return fail("interpreter", "Packages need an interpreter that uses glibc.")
    cache = os.path.join(os.environ["TMPDIR"], "uv")
    command = [
        request["uv"], "pip", "compile", "-", "--format", "pylock.toml", "--no-header", "--no-config", "--no-python-downloads",
        "--python", sys.executable, "--cache-dir", cache, "--default-index", request["index"], "--color", "never", "--no-progress", "-o", "pylock.toml", "--quiet",
    ]
    if not request["builds"]:
        command.append("--no-build")
    if request.get("before"):
        command += ["--exclude-newer", request["before"]]
    text = "\n".join(request["requirements"]) + "\n"
    ended = subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if ended.returncode != 0:
        return explain(ended.stderr.decode("utf-8", "replace")[-20000:])
    with open("pylock.toml", "rb") as file:
        lock = tomllib.load(file)
    packages = []
    for package in lock.get("packages", ()):
        name, version = package["name"], package.get("version", "")
        chosen = wheel(package) or request["builds"] and source_distribution(package)
        if not chosen:
            return fail("no_wheel", "has no wheel for this platform", name)
        packages.append({
            "name": name, "version": version, "hash": "sha256:" + chosen["hashes"]["sha256"],
            "url": chosen["url"], "size": chosen.get("size", 0),
        })
    return {"packages": packages, "platform": "cp%d%d-linux_%s" % (MAJOR, MINOR, ARCH)}


with open("request.json", "rb") as source:
    asked = json.load(source)
answer = json.dumps(resolve(asked))
with open("result.json", "w") as target:
    target.write(answer)
