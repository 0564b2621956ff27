# Builds wheels from the source distributions of a lock with uv, inside a jail that can only reach the package index. It
# prints each wheel to stdout: a line of JSON with path and size, then the bytes. Code of the packages can run in this
# process, so the server does not trust its output. The server checks each wheel as if it came from the index.
import json
import os
import re
import shutil
import subprocess
import sys

LARGEST = 256 << 20  # maximum bytes of one wheel
out = open(1, "wb", buffering=1 << 20, closefd=False)


def say(head, content=b""):
    out.write(json.dumps(head).encode() + b"\n")
    out.write(content)


def reason(text):
    """Returns those lines of a failed build's output that name the cause. It removes colours and passwords."""
    text = re.sub(r"//[^/@\s]+@", "//", re.sub(r"\x1b\[[0-9;]*m", "", text))
    lines = [line.strip(" \t×╰├│─▶") for line in text.splitlines()]
    lines = [line for line in lines if line and not re.match(r"hint:|error: Failed to build|(cause: )?(Call to|The build backend)|\[std(out|err)\]$", line)]
    compiler = [line for line in lines if re.search(r": (fatal )?error: ", line)]
    if compiler:
        return compiler[0]
    errors = [line for line in lines if re.match(r"[A-Za-z_.]*(Error|Exception)\b|error:|fatal:", line)]
    return (errors or lines or ["the builder printed nothing"])[-1]


def build(request, archive):
    """Builds the wheel of a source distribution. If that fails, it returns None and the reason."""
    work = os.path.join(os.environ["TMPDIR"], "build")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    source, target = os.path.join(work, archive["name"]), os.path.join(work, "out")
    shutil.copyfile("/archives/" + archive["file"], source)
    command = [
        request["uv"], "build", "--wheel", "--no-config", "--no-python-downloads", "--python", sys.executable, "--no-create-gitignore",
        "--cache-dir", os.path.join(os.environ["TMPDIR"], "uv"), "--default-index", request["index"], "--color", "never", "--no-progress", "--out-dir", target, source,
    ]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wheels = [name for name in os.listdir(target) if name.endswith(".whl")] if os.path.isdir(target) else []
    if ended.returncode != 0 or len(wheels) != 1:
        return None, reason(ended.stderr.decode("utf-8", "replace")[-20000:])
    with open(os.path.join(target, wheels[0]), "rb") as file:
        content = file.read(LARGEST + 1)
    return (None, "the wheel is too large") if len(content) > LARGEST else (content, "")


def main(request):
    for archive in request["archives"]:
        say({"archive": archive["number"]})
        out.flush()
        wheel, failed = build(request, archive)
        if wheel is None:
            say({"refused": "could not be built from source: " + failed[:500], "archive": archive["number"]})
            break
        say({"path": archive["file"], "size": len(wheel)}, wheel)
    else:
        say({"done": True})
    out.flush()


with open("request.json", "rb") as source:
    asked = json.load(source)
main(asked)
