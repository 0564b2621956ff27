package pyhash_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/internal/pyhash"
)

// reference is the Python program to match. It reads one document per line as a JSON string, and prints [dumped, hash].
const reference = `
import hashlib, json, sys
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)
for line in sys.stdin:
    dumped = json.dumps(json.loads(json.loads(line)), sort_keys=True, default=str)
    print(json.dumps([dumped, hashlib.sha256(dumped.encode("utf-8")).hexdigest()]))
`

// compare checks that Dumps and Sum return the same as CPython for each document.
func compare(t *testing.T, documents []string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is needed to compare with")
		}
		t.Skip("python3 is not here to compare with")
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), python, "-I", "-c", reference)
	command.Stdin = &lines
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != len(documents) {
		t.Fatalf("%d answers for %d documents", len(answers), len(documents))
	}
	for i, document := range documents {
		var want [2]string
		if err := json.Unmarshal([]byte(answers[i]), &want); err != nil {
			t.Fatal(err)
		}
		dumped, err := pyhash.Dumps([]byte(document))
		if err != nil {
			t.Errorf("%s: %v", document, err)
			continue
		}
		sum, err := pyhash.Sum([]byte(document))
		if string(dumped) != want[0] || sum != want[1] || err != nil {
			t.Errorf("%s\n got %s %s %v\nwant %s %s", document, dumped, sum, err, want[0], want[1])
		}
	}
}

func TestVectorsOfCPython(t *testing.T) {
	t.Parallel()
	compare(t, []string{
		`{"b": {"z": [1, {"y": null}], "a": true}, "a": false}`, `{}`, `[]`, `[[], {}, [{}]]`, `""`, `null`, ` { "a" : [ ] } `,
		`"é ü ß 漢字 \u00e9"`, `"😀 👩‍👩‍👧 \ud83d\ude00"`, `{"😀": 1, "z": 2, "ﬀ": 3, "é": 4, "": 5}`,
		`{"\ue000": 2, "😀": 3}`, `"\u0000\u001f\u007f\u0080\u2028 \" \\ \/ \b\f\n\r\t <>&'"`,
		`1e16`, `1e15`, `9999999999999998.0`, `1e-7`, `0.0001`, `0.00001`, `0.1`, `-0.0`, `-0`, `0.0`, `0e5`, `1.0`, `100000.0`, `1e22`, `1e23`, `5e-324`, `2.5e-324`,
		`1.7976931348623157e308`, `123456789.123456789`, `0.30000000000000004`, `1E5`, `1e+5`, `12345678901234567890.5`,
		`9007199254740993`, `-9223372036854775809`, `123456789012345678901234567890123456789012345678901234567890`, `18446744073709551616`,
		`{"B": 1, "a": 2, "A": 3, "_": 4, "10": 5, "9": 6}`,
	})
}

// TestAgainstCPythonAtRandom compares Dumps and Sum with CPython for random documents. Difficult values, such as floats at
// the limits of a format, are generated more often.
func TestAgainstCPythonAtRandom(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 1))
	var documents []string
	for len(documents) < 4000 {
		if one := document(dice, 4); jcs.Check([]byte(one), jcs.Limits{}) == nil {
			documents = append(documents, one)
		}
	}
	compare(t, documents)
}

func document(dice *rand.Rand, depth int) string {
	kind := dice.IntN(8)
	if depth == 0 && kind < 2 {
		kind += 2
	}
	switch kind {
	case 0:
		parts := make([]string, dice.IntN(5))
		for i := range parts {
			parts[i] = document(dice, depth-1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 1:
		parts := make([]string, dice.IntN(6))
		for i := range parts {
			parts[i] = text(dice) + " :" + document(dice, depth-1)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case 2:
		return []string{"null", "true", "false"}[dice.IntN(3)]
	case 3:
		digits := strconv.FormatUint(dice.Uint64(), 10)
		return []string{"", "-"}[dice.IntN(2)] + strings.Repeat(digits, 1+dice.IntN(3))
	case 4, 5:
		return float(dice)
	}
	return text(dice)
}

func float(dice *rand.Rand) string {
	f := math.Float64frombits(dice.Uint64())
	if dice.IntN(2) == 0 {
		f = (dice.Float64() - 0.5) * math.Pow(10, float64(dice.IntN(40)-20))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	form := strconv.FormatFloat(f, "eEf"[dice.IntN(3)], -1+dice.IntN(2)*dice.IntN(20), 64)
	if !strings.ContainsAny(form, ".eE") {
		form += ".0"
	}
	return form
}

func text(dice *rand.Rand) string {
	var s strings.Builder
	s.WriteByte('"')
	for range dice.IntN(8) {
		switch dice.IntN(6) {
		case 0:
			s.WriteString(`\u` + strconv.FormatUint(0x10000|dice.Uint64N(0x10000), 16)[1:])
		case 1:
			s.WriteString(`\ud8` + strconv.FormatUint(0x100|dice.Uint64N(0x100), 16)[1:] + `\udc` + strconv.FormatUint(0x100|dice.Uint64N(0x100), 16)[1:])
		case 2:
			s.WriteByte('\\')
			s.WriteByte(`"\/bfnrt`[dice.IntN(8)])
		case 3:
			if r := rune(0x80 + dice.IntN(0x10ff80)); r < 0xd800 || r >= 0xe000 {
				s.WriteRune(r)
			}
		default:
			if c := byte(' ' + dice.IntN(95)); c != '"' && c != '\\' {
				s.WriteByte(c)
			}
		}
	}
	s.WriteByte('"')
	return s.String()
}

func TestWhatIsNotJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, document := range []string{``, `{`, `[1,`, `[1 2]`, `{"a"}`, `{"a":}`, `"\x"`, `"\u12"`, "\"\xff\"", "\"\n\"", `--1`, `1-2`, `1.2.3`, `nul`, `{} {}`, `{,}`, `{"a":1,"a":2}`, `"\ud800"`, `1e400`,
		strings.Repeat("[", 100_000)} {
		if out, err := pyhash.Dumps([]byte(document)); err == nil {
			t.Errorf("%.20q became %s", document, out)
		}
	}
}

func FuzzDumps(f *testing.F) {
	f.Add([]byte(`{"a": [1.5e300, "\ud83d\ude00"], "b": {}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		dumped, err := pyhash.Dumps(document)
		if err != nil {
			if jcs.Check(document, jcs.Limits{}) == nil {
				t.Fatalf("%q is JSON: %v", document, err)
			}
			return
		}
		again, err := pyhash.Dumps(dumped)
		if err == nil && !bytes.Equal(again, dumped) {
			t.Fatalf("%q became %q, and that %q", document, dumped, again)
		}
	})
}
