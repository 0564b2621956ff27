package hostile_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// good is a harmless program and its output.
type good struct{ name, source, output string }

// TestHostileSparesTheWellBehaved checks that ordinary programs run. Protections that forbid too much would also stop
// all attacks.
func TestHostileSparesTheWellBehaved(t *testing.T) {
	t.Parallel()
	servers := map[runtimes.Language]int{runtimes.JavaScript: 2, runtimes.TypeScript: 3, runtimes.Python: 4, runtimes.Bash: 5}
	for language, programs := range wellBehaved() {
		t.Run(string(language), func(t *testing.T) {
			t.Parallel()
			h := open(t, language, controlServer+servers[language])
			for _, p := range programs {
				t.Run(p.name, func(t *testing.T) {
					defer func() { matrix.Behaved(language, !t.Failed()) }()
					outcome, host := runtimetest.Run(t, h, h.programs.Job(p.source))
					if outcome.Error != nil || string(outcome.Output) != p.output {
						t.Errorf("answered %.300s, %+v, want %s\nstderr %.1000s", outcome.Output, outcome.Error, p.output, host.Stderr(t))
					}
				})
			}
		})
	}
}

func wellBehaved() map[runtimes.Language][]good {
	return map[runtimes.Language][]good{
		runtimes.Python: {
			{"threads", "import threading\ndef main():\n    x = []\n    ts = [threading.Thread(target=x.append, args=(i,)) for i in range(8)]\n    [t.start() for t in ts]; [t.join() for t in ts]\n    return sum(x)\n", "28"},
			{"subprocess", "import subprocess\ndef main():\n    return subprocess.run(['sh', '-c', 'cat; echo $((6*7))'], input='in ', capture_output=True, text=True, check=True).stdout\n", `"in 42\n"`},
			{"asyncio", "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('echo', 'x', stdout=-1)\n    return [(await p.communicate())[0].decode(), await asyncio.gather(*[asyncio.sleep(0.01, i) for i in range(3)])]\n", `["x\n",[0,1,2]]`},
			{"multiprocessing", "import multiprocessing as m\ndef main():\n    with m.get_context('fork').Pool(2) as p: return p.map(abs, [-1, -2])\n", "[1,2]"},
			{"queue between processes", "import multiprocessing as m\ndef work(q): q.put('there')\ndef main():\n    c = m.get_context('fork'); q = c.Queue(); p = c.Process(target=work, args=(q,)); p.start(); x = q.get(); p.join(); return x\n", `"there"`},
			{"executor", "from concurrent.futures import ThreadPoolExecutor as P\ndef main():\n    with P(4) as p: return list(p.map(abs, [-3, -4]))\n", "[3,4]"},
			{"temporary files", "import os, tempfile\ndef main():\n    with tempfile.NamedTemporaryFile('w+') as f, tempfile.TemporaryDirectory() as d:\n        f.write('x'); f.seek(0)\n        return [f.read(), os.path.isdir(d)]\n", `["x",true]`},
			{"sqlite3", "import sqlite3\ndef main():\n    c = sqlite3.connect('/work/d'); c.execute('create table t(a)'); c.execute('insert into t values(7)'); c.commit()\n    return c.execute('select a from t').fetchone()[0]\n", "7"},
			{"zoneinfo", "import datetime, zoneinfo\ndef main():\n    return str(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())\n", `"2:00:00"`},
			{"decimals", "from decimal import Decimal, getcontext\ndef main():\n    getcontext().prec = 30\n    return str(Decimal(1) / 3)\n", `"0.333333333333333333333333333333"`},
			{"unicode", "import os, unicodedata\ndef main():\n    open('ü ☃.txt', 'w').write('世界 🎉')\n    return [open('ü ☃.txt').read(), unicodedata.normalize('NFC', 'u\\u0308')]\n", `["世界 🎉","ü"]`},
			{"big output", "def main():\n    for _ in range(5000): print('x' * 99)\n    return 'y' * 500_000 == 'y' * 500_000\n", "true"},
			{"big integers", "import math\ndef main():\n    return math.factorial(30)\n", "265252859812191058636308480000000"},
			{"generators", "import itertools\ndef main():\n    return list(itertools.islice((i * i for i in itertools.count()), 5))\n", "[0,1,4,9,16]"},
			{"signals of its own", "import os, signal\ndef main():\n    x = []\n    signal.signal(signal.SIGUSR1, lambda *a: x.append('got'))\n    os.kill(os.getpid(), signal.SIGUSR1)\n    return x\n", `["got"]`},
			{"pipes and pairs", "import os, socket\ndef main():\n    r, w = os.pipe(); os.write(w, b'x'); a, b = socket.socketpair(); a.send(os.read(r, 1)); return b.recv(1).decode()\n", `"x"`},
			{"deep but legal recursion", "def f(n): return 0 if n == 0 else 1 + f(n - 1)\ndef main(): return f(900)\n", "900"},
			{"much but legal memory", "def main():\n    return len(bytearray(180 << 20)) >> 20\n", "180"},
		},
		runtimes.Bash: {
			{"pipes", "seq 1000 | sort -rn | head -1", "1000"},
			{"here-documents", "cat <<E >\"$OUTPUT\"\n{\"n\": $((1 + 2))}\nE", `{"n":3}`},
			{"here-strings", "read -r a b <<<'x y'\necho \"\\\"$b$a\\\"\"", `"yx"`},
			{"arrays", "a=(1 2 3); declare -A m=([k]=v)\njq -cn --arg k \"${m[k]}\" --argjson n \"${#a[@]}\" '[$k,$n]'", `["v",3]`},
			{"process substitution", "diff <(echo a) <(echo a) && echo true", "true"},
			{"background jobs", "for i in 1 2 3; do (echo $i >/tmp/$i) & done; wait; cat /tmp/[123] | jq -sc .", "[1,2,3]"},
			{"traps", "trap 'echo \"\\\"$?\\\"\"; exit 0' EXIT\nexit 0", `"0"`},
			{"a script of its own", "printf '#!/bin/sh\\necho 7\\n' >s; chmod +x s; ./s", "7"},
			{"named pipes", "mkfifo /tmp/f; echo 8 >/tmp/f & cat /tmp/f", "8"},
			{"tools", "echo 'a b 9' | awk '{print $3}' | sed s/9/10/ | tr 0 1", "11"},
			{"unicode", "s='世界 🎉'; echo \"${#s}\"", "4"},
			{"big output", "for i in {1..5000}; do printf '%099d\\n' \"$i\"; done; echo; echo true", "true"},
			{"functions and locals", "f() { local n=$1; ((n < 2)) && echo 1 || echo $((n * $(f $((n - 1))))); }\nf 10", "3628800"},
			{"timers", "sleep 0.05; SECONDS=0; read -r -t 0.05 x </dev/null; echo $((SECONDS < 5))", "1"},
		},
		runtimes.JavaScript: {
			{"promises", "export default async () => (await Promise.all([1, 2].map(async (n) => n * 2))).concat(await Promise.race([3]))", "[2,4,3]"},
			{"timers", "export default () => new Promise((yes) => { let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); yes(n) } }, 5) })", "3"},
			{"generators", "function* f() { let a = 0, b = 1; for (;;) { yield a; [a, b] = [b, a + b] } }\nexport default () => { const all = []; for (const n of f()) { if (n > 20) return all; all.push(n) } }", "[0,1,1,2,3,5,8,13]"},
			{"BigInt", "export default () => String(2n ** 200n)", `"1606938044258990275541962092341162602522202993782792835301376"`},
			{"unicode", "export default () => ['👩‍👩‍👧'.length, [...'世界🎉'].length, 'ü'.normalize('NFD').length, /[A-ZÄ]/u.test('Ä')]", "[8,3,2,true]"},
			{"classes and private members", "class A { #n = 1; static s = 2; get n() { return this.#n } }\nexport default () => new A().n + A.s", "3"},
			{"maps and sets", "export default () => [...new Map([[1, 2]]).values(), ...new Set([3, 3])]", "[2,3]"},
			{"typed arrays", "export default () => Array.from(new Uint8Array([1, 2, 300]))", "[1,2,44]"},
			{"patterns", "export default () => 'a1b22'.replace(/(?<l>[a-z])(\\d+)/g, (m, l, d) => d + l)", `"1a22b"`},
			{"dates", "export default () => new Date(Date.UTC(2026, 6, 1)).toISOString()", `"2026-07-01T00:00:00.000Z"`},
			{"errors that are caught", "export default () => { try { null.x } catch (e) { return e instanceof TypeError } }", "true"},
			{"big output", "export default () => { for (let i = 0; i < 5000; i++) console.log('x'.repeat(99)); return 'y'.repeat(5e5).length }", "500000"},
			{"destructuring and spread", "export default ({ name, ...rest }) => ({ ...rest, name: [...name].reverse().join('') })", `{"name":"adA"}`},
			{"much but legal work", "export default () => { let n = 0; for (let i = 0; i < 3e6; i++) n = (n + i) % 1000; return n }", "0"},
		},
		runtimes.TypeScript: {
			{"enums", "enum E { A = 1, B }\nconst enum C { D = 'd' }\nexport default () => [E.B, E[1], C.D]", `[2,"A","d"]`},
			{"generics and satisfies", "const id = <T,>(x: T): T => x\nexport default () => id({ n: 1 } satisfies { n: number })", `{"n":1}`},
			{"decorators", "const twice = (f: any, _: unknown) => function (this: unknown, ...a: unknown[]) { return f.apply(this, a) * 2 }\nclass A { m() { return 21 } }\nA.prototype.m = twice(A.prototype.m, null)\nexport default () => new A().m()", "42"},
			{"namespaces", "namespace N { export const a = 1 }\nexport default () => N.a", "1"},
			{"parameter properties", "class A { constructor(readonly n: number, private x = 1) {} sum() { return this.n + this.x } }\nexport default () => new A(2).sum()", "3"},
			{"unions and guards", "type S = { k: 'a'; n: number } | { k: 'b' }\nconst f = (s: S): number => s.k === 'a' ? s.n : 0\nexport default () => f({ k: 'a', n: 5 })", "5"},
			{"abstract and overloads", "abstract class A { abstract n(): number; f(): number; f(x: number): number; f(x = 1) { return this.n() + x } }\nclass B extends A { n() { return 1 } }\nexport default () => new B().f(2)", "3"},
		},
	}
}
