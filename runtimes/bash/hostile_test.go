package bash_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func TestHostile(t *testing.T) {
	t.Parallel()
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	small := func(j *runtimes.Job) {
		j.Limits.TimeoutMs, j.Limits.MemoryBytes, j.Limits.DiskBytes = 10_000, 64<<20, 8<<20
	}
	few := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.Processes = 2000, 16 }
	runtimetest.Hostile(t, newEngine(t), programs(), map[string]runtimetest.Attack{
		"infinite loop":              {Source: "while :; do :; done", Edit: second, Want: []runtimes.ErrorType{runtimes.Timeout}},
		"sleeps and ignores signals": {Source: "trap '' TERM INT HUP\nsleep 60", Edit: second, Want: []runtimes.ErrorType{runtimes.Timeout}},
		"burns processor time in children": {
			Source: "while :; do :; done & while :; do :; done & wait",
			Edit:   func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, Want: []runtimes.ErrorType{runtimes.Timeout},
		},
		"memory bomb":               {Source: "x=x\nwhile :; do x=$x$x; done", Edit: small, Want: []runtimes.ErrorType{runtimes.MemoryLimit}},
		"memory bomb in a pipe":     {Source: "set -o pipefail\ntail /dev/zero | cat", Edit: small, Want: []runtimes.ErrorType{runtimes.MemoryLimit}},
		"fork bomb":                 {Source: "bomb() { bomb | bomb; }\nbomb", Edit: few, Want: []runtimes.ErrorType{runtimes.ProcessLimit}},
		"fork bomb that leaves":     {Source: "bomb() { bomb | bomb & }\nbomb\necho '\"left\"'", Edit: few, Check: leftOrLimited},
		"output flood":              {Source: "yes", Want: []runtimes.ErrorType{runtimes.OutputLimit}},
		"output flood of bytes":     {Source: "cat /dev/urandom >&2", Want: []runtimes.ErrorType{runtimes.OutputLimit}},
		"disk bomb":                 {Source: "set -e\ncat /dev/zero >/tmp/x", Edit: small, Want: []runtimes.ErrorType{runtimes.DiskLimit}},
		"disk bomb of many files":   {Source: "set -e\ni=0; while :; do : >/tmp/$((i++)); done", Edit: small, Want: []runtimes.ErrorType{runtimes.DiskLimit}},
		"endless recursion":         {Source: "f() { f; }\nf", Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"parser bomb of brackets":   {Source: strings.Repeat("(", 200_000), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError, runtimes.MemoryLimit}},
		"parser bomb of expansions": {Source: "x=" + strings.Repeat("${a:-", 200_000), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError, runtimes.MemoryLimit}},
		"reads the host": {
			Source: `found=()
for path in /etc/shadow /etc/machine-id /proc/1/environ /proc/1/mem /proc/kcore /dev/vda /dev/mem; do if head -c1 "$path" >/dev/null 2>&1; then found+=("$path"); fi; done
for path in /root /home /var/lib /sys /proc/1/root /proc/1/cwd /boot /mnt; do if [[ -n $(ls -A "$path" 2>/dev/null) ]]; then found+=("$path"); fi; done
echo "\"${found[*]}\""
`,
			Check: wants(`""`),
		},
		"sees the environment of the house": {
			Source: "echo \"\\\"$(env | cut -d= -f1 | sort | tr '\\n' ' ')\\\"\"",
			Check:  wants(`"HOME INPUT INPUT_FILE LANG OUTPUT PATH PWD SHLVL TMPDIR _ "`),
		},
		"talks to the network": {
			Source: "for to in 1.1.1.1/53 127.0.0.1/22 127.0.0.1/8002; do (: >/dev/tcp/$to) 2>/dev/null && found+=$to; done\n(: >/dev/udp/8.8.8.8/53) 2>/dev/null && found+=udp\ngetent hosts example.com && found+=dns\necho \"\\\"$found\\\"\"",
			Check:  wants(`""`),
		},
		"result is a link":      {Source: "ln -s /etc/passwd \"$OUTPUT\"", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"result is a hard link": {Source: "echo 1 >x; ln x \"$OUTPUT\"", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"result is a pipe":      {Source: "mkfifo \"$OUTPUT\"", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"result is a folder":    {Source: "mkdir \"$OUTPUT\"", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"result's folder is a link": {
			Source: "rm -r .atelier; ln -s /etc .atelier; echo '\"fine\"'", Want: []runtimes.ErrorType{runtimes.InvalidOutput},
		},
		"result is large and sparse": {Source: "truncate -s 1G \"$OUTPUT\" || truncate -s 60M \"$OUTPUT\"", Want: []runtimes.ErrorType{runtimes.OutputLimit, runtimes.DiskLimit, runtimes.InvalidOutput}},
		"result has a key twice":     {Source: "echo '{\"a\":1,\"a\":2}' >\"$OUTPUT\"", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"kills everything":           {Source: "kill -9 -1\necho '\"alive\"'", Check: wants(`"alive"`)},
		"kills process 1":            {Source: "for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done\necho '\"alive\"'", Check: wants(`"alive"`)},
		"daemon that outlives its parent": {
			Source: "(setsid bash -c 'while :; do echo .; sleep 0.01; done' &)\nsleep 0.1\nsetsid sleep 60 &\necho '\"done\"' >\"$OUTPUT\"",
			Check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				wants(`"done"`)(t, o, nil)
				if o.Usage.Run.Seconds() > 2 {
					t.Errorf("the daemon held the run for %v", o.Usage.Run)
				}
			},
		},
		"gains privileges": {
			Source: "unshare -Ur true 2>/dev/null && found+=unshare\nmount -t tmpfs x /tmp 2>/dev/null && found+=mount\nsu -c true 2>/dev/null && found+=su\n[[ $(id -u) == 0 ]] && found+=root\necho \"\\\"$found\\\"\"",
			Check:  wants(`""`),
		},
		"takes the host's lock and keeps it": {Source: "read -r -N1 -u \"$__atelier_take\" x\natelier log info never", Edit: second, Want: []runtimes.ErrorType{runtimes.Timeout}},
	})
}

// wants demands one output.
func wants(output string) func(*testing.T, runtimes.Outcome, *runtimetest.Host) {
	return func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
		t.Helper()
		if string(o.Output) != output {
			t.Errorf("output %s, want %s", o.Output, output)
		}
	}
}

// leftOrLimited: the bombs may hit the limit before their parent has left.
func leftOrLimited(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	if string(o.Output) != `"left"` && (o.Error == nil || o.Error.Type != runtimes.ProcessLimit) {
		t.Errorf("%s, %+v", o.Output, o.Error)
	}
}
