package main

import (
	"github.com/atelier-run/atelier/scripts/load"
)

// nothing returns an empty input, for programs that need no input.
func nothing(int) []byte { return []byte(`{}`) }

// troubles returns programs that fail, take too long or write too much.
func troubles() []load.Program {
	hungry := map[string]int{"memoryBytes": 64 << 20, "timeoutMs": 300_000} // the limit is long, because a busy machine is slow
	short, little := map[string]int{"timeoutMs": 150}, map[string]int{"outputBytes": 65536}
	programs := []load.Program{
		{Name: "hoards-py", Language: "python", Code: "def main(input, ctx):\n    return len(bytearray(200 << 20))\n", Limits: hungry, Status: "failed"},
		{Name: "hoards-node", Language: "javascript", Runtime: "node", Code: "export default () => { const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length) }\n", Limits: hungry, Status: "failed"},
		{Name: "throws-js", Language: "javascript", Code: "export default () => { throw new Error('no') }\n", Status: "failed"},
		{Name: "raises-py", Language: "python", Code: "def main(input, ctx):\n    raise ValueError('no')\n", Status: "failed"},
		{Name: "exits-sh", Language: "bash", Code: "exit 3\n", Status: "failed"},
		{Name: "loops-js", Language: "javascript", Code: "export default () => { for (;;) {} }\n", Limits: short, Status: "timed_out"},
		{Name: "sleeps-py", Language: "python", Code: "import time\n\ndef main(input, ctx):\n    time.sleep(60)\n", Limits: short, Status: "timed_out"},
		{Name: "sleeps-sh", Language: "bash", Code: "(sleep 60 &)\nsleep 60\n", Limits: short, Status: "timed_out"},
		{Name: "floods-js", Language: "javascript", Code: "export default () => { for (;;) console.log('x'.repeat(1000)) }\n", Limits: little, Status: "failed"},
		{Name: "floods-py", Language: "python", Code: "def main(input, ctx):\n    while True:\n        print('x' * 1000)\n", Limits: little, Status: "failed"},
		{Name: "floods-sh", Language: "bash", Code: "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n", Limits: little, Status: "failed"},
	}
	for i := range programs {
		programs[i] = complete(programs[i])
	}
	return programs
}

// node returns a program that adds two numbers in the runtime node.
func node() load.Program {
	p := load.Hello()[0]
	p.Name, p.Runtime = "hello-node", "node"
	return p
}

// endless returns a program that never ends, for runs that are cancelled.
func endless() load.Program {
	return complete(load.Program{Name: "endless-js", Language: "javascript", Code: "export default () => { for (;;) {} }\n", Status: "cancelled"})
}

func complete(p load.Program) load.Program {
	p.Input, p.Takes, p.Gives = nothing, map[string]any{"type": "object"}, map[string]any{}
	p.Entrypoint = map[string]string{"javascript": "main.js", "python": "main.py", "bash": "main.sh"}[p.Language]
	return p
}
