package runtimetest

import "github.com/atelier-run/atelier/runtimes"

// Python returns the test programs in Python.
func Python() Programs {
	return Programs{
		Language: runtimes.Python, Runtime: runtimes.PythonEngine, Entrypoint: "main.py",
		Hello: `def main(name):
    print("hello", name)
    return {"greeting": f"Hello, {name}"}
`,
		Echo: `def main(input, ctx):
    return input
`,
		Order: `def main(input, ctx):
    print("one")
    ctx.log("info", "two", n=2)
    print("three", end="")
    ctx.progress(1, 2, "half")
    print("four")
`,
		Stderr: `import sys
def main():
    print("fine")
    print("oops", file=sys.stderr)
`,
		Env: `import os
def main(input, ctx):
    assert all(os.environ[k] == v for k, v in ctx.env.items()), ctx.env
    return dict(os.environ)
`,
		Unicode: `def main():
    print("grüß 世界 🎉")
    return {"text": "grüß 世界 🎉"}
`,
		Invalid: `def main():
    return {"items": [1, float("nan")]}
`,
		InvalidPath: "output.items[1]: float NaN",
		Fail: `def main():
    def inner():
        raise ValueError("boom")
    inner()
`,
		FailLine: 3,
		Syntax: `def main():
    x = 1

    return (x +
`,
		SyntaxLine: 4,
		Forever: `def main():
    print("started")
    while True:
        pass
`,
		Flood: `def main():
    while True:
        print("0123456789" * 10)
`,
		BigResult: `def main():
    return "x" * 2_000_000
`,
		State: `import os, json
def main():
    seen = hasattr(json, "mark") or any(os.path.exists(d + "/mark") for d in ("/work", "/tmp", "/dev/shm", "/var/tmp", "/run"))
    json.mark = True
    for d in ("/work", "/tmp", "/dev/shm"):
        open(d + "/mark", "w").close()
    return seen
`,
		Lib: map[string]string{
			"lib/__init__.py": "",
			"lib/numbers.py":  "from .other import two\ndef answer():\n    return 20 * two()\n",
			"lib/other.py":    "def two():\n    return 2\n",
			"util.py":         "TWO = 2\n",
		},
		Multi: `from .lib.numbers import answer
from util import TWO
import lib.other

def main():
    return {"answer": answer() + TWO}
`,
		Denied: `def main(input, ctx):
    return ctx.call("nope", path="x")
`,
	}
}
