package sandbox_test

import "testing"

// TestWellBehaved runs ordinary operations, because a jail that forbids everything would pass every hostile test.
func TestWellBehaved(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	bash := map[string]struct{ syscallProgram, want string }{
		"pipes":                {"seq 1000 | sort -rn | head -2 | tr '\n' ' '", "1000 999 "},
		"here-document":        {"cat <<E\na $((1+2))\nE", "a 3\n"},
		"here-string":          {"read a b <<< 'x y'; echo $b", "y\n"},
		"arrays":               {"a=(1 2 3); echo ${a[@]:1} ${#a[@]}", "2 3 3\n"},
		"process substitution": {"diff <(echo a) <(echo a) && echo same", "same\n"},
		"background jobs":      {"for i in 1 2 3; do (echo $i > /tmp/$i) & done; wait; cat /tmp/[123] | tr -d '\n'", "123"},
		"traps":                {"trap 'echo bye' EXIT; kill -TERM $$ & wait; sleep 0", "bye\n"},
		"own script":           {"printf '#!/bin/sh\necho hi\n' > /work/s; chmod +x /work/s; /work/s", "hi\n"},
		"fifo":                 {"mkfifo /tmp/f; echo x > /tmp/f & cat /tmp/f", "x\n"},
		"tools":                {"echo 'a b' | awk '{print $2}' | sed s/b/c/ | tr c d | grep -c d; date +%Z", "1\nUTC\n"},
		"limits of its own":    {"ulimit -n 64; ulimit -n", "64\n"},
		"who it is":            {"id -un; hostname; cat /etc/hostname; pwd; echo ~", "agent\nsandbox\nsandbox\n/work\n/work\n"},
		"oom score":            {"echo 500 > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj", "500\n"},
		"links":                {"cd /work; echo x > a; ln a b; ln -s a c; cat b c; mv a d; cat d", "x\nx\nx\n"},
		"between directories":  {"echo x > /work/m; mv /work/m /tmp/m; cp /tmp/m /dev/shm/m; cat /dev/shm/m", "x\n"},
	}
	for name, tt := range bash {
		t.Run("bash/"+name, func(t *testing.T) {
			t.Parallel()
			if got := jail(t, box, program(limits())).bash(t, tt.syscallProgram); got.Text != tt.want {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
	python := map[string]struct{ syscallProgram, want string }{
		"threads": {"import threading as t; x=[]; ts=[t.Thread(target=x.append,args=(i,)) for i in range(8)]\n[i.start() for i in ts]; [i.join() for i in ts]; print(sum(x))", "28\n"},
		"subprocess": {
			"import subprocess as s; print(s.run(['sh','-c','echo $0 $((6*7))'],capture_output=True,text=True).stdout)", "sh 42\n\n",
		},
		"asyncio": {
			"import asyncio as a\nasync def m():\n  p = await a.create_subprocess_exec('echo','x',stdout=-1)\n  return (await p.communicate())[0], await a.gather(*[a.sleep(0.01, i) for i in range(3)])\nprint(a.run(m()))",
			"(b'x\\n', [0, 1, 2])\n",
		},
		"multiprocessing": {"import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs,[-1,-2]))", "[1, 2]\n"},
		"executor":        {"from concurrent.futures import ProcessPoolExecutor as P\nwith P(2) as p: print(list(p.map(abs,[-3])))", "[3]\n"},
		"temporary files": {"import tempfile as t\nwith t.NamedTemporaryFile() as f: print(f.name[:5])\nwith t.TemporaryDirectory() as d: print(d[:5])", "/tmp/\n/tmp/\n"},
		"sqlite3":         {"import sqlite3 as s; c=s.connect('/work/d'); c.execute('create table t(a)'); c.execute('insert into t values(7)'); c.commit(); print(c.execute('select a from t').fetchone())", "(7,)\n"},
		"zoneinfo":        {"import zoneinfo, datetime as d; print(d.datetime(2026,7,1,tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())", "2:00:00\n"},
		"decimals":        {"from decimal import *; getcontext().prec=30; print(Decimal(1)/3)", "0.333333333333333333333333333333\n"},
		"random":          {"import random, secrets, uuid; print(len({random.random(), secrets.token_hex(), str(uuid.uuid4())}))", "3\n"},
		"unicode":         {"open('/work/ü','w').write('☃'); import os; print(os.listdir('/work'), open('/work/ü').read())", "['ü'] ☃\n"},
		"memory map":      {"import mmap; m=mmap.mmap(-1,1<<20); m[:2]=b'ok'; print(m[:2])", "b'ok'\n"},
		"processors":      {"import os; print(os.cpu_count() >= 1, len(os.sched_getaffinity(0)) >= 1)", "True True\n"},
		"signals":         {"import signal, os; signal.signal(signal.SIGUSR1, lambda *a: print('got')); os.kill(os.getpid(), signal.SIGUSR1)", "got\n"},
		"sockets":         {"import socket; a,b=socket.socketpair(); a.send(b'x'); print(b.recv(1))", "b'x'\n"},
	}
	for name, tt := range python {
		t.Run("python/"+name, func(t *testing.T) {
			t.Parallel()
			if got := jail(t, box, program(limits())).python(t, tt.syscallProgram); got.Text != tt.want {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
}
