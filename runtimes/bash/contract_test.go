package bash_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	lib := map[string][]byte{"lib/broken.sh": []byte("f() {\n  nosuch x\n}\n"), "lib/syntax.sh": []byte("x=1\nif fi\n")}
	tests := map[string]struct {
		source, input string
		output        string                // expected output, if the run succeeds
		want          runtimes.ProgramError // expected error, if the run fails: the message is a substring
		code          int
	}{
		"last line is JSON":     {source: "echo working\necho '{\"a\": 1}'\n", output: `{"a":1}`},
		"last line is a number": {source: "echo 12345678901234567890", output: `12345678901234567890`},
		"space after it":        {source: "printf '[1]  \\n\\n'", output: `[1]`},
		"text":                  {source: "echo hello; printf world", output: `{"stdout":"hello\nworld"}`},
		"nothing":               {source: ":", output: `{"stdout":""}`},
		"large text":            {source: "for ((i = 0; i < 30000; i++)); do echo '\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"'; done; echo end"},
		"output goes before it": {source: "echo '{\"a\":2}' >\"$OUTPUT\"; echo 1", output: `{"a":2}`},
		"empty output does not": {source: ": >\"$OUTPUT\"; echo 1", output: `1`},
		"input on stdin":        {source: "cat", input: `{"a":[1, 2]}`, output: `{"a":[1,2]}`},
		"input in a variable":   {source: "echo \"$INPUT\"", input: `{"a":1}`, output: `{"a":1}`},
		"large input is no variable": {
			source: "[[ ! -v INPUT ]] && wc -c <\"$INPUT_FILE\"", input: `"` + strings.Repeat("x", 100_000) + `"`, output: `100002`,
		},
		"jq where the host has it": {source: "jq '{sum: (.a + .b)}'", input: `{"a":1,"b":2}`, output: `{"sum":3}`},
		"its own descriptors":      {source: "exec 3>x; echo 1 >&3; exec 3>&-; atelier log info hi; cat x", output: `1`},
		"strict mode and its own traps": {
			source: "set -euo pipefail; IFS=x; trap 'echo 2' EXIT\natelier log warn 'a x b' k=v; atelier progress 1; x=1\necho $x", output: `2`,
		},
		"a file of the jail":       {source: "echo x\necho x >/etc/hosts", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "/etc/hosts: ", File: "main.sh", Line: 2}},
		"a file of its own":        {source: "set -e\nmkdir d\nchmod 0 d\necho x >/work/d/x", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Permission denied", File: "main.sh", Line: 4}},
		"a device for a host":      {source: "set -e\nexec 9<>/dev/tcp/192.0.2.1/80", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "192.0.2.1:80 is not granted", File: "main.sh", Line: 2}},
		"a call of the system":     {source: "set -e\nunshare -n true", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "unshare", File: "main.sh", Line: 2}},
		"a refusal can be caught":  {source: "atelier call nope '{}' || echo $?", output: `1`},
		"arguments that are none":  {source: "atelier call nope '{bad' || echo $?", output: `1`},
		"a call that is too long":  {source: "atelier log \"$(printf '%1100000s')\" || echo $?", output: `1`},
		"a refusal that is not":    {source: "set -e\natelier call nope '{}'", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "atelier: denied: The host function nope is not granted. (exit code 1)", File: "main.sh", Line: 2}, code: 1},
		"a denied request":         {source: "set -e\ncurl -sS https://x.example.com/", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "x.example.com:443 is not granted", File: "main.sh", Line: 2}, code: 6},
		"a field without a key":    {source: "set -e\natelier log info done '{\"a\":1}'", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: `a field must have the form KEY=VALUE: {"a":1}`, File: "main.sh", Line: 2}, code: 2},
		"a request dealt with":     {source: "curl -sS https://x.example.com/ || true\nexit 3", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "code 3"}, code: 3},
		"another failure after it": {source: "curl -sS https://x.example.com/ || true\nfalse", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: `"false" failed`, File: "main.sh", Line: 2}, code: 1},
		"the code of the request":  {source: "curl -sS https://x.example.com/\nexit $?", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "x.example.com:443 is not granted"}, code: 6},
		"a refusal dealt with":     {source: "atelier call nope '{}' || true\nexit 3", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "code 3"}, code: 3},
		"a path dealt with":        {source: "echo x >/etc/hosts\nexit 3", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "code 3", File: "main.sh", Line: 1}, code: 3},
		"exit code":                {source: "echo hi\nexit 3", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "code 3"}, code: 3},
		"command that fails last":  {source: "echo hi\n\nfalse", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: `"false" failed`, File: "main.sh", Line: 3}, code: 1},
		"command in a function":    {source: "set -e\nf() {\n  false\n}\n\nf", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: `in the function f the command "false"`, File: "main.sh", Line: 6}, code: 1},
		"command not found":        {source: "echo hi\nnosuch x", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "nosuch: command not found (exit code 127)", File: "main.sh", Line: 2}, code: 127},
		"in another file":          {source: "set -e\nsource lib/broken.sh\nf", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "nosuch: command not found", File: "lib/broken.sh", Line: 2}, code: 127},
		"variable that is not set": {source: "set -u\necho hi\n\necho $nope", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "nope: unbound variable", File: "main.sh", Line: 4}, code: 1},
		"pipe that fails":          {source: "set -eo pipefail\nfalse | cat", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "code 1", File: "main.sh", Line: 2}, code: 1},
		"syntax error at the end":  {source: "echo hi\nif true; then", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "unexpected end of file", File: "main.sh", Line: 3}, code: 2},
		"quote without end":        {source: "echo hi\necho \"abc\n", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "unexpected EOF", File: "main.sh", Line: 2}, code: 2},
		"syntax error elsewhere":   {source: "set -e\nsource lib/syntax.sh", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "syntax error near", File: "lib/syntax.sh", Line: 2}, code: 2},
		"output is not valid JSON": {source: "echo '{a:1}' >\"$OUTPUT\"", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "$OUTPUT is not valid JSON"}},
		"last line is too deep":    {source: "head -c 20000 /dev/zero | tr '\\0' '['; head -c 20000 /dev/zero | tr '\\0' ']'", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "nested deeper than 256 levels"}},
		"last line is deep":        {source: "head -c 300 /dev/zero | tr '\\0' '['; head -c 300 /dev/zero | tr '\\0' ']'", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "nested deeper than 256 levels"}},
		"output is too deep":       {source: "{ head -c 20000 /dev/zero | tr '\\0' '['; head -c 20000 /dev/zero | tr '\\0' ']'; } >\"$OUTPUT\"", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "exceeded max depth"}},
		"output is just too deep":  {source: "{ head -c 10000 /dev/zero | tr '\\0' '['; head -c 10000 /dev/zero | tr '\\0' ']'; } >\"$OUTPUT\"", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "nested deeper than 256 levels"}},
		"brackets are text":        {source: "head -c 300 /dev/zero | tr '\\0' '['"},
		"wrong use of atelier":     {source: "set -e\natelier progress half", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "atelier: usage: atelier progress", File: "main.sh", Line: 2}, code: 2},
		// A script is process 1 of its sandbox. The kernel does not deliver signals to process 1 for which it has no
		// handler, even if it sends them to itself.
		"kills itself": {source: "kill -9 $$\nbash -c 'kill -9 $$' || echo $?", output: "137"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, host := runtimetest.Run(t, engine, p.Job(tt.source, func(j *runtimes.Job) {
				for file, text := range lib {
					j.Files[file] = text
				}
				if tt.input != "" {
					j.Input = json.RawMessage(tt.input)
				}
			}))
			got := outcome.Error
			if tt.want.Type == "" {
				if got != nil || tt.output != "" && string(outcome.Output) != tt.output {
					t.Errorf("%.200s, %+v, stderr %q, want %s", outcome.Output, got, host.Stderr(t), tt.output)
				}
				return
			}
			if got == nil || got.Type != tt.want.Type || !strings.Contains(got.Message, tt.want.Message) || got.File != tt.want.File || got.Line != tt.want.Line {
				t.Fatalf("%+v, output %s, stderr %q, want %+v", got, outcome.Output, host.Stderr(t), tt.want)
			}
			if tt.code != 0 && (outcome.ExitCode == nil || *outcome.ExitCode != tt.code) {
				t.Errorf("exit code of %+v, want %d", outcome, tt.code)
			}
		})
	}
}

// TestWhatADeniedRequestIsBlamedFor expects that a denied request is reported as the cause of a failure only if it caused
// the failure. An exit code that the script chose, or a later failure, has another cause.
func TestWhatADeniedRequestIsBlamedFor(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	const request = "curl -sS https://x.example.com/"
	for source, want := range map[string]runtimes.ErrorType{
		"set -e\n" + request: runtimes.Denied, request + "\nexit $?": runtimes.Denied, request: runtimes.Denied,
		"set -e\nx=$(" + request + ")\necho $x":                              runtimes.Denied,
		request + " || true\nexit 3":                                         runtimes.RuntimeError,
		request + " || true\nfalse":                                          runtimes.RuntimeError,
		"f() { " + request + " || return 9; }\nf":                            runtimes.RuntimeError,
		"atelier call fetch '{\"url\":\"http://x.example.com\"}'||:\nexit 3": runtimes.RuntimeError,
		"set -e\natelier call fetch '{\"url\":\"http://x.example.com\"}'":    runtimes.Denied,
	} {
		outcome, host := runtimetest.Run(t, engine, programs().Job(source, func(j *runtimes.Job) { j.Capabilities.Hosts = []string{"api.example.com:443"} }))
		e := outcome.Error
		if e == nil || e.Type != want || (want == runtimes.Denied) != (e.Grant != nil) {
			t.Errorf("%s: %+v, stderr %q", source, e, host.Stderr(t))
		}
	}
}

// TestNotes expects that log and progress messages with any characters reach the host unchanged.
func TestNotes(t *testing.T) {
	t.Parallel()
	source := `atelier log error $'a "b" \\ \n\t\x01 é & {}' n=-1.5e3 t=true z=007 s=x=y 'k "q"=v'
atelier log hello
atelier progress 3 10 'half "way"'
for i in 1 2 3 4 5 6 7 8; do (atelier log info "$i") & done; wait`
	outcome, host := runtimetest.Run(t, newEngine(t), programs().Job(source))
	if outcome.Error != nil {
		t.Fatalf("%+v", outcome.Error)
	}
	want := []string{
		`{"level":"error","message":"a \"b\" \\ \u000a\u0009\u0001 é & {}","fields":{"n":-1.5e3,"t":true,"z":"007","s":"x=y","k \"q\"":"v"}}`,
		`{"level":"info","message":"hello"}`,
		`{"done":3,"total":10,"message":"half \"way\""}`,
	}
	events := host.Events()
	if len(events) != len(want)+8 {
		t.Fatalf("%d events: %+v", len(events), events)
	}
	for i := range want {
		if string(events[i].Data) != want[i] {
			t.Errorf("%s\nwant %s", events[i].Data, want[i])
		}
	}
}

// found is a host whose functions return a result with a field named error.
type found struct{ *runtimetest.Host }

func (found) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"n":1,"error":null}`), nil
}

// TestAResultThatSpeaksOfAnError expects that a result with an error field does not count as a failed call.
func TestAResultThatSpeaksOfAnError(t *testing.T) {
	t.Parallel()
	outcome, err := newEngine(t).Run(t.Context(), programs().Job("atelier call lookUp"), found{runtimetest.NewHost()})
	if err != nil || outcome.Error != nil || string(outcome.Output) != `{"n":1,"error":null}` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

func TestReservedNames(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	outcome, _ := runtimetest.Run(t, engine, programs().Job("echo \"\\\"$PATH $OUTPUT $X\\\"\"", func(j *runtimes.Job) {
		j.Environment = map[string]string{"PATH": "/evil", "OUTPUT": "/evil", "INPUT": "evil", "BASH_ENV": "/evil", "X": "fine"}
	}))
	if string(outcome.Output) != `"/usr/local/bin:/usr/bin:/bin /work/.atelier/output.json fine"` {
		t.Errorf("%s %+v", outcome.Output, outcome.Error)
	}
	outcome, _ = runtimetest.Run(t, engine, programs().Job(":", func(j *runtimes.Job) { j.Files[".atelier/prelude.sh"] = nil }))
	if outcome.Error == nil || !strings.Contains(outcome.Error.Message, "reserved") {
		t.Errorf("%+v", outcome.Error)
	}
}

// TestAnEnvironmentOfOurNames expects that an agent's environment cannot override variables that this package uses.
func TestAnEnvironmentOfOurNames(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for _, name := range []string{"__atelier_tag", "__atelier_holds", "POSIXLY_CORRECT", "POSIX_PEDANTIC"} {
		job := programs().Job("set -e\natelier call echo '{\"n\":1}'\n[[ $FUNCNEST = 1000 ]]\nfalse", func(j *runtimes.Job) {
			j.Environment = map[string]string{name: "1"}
		})
		host := runtimetest.NewHost()
		outcome, err := engine.Run(t.Context(), job, echo{host})
		if e := outcome.Error; err != nil || host.Stdout(t) != "{\"n\":1}\n" || e == nil || e.Line != 4 {
			t.Errorf("%s: stdout %q, stderr %q, %+v, %v", name, host.Stdout(t), host.Stderr(t), e, err)
		}
	}
}

// TestAScriptWithoutOurFiles expects that host calls fail in a script that removed this package's files, and that the run
// reports the script's own error.
func TestAScriptWithoutOurFiles(t *testing.T) {
	t.Parallel()
	source := "rm -r /work/.atelier\natelier log gone 2>&1 || echo $?\n"
	engine := newEngine(t)
	outcome, host := runtimetest.Run(t, engine, programs().Job(source))
	if outcome.Error != nil || string(outcome.Output) != "1" || !strings.Contains(host.Stdout(t), "/work/.atelier/prelude.sh: No such file or directory") {
		t.Errorf("%q, %+v, stderr %q", host.Stdout(t), outcome.Error, host.Stderr(t))
	}
	outcome, host = runtimetest.Run(t, engine, programs().Job(source+"exit 3"))
	if e := outcome.Error; e == nil || e.Type != runtimes.RuntimeError || outcome.ExitCode == nil || *outcome.ExitCode != 3 {
		t.Errorf("%+v, stderr %q", e, host.Stderr(t))
	}
}

// TestAScriptThatTakesOurDescriptors expects that a host call fails if the script has replaced this package's descriptors.
// It must not succeed with an empty result, and the shell must not end.
func TestAScriptThatTakesOurDescriptors(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for _, taken := range []string{"10>x", "10>&-", "11>x", "11>&-", "11<main.sh", "11</dev/null"} {
		host := runtimetest.NewHost()
		outcome, err := engine.Run(t.Context(), programs().Job("exec "+taken+"\natelier call echo '{}'\necho $?"), echo{host})
		if err != nil || outcome.Error != nil || string(outcome.Output) != "1" || !strings.Contains(host.Stderr(t), "atelier: failed: the script uses one of the descriptors") {
			t.Errorf("%s: stdout %q, stderr %q, %+v, %v", taken, host.Stdout(t), host.Stderr(t), outcome.Error, err)
		}
	}
}

// TestTheResultIsReadWhenNobodyIsLeft expects that the result file is read only when all processes are dead. The script
// sends its own end message, so the launcher kills it. Because it uses much memory, this takes time, in which a background
// job can still write the result file.
func TestTheResultIsReadWhenNobodyIsLeft(t *testing.T) {
	t.Parallel()
	source := `echo '"early"' >"$OUTPUT"
(until read -r size _ </proc/1/statm && ((size == 0)); do :; done; echo '"late"' >"$OUTPUT") &
printf -v much '%*s' 20000000 x
echo '{"end":{},"code":0}' >&10
sleep 60
`
	engine := newEngine(t)
	for range 40 {
		outcome, _ := runtimetest.Run(t, engine, programs().Job(source))
		if outcome.Error != nil {
			t.Fatalf("%+v", outcome.Error)
		}
		if string(outcome.Output) == `"late"` {
			return
		}
	}
	t.Error("the result was read while the script's jobs could still change it")
}

// TestATrapWhileOurFunctionsAreRead expects that a host call in a trap works while the shell is reading the functions of
// the prelude.
func TestATrapWhileOurFunctionsAreRead(t *testing.T) {
	t.Parallel()
	source := `sed -i 's/^}.*/&\nkill -USR1 $$/' /work/.atelier/prelude.sh
first=$(declare -f atelier)
trap '[[ $(declare -f atelier) == "$first" ]] || { trap "" USR1; atelier log trapped; }' USR1
atelier log called
`
	outcome, host := runtimetest.Run(t, newEngine(t), programs().Job(source))
	if outcome.Error != nil || host.Stderr(t) != "" {
		t.Errorf("%+v, stderr %q", outcome.Error, host.Stderr(t))
	}
	if events := host.Events(); len(events) != 2 || !strings.Contains(string(events[0].Data), "trapped") || !strings.Contains(string(events[1].Data), "called") {
		t.Errorf("%+v", events)
	}
}

// TestAJobThatIsKilledInACall expects that other host calls continue and get their own replies if a background job is killed
// at any point of its call.
func TestAJobThatIsKilledInACall(t *testing.T) {
	t.Parallel()
	for where, kills := range map[string]string{
		"before it said that it has the lock": `(($1 != 1)) || kill -KILL $BASHPID; command printf "${@:2}"`,
		"when it said that it has the lock":   `command printf "${@:2}"; (($1 != 1)) || kill -KILL $BASHPID`,
		"within its line":                     `if (($1 == 2)); then command printf "${3:0:9}"; kill -KILL $BASHPID; fi; command printf "${@:2}"`,
		"before its answer":                   `command printf "${@:2}"; (($1 != 2)) || kill -KILL $BASHPID`,
		"after its answer":                    `(($1 != 3)) || kill -KILL $BASHPID; command printf "${@:2}"`,
		"before it gave the lock back":        `(($1 != 4)) || kill -KILL $BASHPID; command printf "${@:2}"`,
		"after it gave the lock back":         `command printf "${@:2}"; (($1 != 4)) || kill -KILL $BASHPID`,
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			source := functionsOfItsOwn + `IFS=5
( n=0
  at() { ` + kills + `; }
  say() { at $((++n)) "$@"; }
  ` + saying + `
  atelier call echo '{"n":1}' >a ) &
wait $!
(atelier call echo '{"n":2}' >b) & (atelier call echo '{"n":3}' >c) &
atelier call echo '{"n":4}' >d
wait
builtin echo "[$(cat b c d | tr '\n' ,)0]"
`
			outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
			if err != nil || string(outcome.Output) != `[{"n":2},{"n":3},{"n":4},0]` {
				t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
			}
		})
	}
}

// TestACallOfATrap expects an error from a host call in a trap that interrupts a call of the same shell. Without the error
// the call would wait for itself.
func TestACallOfATrap(t *testing.T) {
	t.Parallel()
	source := `trap 'atelier log late 2>said' USR1
IFS=0123456789
say() { command printf "$@"; [[ $2 != *echo* ]] || kill -USR1 "$$"; }
` + saying + `
atelier call echo '{"n":1}' >a
echo "[$(cat a),\"$(cat said)\"]"
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `[{"n":1},"atelier: failed: a trap cannot use atelier during a call of the same shell"]` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// saying changes the prelude so that a host call uses the function say instead of printf.
const saying = `__atelier_rest; eval "$(sed -n '/^__atelier_ask() {/,/^}/{s/builtin printf/say/;p}' /work/.atelier/prelude.sh)"`

// TestACallInAScriptOfOtherManners expects that host calls work with unusual shell options and settings. The functions of a
// call are read at the first call, when the script may already have changed the settings.
func TestACallInAScriptOfOtherManners(t *testing.T) {
	t.Parallel()
	source := `shopt -s expand_aliases extglob
alias builtin=false local=false case=false until=false source=false
set -aeufvo posix
cd /
atelier call echo '{"n":1}' >"$OUTPUT"
shopt -q expand_aliases
env >&2
echo "$-" >&2
`
	host := runtimetest.NewHost()
	engine := newEngine(t)
	outcome, err := engine.Run(t.Context(), programs().Job(source), echo{host})
	if err != nil || outcome.Error != nil || string(outcome.Output) != `{"n":1}` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
	if stderr := host.Stderr(t); strings.Contains(stderr, "__atelier_quote") || !strings.Contains(stderr, "\naefhuvB\n") {
		t.Errorf("%q", stderr)
	}
	for _, before := range []string{source, strings.Replace(source, "atelier call", ": no call", 1)} {
		outcome, err = engine.Run(t.Context(), programs().Job(before+"test 1 = 2"), echo{host})
		if err != nil || outcome.Error == nil || outcome.Error.Line != 9 {
			t.Errorf("%+v, %v", outcome.Error, err)
		}
	}
}

// functionsOfItsOwn is script text that defines functions with the names of commands that a host call uses.
const functionsOfItsOwn = `for name in read printf echo local set shift return continue break :; do eval "$name() { exit 7; }"; done
`

// TestAScriptWithFunctionsOfItsOwn expects that neither a host call nor the report of a failure calls functions of the
// script that have the names of shell commands.
func TestAScriptWithFunctionsOfItsOwn(t *testing.T) {
	t.Parallel()
	source := functionsOfItsOwn + `IFS='0123456789. '
atelier log warn mine "a=1 2"
atelier progress 1 2 "* three"
atelier call echo '{"n":1}' >"$OUTPUT"
`
	host := runtimetest.NewHost()
	engine := newEngine(t)
	outcome, err := engine.Run(t.Context(), programs().Job(source), echo{host})
	if err != nil || string(outcome.Output) != `{"n":1}` || host.Stderr(t) != "" {
		t.Errorf("%s, %+v, %v, %q", outcome.Output, outcome.Error, err, host.Stderr(t))
	}
	var told []string
	for _, e := range host.Events() {
		told = append(told, string(e.Data))
	}
	if want := []string{`{"level":"warn","message":"mine","fields":{"a":"1 2"}}`, `{"done":1,"total":2,"message":"* three"}`}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
	for _, failing := range []string{"builtin set -e\nfalse", "f() { exit 3; }\nf"} {
		outcome, err := engine.Run(t.Context(), programs().Job(source+failing), echo{host})
		if err != nil || outcome.Error == nil || outcome.Error.File != "main.sh" || outcome.Error.Line != 7 {
			t.Errorf("%s: %s, %+v, %v", failing, outcome.Output, outcome.Error, err)
		}
	}
}

// echo is a host with the function echo, which returns its arguments.
type echo struct{ *runtimetest.Host }

func (e echo) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if name != "echo" {
		return e.Host.Call(ctx, name, args)
	}
	return args, nil
}
