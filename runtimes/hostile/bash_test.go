package hostile_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func bashAttacks() []attack {
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	small := func(j *runtimes.Job) {
		j.Limits.TimeoutMs, j.Limits.MemoryBytes, j.Limits.DiskBytes = 10_000, 64<<20, 8<<20
	}
	few := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.Processes = 2000, 16 }
	return []attack{
		{class: hostile.CPU, name: "infinite loop", source: "while :; do :; done", edit: second, types: []runtimes.ErrorType{runtimes.Timeout}},
		{class: hostile.CPU, name: "sleeps and ignores signals", file: "sleep", edit: second, types: []runtimes.ErrorType{runtimes.Timeout}},
		{class: hostile.CPU, name: "burns processor time in children",
			file: "spin",
			edit: func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, types: []runtimes.ErrorType{runtimes.Timeout},
		},
		{class: hostile.Memory, name: "memory bomb", file: "memory", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Memory, name: "memory bomb in a pipe", file: "gulp", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Processes, name: "fork bomb", file: "forks", edit: few, types: []runtimes.ErrorType{runtimes.ProcessLimit}},
		{class: hostile.Processes, name: "fork bomb in the background", source: ":() { : | : & }\n:\nsleep 1", edit: few, types: []runtimes.ErrorType{runtimes.ProcessLimit}},
		{class: hostile.Processes, name: "fork bomb whose parent exits", source: "bomb() { bomb | bomb & }\nbomb\necho '\"left\"'", edit: few, check: leftOrLimited},
		{class: hostile.Output, name: "output flood", file: "flood", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "output flood of bytes", source: "cat /dev/urandom >&2", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Disk, name: "disk bomb", file: "disk", edit: small, types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Files, name: "disk bomb of many files", file: "inodes", edit: small, types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Memory, name: "endless recursion", file: "recursion", types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of brackets", source: strings.Repeat("(", 200_000), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RecursionLimit, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of expansions", source: "x=" + strings.Repeat("${a:-", 200_000), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RecursionLimit, runtimes.MemoryLimit}},
		{class: hostile.Secrets, name: "sees the environment of the server",
			source: "echo \"\\\"$(env | cut -d= -f1 | sort | tr '\\n' ' ')\\\"\"",
			edit:   bare, output: `"HOME INPUT INPUT_FILE LANG OUTPUT PATH PWD SHLVL TMPDIR _ "`,
		},
		{class: hostile.Forging, name: "result is a link", source: "ln -s /etc/passwd \"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result is a hard link", source: "echo 1 >x; ln x \"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result is a pipe", source: "mkfifo \"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result is a folder", source: "mkdir \"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result's folder is a link",
			source: "rm -r .atelier; ln -s /etc .atelier; echo '\"fine\"'", types: []runtimes.ErrorType{runtimes.InvalidOutput},
		},
		{class: hostile.Forging, name: "result is large and sparse", source: "truncate -s 1G \"$OUTPUT\" || truncate -s 60M \"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.OutputLimit, runtimes.DiskLimit, runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result has a key twice", source: "echo '{\"a\":1,\"a\":2}' >\"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Signals, name: "kills everything", source: "kill -9 -1\necho '\"alive\"'", output: `"alive"`},
		{class: hostile.Signals, name: "kills process 1", source: "for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done\necho '\"alive\"'", types: []runtimes.ErrorType{runtimes.RuntimeError}}, // process 1 is the script itself
		{class: hostile.Signals, name: "daemon that outlives its parent",
			source: "(setsid bash -c 'while :; do echo .; sleep 0.01; done' &)\nsleep 0.1\nsetsid sleep 60 &\necho '\"done\"' >\"$OUTPUT\"",
			check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				wants(`"done"`)(t, o, nil)
				if o.Usage.Run.Seconds() > 2 {
					t.Errorf("the daemon delayed the end of the run by %v", o.Usage.Run)
				}
			},
		},
		{class: hostile.Signals, name: "takes the host's lock and keeps it", source: "read -r -N1 -u \"$__atelier_pipe\" x\natelier log info never", edit: second, types: []runtimes.ErrorType{runtimes.Timeout}},
		{class: hostile.HostFiles, name: "reads and writes files of the host", file: "host_files", output: "[]"},
		{class: hostile.Secrets, name: "looks for a secret", file: "secrets", output: "[]"},
		{class: hostile.OtherRuns, name: "looks for its neighbour", file: "other_runs", alongside: "leave_marks", output: "[]"},
		{class: hostile.Network, name: "calls home", file: "network", output: "[]"},
		{class: hostile.Kernel, name: "system calls", file: "kernel", output: "[]"},
		{class: hostile.OtherRuns, name: "leaves a mark", source: "touch /tmp/m /dev/shm/m m; echo '\"left\"'", output: `"left"`},
		{class: hostile.OtherRuns, name: "looks for the mark of the previous run", source: "ls /tmp/m /dev/shm/m m 2>/dev/null | wc -l", output: "0"},
		{class: hostile.Output, name: "result that is too large", source: "head -c 3000000 /dev/zero | tr '\\0' x >\"$OUTPUT\"; sed -i 's/.*/\"&\"/' \"$OUTPUT\"", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Disk, name: "a file with a hole", source: "set -e\ntruncate -s 1T /work/x", types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Files, name: "too many open files", file: "open", types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Forging, name: "an answer of the host for the script", source: "printf '{\"end\":{\"line\":7,\"file\":\"/etc/passwd\"}}\\n' >&\"$__atelier_host\"\nprintf 'x%.0s' {1..9999} >&\"$__atelier_host\"\nexit 3", types: []runtimes.ErrorType{runtimes.RuntimeError}, check: noForeignFileOfBash},
		{class: hostile.Terminal, name: "titles, colours, queries", source: "printf '\\e]0;owned\\a\\e[2J\\e[31mred\\x9b31m\\x90q\\e[6n\\r'\nprintf '\"\\\\u001b]52;c;b3duZWQ=\\\\u0007\"' >\"$OUTPUT\"", output: "\"\\u001b]52;c;b3duZWQ=\\u0007\""},
		{class: hostile.Terminal, name: "as the result itself", source: "printf '\\e]0;owned\\a'", output: "{\"stdout\":\"\\u001b]0;owned\\u0007\"}"},
		{class: hostile.Terminal, name: "in an error", source: "set -e\n$'\\e]0;owned\\a'", types: []runtimes.ErrorType{runtimes.RuntimeError}},
	}
}

// leftOrLimited accepts the output and a process limit, because the bomb may reach the limit before its parent exits.
func leftOrLimited(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	if string(o.Output) != `"left"` && (o.Error == nil || o.Error.Type != runtimes.ProcessLimit) {
		t.Errorf("%s, %+v", o.Output, o.Error)
	}
}

// noForeignFileOfBash checks that the position of an error is in the script, or that it has none.
func noForeignFileOfBash(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	if o.Error == nil || o.Error.File != "" && o.Error.File != "main.sh" {
		t.Errorf("%+v", o.Error)
	}
}
