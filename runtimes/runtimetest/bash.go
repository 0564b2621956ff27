package runtimetest

import "github.com/atelier-run/atelier/runtimes"

// Bash returns the test programs in Bash.
func Bash() Programs {
	return Programs{
		Language: runtimes.Bash, Runtime: runtimes.BashEngine, Entrypoint: "main.sh",
		Hello: `[[ $(cat) =~ \"name\":\"([^\"]*)\" ]]
echo "hello ${BASH_REMATCH[1]}"
echo "{\"greeting\":\"Hello, ${BASH_REMATCH[1]}\"}" >"$OUTPUT"
`,
		Echo: `set -euo pipefail
cmp "$INPUT_FILE" /dev/stdin
if [[ -v INPUT ]]; then printf '%s' "$INPUT" | cmp - "$INPUT_FILE"; fi
cat "$INPUT_FILE" >"$OUTPUT"
`,
		Order: `echo one
atelier log info two n=2
printf three
(atelier progress 1 2 half)
echo four
`,
		Stderr: `echo fine
echo oops >&2
`,
		Env: `set -euo pipefail
jq -n '$ENV' >"$OUTPUT"
`,
		Unicode: `echo 'grüß 世界 🎉'
echo '{"text":"grüß 世界 🎉"}' >"$OUTPUT"
`,
		Invalid: `echo '{"items":[1,NaN]}' >"$OUTPUT"
`,
		InvalidPath: "$OUTPUT is not valid JSON",
		Fail: `set -e
echo fine

/usr/bin/false boom
echo not reached
`,
		FailLine: 4,
		Syntax: `echo fine
if true; then
  echo x
fi fi
`,
		SyntaxLine: 4,
		Forever: `echo started
while :; do :; done
`,
		Flood: `while :; do echo 0123456789012345678901234567890123456789; done
`,
		BigResult: `printf '"%02000000d"' 0 >"$OUTPUT"
`,
		State: `seen=false
for d in /work /tmp /dev/shm /var/tmp /run; do if [[ -e $d/mark ]]; then seen=true; fi; done
touch /work/mark /tmp/mark /dev/shm/mark
echo $seen
`,
		Lib: map[string]string{
			"lib/numbers.sh": "source lib/other.sh\nanswer() { echo $((21 * $(two))); }\n",
			"lib/other.sh":   "two() { echo 2; }\n",
			"lib/tool":       "#!/bin/bash\necho \"$1\"\n",
		},
		Multi: `source lib/numbers.sh
lib/tool "{\"answer\":$(answer)}"
`,
		Denied: `set -e
atelier call nope '{"path":"x"}'
`,
	}
}
